"""The words that an English recogniser writes for what it heard: by sound, frequency, and the words beside them.

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
from unswayed.vary.spoken._speako import CODES, NAME, ONLY_SAID, VOWELS, akin, ears

BIT = 4
_SORTS = ("P B", "T D TH DH", "K G", "F V", "S Z", "CH JH SH ZH", "M N NG", "L R", "W", "Y")
_ROUGH = {CODES[p]: ord(sort[0]) for sort in _SORTS for p in sort.split()} | {CODES[p]: ord("a") for p in VOWELS}
_ROUGH_TABLE = {ord(code): rough for code, rough in _ROUGH.items()}
BREATH = CODES["HH"]  # is heard or not, and tells nothing
# How common words are: ranks, and bits of surprise there; between them along a line.
_RANKS = (0, 9, 31, 99, 315, 999, 3161, 9999, 31622, 52_000)
_BITS = (4.2, 6.5, 8.0, 9.9, 11.8, 13.4, 15.3, 17.7, 20.6, 22.0)
_MAX_CACHED = 20_000  # stretches of sounds whose costs are kept
_MAX_SOUNDS = 12  # sounds of the longest word that is looked for
_MAX_ALIKE = 10  # words of one rough sound that are considered, the commonest
_AKIN_COST = 7  # cost of a sound that is not the one heard but akin to it
_UNLIKE_COST = 11  # and of one that is not akin
_NO_PAIR_COST = 12  # cost of two words that seldom follow each other
_BEAM_WIDTH = 28  # ways that cost so much more than the cheapest are not looked at
_SHARPNESS = 3  # the higher, the more often the likeliest words are taken
_CHANCES = [round(2 ** (30 - cost / _SHARPNESS)) for cost in range(30 * _SHARPNESS)]
_NAME_COST = 4  # of a name, over a word as common


_Found = tuple[int, int, str]  # what a word costs, its rank and its sound


class Lattice:
    """The vocabulary by sound, and which words follow which."""

    def __init__(self) -> None:
        self.ranks = ears().ranks
        self.words = list(self.ranks)
        self.names: set[str] = set()
        self.sounds: dict[str, str] = {}
        self._same: dict[str, list[_Found]] = defaultdict(list)  # a sound → words
        self._alike: dict[str, list[_Found]] = defaultdict(list)  # a rough sound → words
        for rank, (spelling, kind, sounds) in enumerate(ears().spoken()):
            self.sounds[spelling] = sounds[0]
            at = max(1, bisect(_RANKS, rank))
            bits = _BITS[at - 1] + (_BITS[at] - _BITS[at - 1]) * (rank - _RANKS[at - 1]) / (_RANKS[at] - _RANKS[at - 1])
            cost = round(BIT * bits) + (_NAME_COST if kind == NAME else 0)
            if kind == NAME:
                self.names.add(spelling)
            if kind == ONLY_SAID:
                continue
            for sound in filter(None, dict.fromkeys(s.replace(BREATH, "") for s in sounds)):
                self._same[sound].append((cost, rank, sound))
                rough = sound.translate(_ROUGH_TABLE)
                if len(self._alike[rough]) < _MAX_ALIKE:
                    self._alike[rough].append((cost, rank, sound))
        for found in (*self._same.values(), *self._alike.values()):
            found.sort()
        self._cheapest = {rough: found[0][0] for rough, found in self._alike.items()}
        self._rests = lru_cache(_MAX_CACHED)(self._cheapest_rests)
        names = {code: name for name, code in CODES.items()}
        self._apart = {  # what it costs to write one sound for another
            (a, b): 0 if a == b else _AKIN_COST if akin(names[a], names[b]) else _UNLIKE_COST
            for a in names
            for b in names
        }
        self._pairs: dict[int, int] = {}  # what two words save against two that follow each other by chance
        packed = files("unswayed.vary.speech").joinpath("data", "english_pairs.txt.xz").read_bytes()
        for first, row in enumerate(lzma.decompress(packed).decode().split("\n")):
            second = 0
            for cell in row.split():
                second += int(cell[1:], 16)
                self._pairs[first << 16 | second] = BIT * int(cell[0], 16) + _NO_PAIR_COST

    def draw_words(self, heard: str, before: str, after: str, each: int, rng: Stream) -> list[str] | None:
        """Words for these sounds, drawn by how likely they are; None if no words sound like this.

        `each` is what a word costs, however common: recognisers prefer few long words.
        """
        heard = heard.replace(BREATH, "")
        rough = heard.translate(_ROUGH_TABLE)
        rest = self._rests(rough, each)
        if rest[0] is None:
            return None
        pairs, apart, same, alike = self._pairs, self._apart, self._same, self._alike
        at, end, made = 0, len(heard), []
        last = self.ranks.get(before, -1)
        then = self.ranks.get(after, -1)
        while at < end:
            ways: list[tuple[int, int]] = []  # where a word ends that begins here, and its rank
            costs: list[int] = []
            limit = (rest[at] or 0) - each + _BEAM_WIDTH
            for stop in range(at + 1, min(end, at + _MAX_SOUNDS) + 1):
                rest_cost = rest[stop]
                key = rough[at:stop]
                if rest_cost is None or key not in alike:
                    continue
                part = heard[at:stop]
                for exact, words in ((True, same.get(part, ())), (False, alike[key])):
                    for word_cost, rank, sound in words:
                        cost = word_cost + rest_cost
                        if cost > limit:
                            break
                        if not exact:
                            if sound == part:
                                continue
                            cost += sum(map(apart.__getitem__, zip(sound, part, strict=True)))
                        if last >= 0:
                            cost += _NO_PAIR_COST - pairs.get(last << 16 | rank, 0)
                        if stop == end and then >= 0:
                            cost += _NO_PAIR_COST - pairs.get(rank << 16 | then, 0)
                        ways.append((stop, rank))
                        costs.append(cost)
            least = min(costs)
            chances = list(accumulate([_CHANCES[min(cost - least, len(_CHANCES) - 1)] for cost in costs]))
            at, last = ways[bisect(chances, rng.below(chances[-1]))]
            made.append(self.words[last])
        return made

    def _cheapest_rests(self, rough: str, each: int) -> list[int | None]:
        """From each place on, what the cheapest words cost up to the end."""
        cheapest, end = self._cheapest, len(rough)
        rest: list[int | None] = [None] * end + [0]
        for at in range(end - 1, -1, -1):
            best = None
            for stop in range(at + 1, min(end, at + _MAX_SOUNDS) + 1):
                after = rest[stop]
                if after is not None:
                    cost = cheapest.get(rough[at:stop])
                    if cost is not None and (best is None or cost + after < best):
                        best = cost + after
            rest[at] = best if best is None else best + each
        return rest


@cache
def lattice() -> Lattice:
    """The shipped vocabulary, read once a process."""
    return Lattice()
