"""A person types with a pinyin input method and may not go back: READIN's keyboard noise, simulated.

They type a text word by word, slip, and correct nothing.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from functools import lru_cache
from itertools import accumulate
from math import log
from typing import NamedTuple

import msgspec

from unswayed.base.edits import Edit, apply
from unswayed.base.errors import UsageError
from unswayed.base.seeds import Stream
from unswayed.vary import people as profiles
from unswayed.vary.chinese import lexicon
from unswayed.vary.keyboard import ime
from unswayed.vary.keyboard.adjacent import slips_on
from unswayed.vary.operator import UNALTERED, Change, Operator, Text

_RUNS = re.compile(r"[\u4e00-\u9fff]+|[^\u4e00-\u9fff]")
_SAME_AGAIN = 0.97  # how often a word typed by rote goes wrong in the same way again
_USUAL_WAY = 0.35  # how often another goes wrong in the person's usual way
_MAX_JOINED = 4  # characters of two words that are typed in one go
_MAX_CUT = 14  # characters missing at the end
_MAX_ATTEMPTS = 6  # times that a text may be typed again
_MAX_OFFERS = 12  # candidates looked at
_ERRORS = 4  # kinds of slips that are errors, wrong choices and wrong keys; the others are accidents
_LETTERS_SEEN, _LENGTH_SEEN = 0.85, 0.6  # how often left-over letters, and words of another length, are noticed
_COMMON = 6.5  # log frequency of words that come to mind for another
_LETTERS = "abcdefghjklmnopqrstwxyz"  # keys that stand for a word when pressed alone
_STRAY = {"d": 6.0, "s": 3.0, "l": 3.0, "y": 3.0, "a": 2.0, "m": 2.0, "w": 2.0, "z": 2.0, "h": 2.5}  # the others: 1
_STRAY_WEIGHTS = tuple(_STRAY.get(c, 1.0) for c in _LETTERS)
_LEFT_LETTERS = ("i", "u", "i", "u", "a", "h", "g", "e", "ing", "n")  # that come through before a word
_SMALL_WORDS, _SMALL_WEIGHTS = "的和是在了就从到有与对也将日为", (8, 6, 6, 5, 3, 3, 2, 2, 2, 2, 2, 1, 1, 1, 1)
_WHOLE = 2.0**53  # `bits() >> 11` of a stream is below a share of this as often as `random()` is below the share

# The mark that a Chinese keyboard gives for the narrow one, and the marks that are mistaken for each other.
_WIDE = {",": "，", "(": "（", ")": "）", ":": "：", ";": "；", "?": "？", "!": "！", "~": "～"}
_ALWAYS_WIDE = ",()"
_MISTAKEN = {
    "，": "。、", "。": "，、.", "、": "，，，。", "“": "”", "”": "“", "；": "，", "：": "；", "·": ".", "‘": "“", "’": "”",
    "—": "-", "？": "！", "！": "，", " ": "\u3000", "）": ")",
}  # fmt: skip

# Slips of the fingers on the keys of a pinyin. How often each is seen where one explains the keys.
_KEY_SLIPS = ("drop", "sound", "neighbour", "vowel", "swap", "double", "space")
_KEY_WEIGHTS = (0.27, 0.27, 0.17, 0.15, 0.05, 0.06, 0.03)
_TWICE = 0.2  # share of slips that come as two
_VOWELS = {"o": "ia", "i": "ouea", "u": "iae", "e": "aiu", "a": "euoi"}

_MERGED = re.compile(r"(?<=n)g|(?<=[zcs])h|(?<=[aeio])n(?!g)|[zcs](?!h)")  # sounds that some speakers merge
_MERGED_INTO = {"g": ("", 2), "h": ("", 1), "n": ("ng", 2), "z": ("zh", 1), "c": ("ch", 1), "s": ("sh", 1)}

_Ladder = tuple[float, list[float], Sequence[str]]  # the chance that any slip happens, of `_WHOLE`; running sums; kinds
_Part = tuple[str, list[str]]  # a run of Chinese characters and its words, or another character and none
_Known = tuple[tuple[str, ...] | None, int]  # a word's syllables, and its class


def slip_keys(keys: str, rng: Stream) -> str:
    """The keys with one slip, or two; never the same keys."""
    made = _slip_once(keys, rng)
    if len(keys) > 4 and rng.random() < _TWICE:
        made = _slip_once(made, rng)
    for _ in range(8):
        if made != keys and made:
            return made
        made = _slip_once(keys, rng)
    return keys + keys[-1:]


def _slip_once(keys: str, rng: Stream) -> str:
    kind = rng.weighted(_KEY_SLIPS, _KEY_WEIGHTS)
    if kind == "sound":  # n for ng, z for zh, and back: a way of speaking rather than of moving the fingers
        ways = []
        for found in _MERGED.finditer(keys):
            new, times = _MERGED_INTO[found[0]]
            ways += [keys[: found.start()] + new + keys[found.end() :]] * times
        return rng.choice(ways) if ways else keys
    if len(keys) < 2:
        return rng.choice(slips_on("en")[keys] or ("e",))
    at = 1 + rng.below(len(keys) - 1)  # the first key of a word is seldom wrong
    c = keys[at]
    if kind == "drop":
        return keys[:at] + keys[at + 1 :]
    if kind == "swap":
        return keys[: at - 1] + c + keys[at - 1] + keys[at + 1 :]
    if kind == "double":
        return keys[:at] + c + keys[at:]
    if kind == "space":  # a key too many, before the space bar
        return keys + rng.choice("iuhnge")
    near = _VOWELS.get(c) if kind == "vowel" else None
    return keys[:at] + rng.choice(near or slips_on("en")[c] or ("e",)) + keys[at + 1 :]


@lru_cache(8)
def _known_words(engine: ime.PinyinEngine) -> dict[str, _Known]:
    """What is known of the words that were typed with an engine, shared by all who use it."""
    return {}


class _Hand(NamedTuple):
    """A sitting with the chances of slips for each class of words: errors, and accidents, and how likely all are."""

    sitting: profiles.Sitting
    errors: list[_Ladder]
    accidents: list[_Ladder]


@lru_cache(1)
def _words_by_ends() -> tuple[dict[str, list[str]], dict[str, list[str]]]:
    """Common words of two characters by the first, and by the second, commonest first."""
    ends: tuple[dict[str, list[str]], dict[str, list[str]]] = {}, {}
    frequency = lexicon().frequency
    common = sorted((w for w, f in frequency.items() if len(w) == 2 and f > _COMMON), key=lambda w: (-frequency[w], w))
    for word in common:
        for place in (0, 1):
            ends[place].setdefault(word[place], []).append(word)
    return ends


def _draw_kind(ladder: _Ladder, rng: Stream) -> str:
    """A kind of slip, as likely as its step is high."""
    _, sums, kinds = ladder
    return kinds[min(bisect_right(sums, rng.random() * sums[-1]), len(kinds) - 1)]


class PinyinTypist:
    """Types texts as one person would. Slips are drawn from the text's stream, habits from the person's."""

    def __init__(self, profile: profiles.TypistProfile, engine: ime.PinyinEngine) -> None:
        self.profile = profile
        self.engine = engine
        self._hands = []
        for sitting in profile.sittings:
            ladders: list[list[_Ladder]] = []
            for kinds in (profiles.WORD_KINDS[:_ERRORS], profiles.WORD_KINDS[_ERRORS:]):
                by_class = zip(*(profile.rates(sitting, kind) for kind in kinds), strict=True)
                ladders.append([(sums[-1] * _WHOLE, sums, kinds) for sums in map(list, map(accumulate, by_class))])
            self._hands.append(_Hand(sitting, *ladders))
        self._rows = list(accumulate(s.rows for s in profile.sittings))
        self._known = _known_words(engine)
        self._memory = profile.memory * _WHOLE

    def type(self, text: str, rng: Stream, sitting: int | None = None) -> list[Edit]:
        """What came out other than it should, as edits of the text. All texts of an example are typed in one sitting."""
        if sitting is None:
            sitting = bisect_right(self._rows, rng.moment("\0sitting").below(self._rows[-1]))
        hand, pace = self._hands[sitting], self.profile.pace
        cut = rng.random() < hand.sitting.cut
        segment, found = lexicon().segment, _RUNS.findall(text)
        parts: list[_Part] = [(part, segment(part) if "\u4e00" <= part < "\ua000" else []) for part in found]
        for _ in range(_MAX_ATTEMPTS):
            edits: list[Edit] = []
            haste, at = profiles.near_one(rng, pace), 0
            for part, words in parts:
                if words:
                    self._type_words(words, at, hand, haste, rng, edits)
                else:
                    self._type_other(hand.sitting, text, at, rng, edits)
                at += len(part)
            if cut or edits or rng.random() >= hand.sitting.hasty:
                break
        if not cut:
            return edits
        # The last characters, and what marks stand between them, were not typed.
        count, place, missing = 1, len(text), self.profile.missing
        while count < _MAX_CUT and rng.random() < 1 - 1 / missing:
            count += 1
        while count and place:
            place -= 1
            count -= text[place].isalnum()
        if place <= len(text) // 2:
            return edits
        run = next(run for run in _RUNS.finditer(text) if run.end() > place)
        if place > run.start() and rng.random() < min(0.7, missing - 1):  # mostly whole words: back to the word's start
            at = run.start()
            for word in segment(run.group()):
                if at + len(word) > place:
                    break
                at += len(word)
            place = at
        place = min([place, *(edit.start for edit in edits if edit.start < place < edit.end)])
        return [*(edit for edit in edits if edit.end <= place), Edit(place, len(text), "")]

    def _type_words(
        self, words: list[str], at: int, hand: _Hand, haste: float, rng: Stream, edits: list[Edit]
    ) -> None:  # fmt: skip
        """Errors repeat: a word typed by rote fares alike, and mostly in the same way, wherever an example has it."""
        # This loop meets every word of every text, so raw bits are compared with shares of `_WHOLE`: `random` would
        # shift and divide at each draw.
        added, memory, bits, known, gone = hand.sitting.added * _WHOLE, self._memory, rng.bits, self._known, -1
        for n, (word, (first, second)) in enumerate(zip(words, rng.first_of_moments(words), strict=True)):
            if n == gone:
                continue
            if bits() >> 11 < added:
                edits.append(Edit(at, at, rng.weighted(("，", " ", "。", "、"), (3, 4, 2, 1))))
            found = known.get(word)
            if found is None:  # there are only so many words
                read = lexicon().reading(word)
                found = known[word] = read, profiles.typed_class(word, self.engine.rank(word, read)) if read else 0
            syllables, c = found
            if syllables:
                rote = first >> 11 < memory
                if (second if rote else bits()) >> 11 < hand.errors[c][0] * haste:
                    way = rng
                    if rote:
                        way = rng.moment(word)
                        way.numbers(2)  # which decided that it happens
                    if not rote or way.random() >= _SAME_AGAIN:
                        way = rng.habit(word) if rng.random() < _USUAL_WAY else rng
                    kind = _draw_kind(hand.errors[c], way)
                elif bits() >> 11 < hand.accidents[c][0] * haste:
                    kind, way = _draw_kind(hand.accidents[c], rng), rng
                else:
                    at += len(word)
                    continue
                if way is rng and n + 1 < len(words) and rng.random() < self.profile.joined[kind]:  # both in one go
                    after = words[n + 1]
                    more = lexicon().reading(after)
                    if more and len(word) + len(after) <= _MAX_JOINED:
                        word, syllables, gone = word + after, syllables + more, n + 1
                new = self._slipped(kind, word, syllables, way)
                # An insertion where the word itself came through, so that labels on it are kept.
                start, end = at, at + len(word)
                if new != word:
                    if new.endswith(word):
                        end, new = at, new[: len(new) - len(word)]
                    elif new.startswith(word):
                        start, new = end, new[len(word) :]
                    edits.append(Edit(start, end, new))
            at += len(word)

    def _type_other(self, sitting: profiles.Sitting, text: str, at: int, rng: Stream, edits: list[Edit]) -> None:
        """Types the one character at this place, which is not Chinese; what came out wrong is added to the edits."""
        c = text[at]
        if c.isalnum():
            if rng.random() < self.profile.other:
                new = ""
                if c.isdigit() and c.isascii():
                    near = str((int(c) + (1 if rng.random() < 0.5 else 9)) % 10)
                    new = rng.weighted((near, "", c + near), (0.5, 0.3, 0.2))
                elif c.isascii():
                    new = rng.weighted((c.swapcase(), ""), (0.7, 0.3))
                edits.append(Edit(at, at + 1, new))
            return
        kind = profiles.typed_mark(text, at)
        lost = sitting.lost.get(kind, 0.0)
        point = rng.random()
        if point < lost:
            edits.append(Edit(at, at + 1, ""))
        elif point < lost + sitting.changed.get(kind, 0.0) or (c in _ALWAYS_WIDE and rng.random() < 0.9):
            others = _WIDE.get(c) or _MISTAKEN.get(c)
            if others:
                edits.append(Edit(at, at + 1, rng.choice(others)))

    def _slipped(self, kind: str, word: str, syllables: tuple[str, ...], rng: Stream) -> str:
        """What comes out for a word with this slip."""
        if kind == "select_full":
            return self._select(word, syllables, rng)
        if kind == "select_abbr":
            return self._choose(word, _abbreviate_keys(syllables, rng), rng)
        if kind == "input_full":
            return self._mistype(syllables, rng)
        if kind == "input_abbr":
            return self._mistake(word, syllables, rng)
        if kind == "false_start":  # a wrong try that stays, then the word, which may be wrong again
            way = rng.random()
            if way < 0.35:
                tried = self._mistype(syllables[: 1 + rng.below(len(syllables))], rng)
            elif way < 0.55:
                tried = self._commit(syllables[0])
            elif way < 0.85:
                tried = self._choose(word, _abbreviate_keys(syllables, rng), rng)
            else:
                tried = self._select(word, syllables, rng)
            again = rng.random()
            if again < 0.4:
                word = self._select(word, syllables, rng) if again < 0.28 else self._mistype(syllables, rng)
            return tried + word
        if kind == "stray":  # a key and the space bar too many: the first word of some letter, or a character twice
            offered = [text for text, _ in self.engine.candidates(rng.weighted(_LETTERS, _STRAY_WEIGHTS), 4)]
            if rng.random() < 0.08:
                return word + word[-1]
            new = offered[int(rng.random() ** 2 * len(offered))] if offered else "的"
            return new + word if rng.random() < 0.6 else word + new
        if kind == "omitted":
            if len(word) == 1 or rng.random() < self.profile.whole:
                return ""
            at = rng.below(len(word))
            return word[:at] + word[at + 1 :]
        # keys that came through as letters: a stray one, the end of the word, or all of it
        keys, way = "".join(syllables), rng.random()
        if way < 0.45:
            return rng.choice(_LEFT_LETTERS) + word
        if way < 0.62:
            return keys[: 1 + rng.below(len(keys))] + word
        if way < 0.72:
            return slip_keys(keys, rng)
        head = self._commit(syllables[0])
        return head + keys[len(syllables[0]) :][:3] if len(syllables) > 1 else head + rng.choice("iu")

    def _select(self, word: str, syllables: tuple[str, ...], rng: Stream) -> str:
        """Another word for the same keys; where there is none, another for a part, or a character for one syllable."""
        offered = [text for text, _ in self.engine.candidates("".join(syllables), _MAX_OFFERS)]
        offered = [text for text in offered if len(text) == len(word) and text != word]
        if offered:
            return self._pick(offered, rng)
        parts = lexicon().segment(word)
        if len(parts) > 1:  # two words typed in one go: one of them
            before, part = ("", parts[0]) if rng.random() < 0.5 else (parts[0], parts[1])
            its = lexicon().reading(part)
            if its:
                return before + self._select(part, its, rng) + word[len(before) + len(part) :]
        at = rng.below(len(word))
        offered = [text for text, _ in self.engine.candidates(syllables[at], _MAX_OFFERS)]
        others = [text for text in offered if len(text) == 1 and text != word[at]]
        return word[:at] + self._pick(others, rng) + word[at + 1 :] if others else word

    def _pick(self, offered: list[str], rng: Stream) -> str:
        """Mostly the first, for those who don't look; else one further down, the nearer the likelier."""
        if rng.random() < self.profile.first or len(offered) == 1:
            return offered[0]
        return offered[min(1 + int(rng.random() ** 2 * 5), len(offered) - 1)]

    def _choose(self, word: str, keys: str, rng: Stream) -> str:
        """A wrong word from the list for these keys."""
        offered = self.engine.candidates(keys, _MAX_OFFERS)
        whole = [text for text, used in offered if used >= len(keys) and text != word]
        return self._pick(whole, rng) if whole else self._commit(keys)

    def _mistake(self, word: str, syllables: tuple[str, ...], rng: Stream) -> str:
        """Another word than the one in mind: one that goes with its beginning or its end, or that wrong letters give."""
        way = rng.random()
        if len(word) == 1:
            if way < 0.5:
                return rng.weighted(_SMALL_WORDS, _SMALL_WEIGHTS)
            keys = rng.choice(_LETTERS) if way < 0.75 else slip_keys(slip_keys(syllables[0], rng), rng)
            return self._choose(word, keys, rng)
        if way < 0.4:  # 机构 for 机制, or 设备 for 装备
            by_end = rng.random() < 0.35
            kin = _words_by_ends()[by_end].get(word[-1] if by_end else word[-2], [])
            if others := [other for other in kin if other != word[-2:]][:_MAX_OFFERS]:
                return word[:-2] + others[int(rng.random() ** 2 * len(others))]
        if way < 0.55:
            at = rng.below(len(word))
            return word[:at] + self._choose(word[at], rng.choice(_LETTERS), rng)[:1] + word[at + 1 :]
        keys = _abbreviate_keys(syllables, rng)
        at = len(keys) - 1 - rng.below(len(syllables))
        return self._choose(word, keys[:at] + rng.choice(_LETTERS) + keys[at + 1 :], rng)

    def _mistype(self, syllables: tuple[str, ...], rng: Stream) -> str:
        """What wrong keys give. Letters left over are seen at once, a word of another length often; the rest stays."""
        keys = "".join(syllables)
        while True:
            made = self._commit(slip_keys(keys, rng))
            odd = _LENGTH_SEEN if len(made) != len(syllables) else 0.0
            if any(c.isascii() for c in made):
                odd = _LETTERS_SEEN
            if rng.random() >= odd:
                return made

    def _commit(self, keys: str) -> str:
        """All of these keys turned into text by taking the first offer again and again; what is left stays letters."""
        made = ""
        while keys:
            offered = self.engine.first(keys)
            if offered is None or offered.used <= 0:
                return made + keys.replace("'", "")
            made += offered.text
            keys = keys[offered.used :].lstrip("'")
        return made


