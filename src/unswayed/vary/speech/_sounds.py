"""How Mandarin words sound, which sounds are heard for which, and the words by their sound."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache, cached_property, lru_cache
from importlib.resources import files
from math import log
from typing import Any, NamedTuple

from unswayed.vary.chinese import APART, lexicon, listed
from unswayed.vary.words import summed

_TONES = files("unswayed.vary.speech") / "data" / "tones.txt"
_INITIAL = re.compile(r"zh|ch|sh|[bpmfdtnlgkhjqxrzcsyw]?")
_MARKED = re.compile(r"(.)(\d)")
NEUTRAL = 5
TONES = 6  # there is no tone 0


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
def syllables() -> list[str]:
    """Every syllable, in order. Its place is its number."""
    return sorted(lexicon().syllables)


@cache
def _numbers() -> dict[str, int]:
    return {plain: number for number, plain in enumerate(syllables())}


@cache
def _halved() -> list[tuple[str, str, str]]:
    """Every syllable with its initial and its final."""
    return [(plain, *halves(plain)) for plain in syllables()]


Sounding = tuple[float, str, int]  # what a word is worth, the word, and the tones of its syllables as one number
_Costs = Mapping[int, float] | list[float]


class Ear:
    """What is heard for what: costs, as negative logs of chances, of hearing one initial, final or tone for another.

    `heard` maps `n>l`, `an>ang` or `1>4` to a chance; what is not named is as likely as `_REST` of all that is unnamed.
    """

    _REST = 0.004
    _FARTHEST = 9.5  # cost beyond which no sound is taken for another

    def __init__(self, heard: Mapping[str, float]) -> None:
        self._heard = heard
        self._near: dict[tuple[str, int], dict[int, float]] = {}
        tones = range(TONES)
        # of hearing a tone as another, by their numbers
        self.tones = [[self._cost(f"{a}>{b}", 0.0 if a == b else 3.0) for b in tones] for a in tones]

    def _cost(self, pair: str, otherwise: float) -> float:
        chance = self._heard.get(pair)
        return otherwise if chance is None else -log(max(chance, 1e-4))

    def half(self, one: str, two: str) -> float:
        """The cost of hearing an initial or a final as another."""
        return self._cost(f"{one}>{two}", 0.3 if one == two else -log(self._REST))

    def near(self, plain: str, most: int) -> dict[int, float]:
        """The numbers of the syllables that this one is likeliest heard as, itself too, with their costs, in order."""
        found = self._near.get((plain, most))
        if found is None:
            found = self._near[plain, most] = dict(self._nearest(plain)[:most])
        return found

    def _nearest(self, plain: str) -> list[tuple[int, float]]:
        initial, final = halves(plain)
        by_initial = {i: self.half(initial, i) for i in {i for _, i, _ in _halved()}}
        by_final = {f: self.half(final, f) for f in {f for _, _, f in _halved()}}
        rated = [(number, by_initial[i] + by_final[f]) for number, (_, i, f) in enumerate(_halved())]
        return sorted([pair for pair in rated if pair[1] < self._FARTHEST], key=lambda pair: pair[1])

    def hearing(self, tones: Sequence[int], words: Iterable[tuple[Sequence[Sounding], float]]) -> _Costs:
        """The costs of hearing the tones of some syllables as those of the words, by the number that words have."""
        if len(tones) == 1:
            return self.tones[tones[0]]
        if len(tones) == 2:  # these are asked for most
            return self._pairs[tones[0]][tones[1]]
        costs = [self.tones[tone] for tone in tones]
        numbers = {its for same, _ in words for _, _, its in same}
        return {its: summed(cost[i] for cost, i in zip(costs, apart(its, len(tones)), strict=True)) for its in numbers}

    @cached_property
    def _pairs(self) -> list[list[list[float]]]:
        """Costs by the two tones that are said and the number of those heard."""
        return [[[one + two for one in ones for two in twos] for twos in self.tones] for ones in self.tones]


_MOST = 12  # words of one reading that are looked at, the commonest
LONGEST = 4  # syllables of the longest word that is looked for


class Vocabulary:
    """Words by their sound, and what each is worth by its log frequency: `weight` times that, less `cost`.

    The words that begin with a syllable are read when it is first heard.
    """

    def __init__(self, weight: float, cost: float) -> None:
        self._weight, self._cost = weight, cost
        self._worths: dict[float, float] = {}  # there are few, which words share
        self._trees: list[list[Any]] = [[] for _ in syllables()]

    def near(self, sounds: Sequence[Mapping[int, float]], most: float) -> list[tuple[tuple[Sounding, ...], float]]:
        """The words of each reading that takes one of the syllables at each place, whose costs are less than `most`.

        The syllables are given by their numbers, with their costs, the cheapest first.
        """
        size, trees = len(sounds), self._trees
        ways = [((trees[first] or self._tree(first))[size], cost) for first, cost in sounds[0].items() if cost < most]
        if size > 1:
            ways = _longer(ways, sounds[1], most)
        for near in sounds[2:]:
            ways = [
                (found, total)
                for after, cost in ways
                for syllable, found in after.items()
                if syllable in near and (total := cost + near[syllable]) < most
            ]
        return ways

    def _tree(self, first: int) -> list[Any]:
        """The words that begin with a syllable, by how many they have: by the second, by the third, by the last.

        What comes second is a list, which is sooner looked up than a mapping; of what comes after, there is little.
        """
        plain = syllables()[first]
        tree = self._trees[first] = [None, (), *([None] * len(syllables()) for _ in range(LONGEST - 1))]
        for rest, row in lexicon().rows(plain).items():
            spelled = [plain, *rest.split(APART)] if rest else [plain]
            size = len(spelled)
            if size <= LONGEST:
                words = tuple([self._sounding(word, f, spelled) for word, f in listed(row, size)[:_MOST]])
                *path, last = [size, *[_numbers()[syllable] for syllable in spelled[1:]]]
                after: Any = tree
                for number in path:
                    if isinstance(after, dict):
                        after = after.setdefault(number, {})
                    else:
                        after[number] = after[number] or {}
                        after = after[number]
                after[last] = words
        return tree

    def _sounding(self, word: str, frequency: float, syllables: list[str]) -> Sounding:
        worth, its = (
            self._weight * frequency - self._cost,
            [_tones().get(c + p, NEUTRAL) for c, p in zip(word, syllables, strict=True)],
        )
        return self._worths.setdefault(worth, worth), word, together(its)


def _longer(ways: list[tuple[Any, float]], near: Mapping[int, float], most: float) -> list[tuple[Any, float]]:
    """The ways that go on by a second syllable, which are most of those that are tried."""
    longer, tried = [], list(near.items())
    for after, cost in ways:
        for syllable, more in tried:
            total = cost + more
            if total >= most:
                break
            found = after[syllable]
            if found:
                longer.append((found, total))
    return longer


def together(tones: Iterable[int]) -> int:
    """The tones of a word as one number."""
    number = 0
    for tone in tones:
        number = number * TONES + tone
    return number


def apart(number: int, size: int) -> list[int]:
    """The tones that a number stands for."""
    return [number // TONES**place % TONES for place in range(size - 1, -1, -1)]
