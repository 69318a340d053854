"""One person with one input method: types a text word by word, with slips of the fingers, and corrects nothing."""

from __future__ import annotations

import re
from bisect import bisect_right
from functools import lru_cache
from itertools import accumulate
from math import exp
from typing import NamedTuple

from unswayed.base.edits import Edit
from unswayed.base.seeds import Stream
from unswayed.vary.chinese import lexicon
from unswayed.vary.keyboard._keys import slip
from unswayed.vary.keyboard._marks import type_other
from unswayed.vary.keyboard.ime import Engine
from unswayed.vary.people import normal
from unswayed.vary.typists import CLASSES, WORD_KINDS, Sitting, TypistProfile, typed_class

_RUNS = re.compile(r"[\u4e00-\u9fff]+|[^\u4e00-\u9fff]")
_SAME = 0.97  # how often a word typed by rote goes wrong in the same way again
_USUAL = 0.35  # how often another goes wrong in the person's usual way
_TOGETHER = 4  # characters of two words that are typed in one go
_LONGEST_CUT = 14  # characters missing at the end
_TRIES = 6  # times that a text may be typed again
_MOST = 12  # candidates looked at
_ERRORS = 4  # kinds of slips that are errors, wrong choices and wrong keys; the others are accidents
_LETTERS_SEEN, _LENGTH_SEEN = 0.85, 0.6
_COMMON = 6.5  # log frequency of words that come to mind for another
_LETTERS = "abcdefghjklmnopqrstwxyz"  # keys that stand for a word when pressed alone
_SMALL_WORDS, _SMALL_WEIGHTS = "的和是在了就从到有与对也将日为", (8, 6, 6, 5, 3, 3, 2, 2, 2, 2, 2, 1, 1, 1, 1)

_WHOLE = 2.0**53  # `bits() >> 11` of a stream is below a share of this as often as `random()` is below the share

_Ladder = list[tuple[float, str]]
_Part = tuple[str, list[str]]  # a run of Chinese characters and its words, or another character and none
_Known = tuple[tuple[str, ...] | None, int]  # a word's syllables, and its class


@lru_cache(8)
def _known_words(engine: Engine) -> dict[str, _Known]:
    """What is known of the words that were typed with an engine."""
    return {}


class _Hand(NamedTuple):
    """A sitting with the chances of slips for each class of words, summed up: errors, and accidents.

    The last two are the sums, as shares of `_WHOLE`.
    """

    sitting: Sitting
    errors: list[_Ladder]
    accidents: list[_Ladder]
    all_errors: list[float]
    all_accidents: list[float]


@lru_cache(1)
def _by_ends() -> tuple[dict[str, list[str]], dict[str, list[str]]]:
    """Common words of two characters by the first, and by the second, commonest first."""
    ends: tuple[dict[str, list[str]], dict[str, list[str]]] = {}, {}
    frequency = lexicon().frequency
    common = sorted((w for w, f in frequency.items() if len(w) == 2 and f > _COMMON), key=lambda w: (-frequency[w], w))
    for word in common:
        for place in (0, 1):
            ends[place].setdefault(word[place], []).append(word)
    return ends


@lru_cache(50_000)
def _kin(word: str, by_end: bool) -> list[str]:
    """Common words that share the first characters of a word, or the last one: 机构 for 机制, 设备 for 装备."""
    table = _by_ends()[1 if by_end else 0]
    found = [w for w in table.get(word[-1] if by_end else word[-2], []) if w != word[-2:]][:_MOST]
    return [word[:-2] + w for w in found]


def _kind(steps: _Ladder, rng: Stream) -> str:
    """A kind of slip, as likely as its step is high."""
    point = rng.random() * steps[-1][0]
    for total, kind in steps:
        if point < total:
            return kind
    return steps[-1][1]


def _ladders(profile: TypistProfile, sitting: Sitting, kinds: tuple[str, ...]) -> list[_Ladder]:
    chances = [profile.rates(sitting, kind) for kind in kinds]
    return [list(zip(accumulate(rates[c] for rates in chances), kinds, strict=True)) for c in range(CLASSES)]