def _abbreviate_keys(syllables: tuple[str, ...], rng: Stream) -> str:
    """The first letters; sometimes the first syllable is typed out."""
    start = syllables[0] if len(syllables) > 1 and rng.random() < 0.25 else syllables[0][0]
    return start + "".join(s[0] for s in syllables[1:])


# How much likelier a slip is than at a desk: thumbs press small keys beside each other, and the list of candidates,
# which is right above them, is looked at. These are assumptions: nobody counted them.
_DEVICES = {
    "desk": dict[str, float](),
    "phone": {"input_full": 1.6, "input_abbr": 1.4, "stray": 1.3, "select_full": 0.8, "select_abbr": 0.9},
    "tablet": {"input_full": 1.3, "input_abbr": 1.2, "stray": 1.5},
}
_UNHURRIED = 0.5  # of the slips of people who must keep to a speed


def on_device(profile: profiles.TypistProfile, device: str, hurried: bool) -> profiles.TypistProfile:
    """The person with another device, or without the speed that READIN's people had to keep to."""
    likelier, all_ = _DEVICES[device], 1.0 if hurried else _UNHURRIED
    sittings = []
    for sitting in profile.sittings:
        rates = {kind: rate * likelier.get(kind, 1.0) * all_ for kind, rate in sitting.rates.items()}
        one = msgspec.structs.replace(sitting, rates=rates)
        if not hurried:  # nothing is left out at the end, and a text that came out right is left so
            one = msgspec.structs.replace(one, cut=0.0, hasty=0.0, added=sitting.added * all_)
        sittings.append(one)
    return msgspec.structs.replace(profile, sittings=sittings)


