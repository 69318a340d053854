"""What is still to be asked of a suite, in the order of the seed, in batches."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator

import msgspec

from unfazed.core.progress import Progress
from unfazed.core.store import AnswerStore, Key, keyer
from unfazed.core.suite import Suite
from unfazed.core.values import Inputs
from unfazed.run.order import Order
from unfazed.systems.system import System

_BATCHES_A_WINDOW = 8  # within the first window, to batch those of like length
_FIRST_LOOK = 32  # examples after which a run may end early
_LOOK_AHEAD = 4096  # requests in the largest window

Request = tuple[Key, Inputs]


class Due:
    """The requests without an answer. `early`: the run may end before all are asked; `sample`: examples after which the
    cost is told, where an empty batch comes; `size`: requests in a batch."""

    def __init__(
        self, suite: Suite, order: Order, system: System, store: AnswerStore, progress: Progress, *,
        repeats: int, early: bool, sample: int, size: int,
    ) -> None:  # fmt: skip
        self.suite, self.order, self.system, self.store, self.progress = suite, order, system, store, progress
        self.repeats, self.early, self.sample, self.size = repeats, early, sample, size
        self.answers = False  # is there an answer that is used again?
        self.looks: deque[int] = deque()  # requests, asked or not due, after which the run may end
        self.in_flight: set[Key] = set()

    def pass_over(self) -> None:
        """Counts what is used again, and asks nothing."""
        deque(map(self.of, self.windows(1)), 0)

    def batches(self) -> Iterator[list[Request]]:
        """What is still to be asked: each request once, those of like length together within a window.

        A window is no more than a fourth of what comes before it, so that a run that is stopped loses little: of the
        window's examples some are not complete.
        """
        size, left = self.size, list[Request]()
        for window in self.windows(size):
            if not window:  # the end of the sample
                if left:
                    yield left
                left = []
                yield []
                continue
            todo = self.of(window)
            pending = list(todo.items())
            if size > 1:
                pending.sort(key=lambda request: sum(map(len, request[1].values())))
            pending = left + pending  # what is too little for a batch goes before all else
            whole = len(pending) - len(pending) % size
            for at in range(0, whole, size):
                yield pending[at : at + size]
            left = pending[whole:]
        if left:
            yield left

    def windows(self, size: int) -> Iterator[list[Request]]:
        """Keys and requests in the order of the seed, all of an example in the same window."""
        key, decode = keyer(self.system.identity), msgspec.json.decode
        window: list[Request] = []
        seen, enough = 0, _BATCHES_A_WINDOW * size if size > 1 else _LOOK_AHEAD // 64
        if self.early:
            enough = _FIRST_LOOK * (1 + self.suite.manifest.variants // max(1, self.suite.manifest.examples))
        for number, (_, requests) in enumerate(self.order.groups()):
            if self.sample and number == self.sample:
                yield window
                if window:
                    seen += len(window)
                    yield []
                window = []
            group = [decode(request) for request in requests]
            window += [(key(inputs), inputs) for inputs in group]
            window += [(key(group[0], repeat), group[0]) for repeat in range(1, self.repeats + 1)]
            if len(window) >= enough:
                seen += len(window)
                self.looks.append(seen)
                yield window
                window, enough = [], min(max(enough, seen // 4), max(_LOOK_AHEAD, enough))
        if window:
            yield window
        if self.sample and self.sample >= len(self.order.places):
            yield []

    def of(self, window: list[Request]) -> dict[Key, Inputs]:
        """What of a window is to be asked; notes what need not be."""
        todo = dict(window)
        answered = self.store.answered(list(todo))
        self.answers |= bool(self.store.reuse(answered))
        for key in answered.keys() | (self.in_flight & todo.keys()):
            del todo[key]
        self.in_flight.update(todo)
        self.progress.skip(len(window) - len(todo))
        return todo

    def keys(self, requests: list[str]) -> list[Key]:
        """The keys of an example's requests, each once."""
        key, group = keyer(self.system.identity), [msgspec.json.decode(request) for request in requests]
        repeated = [key(group[0], repeat) for repeat in range(1, self.repeats + 1)]
        return list(dict.fromkeys([*map(key, group), *repeated]))

    def took(self, requests: list[str]) -> tuple[int, int, int]:
        """How many requests of an example are answered, and the tokens that they took."""
        outputs = self.store.get(self.keys(requests)).values()
        return len(outputs), sum(o.tokens_in or 0 for o in outputs), sum(o.tokens_out or 0 for o in outputs)
