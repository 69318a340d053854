"""How Mandarin words sound, which sounds are heard for which, and the words by their sound."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from math import log
from pathlib import Path
from typing import NamedTuple

from unfazed.vary.chinese import APART, lexicon

_TONES = Path(__file__).parent / "data" / "tones.txt"
_INITIAL = re.compile(r"zh|ch|sh|[bpmfdtnlgkhjqxrzcsyw]?")
_MARKED = re.compile(r"(.)(\d)")
NEUTRAL = 5


class Syllable(NamedTuple):
    """A syllable as it is spelled, and its tone from 1 to 5."""

    plain: str
    tone: int


@lru_cache(2_000)
def halves(plain: str) -> tuple[str, str]:
    """Initial and final. After j, q, x and y the letter u is ü; yi and wu have no initial of their own."""
    initial = _INITIAL.match(plain)[0]  # type: ignore[index]
    final = plain[len(initial) :]
    if initial in ("j", "q", "x", "y") and final.startswith("u"):
        final = "v" + final[1:]
    if initial == "y":
        final = final if final[0] in "iv" else "i" + final
        return "", {"ie": "ie", "ian": "ian"}.get(final, final)
    if initial == "w":
        return "", final if final[0] == "u" else "u" + {"ei": "i", "en": "n", "eng": "eng"}.get(final, final)
    if initial in ("zh", "ch", "sh", "r", "z", "c", "s") and final == "i":
        final = "-i"  # the buzzed vowel of zhi and zi
    return initial, final


@lru_cache(1)
def _tones() -> dict[str, int]:
    """The tone of a character with the reading after it."""
    found = {}
    for line in _TONES.read_text(encoding="utf-8").splitlines():
        plain, marked = line.split("\t")
        for c, tone in _MARKED.findall(marked):
            found[c + plain] = int(tone)
    return found


@lru_cache(100_000)
def pronounced(word: str) -> tuple[Syllable, ...] | None:
    """The syllables of a word, or None if a character has no reading."""
    plain = lexicon().reading(word)
    if plain is None:
        return None
    tones = _tones()
    return tuple([Syllable(p, tones.get(c + p, NEUTRAL)) for c, p in zip(word, plain, strict=True)])


@cache
def _halved() -> list[tuple[str, str, str]]:
    """Every syllable with its initial and its final."""
    return [(plain, *halves(plain)) for plain in sorted(lexicon().syllables)]


class Ear:
    """What is heard for what: costs, as negative logs of chances, of hearing one initial, final or tone for another.

    `heard` maps `n>l`, `an>ang` or `1>4` to a chance; what is not named is as likely as `_REST` of all that is unnamed.
    """

    _REST = 0.004
    _FARTHEST = 9.5  # cost beyond which no sound is taken for another

    def __init__(self, heard: Mapping[str, float]) -> None:
        self._heard = heard
        self._near: dict[str, list[tuple[str, float]]] = {}
        tones = range(NEUTRAL + 1)
        # of hearing a tone as another, by their numbers
        self.tones = [[self._cost(f"{a}>{b}", 0.0 if a == b else 3.0) for b in tones] for a in tones]

    def _cost(self, pair: str, otherwise: float) -> float:
        chance = self._heard.get(pair)
        return otherwise if chance is None else -log(max(chance, 1e-4))

    def half(self, one: str, two: str) -> float:
        """The cost of hearing an initial or a final as another."""
        return self._cost(f"{one}>{two}", 0.3 if one == two else -log(self._REST))

    def near(self, plain: str, most: int) -> list[tuple[str, float]]:
        """The syllables that this one is likeliest heard as, itself among them, with their costs."""
        found = self._near.get(plain)
        if found is None:
            initial, final = halves(plain)
            by_initial = {i: self.half(initial, i) for i in {i for _, i, _ in _halved()}}
            by_final = {f: self.half(final, f) for f in {f for _, _, f in _halved()}}
            rated = [(other, by_initial[i] + by_final[f]) for other, i, f in _halved()]
            found = [pair for pair in rated if pair[1] < self._FARTHEST]
            found.sort(key=lambda pair: pair[1])
            self._near[plain] = found
        return found[:most]


Sounding = tuple[float, str, tuple[int, ...]]  # what a word is worth, the word, and the tones of its syllables
_MOST = 12  # words of one reading that are looked at, the commonest
LONGEST = 4  # syllables of the longest word that is looked for


class Vocabulary:
    """Words by their sound, and what each is worth by its log frequency: `weight` times that, less `cost`."""

    def __init__(self, weight: float, cost: float) -> None:
        self._weight, self._cost = weight, cost
        # For readings of so many syllables: what they begin with → a syllable → what they begin with up to there.
        self._longer: list[dict[str, dict[str, str]]] = [{"": {}} for _ in range(LONGEST + 1)]
        for reading in lexicon():
            size = reading.count(APART) + 1
            if size <= LONGEST:
                self._add(reading + APART, self._longer[size])
        self._words: dict[str, tuple[Sounding, ...]] = {}

    def _add(self, reading: str, longer: dict[str, dict[str, str]]) -> None:
        while reading:
            start, _, last = reading[:-1].rpartition(APART)
            start = start and start + APART
            known = start in longer
            longer.setdefault(start, {})[last] = reading
            if known:
                break
            reading = start

    def near(
        self, sounds: Sequence[Sequence[tuple[str, float]]], most: float
    ) -> list[tuple[tuple[Sounding, ...], float]]:
        """The words of each reading that takes one of the syllables at each place, whose costs are less than `most`.

        The syllables are given with their costs, the cheapest first.
        """
        ways, longer = [("", 0.0)], self._longer[len(sounds)]
        for near in sounds:
            before, ways = ways, []
            for start, cost in before:
                after = longer[start]
                for plain, more in near:
                    if cost + more >= most:
                        break
                    if plain in after:
                        ways.append((after[plain], cost + more))
        known = self._words
        return [(known.get(reading) or self._sounding(reading), cost) for reading, cost in ways]

    def _sounding(self, reading: str) -> tuple[Sounding, ...]:
        plain, tones, found = reading[:-1].split(APART), _tones(), []
        for word, frequency in lexicon().words(reading[:-1])[:_MOST]:
            its = tuple([tones.get(c + p, NEUTRAL) for c, p in zip(word, plain, strict=True)])
            found.append((self._weight * frequency - self._cost, word, its))
        self._words[reading] = tuple(found)
        return self._words[reading]
