"""The order in which a suite's examples are asked: the seed decides it, so that a stopped run is a random sample."""

from __future__ import annotations

import os
import weakref
from array import array
from collections.abc import Iterator
from functools import cached_property
from hashlib import blake2b
from itertools import groupby
from tempfile import TemporaryFile
from typing import NamedTuple

import msgspec
import numpy as np
import numpy.typing as npt

from unfazed.core.suite import Suite

Ints = npt.NDArray[np.int64]
_IN_MEMORY = 100_000  # requests; more lie in a temporary file


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


class Group(NamedTuple):
    """The requests of an example and its variants, as JSON."""

    place: int
    requests: list[str]


class Order:
    """The first examples of a suite in the order of asking, at most `limit` of them, with their requests."""

    def __init__(self, suite: Suite, limit: int | None = None) -> None:
        self._suite = suite
        self.places = places_in_order(suite)[:limit]

    def groups(self) -> Iterator[Group]:
        """Each example's requests, in the order."""
        read = self._read
        return (Group(place, read(place)) for place in self.places.tolist())

    @cached_property
    def _read(self) -> _Held | _Spilled:
        held: _Held | _Spilled = (
            _Held() if len(self._suite) + self._suite.manifest.examples <= _IN_MEMORY else _Spilled()
        )
        wanted = np.zeros(int(self.places.max(initial=-1)) + 1, dtype=bool)
        wanted[self.places] = True
        for (_, requests), due in zip(_groups(self._suite), wanted.tolist(), strict=False):
            held.add(requests if due else [])
        return held


class _Held:
    """Lists of texts by number."""

    def __init__(self) -> None:
        self._lists: list[list[str]] = []

    def add(self, texts: list[str]) -> None:
        self._lists.append(texts)

    def __call__(self, number: int) -> list[str]:
        return self._lists[number]


class _Spilled:
    """The same in a temporary file."""

    def __init__(self) -> None:
        self._file = TemporaryFile()  # noqa: SIM115 - closed with this object
        weakref.finalize(self, self._file.close)
        self._starts = array("q", [0])
        self._encode = msgspec.msgpack.Encoder().encode
        self._decode = msgspec.msgpack.Decoder(list[str]).decode

    def add(self, texts: list[str]) -> None:
        self._starts.append(self._starts[-1] + (self._file.write(self._encode(texts)) if texts else 0))

    def __call__(self, number: int) -> list[str]:
        self._file.flush()
        start = self._starts[number]
        return self._decode(os.pread(self._file.fileno(), self._starts[number + 1] - start, start))


def _groups(suite: Suite) -> Iterator[Group]:
    """The requests of each example, in the order of the file."""
    variants = groupby(suite.columns("variants", "row", "inputs"), key=lambda pair: pair[0])
    row, own = next(variants, (None, iter(())))
    for place, (number, inputs) in enumerate(suite.columns("examples", "row", "inputs")):
        requests = [inputs]
        if number == row:
            requests += [text for _, text in own]
            row, own = next(variants, (None, iter(())))
        yield Group(place, requests)
