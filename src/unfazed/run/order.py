"""The order in which a suite's examples are asked: the seed decides it, so that a stopped run is a random sample."""

from __future__ import annotations

import os
from array import array
from collections.abc import Iterator
from hashlib import blake2b
from itertools import groupby
from tempfile import TemporaryFile
from typing import NamedTuple

import msgspec
import numpy as np
import numpy.typing as npt

from unfazed.core.suite import Suite

Ints = npt.NDArray[np.int64]


def seed_of(suite: Suite) -> int:
    """The seed that decides the order: the suite's own."""
    return suite.manifest.seed or 0


def places_in_order(suite: Suite) -> Ints:
    """The places of the examples in the suite's file, in the order in which they are asked.

    An example's rank depends on the seed and its id, and on no other example.
    """
    keyed = blake2b(digest_size=8, key=f"order {seed_of(suite)}".encode()[:64])
    ranks = array("Q")
    for (id,) in suite.columns("examples", "id"):
        h = keyed.copy()
        h.update(id.encode("utf-8", "surrogatepass"))
        ranks.append(int.from_bytes(h.digest()))
    return np.argsort(np.frombuffer(ranks, dtype=np.uint64), kind="stable") if ranks else np.zeros(0, dtype=np.int64)


class Group(NamedTuple):
    """The requests of an example and its variants, as JSON."""

    place: int
    requests: list[str]


def groups_in_order(suite: Suite, places: Ints) -> Iterator[Group]:
    """The requests of these examples, in this order. They lie in a temporary file meanwhile, not in memory."""
    wanted = np.zeros(int(places.max(initial=-1)) + 1, dtype=bool)
    wanted[places] = True
    starts = array("q", [0])
    encode, decode = msgspec.msgpack.Encoder().encode, msgspec.msgpack.Decoder(list[str]).decode
    with TemporaryFile() as file:
        for (_, requests), due in zip(_groups(suite), wanted.tolist(), strict=False):
            starts.append(starts[-1] + (file.write(encode(requests)) if due else 0))
        file.flush()
        number = file.fileno()
        for place in places.tolist():
            yield Group(place, decode(os.pread(number, starts[place + 1] - starts[place], starts[place])))


def _groups(suite: Suite) -> Iterator[Group]:
    """The requests of each example, in the order of the file."""
    variants = groupby(suite.columns("variants", "row", "inputs"), key=lambda pair: pair[0])
    row, own = next(variants, (None, iter(())))
    examples = suite.columns("examples", "row", "inputs")
    for place, (number, inputs) in enumerate(examples):
        requests = [inputs]
        if number == row:
            requests += [text for _, text in own]
            row, own = next(variants, (None, iter(())))
        yield Group(place, requests)
