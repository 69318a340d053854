"""The ids of a file and the lines that they stand on, in little memory."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from zlib import crc32

_64_BITS = (1 << 64) - 1
_SMALLEST = 1 << 12  # places at first; there are always at least half as many again as ids


class Ids:
    """From an id to the line that it stands on, by 96 bits, Python's hash and a checksum: two alike won't be met.

    A plain dict would need ten times the memory, which counts with millions of examples.
    """

    def __init__(self) -> None:
        self._count = 0
        self._clear(_SMALLEST)

    def _clear(self, size: int) -> None:
        self._mask = size - 1
        self._hashes = array("Q", [0]) * size
        self._more = array("I", [0]) * size
        self._lines = array("I", [0]) * size  # each one more, as 0 is a free place

    def add(self, id: str, line: int) -> int | None:
        """Remembers an id and its line; or, where the id is known, leaves it and gives the line that it stands on."""
        hashed, more = hash(id) & _64_BITS, crc32(id.encode("utf-8", "surrogatepass"))
        at = self._place(hashed, more)
        if self._lines[at]:
            return self._lines[at] - 1
        self._hashes[at], self._more[at], self._lines[at] = hashed, more, line + 1
        self._count += 1
        if 3 * self._count > 2 * self._mask:
            self._grow()
        return None

    def add_each(self, ids: Sequence[str], lines: Sequence[int], all_new: bool) -> list[int] | None:
        """The same for many ids: which of them were known, from 0. Where they must be `all_new`, but are not, it is
        None, and none of them is remembered."""
        while 3 * (self._count + len(ids)) > 2 * self._mask:
            self._grow()
        hashes, more, taken, mask = self._hashes, self._more, self._lines, self._mask
        places: list[int] = []
        known: list[int] = []
        for n, (id, line) in enumerate(zip(ids, lines, strict=True)):
            hashed, rest = hash(id) & _64_BITS, crc32(id.encode("utf-8", "surrogatepass"))
            at = hashed & mask  # as in `_place`, but without calling it
            while taken[at]:
                if hashes[at] == hashed and more[at] == rest:
                    known.append(n)
                    break
                at = (at + 1) & mask
            else:
                hashes[at], more[at], taken[at] = hashed, rest, line + 1
                places.append(at)
        if known and all_new:
            for at in places:
                taken[at] = 0
            return None
        self._count += len(places)
        return known

    def _place(self, hashed: int, more: int) -> int:
        """Where the hash stands, or else the free place where it would."""
        at = hashed & self._mask
        lines, hashes = self._lines, self._hashes
        while lines[at] and (hashes[at] != hashed or self._more[at] != more):
            at = (at + 1) & self._mask
        return at

    def _grow(self) -> None:
        old = zip(self._hashes, self._more, self._lines, strict=True)
        self._clear(2 * (self._mask + 1))
        hashes, rest, lines, mask = self._hashes, self._more, self._lines, self._mask
        for hashed, more, line in old:
            if line:
                at = hashed & mask  # no two are the same here, so any free place will do
                while lines[at]:
                    at = (at + 1) & mask
                hashes[at], rest[at], lines[at] = hashed, more, line
