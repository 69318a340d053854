"""The words that a recogniser writes for what it heard: by sound, by how common they are, and by what follows what.

Sounds of one sort (all vowels; *t d th*; *l r*) are one in a word's rough sound, so that the words that may have been
heard for a stretch of sounds are found by looking it up. All costs are whole numbers, in quarters of a bit.
"""

from __future__ import annotations

import lzma
from bisect import bisect
from collections import defaultdict
from functools import cache, lru_cache
from importlib.resources import files
from itertools import accumulate

from unswayed.base.seeds import Stream
from unswayed.vary.spoken._phones import CODES, VOWELS, akin
from unswayed.vary.spoken._speako import NAME, ONLY_SAID, ears

BIT = 4
_SORTS = ("P B", "T D TH DH", "K G", "F V", "S Z", "CH JH SH ZH", "M N NG", "L R", "W", "Y")
_ROUGH = {CODES[p]: ord(sort[0]) for sort in _SORTS for p in sort.split()} | {CODES[p]: ord("a") for p in VOWELS}
_ROUGH_TABLE = {ord(code): rough for code, rough in _ROUGH.items()}
BREATH = CODES["HH"]  # is heard or not, and tells nothing
# How common words are: ranks, and bits of surprise there; between them along a line.
_RANKS = (0, 9, 31, 99, 315, 999, 3161, 9999, 31622, 52_000)
_BITS = (4.2, 6.5, 8.0, 9.9, 11.8, 13.4, 15.3, 17.7, 20.6, 22.0)
_KEPT = 20_000  # stretches of sounds whose costs are kept
_LONGEST = 12  # sounds of the longest word that is looked for
_MOST = 10  # words of one rough sound that are considered, the commonest
_OTHER = 7  # cost of a sound that is not the one heard but akin to it
_FAR = 11  # and of one that is not akin
_NO_PAIR = 12  # cost of two words that seldom follow each other
_BEAM = 28  # ways that cost so much more than the cheapest are not looked at
_SHARP = 3  # the higher, the more often the likeliest words are taken
_CHANCES = [round(2 ** (30 - cost / _SHARP)) for cost in range(30 * _SHARP)]
_NAME_COST = 4  # of a name, over a word as common


_Found = tuple[int, int, str]  # what a word costs, its rank and its sound


def _cost_of_rank(rank: int) -> int:
    at = max(1, bisect(_RANKS, rank))
    low, high = _RANKS[at - 1], _RANKS[at]
    bits = _BITS[at - 1] + (_BITS[at] - _BITS[at - 1]) * (rank - low) / (high - low)
    return round(BIT * bits)