class Pinyin(Operator):
    """Types the text by pinyin like a person in a hurry: wrong words chosen, keys missed, false starts not deleted.

    Each draw is one person with one input method for the whole suite, who types each example in one of their sittings:
    people change their ways. `engine` names the input method: embedded,
    google, libime, libpinyin, rime or sunpinyin. Several, joined by +, take turns over the draws; `installed` means
    all that this machine has except the embedded one. `profile` is a file that `unswayed calibrate keyboard` writes.
    `device` is desk, phone or tablet, and with `hurried` false people type at their own speed: READIN's people sat at
    desks and had to type 40 characters a minute, so what these change was not counted in people's texts.
    """

    version = 2
    languages = ("zh",)
    people = True
    quick = True
    unaltered = True
    presets = ("typing",)
    slips = True
    example = ("请问花呗怎么提前还款", "请问华北怎么提前还款")

    def __init__(self, engine: str = "embedded", profile: str = "", device: str = "desk", hurried: bool = True) -> None:
        if device not in _DEVICES:
            raise ValueError(f"device must be {', '.join(_DEVICES)}, not {device!r}")
        self._how = None if device == "desk" and hurried else (device, hurried)
        names = [name.strip() for name in engine.split("+") if name.strip()]
        if names == ["installed"]:
            names = [name for name in ime.engines.names() if name != "embedded" and not ime.missing_file(name)]
        if not names:
            raise UsageError(f"There is no input method {engine!r} here. See `unswayed doctor`.")
        self._engines = [ime.open_engine(name) for name in names]
        self._registers = profiles.registers(profiles.typists(profile).people)
        self._typists: dict[bytes, list[PinyinTypist]] = {}

    def change(self, text: Text, rng: Stream) -> Change | None:
        people = self._typists.get(rng.person)
        if people is None:  # each draw has one, who types texts of each length in their way
            engine = rng.dealt(self._engines, "engine")
            made = [profiles.new_typist(its, rng) for its in self._registers]
            people = [PinyinTypist(on_device(one, *self._how) if self._how else one, engine) for one in made]
            self._typists[rng.person] = people
        length = len(text.text) + 1
        typist = min(people, key=lambda one: abs(log(one.profile.length / length)))
        edits = self.allowed(text, typist.type(text.text, rng))
        if not edits or (len(edits) > 1 and apply(text.text, edits) == text.text):  # one slip may undo another
            return UNALTERED
        at, end, new = edits[0]
        more = f", {len(edits)} slips in all" if len(edits) > 1 else ""
        return Change(tuple(edits), f"{text.text[at:end]}→{new} at {at}{more}")
