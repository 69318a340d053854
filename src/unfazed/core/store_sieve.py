"""Which keys are surely not in a store that was empty when it was opened, without a look at its file."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt

from unfazed.core.store_keys import Key

_BITS = 26  # of a place in the sieve, which takes 8 MB: it holds back all but 1 in 100,000 once a million were added

_BIT = np.left_shift(1, np.arange(8)).astype(np.uint8)


class Sieve:
    """Lets through the keys that may have been added, and a few others: a Bloom filter, whose hashes the keys are."""

    def __init__(self) -> None:
        self._bits = np.zeros(1 << (_BITS - 3), dtype=np.uint8)
        self._new: list[Key] = []

    def add(self, keys: Iterable[Key]) -> None:
        self._new += keys  # small blocks are put together: each call of numpy's has a cost

    def through(self, keys: Sequence[Key]) -> list[Key]:
        if self._new:
            at, bits = _places(self._new)
            np.bitwise_or.at(self._bits, at, bits)
            self._new = []
        at, bits = _places(keys)
        found = (self._bits[at] & bits).reshape(len(keys), 4).all(axis=1)
        return [keys[place] for place in np.flatnonzero(found).tolist()]


def _places(keys: Sequence[Key]) -> tuple[npt.NDArray[np.uint32], npt.NDArray[np.uint8]]:
    """Four bits of the sieve for each key: the bytes in which they are, and each in its byte."""
    places = np.frombuffer(b"".join(keys), dtype="<u4") & np.uint32((1 << _BITS) - 1)
    return places >> np.uint32(3), _BIT[places & np.uint32(7)]