def _sums(ladders: list[_Ladder]) -> list[float]:
    return [steps[-1][0] * _WHOLE for steps in ladders]


class Typist:
    """Types texts as one person would. Slips are drawn from the text's stream, habits from the person's."""

    def __init__(self, profile: TypistProfile, engine: Engine) -> None:
        self.profile = profile
        self.engine = engine
        kinds = WORD_KINDS[:_ERRORS], WORD_KINDS[_ERRORS:]
        self._hands = []
        for sitting in profile.sittings:
            errors, accidents = (_ladders(profile, sitting, of) for of in kinds)
            self._hands.append(_Hand(sitting, errors, accidents, _sums(errors), _sums(accidents)))
        self._rows = list(accumulate(s.rows for s in profile.sittings))
        self._known = _known_words(engine)
        self._memory = profile.memory * _WHOLE

    def type(self, text: str, rng: Stream, sitting: int | None = None) -> list[Edit]:
        """What came out other than it should, as edits of the text. All texts of an example are typed in one sitting."""
        hand = self._hands[self._sitting(rng) if sitting is None else sitting]
        cut = rng.random() < hand.sitting.cut
        segment = lexicon().segment
        parts = [(part, segment(part) if "\u4e00" <= part < "\ua000" else []) for part in _RUNS.findall(text)]
        for _ in range(_TRIES):
            edits = self._type(text, parts, hand, rng)
            if cut:
                return _cut(text, edits, self.profile.missing, rng)
            if edits or rng.random() >= hand.sitting.hasty:
                break
        return edits

    def _type(self, text: str, parts: list[_Part], hand: _Hand, rng: Stream) -> list[Edit]:
        edits: list[Edit] = []
        pace, at = exp(self.profile.pace * normal(rng) - self.profile.pace**2 / 2), 0
        for part, words in parts:
            if words:
                self._type_run(words, at, hand, pace, rng, edits)
            else:
                type_other(hand.sitting, self.profile.other, text, at, rng, edits)
            at += len(part)
        return edits

    def _sitting(self, rng: Stream) -> int:
        point = rng.moment("\0sitting").below(self._rows[-1])
        return bisect_right(self._rows, point)

    def _type_run(self, words: list[str], at: int, hand: _Hand, pace: float, rng: Stream, edits: list[Edit]) -> None:
        """Errors repeat: a word typed by rote fares alike, and mostly in the same way, wherever an example has it."""
        added, memory, bits, known, gone = hand.sitting.added * _WHOLE, self._memory, rng.bits, self._known, -1
        for n, (word, (first, second)) in enumerate(zip(words, rng.first_of_moments(words), strict=True)):
            if n == gone:
                continue
            if bits() >> 11 < added:
                edits.append(Edit(at, at, rng.weighted(("，", " ", "。", "、"), (3, 4, 2, 1))))
            syllables, c = known.get(word) or self._know(word)
            if syllables:
                rote = first >> 11 < memory
                if (second if rote else bits()) >> 11 < hand.all_errors[c] * pace:
                    kind, way = self._error(word, hand.errors[c], rote, rng)
                elif bits() >> 11 < hand.all_accidents[c] * pace:
                    kind, way = _kind(hand.accidents[c], rng), rng
                else:
                    at += len(word)
                    continue
                if way is rng and n + 1 < len(words) and rng.random() < self.profile.joined[kind]:  # both in one go
                    after = words[n + 1]
                    more = lexicon().reading(after)
                    if more and len(word) + len(after) <= _TOGETHER:
                        word, syllables, gone = word + after, syllables + more, n + 1
                new = self._make(kind, word, syllables, way)
                if new != word:
                    edits.append(self._edit(at, word, new))
            at += len(word)

    def _know(self, word: str) -> _Known:
        """A word's syllables and class, the same for all who use this engine. There are only so many words."""
        syllables = lexicon().reading(word)
        found = syllables, typed_class(word, self.engine.rank(word, syllables)) if syllables else 0
        self._known[word] = found
        return found

    @staticmethod
    def _edit(at: int, word: str, new: str) -> Edit:
        """An insertion where the word itself came through, so that labels on it are kept."""
        if new.endswith(word):
            return Edit(at, at, new[: len(new) - len(word)])
        if new.startswith(word):
            return Edit(at + len(word), at + len(word), new[len(word) :])
        return Edit(at, at + len(word), new)

    @staticmethod
    def _error(word: str, steps: _Ladder, rote: bool, rng: Stream) -> tuple[str, Stream]:
        """The kind of error that happens to a word, and the stream that decides how."""
        way = rng
        if rote:
            way = rng.moment(word)
            way.numbers(2)  # which decided that it happens
        if not rote or way.random() >= _SAME:
            way = rng.habit(word) if rng.random() < _USUAL else rng
        return _kind(steps, way), way

    def _make(self, kind: str, word: str, syllables: tuple[str, ...], rng: Stream) -> str:
        """What comes out for a word with this slip."""
        if kind == "select_full":
            return self._select(word, syllables, rng)
        if kind == "select_abbr":
            return self._choose(word, self._abbreviate(syllables, rng), rng)
        if kind == "input_full":
            return self._slipped(syllables, rng)
        if kind == "input_abbr":
            return self._another(word, syllables, rng)
        if kind == "false_start":
            return self._false_start(word, syllables, rng)
        if kind == "stray":
            return self._stray(word, rng)
        if kind == "omitted":
            return self._omit(word, rng)
        return self._leave_letters(word, syllables, rng)

    def _select(self, word: str, syllables: tuple[str, ...], rng: Stream) -> str:
        """Another word for the same keys; where there is none, another for a part, or a character for one syllable."""
        keys = "".join(syllables)
        offered = [text for text, _ in self.engine.candidates(keys, _MOST) if len(text) == len(word) and text != word]
        if offered:
            return self._pick(offered, rng)
        parts = lexicon().segment(word)
        if len(parts) > 1:  # two words typed in one go: one of them
            before, part = ("", parts[0]) if rng.random() < 0.5 else (parts[0], parts[1])
            its = lexicon().reading(part)
            if its:
                return before + self._select(part, its, rng) + word[len(before) + len(part) :]
        at = rng.below(len(word))
        others = [
            text for text, _ in self.engine.candidates(syllables[at], _MOST) if len(text) == 1 and text != word[at]
        ]
        return word[:at] + self._pick(others, rng) + word[at + 1 :] if others else word

    def _pick(self, offered: list[str], rng: Stream) -> str:
        """Mostly the first, for those who don't look; else one further down, the nearer the likelier."""
        if rng.random() < self.profile.first or len(offered) == 1:
            return offered[0]
        return offered[min(1 + int(rng.random() ** 2 * 5), len(offered) - 1)]

    def _choose(self, word: str, keys: str, rng: Stream) -> str:
        """A wrong word from the list for these keys."""
        offered = self.engine.candidates(keys, _MOST)
        whole = [text for text, used in offered if used >= len(keys) and text != word]
        return self._pick(whole, rng) if whole else self._commit(keys)

    def _abbreviate(self, syllables: tuple[str, ...], rng: Stream) -> str:
        """The first letters; sometimes the first syllable is typed out."""
        start = syllables[0] if len(syllables) > 1 and rng.random() < 0.25 else syllables[0][0]
        return start + "".join(s[0] for s in syllables[1:])

    def _another(self, word: str, syllables: tuple[str, ...], rng: Stream) -> str:
        """Another word than the one in mind: one that goes with its beginning or its end, or that wrong letters give."""
        way = rng.random()
        if len(word) == 1:
            if way < 0.5:
                return rng.weighted(_SMALL_WORDS, _SMALL_WEIGHTS)
            keys = rng.choice(_LETTERS) if way < 0.75 else slip(slip(syllables[0], rng), rng)
            return self._choose(word, keys, rng)
        if way < 0.4 and (others := _kin(word, rng.random() < 0.35)):
            return others[int(rng.random() ** 2 * len(others))]
        if way < 0.55:
            at = rng.below(len(word))
            return word[:at] + self._choose(word[at], rng.choice(_LETTERS), rng)[:1] + word[at + 1 :]
        keys = self._abbreviate(syllables, rng)
        at = len(keys) - 1 - rng.below(len(syllables))
        return self._choose(word, keys[:at] + rng.choice(_LETTERS) + keys[at + 1 :], rng)

    def _slipped(self, syllables: tuple[str, ...], rng: Stream) -> str:
        """What wrong keys give. Letters left over are seen at once, a word of another length often; the rest stays."""
        keys = "".join(syllables)
        while True:
            made = self._commit(slip(keys, rng))
            odd = (
                _LETTERS_SEEN
                if any(c.isascii() for c in made)
                else _LENGTH_SEEN
                if len(made) != len(syllables)
                else 0.0
            )
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

    def _false_start(self, word: str, syllables: tuple[str, ...], rng: Stream) -> str:
        """A wrong try that stays, then the word, which may be wrong again."""
        way = rng.random()
        if way < 0.35:
            part = syllables[: 1 + rng.below(len(syllables))]
            tried = self._slipped(part, rng)
        elif way < 0.55:
            tried = self._commit(syllables[0])
        elif way < 0.85:
            tried = self._choose(word, self._abbreviate(syllables, rng), rng)
        else:
            tried = self._select(word, syllables, rng)
        again = rng.random()
        if again < 0.4:
            return tried + (self._select(word, syllables, rng) if again < 0.28 else self._slipped(syllables, rng))
        return tried + word

    def _stray(self, word: str, rng: Stream) -> str:
        """A key and the space bar too many: the first word of some letter, or the last character again."""
        offered = [text for text, _ in self.engine.candidates(rng.weighted(_LETTERS, _STRAY), 4)]
        if rng.random() < 0.08:
            return word + word[-1]
        new = offered[int(rng.random() ** 2 * len(offered))] if offered else "的"
        return new + word if rng.random() < 0.6 else word + new

    def _omit(self, word: str, rng: Stream) -> str:
        if len(word) == 1 or rng.random() < self.profile.whole:
            return ""
        at = rng.below(len(word))
        return word[:at] + word[at + 1 :]

    def _leave_letters(self, word: str, syllables: tuple[str, ...], rng: Stream) -> str:
        """Keys that came through as letters: a stray one, the end of the word, or all of it."""
        keys = "".join(syllables)
        way = rng.random()
        if way < 0.45:
            return rng.choice(("i", "u", "i", "u", "a", "h", "g", "e", "ing", "n")) + word
        if way < 0.62:
            cut = 1 + rng.below(len(keys))
            return keys[:cut] + word
        if way < 0.72:
            return slip(keys, rng)
        head = self._commit(syllables[0])
        return head + keys[len(syllables[0]) :][:3] if len(syllables) > 1 else head + rng.choice("iu")


