"""The order in which a suite's examples are asked: the seed decides it, so that a stopped run is a random sample."""

from __future__ import annotations

import os
import weakref
from array import array
from collections.abc import Iterator
from functools import cached_property
from hashlib import blake2b
from itertools import accumulate, islice
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
    return _sorted(b"".join(_ranks(suite, ids) for (ids,) in suite.lists("examples", "id")))


def _ranks(suite: Suite, ids: list[str]) -> bytes:
    start = blake2b(digest_size=8, key=f"order {seed_of(suite)}".encode()[:64]).copy
    ranks = []
    for id in ids:
        h = start()
        h.update(id.encode())
        ranks.append(h.digest())
    return b"".join(ranks)


def _sorted(ranks: bytes) -> Ints:
    return np.argsort(np.frombuffer(ranks, dtype=">u8").astype(np.uint64), kind="stable")


class Order:
    """The first examples of a suite in the order of asking, at most `limit` of them, with their requests."""

    def __init__(self, suite: Suite, limit: int | None = None) -> None:
        self._suite = suite
        if limit is None:  # the file is read once: the requests of all are wanted
            self._held, ranks = _requests(suite)
            self.places = _sorted(ranks)
        else:
            self.places = places_in_order(suite)[:limit]

    def groups(self) -> Iterator[list[Inputs]]:
        """The requests of each example and its variants, in the order."""
        held = self._held
        for at in range(0, len(self.places), _DECODED):
            some = b",".join(map(held.__getitem__, self.places[at : at + _DECODED].tolist()))
            yield from msgspec.json.decode(b"[" + some + b"]")

    @cached_property
    def _held(self) -> _Held | _Spilled:
        wanted = np.zeros(self._suite.manifest.examples, dtype=bool)
        wanted[self.places] = True
        return _requests(self._suite, wanted)[0]


def _requests(suite: Suite, wanted: npt.NDArray[np.bool_] | None = None) -> tuple[_Held | _Spilled, bytes]:
    """The requests of all examples by place, and the ranks of the examples; of the wanted ones, the requests alone."""
    held: _Held | _Spilled = _Held() if len(suite) + suite.manifest.examples <= _IN_MEMORY else _Spilled()
    ranks, place = bytearray(), 0
    for ids, groups in _groups(suite):
        if wanted is None:
            ranks += _ranks(suite, ids)
        else:
            due = wanted[place : place + len(ids)].tolist()
            groups = [text if is_due else b"" for text, is_due in zip(groups, due, strict=True)]
        held.extend(groups)
        place += len(ids)
    return held, bytes(ranks)


class _Held(list[bytes]):
    """Texts by number."""


class _Spilled:
    """The same in a temporary file."""

    def __init__(self) -> None:
        self._file = TemporaryFile()  # noqa: SIM115 - closed with this object
        weakref.finalize(self, self._file.close)
        self._starts = array("q", [0])

    def extend(self, texts: list[bytes]) -> None:
        self._file.write(b"".join(texts))
        self._starts.extend(islice(accumulate(map(len, texts), initial=self._starts[-1]), 1, None))

    def __getitem__(self, number: int) -> bytes:
        self._file.flush()
        start = self._starts[number]
        return os.pread(self._file.fileno(), self._starts[number + 1] - start, start)


def _groups(suite: Suite) -> Iterator[tuple[list[str], list[bytes]]]:
    """The ids of some examples, and a list of the requests of each as JSON, in the order of the file."""
    variants = suite.columns("variants", "row", "inputs")
    row, text = next(variants, _NO_MORE)
    for rows, ids, texts in suite.lists("examples", "row", "id", "inputs"):
        if row is not None:
            for place, number in enumerate(rows):
                while row == number:
                    texts[place] += f",{text}"
                    row, text = next(variants, _NO_MORE)
        yield ids, [f"[{text}]".encode() for text in texts]
