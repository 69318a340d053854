"""What is asked of a suite, and when: its examples in the order of the seed, and of these what has no answer yet.

The seed decides the order, so that a stopped run is a random sample.
"""

from __future__ import annotations

import os
import weakref
from bisect import bisect_left
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b
from itertools import accumulate, chain, groupby, pairwise
from tempfile import TemporaryFile
from typing import NamedTuple

import msgspec
import numpy as np
import numpy.typing as npt

from unswayed.base.ids import canonical_lines
from unswayed.base.progress import Progress
from unswayed.base.values import Inputs
from unswayed.storage.answers import AnswerStore
from unswayed.storage.keys import Key, Keyer
from unswayed.storage.suite import Suite
from unswayed.systems.system import System

Ints = npt.NDArray[np.int64]
_IN_MEMORY = 100_000  # requests; more lie in a temporary file
_RANK_BYTES = 8
_LOTS = 256  # in a temporary file: one for each first byte of a rank
_UNWRITTEN = 4 << 20  # bytes that wait to be written there together
_DECODED = 64  # examples whose requests are decoded together


def seed_of(suite: Suite) -> int:
    """The seed that decides the order: the suite's own."""
    return suite.manifest.seed or 0


def _ranks(suite: Suite, ids: list[str]) -> bytes:
    start = blake2b(digest_size=_RANK_BYTES, key=f"order {seed_of(suite)}".encode()[:64]).copy
    ranks = []
    for id in ids:
        h = start()
        h.update(id.encode())
        ranks.append(h.digest())
    return b"".join(ranks)


class Order:
    """The first examples of a suite in the order of asking, at most `limit` of them, with their requests."""

    def __init__(self, suite: Suite, limit: int | None = None) -> None:
        self._suite = suite
        if limit is None:  # the file is read once: the requests of all are wanted
            self._held, ranks = _requests(suite)
        else:
            ranks = b"".join(_ranks(suite, ids) for (ids,) in suite.lists("examples", "id"))
        # The places in the suite's file. An example's rank depends on the seed and its id, and on no other example.
        self.places: Ints = np.frombuffer(ranks, dtype=">u8").astype(np.uint64).argsort(kind="stable")[:limit]

    def groups(self) -> Iterator[list[Inputs]]:
        """The requests of each example and its variants, in the order."""
        return chain.from_iterable(self.blocks())

    def groups_at(self, at: Ints) -> list[list[Inputs]]:
        """The same of some examples, by their numbers in the order, ascending."""
        return self._decoded(self.places[at].tolist())

    def _decoded(self, places: list[int]) -> list[list[Inputs]]:
        # Requests of 64 examples are decoded in one call, from texts that were joined: a call for each takes longer
        # than the decoding itself.
        decoded: list[list[Inputs]] = msgspec.json.decode(f"[[{'],['.join(self._held.texts(places))}]]")
        return decoded

    def blocks(self) -> Iterator[list[list[Inputs]]]:
        """The same, some examples at a time."""
        for at in range(0, len(self.places), _DECODED):
            yield self._decoded(self.places[at : at + _DECODED].tolist())

    @cached_property
    def _held(self) -> _Held | _Spilled:
        wanted = np.zeros(self._suite.manifest.examples, dtype=bool)
        wanted[self.places] = True
        return _requests(self._suite, wanted)[0]


def _requests(suite: Suite, wanted: npt.NDArray[np.bool_] | None = None) -> tuple[_Held | _Spilled, bytes]:
    """The requests of all examples by place, each as JSON with commas between, where those that are not wanted are
    empty; and the ranks of all."""
    held: _Held | _Spilled = _Held() if len(suite) + suite.manifest.examples <= _IN_MEMORY else _Spilled()
    ranks, place = bytearray(), 0
    more = suite.lists("variants", "row", "inputs")
    # The two tables are read side by side. A batch of examples may end in the middle of a batch of variants, so
    # variants of examples to come wait in these lists.
    owners: list[int] = []  # of variants that were read: the rows of their examples,
    varied: list[str] = []  # and their inputs
    for rows, ids, groups in suite.lists("examples", "row", "id", "inputs"):
        while (not owners or owners[-1] <= rows[-1]) and (batch := next(more, None)) is not None:
            owners += batch[0]
            varied += batch[1]
        if owners:
            first, end = (np.array(owners).searchsorted(rows, side=side).tolist() for side in ("left", "right"))
            parts = zip(groups, first, end, strict=True)
            groups = [",".join([own, *varied[start:stop]]) for own, start, stop in parts]
            del owners[: end[-1]], varied[: end[-1]]
        if wanted is not None:
            due = wanted[place : place + len(ids)].tolist()
            groups = [text if is_due else "" for text, is_due in zip(groups, due, strict=True)]
        some = _ranks(suite, ids)
        held.add(groups, some[::_RANK_BYTES])
        ranks += some
        place += len(ids)
    return held, bytes(ranks)


