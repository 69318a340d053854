"""Exact search for the nearest of many pronunciations: a cheap lower bound first, edit distances for what it leaves."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from rapidfuzz.distance import Levenshtein
from rapidfuzz.process import cdist

from unfazed.vary.spoken._phones import CODES, WEAK, akin

_NEVER = 255  # the bound of what may not be the answer
_COMMONEST = "AH N S T IH L R K D IY ER EH M Z AA AE P B OW F EY AY G AO V"  # as many as bits are left
_TWICE = _COMMONEST.split()
Array = npt.NDArray[Any]


class Query(NamedTuple):
    """A pronunciation, how far to look, ranks of words that aren't the answer, and whether only common words are."""

    sound: str
    within: int
    skip: frozenset[int] = frozenset()
    common: bool = False


class Nearest(NamedTuple):
    distance: int
    unlike: int  # how many of the edits are not between like sounds
    rank: int


class Index:
    """Pronunciations in order of length, each with the rank of its word and whether that is a common one."""

    def __init__(self, sounds: Iterable[tuple[str, int, bool]]) -> None:
        entries = sorted(sounds, key=lambda entry: len(entry[0]))
        self._sounds = [sound for sound, _, _ in entries]
        self._ranks = [rank for _, rank, _ in entries]
        self._common = np.array([common for _, _, common in entries], bool)
        self._lengths = np.array([len(sound) for sound in self._sounds], np.int64)
        self._bits = _bits(self._sounds)

    def nearest(self, queries: Sequence[Query]) -> list[Nearest | None]:
        """For each the word at the least distance above 0; ties go to more alike sounds, then to lower rank."""
        bits = _bits([query.sound for query in queries])
        return [self._nearest(query, own) for query, own in zip(queries, bits, strict=True)]

    def _nearest(self, query: Query, bits: np.uint64) -> Nearest | None:
        """Measures what may be within 2, then what may be at 3, and so on until nothing nearer can come."""
        start, bounds = self._bounds(query, bits)
        near: list[tuple[int, int]] = []  # distance and place
        done = -1
        for radius in range(min(2, query.within), query.within + 1):
            places = (np.flatnonzero((bounds <= radius) & (bounds > done)) + start).tolist()
            if query.skip:
                places = [place for place in places if self._ranks[place] not in query.skip]
            near += ((d, place) for d, place in zip(self._measure(query.sound, places), places, strict=True) if d)
            least = min(near, default=(_NEVER, 0))[0]
            if least <= radius:
                return self._best(query.sound, least, [place for d, place in near if d == least])
            done = radius
        return None

    def _bounds(self, query: Query, bits: np.uint64) -> tuple[int, Array]:
        """What the distances are at least, from the first pronunciation that isn't too short on.

        A phone that only one of two has takes an edit, and so does a difference in length.
        """
        length = len(query.sound)
        start, end = np.searchsorted(self._lengths, (length - query.within, length + query.within + 1)).tolist()
        others = self._bits[start:end]
        bounds = np.maximum(np.bitwise_count(bits & ~others), np.bitwise_count(others & ~bits))
        bounds = np.maximum(bounds, np.abs(self._lengths[start:end] - length).astype(np.uint8))
        if query.common:
            bounds[~self._common[start:end]] = _NEVER
        return start, bounds

    def _measure(self, sound: str, places: list[int]) -> list[int]:
        others = [self._sounds[place] for place in places]
        distances: list[int] = cdist([sound], others, scorer=Levenshtein.distance, dtype=np.uint8)[0].tolist()
        return distances

    def _best(self, sound: str, distance: int, places: list[int]) -> Nearest:
        """The one of these that takes the fewest edits between unlike sounds, and of such the lowest rank."""
        best: tuple[int, int] | None = None
        for rank, other in sorted((self._ranks[place], self._sounds[place]) for place in places):
            found = (unlike_edits(sound, other), rank)
            best = min(best or found, found)
            if best[0] == 0:
                break
        assert best
        return Nearest(distance, *best)


def _bits(sounds: Sequence[str]) -> Array:
    """For each sound a bit for each phone that is in it, and one more for a common phone that is in it twice."""
    longest = max(map(len, sounds), default=0)
    padded = "".join(sound.ljust(longest, "\0") for sound in sounds).encode("ascii")
    codes = np.frombuffer(padded, np.uint8).reshape(len(sounds), longest)
    once, twice = np.zeros((2, len(sounds)), np.uint64)
    for phones in _BIT_OF[codes.T]:
        twice |= once & phones
        once |= phones
    return once | ((twice & np.uint64((1 << len(_TWICE)) - 1)) << np.uint64(len(CODES)))


def _bit_table() -> Array:
    table = np.zeros(128, np.uint64)
    for i, phone in enumerate(sorted(CODES, key=lambda p: p not in _TWICE)):
        table[ord(CODES[phone])] = 1 << i
    return table


def unlike_edits(sound: str, other: str) -> int:
    """How many of the fewest edits from one sound to another are not between like sounds, at the least."""
    drops = [_STEP + 1, *(_GAPS[phone] for phone in sound[1:])]
    costs = [0]
    for drop in drops[: len(sound)]:
        costs.append(costs[-1] + drop)
    for j, phone in enumerate(other):
        add, changes = _GAPS[phone] if j else _STEP + 1, _CHANGES[phone]
        diagonal, costs[0] = costs[0], costs[0] + add
        for i, own in enumerate(sound):
            cost = min(diagonal + changes[own], costs[i] + drops[i], costs[i + 1] + add)
            diagonal, costs[i + 1] = costs[i + 1], cost
    return costs[-1] % _STEP


_BIT_OF = _bit_table()
_STEP = 256  # the cost of an edit; one that is not between like sounds costs 1 more
_GAPS = {code: _STEP + (phone not in WEAK) for phone, code in CODES.items()}
_CHANGES = {
    code: {other: 0 if a == b else _STEP + (not akin(a, b)) for b, other in CODES.items()} for a, code in CODES.items()
}
