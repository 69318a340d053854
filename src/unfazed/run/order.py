"""The order in which a suite's examples are asked: the seed decides it, so that a stopped run is a random sample."""

from __future__ import annotations

import os
import weakref
from array import array
from collections.abc import Iterator
from functools import cached_property
from hashlib import blake2b
from itertools import accumulate, count, pairwise
from tempfile import TemporaryFile

import msgspec
import numpy as np
import numpy.typing as npt

from unfazed.core.suite import Suite
from unfazed.core.values import Inputs

Ints = npt.NDArray[np.int64]
_IN_MEMORY = 100_000  # requests; more lie in a temporary file
_RANK_BYTES = 8
_LOTS = 256  # in a temporary file: one for each first byte of a rank
_UNWRITTEN = 4 << 20  # bytes that wait to be written there together
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
    start = blake2b(digest_size=_RANK_BYTES, key=f"order {seed_of(suite)}".encode()[:64]).copy
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
    """The requests of all examples by place, where those that are not wanted are empty; and the ranks of all."""
    held: _Held | _Spilled = _Held() if len(suite) + suite.manifest.examples <= _IN_MEMORY else _Spilled()
    ranks, place = bytearray(), 0
    for ids, groups in _groups(suite):
        if wanted is not None:
            due = wanted[place : place + len(ids)].tolist()
            groups = [text if is_due else b"" for text, is_due in zip(groups, due, strict=True)]
        some = _ranks(suite, ids)
        held.add(groups, some[::_RANK_BYTES])
        ranks += some
        place += len(ids)
    return held, bytes(ranks)


class _Held(list[bytes]):
    """Texts by place. They come with the first bytes of their ranks."""

    def add(self, texts: list[bytes], lots: bytes) -> None:
        self += texts


class _Spilled:
    """The same in a temporary file. Those of a lot, which are asked one after another, are read together."""

    def __init__(self) -> None:
        self._file = TemporaryFile()  # noqa: SIM115 - closed with this object
        weakref.finalize(self, self._file.close)
        self._lot_of = bytearray()  # by place
        self._places = [array("Q") for _ in range(_LOTS)]  # of the texts of each lot,
        self._lengths = [array("Q") for _ in range(_LOTS)]
        self._pieces: list[list[tuple[int, int]]] = [[] for _ in range(_LOTS)]  # where they begin and end in the file,
        self._unwritten: list[list[bytes]] = [[] for _ in range(_LOTS)]  # and those that are not there yet
        self._size = 0
        self._at_hand: tuple[int, dict[int, bytes]] = -1, {}

    def add(self, texts: list[bytes], lots: bytes) -> None:
        places, lengths, unwritten = self._places, self._lengths, self._unwritten
        for place, lot, text in zip(count(len(self._lot_of)), lots, texts, strict=False):
            places[lot].append(place)
            lengths[lot].append(len(text))
            unwritten[lot].append(text)
        self._lot_of += lots
        self._size += sum(map(len, texts))
        if self._size - self._file.tell() > _UNWRITTEN:
            self._write()

    def _write(self) -> None:
        for pieces, texts in zip(self._pieces, self._unwritten, strict=True):
            start = self._file.tell()
            self._file.write(b"".join(texts))
            pieces.append((start, self._file.tell()))
            texts.clear()
        self._file.flush()

    def __getitem__(self, place: int) -> bytes:
        lot, texts = self._at_hand
        if lot != self._lot_of[place]:
            lot = self._lot_of[place]
            texts = self._texts(lot)
            self._at_hand = lot, texts
        return texts[place]

    def _texts(self, lot: int) -> dict[int, bytes]:
        """The texts of a lot by place."""
        pieces = [os.pread(self._file.fileno(), end - start, start) for start, end in self._pieces[lot]]
        text = b"".join(pieces + self._unwritten[lot])
        ends = accumulate(self._lengths[lot], initial=0)
        return {place: text[start:end] for place, (start, end) in zip(self._places[lot], pairwise(ends), strict=True)}


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