class _Held(list[str]):
    """Texts by place. They come with the first bytes of their ranks."""

    def add(self, texts: list[str], lots: bytes) -> None:
        self += texts

    def texts(self, places: Sequence[int]) -> list[str]:
        return [self[place] for place in places]


class _Piece(NamedTuple):
    """Texts that were written to a file together, lot by lot."""

    places: npt.NDArray[np.uint32]
    lengths: npt.NDArray[np.uint32]  # in characters
    first: Ints  # of each lot, in those columns; then how many there are
    start: Ints  # of each lot in the file; then the end


# Ranks are hashes, so each lot, the texts whose rank begins with the same byte, has about a 256th of all. Those asked
# one after another lie in one lot, and reading a lot is a few reads, however large the suite is.
class _Spilled:
    """The same in a temporary file. Those of a lot, which are asked one after another, are read together."""

    def __init__(self) -> None:
        self._file = TemporaryFile()  # noqa: SIM115 - closed with this object
        weakref.finalize(self, self._file.close)
        self._lot_of = bytearray()  # by place
        self._pieces: list[_Piece] = []
        self._unwritten: list[str] = []
        self._size = 0  # of those
        self._at_hand: tuple[int, dict[int, str]] = -1, {}

    def add(self, texts: list[str], lots: bytes) -> None:
        self._lot_of += lots
        self._unwritten += texts
        self._size += sum(map(len, texts))
        if self._size > _UNWRITTEN:
            self._write()

    def _write(self) -> None:
        texts, self._unwritten, self._size = self._unwritten, [], 0
        before = len(self._lot_of) - len(texts)
        lots = np.frombuffer(bytes(self._lot_of[before:]), dtype=np.uint8)
        order = lots.argsort(kind="stable")
        first = lots[order].searchsorted(np.arange(_LOTS + 1))
        texts = [texts[place] for place in order.tolist()]
        lengths = np.fromiter(map(len, texts), dtype=np.uint32, count=len(texts))
        written = ["".join(texts[start:end]).encode() for start, end in pairwise(first.tolist())]
        start = np.array(list(accumulate(map(len, written), initial=self._file.tell())))
        self._file.write(b"".join(written))
        self._file.flush()
        self._pieces.append(_Piece((before + order).astype(np.uint32), lengths, first, start))

    def texts(self, places: Sequence[int]) -> list[str]:
        if self._unwritten:
            self._write()
        found: list[str] = []
        for lot, own in groupby(places, self._lot_of.__getitem__):
            if lot != self._at_hand[0]:
                inside: dict[int, str] = {}
                for piece in self._pieces:
                    first, end = piece.first[lot : lot + 2].tolist()
                    start, stop = piece.start[lot : lot + 2].tolist()
                    text = os.pread(self._file.fileno(), stop - start, start).decode()
                    parts = pairwise(accumulate(piece.lengths[first:end].tolist(), initial=0))
                    cut = [text[at:to] for at, to in parts]
                    inside.update(zip(piece.places[first:end].tolist(), cut, strict=True))
                self._at_hand = lot, inside
            found += map(self._at_hand[1].__getitem__, own)
        return found


ASKED_TWICE = 20  # clean inputs of a system that may not be deterministic
_BATCHES_A_WINDOW = 8  # within the first window, to batch those of like length
_FIRST_LOOK = 32  # examples after which a run may end early
_LOOK_AHEAD = 4096  # requests in the largest window


@dataclass(slots=True)
class RequestBatch:
    """Requests with their keys, and in a window about how long each is."""

    keys: list[Key]
    inputs: list[Inputs]
    sizes: list[int]

    def __len__(self) -> int:
        return len(self.keys)

    def at(self, places: list[int]) -> RequestBatch:
        """Those at these places."""
        keys, inputs, sizes = self.keys, self.inputs, self.sizes
        return RequestBatch([keys[i] for i in places], [inputs[i] for i in places], [sizes[i] for i in places])

    def cut(self, start: int, end: int | None = None) -> RequestBatch:
        return RequestBatch(self.keys[start:end], self.inputs[start:end], [])


NONE = RequestBatch([], [], [])


