"""Distinct answers of a store and a code for each key: read once, from the first row to the last, where they are few
and short.

To look up a key takes many times as long as to read its row. Labels come again and again, so that the distinct
answers are kept and a number for each key. Where answers are mostly distinct, as texts are, they are looked up.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import isqrt

import msgspec
import numpy as np
import numpy.typing as npt

from unswayed.base.values import Output
from unswayed.storage.answers import AnswerStore
from unswayed.storage.keys import Key

Ints = npt.NDArray[np.int64]
Firsts = npt.NDArray[np.uint64]  # the first halves of keys
Tags = npt.NDArray[np.uint32]  # bits of the second half of a key, then the number of its answer
_NUMBER_BITS = 14
_MAX_DISTINCT, _MAX_BYTES = 1 << _NUMBER_BITS, 4 << 20  # answers that are held
_PARTS = 32
_PART_SHIFT = np.uint64(64 - 5)  # leaves the bits of a first half that say in which part it is
_NUMBER = np.uint32(_MAX_DISTINCT - 1)


class StoredAnswers:
    """Gives the answers of keys, `missing` for those that have none, without their seconds and tokens.

    `expected` is about how many keys will be asked for: a store that holds many more is not worth reading whole.
    """

    def __init__(self, store: AnswerStore, missing: Output, expected: int) -> None:
        self._store, self._missing = store, missing
        self._codes = _read_all(store) if store.size <= 2 * expected + 1000 else None

    def codes_of(self, keys: Sequence[Key]) -> tuple[list[Output], Ints]:
        """The distinct answers, and which of them each key has."""
        if self._codes is None:
            found = self._store.get(keys)
            place = {key: at for at, key in enumerate(found, 1)}
            codes = np.fromiter((place.get(key, 0) for key in keys), dtype=np.int64, count=len(keys))
            every = [self._missing, *found.values()]
        else:
            codes, every = self._codes.numbers(keys), [self._missing, *self._codes.answers]
        there = np.zeros(len(every), dtype=bool)
        there[codes] = True
        return [every[number] for number in np.flatnonzero(there).tolist()], (np.cumsum(there) - 1)[codes]


class _KeyCodes:
    """Keys in parts, each in ascending order of their first halves, with the number of each key's answer: 12 bytes.

    Of the second half 18 bits are held: among ten million keys, one that is not there passes for another once in 10^17.
    """

    def __init__(self, parts: _KeyParts, answers: list[Output]) -> None:
        self.answers = answers
        self._parts = parts.sorted_parts()

    @property
    def is_unambiguous(self) -> bool:
        """Does the first half of a key tell it from all others?"""
        for first, tags in self._parts:
            alike = np.flatnonzero(first[1:] == first[:-1])
            if (tags[alike] | _NUMBER != tags[alike + 1] | _NUMBER).any():
                return False
        return True

    def numbers(self, keys: Sequence[Key]) -> Ints:
        """The number of each key's answer, from 1; 0 for a key that is not there."""
        wanted = _key_halves(b"".join(keys))
        order = np.argsort(wanted[:, 0])  # those near to each other are looked up together, which is much faster
        first, checks = wanted[order, 0], _key_tags(wanted[order, 1])
        numbers = np.zeros(len(keys), dtype=np.int64)
        ends = np.searchsorted(first >> _PART_SHIFT, np.arange(_PARTS), side="right").tolist()
        for (held, tags), (start, end) in zip(self._parts, pairwise([0, *ends]), strict=True):
            if len(held) and start < end:
                at = np.maximum(np.searchsorted(held, first[start:end], side="right") - 1, 0)  # the last of equal ones
                there = (held[at] == first[start:end]) & (tags[at] | _NUMBER == checks[start:end] | _NUMBER)
                numbers[start:end] = np.where(there, (tags[at] & _NUMBER).astype(np.int64) + 1, 0)
        found = np.empty(len(keys), dtype=np.int64)
        found[order] = numbers
        return found


class _KeyParts:
    """Keys as they come, in parts by their first bits: each is sorted by itself, so that memory holds all keys once.

    Keys are hashes, so parts are about equally long, and have their room in one array from the start: memory that an
    array of this size took goes back when it is no longer needed, which small pieces would not.
    """

    def __init__(self, size: int) -> None:
        room = size // _PARTS + 8 * isqrt(size // _PARTS + 1) + 64
        self._first: Firsts = np.empty((_PARTS, room), dtype=np.uint64)
        self._tags: Tags = np.empty((_PARTS, room), dtype=np.uint32)
        self._filled = np.zeros(_PARTS, dtype=np.int64)

    def add(self, keys: bytes, numbers: Sequence[int]) -> bool:
        """Adds keys in one piece, and the number of each one's answer, from 1; False if there is no room for them."""
        halves = _key_halves(keys)
        tags = _key_tags(halves[:, 1]) | (np.array(numbers, dtype=np.uint32) - np.uint32(1))
        part = (halves[:, 0] >> _PART_SHIFT).astype(np.uint8)
        order = part.argsort(kind="stable")
        counts = np.bincount(part, minlength=_PARTS)
        if (self._filled + counts).max() > self._first.shape[1]:
            return False
        part = part[order]
        at = self._filled[part] + np.arange(len(part)) - (counts.cumsum() - counts)[part]
        self._first[part, at], self._tags[part, at] = halves[order, 0], tags[order]
        self._filled += counts
        return True

    def sorted_parts(self) -> list[tuple[Firsts, Tags]]:
        """The parts, whose keys are sorted where they are."""
        found = []
        for every, others, size in zip(self._first, self._tags, self._filled.tolist(), strict=True):
            first, tags = every[:size], others[:size]
            order = first.argsort(kind="stable")  # of answers to the same key, the last stays the last
            first[:], tags[:] = first[order], tags[order]
            found.append((first, tags))
        return found


def _key_halves(keys: bytes) -> npt.NDArray[np.uint64]:
    return np.frombuffer(keys, dtype=np.uint64).reshape(-1, 2)


def _key_tags(second: npt.NDArray[np.uint64]) -> Tags:
    """What is held of the second halves of keys, with room for the numbers of answers."""
    return second.astype(np.uint32) & ~_NUMBER


def _read_all(store: AnswerStore) -> _KeyCodes | None:
    """All answers of a store; None where they are too many or too long to be held."""
    known, parts = _DistinctAnswers(store), _KeyParts(store.size)
    for keys, answers in store.scan():
        numbers = list(map(known.__getitem__, answers))
        if known.too_many or not parts.add(keys, numbers):
            return None
    codes = _KeyCodes(parts, known.answers)
    return codes if codes.is_unambiguous else None


class _DistinctAnswers(dict[bytes | str, int]):
    """Numbers answers as they are stored, from 1, and reads each once; an error is a text."""

    def __init__(self, store: AnswerStore) -> None:
        super().__init__()
        self.answers: list[Output] = []
        self.size = 0
        self._store = store

    @property
    def too_many(self) -> bool:
        return len(self) > _MAX_DISTINCT or self.size > _MAX_BYTES

    def __missing__(self, stored: bytes | str) -> int:
        try:
            error = stored if isinstance(stored, str) else None
            self.answers.append(Output(None if error is not None else msgspec.json.decode(stored), error))
        except (msgspec.MsgspecError, ValueError, TypeError, RecursionError) as damage:
            raise self._store.damage(damage) from damage
        self.size += len(stored)
        self[stored] = len(self.answers)
        return len(self.answers)