_STRAY = tuple(
    {"d": 6.0, "s": 3.0, "l": 3.0, "y": 3.0, "a": 2.0, "m": 2.0, "w": 2.0, "z": 2.0, "h": 2.5}.get(c, 1.0)
    for c in _LETTERS
)


def _cut(text: str, edits: list[Edit], missing: float, rng: Stream) -> list[Edit]:
    """The edits of a text whose last characters, and what marks stand between them, were not typed."""
    count, place = 1, len(text)
    while count < _LONGEST_CUT and rng.random() < 1 - 1 / missing:
        count += 1
    while count and place:
        place -= 1
        count -= text[place].isalnum()
    if place <= len(text) // 2:
        return edits
    run = next(run for run in _RUNS.finditer(text) if run.end() > place)
    if place > run.start() and rng.random() < min(0.7, missing - 1):  # mostly whole words
        place = _word_start(run.group(), run.start(), place)
    place = min([place, *(edit.start for edit in edits if edit.start < place < edit.end)])
    return [*(edit for edit in edits if edit.end <= place), Edit(place, len(text), "")]


def _word_start(run: str, at: int, place: int) -> int:
    """Where the word begins that a place is in."""
    for word in lexicon().segment(run):
        if at + len(word) > place:
            break
        at += len(word)
    return at
