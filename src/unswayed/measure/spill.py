"""Numbers put aside in a temporary file, so that memory holds a block of them however many there are."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from unswayed.base.errors import StoredFileError
from unswayed.stats import Array, Ints, count_rows, merge_rows

_IN_MEMORY = 8 << 20  # bytes up to which no file is made
_BLOCK = 1 << 19  # bytes of hashes that are put aside together
_AT_ONCE = 1 << 18  # hashes that are compared together


class Kept(NamedTuple):
    """Where an array was put, and what it is."""

    at: int
    dtype: np.dtype[Any]
    shape: tuple[int, ...]


class Spill:
    """Arrays in one file without a name: the system removes it when the process ends, however it ends."""

    def __init__(self) -> None:
        self._file = tempfile.SpooledTemporaryFile(max_size=_IN_MEMORY)  # noqa: SIM115 - open as long as this is
        self._end = 0

    def __del__(self) -> None:
        self._file.close()

    def put(self, values: npt.NDArray[Any]) -> Kept:
        kept = Kept(self._end, values.dtype, values.shape)
        try:
            self._file.seek(self._end)
            self._file.write(values.tobytes())
        except OSError as error:
            raise StoredFileError(
                f"{tempfile.gettempdir()}: the run's columns can't be put aside ({error.strerror or error}). They take "
                f"some 40 bytes a variant: free some space, or name another folder in the variable TMPDIR."
            ) from error
        self._end += values.nbytes
        return kept

    def get(self, kept: Kept) -> npt.NDArray[Any]:
        """The array again, to be read only."""
        count = int(np.prod(kept.shape))
        self._file.seek(kept.at)
        read = self._file.read(count * kept.dtype.itemsize)
        return np.frombuffer(read, dtype=kept.dtype, count=count).reshape(kept.shape)

    def joined(self, parts: Sequence[Kept]) -> npt.NDArray[Any]:
        """The arrays of several as one, of which memory holds no second copy."""
        # A list of parts and their concatenation would be two copies, and this is the largest array that measuring
        # holds.
        rows = sum(kept.shape[0] for kept in parts)
        whole = np.empty((rows, *parts[0].shape[1:]), dtype=np.result_type(*(kept.dtype for kept in parts)))
        at = 0
        for kept in parts:
            whole[at : at + kept.shape[0]] = self.get(kept)
            at += kept.shape[0]
        return whole


class Distinct:
    """Counts distinct 8-byte hashes, of which memory holds a few hundred thousand."""

    def __init__(self, spill: Spill) -> None:
        self._spill = spill
        self._waiting = bytearray()
        self._kept: list[Kept] = []
        self.n = 0

    def add(self, digests: npt.NDArray[np.uint64]) -> None:
        self.n += len(digests)
        self._waiting += digests.tobytes()
        if len(self._waiting) >= _BLOCK:
            self._put_aside()

    def _put_aside(self) -> None:
        self._kept.append(self._spill.put(np.frombuffer(self._waiting, dtype=np.uint64)))
        self._waiting = bytearray()

    def count(self) -> int:
        """Equal hashes have equal remainders, so they are counted one remainder at a time."""
        if self._waiting:
            self._put_aside()
        shares = np.uint64(1 + self.n // _AT_ONCE)
        count = 0
        for share in range(int(shares)):
            blocks = (self._spill.get(kept) for kept in self._kept)
            found = [block[block % shares == share] for block in blocks]
            count += len(np.unique(np.concatenate(found))) if found else 0
        return count


_FIRST = 4096  # rows by which it is decided whether to count or to keep


class Tally:
    """`rows` gives what `count_rows` gives of all rows at once.

    The first few thousand decide: where a quarter of them or fewer are distinct, rows are counted from then on.
    """

    def __init__(self, spill: Spill) -> None:
        self._spill = spill
        self._waiting: list[Array] = []
        self._kept: list[Kept] = []
        self._counted: tuple[Array, Ints] | None = None
        self.n = 0

    def add(self, values: Array) -> None:
        if not len(values):
            return
        self.n += len(values)
        if self._counted is not None:
            # Once rows are counted, memory holds the distinct ones; each further batch is counted, and merged with
            # them.
            rows, counts = count_rows(values)
            self._counted = merge_rows(np.vstack([self._counted[0], rows]), np.append(self._counted[1], counts))
        elif self._kept:
            self._kept.append(self._spill.put(values))
        else:
            self._waiting.append(values)
            if self.n >= _FIRST:
                whole = np.concatenate(self._waiting)
                if len(count_rows(whole[:_FIRST])[0]) * 4 <= _FIRST:
                    self._counted = merge_rows(whole, np.ones(len(whole), dtype=np.int64))
                else:
                    self._kept = [self._spill.put(whole)]
                self._waiting = []

    def rows(self) -> tuple[Array, Ints]:
        """The distinct rows in ascending order and how often each occurs; or the rows as they came, once each."""
        if self._counted is not None:
            return self._counted
        if self._kept:
            return count_rows(self._spill.joined(self._kept))
        return count_rows(np.concatenate(self._waiting) if self._waiting else np.zeros((0, 1)))