class PendingRequests:
    """The requests without an answer. `repeats`: how many more times each clean input is asked, and `twice`: how many
    of the first are asked once more where that is 0; `early`: the run may end before all are asked; `sample`: examples
    after which the cost is told, where an empty batch comes; `size`: requests in a batch."""

    def __init__(
        self, suite: Suite, order: Order, system: System, store: AnswerStore, progress: Progress, *,
        repeats: int, twice: int, early: bool, sample: int, size: int,
    ) -> None:  # fmt: skip
        self.suite, self.order, self.store, self.progress = suite, order, store, progress
        self.repeats, self.twice, self.early, self.sample, self.size = repeats, twice, early, sample, size
        self.key = Keyer(system.stored_as)
        self.answers = False  # is there an answer that is used again?
        self.looks: deque[int] = deque()  # requests, asked or not due, after which the run may end
        self.in_flight: set[Key] = set()

    def batches(self) -> Iterator[RequestBatch]:
        """What is still to be asked: each request once, those of like length together within a window.

        A window is no more than a fourth of what comes before it, so that a run that is stopped loses little: of the
        window's examples some are not complete.
        """
        size, left = self.size, NONE
        for window in self.windows(size):
            if not window:  # the end of the sample
                if left:
                    yield left
                left = NONE
                yield NONE
                continue
            pending = self.of(window)
            if size > 1:  # the shortest first; numpy sorts numbers of 16 bits or fewer by radix
                sizes = np.array(pending.sizes, dtype=np.min_scalar_type(max(pending.sizes, default=0)))
                pending = pending.at(sizes.argsort(kind="stable").tolist())
            # What is too little for a batch goes before all else.
            pending = RequestBatch(left.keys + pending.keys, left.inputs + pending.inputs, [])
            whole = len(pending) - len(pending) % size
            for at in range(0, whole, size):
                yield pending.cut(at, at + size)
            left = pending.cut(whole)
        if left:
            yield left

    def windows(self, size: int) -> Iterator[RequestBatch]:
        """Requests in the order of the seed, all of an example in the same window; none at the end of the sample."""
        seen, enough = 0, _BATCHES_A_WINDOW * size if size > 1 else _LOOK_AHEAD // 64
        if self.early:
            enough = _FIRST_LOOK * (1 + self.suite.manifest.variants // max(1, self.suite.manifest.examples))
        window, examples, place = RequestBatch([], [], []), 0, 0
        for block in self.order.blocks():
            requests, ends = self.keyed(block, place)
            place += len(block)
            first = start = 0  # of what is not in a window yet: its examples, its requests
            while first < len(ends):
                if self.sample and examples == self.sample:
                    if window:
                        seen += len(window)
                        yield window
                    yield NONE
                    window = RequestBatch([], [], [])
                last = min(bisect_left(ends, start + enough - len(window), first), len(ends) - 1)
                if examples < self.sample:
                    last = min(last, first + self.sample - examples - 1)
                window.keys += requests.keys[start : ends[last]]
                window.inputs += requests.inputs[start : ends[last]]
                window.sizes += requests.sizes[start : ends[last]]
                examples += last + 1 - first
                first, start = last + 1, ends[last]
                if len(window) >= enough:
                    seen += len(window)
                    self.looks.append(seen)
                    yield window
                    window, enough = RequestBatch([], [], []), min(max(enough, seen // 4), max(_LOOK_AHEAD, enough))
        if window:
            yield window
        if self.sample and self.sample >= len(self.order.places):
            yield NONE

    def keyed(self, block: list[list[Inputs]], place: int) -> tuple[RequestBatch, list[int]]:
        """The requests of some examples with their keys, and where those of each example end; `place` is the first's.

        Few at a time, as they are keyed while the processor has them at hand.
        """
        repeats, again = self.repeats, len(block)  # of these examples, the first are asked again
        if not repeats:
            repeats, again = 1, max(0, min(again, self.twice - place))
        block = [group + group[:1] * repeats for group in block[:again]] + block[again:]
        ends, inputs = list(accumulate(map(len, block))), list(chain.from_iterable(block))
        lines = canonical_lines(inputs)
        keys = self.key.of_lines(lines)
        for end in ends[:again]:
            for repeat in range(1, repeats + 1):
                at = end - 1 - repeats + repeat
                keys[at] = self.key(inputs[at], repeat)
        return RequestBatch(keys, inputs, list(map(len, lines))), ends

    def of(self, window: RequestBatch) -> RequestBatch:
        """What of a window is to be asked; notes what need not be."""
        known: set[Key] = set()
        answered = self.store.answered(window.keys)
        if answered:
            self.answers |= bool(self.store.reuse(answered))
            known.update(answered)
        # Set operations first: in a fresh run nothing is known, and the loop below would go through every request for
        # it.
        new = set(window.keys)
        if not self.in_flight.isdisjoint(new):
            known |= self.in_flight & new
        if known or len(new) < len(window):
            places = []
            for place, key in enumerate(window.keys):
                if key not in known:
                    known.add(key)
                    places.append(place)
            self.progress.skip(len(window) - len(places))
            window = window.at(places)
        self.in_flight.update(window.keys)
        return window

    def keys(self, group: list[Inputs]) -> list[Key]:
        """The keys of an example's requests, each once."""
        repeated = [self.key(group[0], repeat) for repeat in range(1, self.repeats + 1)]
        return list(dict.fromkeys([*self.key.each(group), *repeated]))
