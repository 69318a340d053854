"""Stored answers by key, read from a store once and from its first row to its last, where they are few and short.

To look up a key takes several times as long as to read its row. Labels come again and again, so that the distinct
answers are kept and a number for each key. Where answers are mostly distinct, as texts are, they are looked up.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Sequence
from itertools import repeat
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt

from unfazed.core.errors import StoredFileError
from unfazed.core.store import AnswerStore, Key
from unfazed.core.values import Output

Ints = npt.NDArray[np.int64]
_MOST_KEYS = 3_000_000  # that are held, with 20 bytes each
_MOST_DISTINCT, _MOST_BYTES = 1 << 14, 4 << 20  # answers that are held


class StoredAnswers:
    """Gives the answers of keys, `missing` for those that have none, without their seconds and tokens.

    `expected` is about how many keys will be asked for: a store that holds many more is not worth reading whole.
    """

    def __init__(self, store: AnswerStore, missing: Output, expected: int) -> None:
        self._store, self._missing = store, missing
        few = store.size <= min(_MOST_KEYS, 2 * expected + 1000)
        self._held = _scanned(store) if few else None

    def of(self, keys: Sequence[Key]) -> tuple[list[Output], Ints]:
        """The distinct answers, and which of them each key has."""
        if self._held is None:
            found = self._store.get(keys)
            place = {key: at for at, key in enumerate(found, 1)}
            codes = np.fromiter((place.get(key, 0) for key in keys), dtype=np.int64, count=len(keys))
            every = [self._missing, *found.values()]
        else:
            codes, every = self._held.numbers(keys), [self._missing, *self._held.answers]
        there = np.zeros(len(every), dtype=bool)
        there[codes] = True
        return [every[number] for number in np.flatnonzero(there).tolist()], (np.cumsum(there) - 1)[codes]


class _Held:
    """Keys in ascending order of their first halves, and the number of each one's answer, from 1."""

    def __init__(self, keys: npt.NDArray[np.uint64], numbers: npt.NDArray[np.int32], answers: list[Output]) -> None:
        order = np.argsort(keys[:, 0], kind="stable")
        self.first, self.second, self._numbers = keys[order, 0], keys[order, 1], numbers[order]
        self.answers = answers

    @property
    def sure(self) -> bool:
        """Does the first half of a key tell it from all others?"""
        alike = self.first[1:] == self.first[:-1]
        return not bool((alike & (self.second[1:] != self.second[:-1])).any())

    def numbers(self, keys: Sequence[Key]) -> Ints:
        """0 for a key that is not there."""
        wanted = _halves(keys)
        if not len(self.first):
            return np.zeros(len(keys), dtype=np.int64)
        order = np.argsort(wanted[:, 0])  # those near to each other are looked up together, which is much faster
        wanted = wanted[order]
        at = np.maximum(np.searchsorted(self.first, wanted[:, 0], side="right") - 1, 0)  # the last of equal ones
        there = (self.first[at] == wanted[:, 0]) & (self.second[at] == wanted[:, 1])
        found = np.empty(len(keys), dtype=np.int64)
        found[order] = np.where(there, self._numbers[at], 0)
        return found


def _halves(keys: Sequence[Key]) -> npt.NDArray[np.uint64]:
    return np.frombuffer(b"".join(keys), dtype=np.uint64).reshape(-1, 2)


def _scanned(store: AnswerStore) -> _Held | None:
    """All answers of a store; None where they are too many or too long to be held."""
    known = _Numbers(store)
    keys, numbers = bytearray(), array("i")
    for some, answers in store.scan_batches():
        keys += some
        numbers.extend(map(known.__getitem__, zip(answers, repeat(None))))
        if known.too_many:
            return None
    for rows in store.scan_rows():
        column, *said = zip(*rows, strict=True)
        keys += b"".join(column)
        numbers.extend(map(known.__getitem__, zip(*said, strict=True)))
        if known.too_many:
            return None
    if len(keys) != 16 * len(numbers):
        raise store.damage(ValueError("a key of another length"))
    halves = np.frombuffer(keys, dtype=np.uint64).reshape(-1, 2)
    held = _Held(halves, np.frombuffer(numbers, dtype=np.int32), known.answers)
    return held if held.sure else None


class _Numbers(dict[tuple[Any, Any], int]):
    """Numbers answers as they are stored, from 1, and reads each once."""

    def __init__(self, store: AnswerStore) -> None:
        super().__init__()
        self.answers: list[Output] = []
        self.size = 0
        self._damage: Callable[[Exception], StoredFileError] = store.damage

    @property
    def too_many(self) -> bool:
        return len(self) > _MOST_DISTINCT or self.size > _MOST_BYTES

    def __missing__(self, said: tuple[Any, Any]) -> int:
        value, error = said
        try:
            if not isinstance(error, (str, type(None))):
                raise TypeError("a value of another type")
            self.answers.append(Output(None if error is not None else msgspec.json.decode(value), error))
        except (msgspec.MsgspecError, ValueError, TypeError, RecursionError) as damage:
            raise self._damage(damage) from damage
        self.size += len(error if error is not None else value)
        self[said] = len(self.answers)
        return len(self.answers)
