"""The order in which a suite's examples are asked: the seed decides it, so that a stopped run is a random sample."""

from __future__ import annotations

import os
import weakref
from array import array
from collections.abc import Iterator
from functools import cached_property
from hashlib import blake2b
from tempfile import TemporaryFile

import msgspec
import numpy as np
import numpy.typing as npt

from unfazed.core.suite import Suite
from unfazed.core.values import Inputs

Ints = npt.NDArray[np.int64]
_IN_MEMORY = 100_000  # requests; more lie in a temporary file
_DECODED = 256  # examples whose requests are decoded together
_NO_MORE = (None, "")


def seed_of(suite: Suite) -> int:
    """The seed that decides the order: the suite's own."""
    return suite.manifest.seed or 0


def places_in_order(suite: Suite) -> Ints:
    """The places of the examples in the suite's file, in the order in which they are asked.

    An example's rank depends on the seed and its id, and on no other example.
    """
    keyed = blake2b(digest_size=8, key=f"order {seed_of(suite)}".encode()[:64])
    ranks = bytearray()
    for (id,) in suite.columns("examples", "id"):
        h = keyed.copy()
        h.update(id.encode("utf-8", "surrogatepass"))
        ranks += h.digest()
    return np.argsort(np.frombuffer(ranks, dtype=">u8"), kind="stable")


class Order:
    """The first examples of a suite in the order of asking, at most `limit` of them, with their requests."""

    def __init__(self, suite: Suite, limit: int | None = None) -> None:
        self._suite = suite
        self.places = places_in_order(suite)[:limit]

    def groups(self) -> Iterator[list[Inputs]]:
        """The requests of each example and its variants, in the order."""
        held = self._held
        for at in range(0, len(self.places), _DECODED):
            some = b",".join(map(held.__getitem__, self.places[at : at + _DECODED].tolist()))
            yield from msgspec.json.decode(b"[" + some + b"]")

    @cached_property
    def _held(self) -> _Held | _Spilled:
        requests = len(self._suite) + self._suite.manifest.examples
        held: _Held | _Spilled = _Held() if requests <= _IN_MEMORY else _Spilled()
        wanted = np.zeros(int(self.places.max(initial=-1)) + 1, dtype=bool)
        wanted[self.places] = True
        for texts, due in zip(_groups(self._suite), wanted.tolist(), strict=False):
            held.append(f"[{texts}]".encode() if due else b"")
        return held


class _Held(list[bytes]):
    """Texts by number."""


class _Spilled:
    """The same in a temporary file."""

    def __init__(self) -> None:
        self._file = TemporaryFile()  # noqa: SIM115 - closed with this object
        weakref.finalize(self, self._file.close)
        self._starts = array("q", [0])

    def append(self, text: bytes) -> None:
        self._starts.append(self._starts[-1] + self._file.write(text))

    def __getitem__(self, number: int) -> bytes:
        self._file.flush()
        start = self._starts[number]
        return os.pread(self._file.fileno(), self._starts[number + 1] - start, start)


def _groups(suite: Suite) -> Iterator[str]:
    """The requests of each example as JSON, with commas between them, in the order of the file."""
    variants = suite.columns("variants", "row", "inputs")
    row, text = next(variants, _NO_MORE)
    for number, inputs in suite.columns("examples", "row", "inputs"):
        while row == number:
            inputs += f",{text}"
            row, text = next(variants, _NO_MORE)
        yield inputs
