"""Keys of stored answers: a hash of the system's identity and the request; and an index of them in memory."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from hashlib import blake2b

import numpy as np
import numpy.typing as npt

from unswayed.base.ids import canonical, canonical_lines
from unswayed.base.values import Json

Key = bytes
KEY_BYTES = 16
MAX_ROW = (1 << 32) - 1  # the greatest number of a row
_MAX_MERGED = 1 << 21  # entries of a sorted run: a larger one is not merged again
_PREFIX_SHIFT = np.uint64(32)
_MAX_ROW = np.uint64(MAX_ROW)

Words = npt.NDArray[np.uint64]


class Keyer:
    """Gives the store's keys of requests. Each time that one is asked again has a number, and an answer of its own."""

    def __init__(self, identity: str) -> None:
        self._start = blake2b(identity.encode("utf-8", "surrogatepass") + b"\0", digest_size=KEY_BYTES)

    def __call__(self, request: Json, repeat: int = 0) -> Key:
        h = self._start.copy()
        h.update(canonical(request))
        if repeat:
            h.update(b"\0%d" % repeat)
        return h.digest()

    def each(self, requests: Iterable[Json]) -> list[Key]:
        """The keys of many requests at once."""
        return self.of_lines(canonical_lines(requests))

    def of_lines(self, lines: Iterable[bytes]) -> list[Key]:
        """The same for requests that are given as canonical JSON."""
        start, keys = self._start.copy, list[Key]()
        for line in lines:
            h = start()
            h.update(line)
            keys.append(h.digest())
        return keys


class KeyIndex:
    """In-memory index from key prefix to row: the first four bytes of each key, then the number of its row, in 8 bytes.

    A log-structured merge of sorted arrays: those of like size are merged, so each entry is moved a few times only.
    A prefix may be of several keys, so that a row may be named that has none of those that are looked for.
    """

    def __init__(self) -> None:
        self._sorted: list[Words] = []

    def add(self, rows: Sequence[int], keys: Sequence[bytes]) -> None:
        """Adds rows, by their numbers, each with all of its keys in one piece."""
        sizes = np.fromiter(map(len, keys), dtype=np.int64, count=len(keys)) // KEY_BYTES
        new = _prefixes(keys) | np.repeat(np.array(rows, dtype=np.uint64), sizes)
        new.sort()
        # A run is merged with the one before it only while that is less than twice as long: lengths of runs halve from
        # first to last, so there are few of them to search, and each entry moves a number of times that is logarithmic.
        runs = self._sorted
        while runs and len(runs[-1]) < 2 * len(new) and len(runs[-1]) + len(new) <= _MAX_MERGED:
            new = np.concatenate([runs.pop(), new])
            new.sort(kind="stable")  # quick where two sorted parts follow each other
        runs.append(new)

    def find(self, keys: Sequence[Key]) -> dict[int, list[Key]]:
        """Numbers of rows in ascending order, each with the keys that may be in it."""
        wanted = _prefixes(keys)
        order = wanted.argsort()  # those near to each other are looked up together, which is much faster
        wanted = wanted[order]
        places, rows = [np.empty(0, dtype=np.int64)], [np.empty(0, dtype=np.uint64)]
        for run in self._sorted:
            start = run.searchsorted(wanted)
            count = run.searchsorted(wanted | _MAX_ROW, side="right") - start
            # Every key matches a stretch of entries with its prefix, mostly one long. `within` counts 0, 1, … inside
            # each stretch, so that all stretches of all keys become one array of places without a loop in Python.
            if found := int(count.sum()):
                within = np.arange(found) - np.repeat(count.cumsum() - count, count)
                places.append(np.repeat(order, count))
                rows.append(run[np.repeat(start, count) + within] & _MAX_ROW)
        # SQLite reads rows fastest in the order in which they lie in the file, so matches are grouped by row.
        row = np.concatenate(rows)
        by_row = row.argsort(kind="stable")
        row, place = row[by_row], np.concatenate(places)[by_row].tolist()
        starts = [0, *(np.flatnonzero(np.diff(row)) + 1).tolist()] if len(row) else []
        ends = [*starts[1:], len(row)][: len(starts)]
        return {
            number: [keys[at] for at in place[start:end]]
            for number, start, end in zip(row[starts].tolist(), starts, ends, strict=True)
        }


def _prefixes(keys: Sequence[bytes]) -> Words:
    """The first four bytes of each key, as the upper half of a number."""
    parts = np.frombuffer(b"".join(keys), dtype="<u4")
    return parts[:: KEY_BYTES // parts.itemsize].astype(np.uint64) << _PREFIX_SHIFT
