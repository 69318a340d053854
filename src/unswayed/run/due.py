"""What is still to be asked of a suite, in the order of the seed, in batches."""

from __future__ import annotations

from bisect import bisect_left
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate, chain

import numpy as np

from unswayed.base.ids import canonical_lines
from unswayed.base.progress import Progress
from unswayed.base.values import Inputs
from unswayed.run.order import Order
from unswayed.storage.answers import AnswerStore
from unswayed.storage.keys import Key, Keyer
from unswayed.storage.suite import Suite
from unswayed.systems.system import System

_BATCHES_A_WINDOW = 8  # within the first window, to batch those of like length
_FIRST_LOOK = 32  # examples after which a run may end early
_LOOK_AHEAD = 4096  # requests in the largest window


@dataclass(slots=True)
class Requests:
    """Requests with their keys, and in a window about how long each is."""

    keys: list[Key]
    inputs: list[Inputs]
    sizes: list[int]

    def __len__(self) -> int:
        return len(self.keys)

    def at(self, places: list[int]) -> Requests:
        """Those at these places."""
        keys, inputs, sizes = self.keys, self.inputs, self.sizes
        return Requests([keys[i] for i in places], [inputs[i] for i in places], [sizes[i] for i in places])

    def by_size(self) -> Requests:
        """The shortest first."""
        sizes = np.array(self.sizes, dtype=np.min_scalar_type(max(self.sizes, default=0)))  # small numbers sort fast
        return self.at(sizes.argsort(kind="stable").tolist())

    def cut(self, start: int, end: int | None = None) -> Requests:
        return Requests(self.keys[start:end], self.inputs[start:end], [])

    def take(self, others: Requests, start: int, end: int) -> None:
        """Adds a part of others."""
        self.keys += others.keys[start:end]
        self.inputs += others.inputs[start:end]
        self.sizes += others.sizes[start:end]

    def after(self, others: Requests) -> Requests:
        """All of them, the others first."""
        return Requests(others.keys + self.keys, others.inputs + self.inputs, [])


NONE = Requests([], [], [])


class Due:
    """The requests without an answer. `early`: the run may end before all are asked; `sample`: examples after which the
    cost is told, where an empty batch comes; `size`: requests in a batch."""

    def __init__(
        self, suite: Suite, order: Order, system: System, store: AnswerStore, progress: Progress, *,
        repeats: int, early: bool, sample: int, size: int,
    ) -> None:  # fmt: skip
        self.suite, self.order, self.store, self.progress = suite, order, store, progress
        self.repeats, self.early, self.sample, self.size = repeats, early, sample, size
        self.key = Keyer(system.identity)
        self.answers = False  # is there an answer that is used again?
        self.looks: deque[int] = deque()  # requests, asked or not due, after which the run may end
        self.in_flight: set[Key] = set()

    def pass_over(self) -> None:
        """Counts what is used again, and asks nothing."""
        deque(map(self.of, self.windows(1)), 0)

    def batches(self) -> Iterator[Requests]:
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
            pending = pending.by_size() if size > 1 else pending
            pending = pending.after(left)  # what is too little for a batch goes before all else
            whole = len(pending) - len(pending) % size
            for at in range(0, whole, size):
                yield pending.cut(at, at + size)
            left = pending.cut(whole)
        if left:
            yield left

    def windows(self, size: int) -> Iterator[Requests]:
        """Requests in the order of the seed, all of an example in the same window; none at the end of the sample."""
        seen, enough = 0, _BATCHES_A_WINDOW * size if size > 1 else _LOOK_AHEAD // 64
        if self.early:
            enough = _FIRST_LOOK * (1 + self.suite.manifest.variants // max(1, self.suite.manifest.examples))
        window, examples = Requests([], [], []), 0
        for block in self.order.blocks():
            requests, ends = self.keyed(block)
            first = start = 0  # of what is not in a window yet: its examples, its requests
            while first < len(ends):
                if self.sample and examples == self.sample:
                    if window:
                        seen += len(window)
                        yield window
                    yield NONE
                    window = Requests([], [], [])
                last = min(bisect_left(ends, start + enough - len(window), first), len(ends) - 1)
                if examples < self.sample:
                    last = min(last, first + self.sample - examples - 1)
                window.take(requests, start, ends[last])
                examples += last + 1 - first
                first, start = last + 1, ends[last]
                if len(window) >= enough:
                    seen += len(window)
                    self.looks.append(seen)
                    yield window
                    window, enough = Requests([], [], []), min(max(enough, seen // 4), max(_LOOK_AHEAD, enough))
        if window:
            yield window
        if self.sample and self.sample >= len(self.order.places):
            yield NONE

    def keyed(self, block: list[list[Inputs]]) -> tuple[Requests, list[int]]:
        """The requests of some examples with their keys, and where those of each example end.

        Few at a time, as they are keyed while the processor has them at hand.
        """
        if self.repeats:
            block = [group + group[:1] * self.repeats for group in block]
        ends, inputs = list(accumulate(map(len, block))), list(chain.from_iterable(block))
        lines = canonical_lines(inputs)
        keys = self.key.of_lines(lines)
        for repeat in range(1, self.repeats + 1):
            for end in ends:
                place = end - 1 - self.repeats + repeat
                keys[place] = self.key(inputs[place], repeat)
        return Requests(keys, inputs, list(map(len, lines))), ends

    def of(self, window: Requests) -> Requests:
        """What of a window is to be asked; notes what need not be."""
        known: set[Key] = set()
        answered = self.store.answered(window.keys)
        if answered:
            self.answers |= bool(self.store.reuse(answered))
            known.update(answered)
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

    def took(self, group: list[Inputs]) -> tuple[int, int, int]:
        """How many requests of an example are answered, and the tokens that they took."""
        outputs = self.store.get(self.keys(group)).values()
        return len(outputs), sum(o.tokens_in or 0 for o in outputs), sum(o.tokens_out or 0 for o in outputs)