class Lattice:
    """The vocabulary by sound, and which words follow which."""

    def __init__(self) -> None:
        self.words: list[str] = []
        self.names: set[str] = set()
        self.ranks: dict[str, int] = {}
        self.sounds: dict[str, str] = {}
        self._same: dict[str, list[_Found]] = defaultdict(list)  # a sound → words
        self._alike: dict[str, list[_Found]] = defaultdict(list)  # a rough sound → words
        for rank, (spelling, kind, sounds) in enumerate(ears().spoken()):
            self._add(rank, spelling, kind, sounds)
        for found in (*self._same.values(), *self._alike.values()):
            found.sort()
        self._cheapest = {rough: found[0][0] for rough, found in self._alike.items()}
        self._rests = lru_cache(_KEPT)(self._rest)
        self._pairs = _pairs()
        self._apart = _apart()

    def _add(self, rank: int, spelling: str, kind: str, sounds: tuple[str, ...]) -> None:
        self.words.append(spelling)
        self.ranks[spelling] = rank
        self.sounds[spelling] = sounds[0]
        cost = _cost_of_rank(rank) + (_NAME_COST if kind == NAME else 0)
        if kind == NAME:
            self.names.add(spelling)
        if kind == ONLY_SAID:
            return
        for sound in {s.replace(BREATH, ""): None for s in sounds}:
            if not sound:
                continue
            self._same[sound].append((cost, rank, sound))
            rough = sound.translate(_ROUGH_TABLE)
            if len(self._alike[rough]) < _MOST:
                self._alike[rough].append((cost, rank, sound))

    def written(self, heard: str, before: str, after: str, each: int, rng: Stream) -> list[str] | None:
        """Words for these sounds, drawn by how likely they are; None if no words sound like this.

        `each` is what a word costs, however common: recognisers prefer few long words.
        """
        heard = heard.replace(BREATH, "")
        rough = heard.translate(_ROUGH_TABLE)
        rest = self._rests(rough, each)
        if rest[0] is None:
            return None
        at, end, made = 0, len(heard), []
        last = self.ranks.get(before, -1)
        then = self.ranks.get(after, -1)
        while at < end:
            at, last = self._next(heard, rough, at, rest, last, then, each, rng)
            made.append(self.words[last])
        return made

    def _rest(self, rough: str, each: int) -> list[int | None]:
        """From each place on, what the cheapest words cost up to the end."""
        cheapest, end = self._cheapest, len(rough)
        rest: list[int | None] = [None] * end + [0]
        for at in range(end - 1, -1, -1):
            best = None
            for stop in range(at + 1, min(end, at + _LONGEST) + 1):
                after = rest[stop]
                if after is not None:
                    cost = cheapest.get(rough[at:stop])
                    if cost is not None and (best is None or cost + after < best):
                        best = cost + after
            rest[at] = best if best is None else best + each
        return rest

    def _next(
        self, heard: str, rough: str, at: int, rest: list[int | None], last: int, then: int, each: int, rng: Stream
    ) -> tuple[int, int]:  # fmt: skip
        """Draws a word from here on: where it ends, and its rank."""
        ways: list[tuple[int, int]] = []
        costs: list[int] = []
        pairs, apart, same, alike, end = self._pairs, self._apart, self._same, self._alike, len(heard)
        limit = (rest[at] or 0) - each + _BEAM
        for stop in range(at + 1, min(end, at + _LONGEST) + 1):
            after = rest[stop]
            key = rough[at:stop]
            if after is None or key not in alike:
                continue
            part = heard[at:stop]
            for exact, words in ((True, same.get(part, ())), (False, alike[key])):
                for word_cost, rank, sound in words:
                    cost = word_cost + after
                    if cost > limit:
                        break
                    if not exact:
                        if sound == part:
                            continue
                        cost += sum(map(apart.__getitem__, zip(sound, part, strict=True)))
                    if last >= 0:
                        cost += _NO_PAIR - pairs.get(last << 16 | rank, 0)
                    if stop == end and then >= 0:
                        cost += _NO_PAIR - pairs.get(rank << 16 | then, 0)
                    ways.append((stop, rank))
                    costs.append(cost)
        least = min(costs)
        chances = list(accumulate([_CHANCES[min(cost - least, len(_CHANCES) - 1)] for cost in costs]))
        return ways[bisect(chances, rng.below(chances[-1]))]


@cache
def lattice() -> Lattice:
    """The shipped vocabulary, read once a process."""
    return Lattice()


def _apart() -> dict[tuple[str, str], int]:
    """What it costs to write one sound for another."""
    names = {code: name for name, code in CODES.items()}
    return {
        (a, b): 0 if a == b else _OTHER if akin(names[a], names[b]) else _FAR for a in names for b in names
    }  # fmt: skip


def _pairs() -> dict[int, int]:
    """What a pair of words saves against two words that follow each other by chance."""
    found = {}
    text = lzma.decompress(files("unswayed.vary.speech").joinpath("data", "english_pairs.txt.xz").read_bytes()).decode()
    for first, row in enumerate(text.split("\n")):
        second = 0
        for cell in row.split():
            second += int(cell[1:], 16)
            found[first << 16 | second] = BIT * int(cell[0], 16) + _NO_PAIR
    return found
