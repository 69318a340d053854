"""Which keys are surely not in a store that was empty when it was opened, without a look at its file."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt

from unswayed.storage.store_keys import Key

MOST = 1 << 22  # words of 8 bytes: once four million keys were added, it lets through 1 in 20,000 that was not
_LEAST = 1 << 10
_BITS = 6  # in its word, for each key

Words = npt.NDArray[np.uint64]


class Sieve:
    """Lets through the keys that were added, and a few others: a Bloom filter, whose hashes the keys are.

    All bits of a key are in one word, as most words are not at hand when they are looked at.
    """

    def __init__(self, expected: int = MOST) -> None:
        """For about so many keys: a small one stays in the processor's cache."""
        size = min(max(_LEAST, 1 << expected.bit_length()), MOST)
        self._words: Words = np.zeros(size, dtype=np.uint64)
        self._new: list[Key] = []

    def add(self, keys: Iterable[Key]) -> None:
        self._new += keys  # small blocks are put together: each call of numpy's has a cost

    def through(self, keys: Sequence[Key]) -> list[Key]:
        if self._new:
            self._set(*self._places(self._new))
            self._new = []
        words, bits = self._places(keys)
        return [keys[place] for place in np.flatnonzero(self._words[words] & bits == bits).tolist()]

    def _set(self, words: Words, bits: Words) -> None:
        """Of keys that share a word, one is set at a time: that is faster than to look for them beforehand."""
        while len(words):
            self._words[words] |= bits
            left = self._words[words] & bits != bits
            words, bits = words[left], bits[left]

    def _places(self, keys: Sequence[Key]) -> tuple[Words, Words]:
        """For each key its word, and its bits in there."""
        halves = np.frombuffer(b"".join(keys), dtype="<u8").reshape(-1, 2).astype(np.uint64)
        rest, one = halves[:, 1], np.uint64(1)
        bits = np.zeros(len(keys), dtype=np.uint64)
        for at in range(0, 6 * _BITS, 6):
            bits |= one << (rest >> np.uint64(at) & np.uint64(63))
        return halves[:, 0] & np.uint64(len(self._words) - 1), bits
