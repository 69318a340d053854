"""One person with one input method: types a text word by word, with slips of the fingers, and corrects nothing."""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import accumulate
from math import exp

from unfazed.core.edits import Edit
from unfazed.core.seeds import Stream
from unfazed.vary.chinese import lexicon
from unfazed.vary.keyboard.adjacent import slips_on
from unfazed.vary.keyboard.ime import Engine
from unfazed.vary.people import WORD_KINDS, TypistProfile, normal, typed_class, typed_mark

_RUNS = re.compile(r"[\u4e00-\u9fff]+|[^\u4e00-\u9fff]")
_SAME = 0.9  # how often a word typed by rote goes wrong in the same way again
_USUAL = 0.35  # how often another goes wrong in the person's usual way
_MOST = 12  # candidates looked at
_ERRORS = 4  # kinds of slips that are errors, wrong choices and wrong keys; the others are accidents
_LETTERS_SEEN, _LENGTH_SEEN = 0.85, 0.4
_LETTERS = "abcdefghjklmnopqrstwxyz"  # keys that stand for a word when pressed alone


@lru_cache(50_000)
def _words(run: str) -> tuple[tuple[str, tuple[str, ...] | None], ...]:
    """The words of a run of Chinese characters with their syllables."""
    words = lexicon()
    return tuple((word, words.reading(word)) for word in words.segment(run))


def _kind(steps: list[tuple[float, str]], rng: Stream) -> str:
    """A kind of slip, as likely as its step is high."""
    point = rng.random() * steps[-1][0]
    return next((kind for total, kind in steps if point < total), steps[-1][1])


