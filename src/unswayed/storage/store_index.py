"""Which batches of a store a key may be in, told without a look at its file."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from unswayed.storage.store_keys import KEY_BYTES, Key

MOST_BATCHES = (1 << 32) - 1  # the greatest number of a batch
_MOST_TOGETHER = 1 << 21  # entries in a lot: a larger one is not sorted again
_HALF = np.uint64(32)

Words = npt.NDArray[np.uint64]


class KeyIndex:
    """An entry for each key: its first four bytes, then the number of its batch, in 8 bytes.

    Entries lie in a few sorted lots. Lots of like size are put together, so that each entry is moved a few times only.
    """

    def __init__(self) -> None:
        self._lots: list[Words] = []

    def add(self, numbers: Sequence[int], keys: Sequence[bytes]) -> None:
        """Adds batches, by their numbers, each with all of its keys in one piece."""
        sizes = np.fromiter(map(len, keys), dtype=np.int64, count=len(keys)) // KEY_BYTES
        lot = _beginnings(keys) | np.repeat(np.array(numbers, dtype=np.uint64), sizes)
        lot.sort()
        lots = self._lots
        while lots and len(lots[-1]) < 2 * len(lot) and len(lots[-1]) + len(lot) <= _MOST_TOGETHER:
            lot = np.concatenate([lots.pop(), lot])
            lot.sort(kind="stable")  # quick where two sorted parts follow each other
        lots.append(lot)

    def find(self, keys: Sequence[Key]) -> dict[int, list[Key]]:
        """Numbers of batches in ascending order, each with the keys that may be in it."""
        wanted = _beginnings(keys)
        order = wanted.argsort()
        wanted = wanted[order]
        places, numbers = [np.empty(0, dtype=np.int64)], [np.empty(0, dtype=np.int64)]
        for lot in self._lots:
            start = lot.searchsorted(wanted)
            count = lot.searchsorted(wanted | np.uint64(MOST_BATCHES), side="right") - start
            within = np.arange(count.sum()) - np.repeat(count.cumsum() - count, count)
            places.append(np.repeat(order, count))
            numbers.append((lot[np.repeat(start, count) + within] & np.uint64(MOST_BATCHES)).astype(np.int64))
        place, number = np.concatenate(places), np.concatenate(numbers)
        by_number = number.argsort(kind="stable")
        found: dict[int, list[Key]] = {}
        for at, batch in zip(place[by_number].tolist(), number[by_number].tolist(), strict=True):
            found.setdefault(batch, []).append(keys[at])
        return found


def _beginnings(keys: Sequence[bytes]) -> Words:
    """The first four bytes of each key, as the upper half of a number."""
    parts = np.frombuffer(b"".join(keys), dtype="<u4")
    return parts[:: KEY_BYTES // parts.itemsize].astype(np.uint64) << _HALF
