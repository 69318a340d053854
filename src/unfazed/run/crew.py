"""Workers in other processes: who is given what, and what becomes of the blocks of one that dies."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from unfazed.core.errors import SystemBroken, UnfazedError
from unfazed.run.pool import Lost, Pool, Raised

READY = 0  # the number under which a worker says that it is
_ALONE = 2  # workers that may die under a block while they have no other, before it is given up


@dataclass
class Ticket:
    """A block on its way, and how often a worker died of it, as far as one can tell."""

    number: int
    block: Any
    suspect: bool = False
    deaths: int = 0


class Gone(NamedTuple):
    """What is heard of a worker that died."""

    reason: str


@dataclass(eq=False)
class Worker(ABC):
    """A process elsewhere. It is given blocks once it has said that it is ready."""

    ready: bool = False
    tickets: dict[int, Ticket] = field(default_factory=dict)

    @abstractmethod
    def send(self, ticket: Ticket) -> None: ...

    @abstractmethod
    def leave(self) -> None:
        """Asks it to end by itself, without waiting for that."""

    @abstractmethod
    def end(self) -> None:
        """Sees to it that it ended."""


class Crew(Pool):
    """Workers in other processes. One that dies is replaced, and its blocks are given to others.

    A block under which a worker died is given out alone from then on, so that no other is taken for the culprit.
    """

    def __init__(self, size: int, threads: int = 1) -> None:
        self.size = size
        self._each = threads + max(1, threads // 2)  # something to do next, while a result travels
        self.ahead = size * self._each
        self._workers: list[Worker] = []
        self._queue: deque[Ticket] = deque()
        self._suspects: deque[Ticket] = deque()
        self._done: deque[tuple[int, Any]] = deque()
        self._false_starts = 0

    @property
    def begun(self) -> int:
        """How many workers are ready."""
        return sum(worker.ready for worker in self._workers)

    @abstractmethod
    def _hire(self) -> Worker: ...

    @abstractmethod
    def _hear(self, wait: bool) -> list[tuple[Worker, int, Any]]:
        """What workers say: a number and a result, an error, or that they are gone."""

    def _hand_over(self, number: int, block: Any, alone: bool) -> None:
        (self._suspects if alone else self._queue).append(Ticket(number, block, alone))
        self._assign()

    def _next(self) -> tuple[int, Any]:
        while not self._done:
            self._assign()
            for heard in self._hear(wait=True):
                self._note(*heard)
        return self._done.popleft()

    def finished(self) -> list[tuple[int, Any]]:
        with suppress(UnfazedError):
            while heard := self._hear(wait=False):
                for one in heard:
                    self._note(*one)
        return [(number, result) for number, result in self._done if not isinstance(result, Lost)]

    def _assign(self) -> None:
        while len(self._workers) < self.size:
            self._workers.append(self._hire())
        for worker in self._workers:
            if not worker.ready or any(ticket.suspect for ticket in worker.tickets.values()):
                continue
            if self._suspects:  # nothing new is given out until each of them has found a worker that is free
                if not worker.tickets:
                    self._send(worker, self._suspects.popleft())
                continue
            while self._queue and len(worker.tickets) < self._each:
                self._send(worker, self._queue.popleft())

    def _send(self, worker: Worker, ticket: Ticket) -> None:
        worker.tickets[ticket.number] = ticket
        worker.send(ticket)

    def _note(self, worker: Worker, number: int, said: Any) -> None:
        if worker not in self._workers:
            return  # the last words of one that was given up
        if isinstance(said, Gone):
            self._replace(worker, said.reason)
        elif isinstance(said, Raised):
            raise said.error()
        elif number == READY:
            worker.ready = True
            self._false_starts = 0
        else:
            del worker.tickets[number]
            self._done.append((number, said))

    def _replace(self, worker: Worker, reason: str) -> None:
        self._workers.remove(worker)
        worker.end()
        if not worker.ready:
            self._false_starts += 1
            if self._false_starts > 2 * self.size:
                raise SystemBroken(f"Workers die before they have begun, {self._false_starts} so far: {reason}")
        alone = len(worker.tickets) == 1
        for ticket in worker.tickets.values():
            ticket.suspect = True
            ticket.deaths += alone
            if ticket.deaths == _ALONE:
                self._done.append((ticket.number, Lost(reason)))
            else:
                self._suspects.append(ticket)

    def close(self) -> None:
        workers, self._workers = self._workers, []
        for worker in workers:
            worker.leave()
        for worker in workers:
            worker.end()