class Typist:
    """Types texts as one person would. Slips are drawn from the text's stream, habits from the person's."""

    def __init__(self, profile: TypistProfile, engine: Engine) -> None:
        self.profile = profile
        self.engine = engine
        classes = range(len(profile.rates["stray"]))
        self._errors = [self._ladder(c, WORD_KINDS[:_ERRORS]) for c in classes]
        self._accidents = [self._ladder(c, WORD_KINDS[_ERRORS:]) for c in classes]
        self._known: dict[str, int] = {}
        self._owed = 0.0

    def _ladder(self, c: int, kinds: tuple[str, ...]) -> list[tuple[float, str]]:
        """The chances of some kinds of slips for a class of words, summed up."""
        totals = accumulate(self.profile.rates[kind][c] for kind in kinds)
        return list(zip(totals, kinds, strict=True))

    def type(self, text: str, rng: Stream) -> list[Edit]:
        """What came out other than it should, as edits of the text."""
        edits: list[Edit] = []
        pace = exp(self.profile.pace * normal(rng) - self.profile.pace**2 / 2)
        self._owed = 0.0  # slips to be expected so far, less those made
        for run in _RUNS.finditer(text):
            if "\u4e00" <= text[run.start()] <= "\u9fff":
                self._type_run(run.group(), run.start(), pace, rng, edits)
            else:
                type_other(self.profile, text, run.start(), rng, edits)
        return edits

    def _type_run(self, run: str, at: int, pace: float, rng: Stream, edits: list[Edit]) -> None:
        again = ""  # the slip that goes on into the next word
        for word, syllables in _words(run):
            if rng.random() < self.profile.added:
                edits.append(Edit(at, at, rng.weighted(("，", " ", "。", "、"), (3, 4, 2, 1))))
            if syllables is None:
                at += len(word)
                continue
            c = self._known.get(word, -1)
            if c < 0:
                c = self._known[word] = typed_class(word, self.engine.rank(word, syllables))
            kind, way = (again, rng) if again else self._slip(word, c, pace, rng)
            if not kind:
                at += len(word)
                continue
            again = kind if not again and rng.random() < self.profile.joined[kind] else ""
            new = self._make(kind, word, syllables, way)
            if new != word:
                edits.append(self._edit(at, word, new))
            at += len(word)

    @staticmethod
    def _edit(at: int, word: str, new: str) -> Edit:
        """An insertion where the word itself came through, so that labels on it are kept."""
        if new.endswith(word):
            return Edit(at, at, new[: len(new) - len(word)])
        if new.startswith(word):
            return Edit(at + len(word), at + len(word), new[len(word) :])
        return Edit(at, at + len(word), new)

    def _slip(self, word: str, c: int, pace: float, rng: Stream) -> tuple[str, Stream]:
        """The kind of slip that happens to a word, or none, and the stream that decides how.

        Errors repeat: a word typed by rote fares alike, and mostly in the same way, wherever an example has it.
        """
        error, accident = self._errors[c][-1][0], self._accidents[c][-1][0]
        hurry = pace * exp(self.profile.care * max(-2.0, min(2.0, self._owed)))
        self._owed += (error + accident) * pace
        moment = rng.moment(word)
        rote = moment.random() < self.profile.memory
        if (moment if rote else rng).random() < error * hurry:
            ladder = self._errors[c]
            way = moment if rote and moment.random() < _SAME else rng.habit(word) if rng.random() < _USUAL else rng
        elif rng.random() < accident * hurry:
            ladder, way = self._accidents[c], rng
        else:
            return "", rng
        self._owed -= 1.0
        return _kind(ladder, way), way

    def _make(self, kind: str, word: str, syllables: tuple[str, ...], rng: Stream) -> str:
        """What comes out for a word with this slip."""
        if kind == "select_full":
            return self._select(word, syllables, rng)
        if kind == "select_abbr":
            return self._choose(word, self._abbreviate(syllables, rng), rng)
        if kind == "input_full":
            return self._slipped(syllables, rng)
        if kind == "input_abbr":
            return self._choose(word, self._wrong_letters(syllables, rng), rng)
        if kind == "false_start":
            return self._false_start(word, syllables, rng)
        if kind == "stray":
            return self._stray(word, rng)
        if kind == "omitted":
            return self._omit(word, rng)
        return self._leave_letters(word, syllables, rng)

    def _select(self, word: str, syllables: tuple[str, ...], rng: Stream) -> str:
        """Another word for the same keys; where there is none, another character for one syllable."""
        keys = "".join(syllables)
        offered = [c.text for c in self.engine.candidates(keys, _MOST) if len(c.text) == len(word) and c.text != word]
        if offered:
            return self._pick(offered, rng)
        at = rng.below(len(word))
        others = [
            c.text for c in self.engine.candidates(syllables[at], _MOST) if len(c.text) == 1 and c.text != word[at]
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
        whole = [c.text for c in offered if c.used >= len(keys) and c.text != word]
        return self._pick(whole, rng) if whole else self._commit(keys)

    def _abbreviate(self, syllables: tuple[str, ...], rng: Stream) -> str:
        """The first letters; sometimes the first syllable is typed out."""
        start = syllables[0] if len(syllables) > 1 and rng.random() < 0.25 else syllables[0][0]
        return start + "".join(s[0] for s in syllables[1:])

    def _wrong_letters(self, syllables: tuple[str, ...], rng: Stream) -> str:
        """An abbreviation with a wrong letter: of a word that was in mind, or hit by mistake."""
        if len(syllables) == 1:
            return rng.choice(_LETTERS) if rng.random() < 0.5 else slip(slip(syllables[0], rng), rng)
        keys = self._abbreviate(syllables, rng)
        at = len(keys) - 1 - rng.below(len(syllables))
        return keys[:at] + rng.choice(_LETTERS) + keys[at + 1 :]

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
            offered = self.engine.candidates(keys, 3)
            if not offered or offered[0].used <= 0:
                return made + keys.replace("'", "")
            made += offered[0].text
            keys = keys[offered[0].used :].lstrip("'")
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
        """A key and the space bar too many: the first word of some letter."""
        offered = [c.text for c in self.engine.candidates(rng.weighted(_LETTERS, _STRAY), 4)]
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
        if way < 0.4:
            return rng.choice(("i", "u", "i", "u", "a", "h", "g", "e", "ing", "n")) + word
        if way < 0.6:
            cut = 1 + rng.below(len(keys))
            return keys[:cut] + word
        if way < 0.8:
            return slip(keys, rng)
        head = self._commit(syllables[0])
        return head + keys[len(syllables[0]) :][:3] if len(syllables) > 1 else head + rng.choice("iu")


_STRAY = tuple(
    {"d": 6.0, "s": 3.0, "l": 3.0, "y": 3.0, "a": 2.0, "m": 2.0, "w": 2.0, "z": 2.0, "h": 2.5}.get(c, 1.0)
    for c in _LETTERS
)


# The mark that a Chinese keyboard gives for the narrow one, and the marks that are mistaken for each other.
_WIDE = {",": "，", "(": "（", ")": "）", ":": "：", ";": "；", "?": "？", "!": "！", "~": "～"}
_MISTAKEN = dict(zip("、。“”；·‘’—？！", "，，”“，.“”-！，", strict=True))


def type_other(profile: TypistProfile, text: str, at: int, rng: Stream, edits: list[Edit]) -> None:
    """The one character at this place, which is not Chinese, typed; what came out wrong is added to the edits."""
    c = text[at]
    if c.isalnum():
        if rng.random() < profile.other:
            edits.append(Edit(at, at + 1, _mistype(c, rng)))
        return
    kind = typed_mark(c)
    lost = profile.lost.get(kind, 0.0)
    point = rng.random()
    if point < lost:
        edits.append(Edit(at, at + 1, ""))
    elif point < lost + profile.changed.get(kind, 0.0) or (c in _WIDE and rng.random() < 0.9):
        new = _WIDE.get(c) or _MISTAKEN.get(c)
        if new:
            edits.append(Edit(at, at + 1, new))


def _mistype(c: str, rng: Stream) -> str:
    if c.isdigit() and c.isascii():
        near = str((int(c) + (1 if rng.random() < 0.5 else 9)) % 10)
        return rng.weighted((near, "", c + near), (0.5, 0.3, 0.2))
    if c.isascii():
        return rng.weighted((c.swapcase(), ""), (0.7, 0.3))
    return ""


# How often each slip is seen where one explains the keys: a third drop a key, a fifth mix up sounds, …
_SLIPS = ("drop", "sound", "neighbour", "vowel", "swap", "double", "space")
_WEIGHTS = (0.32, 0.24, 0.15, 0.13, 0.09, 0.05, 0.02)
_TWICE = 0.2  # share of slips that come as two
_VOWELS = {"o": "ia", "i": "ouea", "u": "iae", "e": "aiu", "a": "euoi"}


def slip(keys: str, rng: Stream) -> str:
    """The keys with one slip, or two; never the same keys."""
    made = _one(keys, rng)
    if len(keys) > 4 and rng.random() < _TWICE:
        made = _one(made, rng)
    for _ in range(8):
        if made != keys and made:
            return made
        made = _one(keys, rng)
    return keys + keys[-1:]


def _one(keys: str, rng: Stream) -> str:
    kind = rng.weighted(_SLIPS, _WEIGHTS)
    if kind == "sound":
        return _mix_sounds(keys, rng)
    if len(keys) < 2:
        return rng.choice(slips_on("en")[keys] or "e")
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
    return keys[:at] + rng.choice(near or slips_on("en")[c] or "e") + keys[at + 1 :]


def _mix_sounds(keys: str, rng: Stream) -> str:
    """n for ng, z for zh, and the other way round: a way of speaking rather than of moving the fingers."""
    ways = []
    for i, c in enumerate(keys):
        if c == "g" and i and keys[i - 1] == "n":
            ways += [keys[:i] + keys[i + 1 :]] * 2
        elif c == "h" and i and keys[i - 1] in "zcs":
            ways.append(keys[:i] + keys[i + 1 :])
        elif c == "n" and i and keys[i - 1] in "aeio" and keys[i + 1 : i + 2] != "g":
            ways += [keys[: i + 1] + "g" + keys[i + 1 :]] * 2
        elif c in "zcs" and keys[i + 1 : i + 2] != "h":
            ways.append(keys[: i + 1] + "h" + keys[i + 1 :])
    return rng.choice(ways) if ways else keys
