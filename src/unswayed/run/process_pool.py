"""Workers in other processes: who is given what, the blocks of workers that die, and processes on this machine."""

from __future__ import annotations

import json
import os
import queue
import signal
import socket
import subprocess
import sys
import threading
import time
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext, suppress
from dataclasses import dataclass, field
from multiprocessing import connection
from multiprocessing.connection import Connection
from multiprocessing.reduction import ForkingPickler
from typing import Any

from unswayed.base.errors import SystemBroken, UnswayedError, UsageError
from unswayed.base.gc_pause import collect_no_more, collect_seldom
from unswayed.run.workers import Job, Pool, Raised, WorkerCrash, do_block

READY = 0  # the number under which a worker says that it is
_ALONE = 2  # workers that may die under a block while they have no other, before it is given up
_RESERVE = 0.25  # seconds of work that a worker has waiting, while this process reads, or writes what came before
_MOST = 32  # blocks that it has waiting, however quick they are


@dataclass
class Ticket:
    """A block on its way, and how often a worker died of it, as far as one can tell."""

    number: int
    block: Any
    suspect: bool = False
    deaths: int = 0


@dataclass(eq=False)
class Worker(ABC):
    """A process elsewhere. It is given blocks once it has said that it is ready."""

    ready: bool = False
    tickets: dict[int, Ticket] = field(default_factory=dict)
    since: float = 0.0  # when it began with the block that it is at

    @abstractmethod
    def send(self, ticket: Ticket) -> None: ...

    @abstractmethod
    def leave(self) -> None:
        """Asks it to end by itself, without waiting for that."""

    @abstractmethod
    def end(self) -> None:
        """Sees to it that it ended."""


class WorkerPool(Pool):
    """Workers in other processes. One that dies is replaced, and its blocks are given to others.

    A block under which a worker died is given out alone from then on, so that no other is taken for the culprit.
    """

    def __init__(self, size: int, threads: int = 1) -> None:
        self.size, self._threads = size, threads
        self._pace = 0.0  # seconds that a block takes
        self._each = threads + max(1, threads // 2)  # something to do next, while a result travels
        self.ahead = size * self._each
        self._workers: list[Worker] = []
        self._queue: deque[Ticket] = deque()
        self._suspects: deque[Ticket] = deque()
        self._done: deque[tuple[int, Any]] = deque()
        self._false_starts = 0

    @abstractmethod
    def _start_worker(self) -> Worker: ...

    @abstractmethod
    def _receive(self, wait: bool) -> list[tuple[Worker, int, Any]]:
        """What workers say: a number and a result, an error, or that they are gone."""

    def _hand_over(self, number: int, block: Any, alone: bool) -> None:
        (self._suspects if alone else self._queue).append(Ticket(number, block, alone))
        self._assign()

    def _next(self) -> tuple[int, Any]:
        while not self._done:
            self._assign()
            for heard in self._receive(wait=True):
                self._handle(*heard)
        return self._done.popleft()

    def ready(self) -> Iterator[tuple[int, Any]]:
        for heard in self._receive(wait=False):
            self._handle(*heard)
        self._assign()
        while self._done:
            self._under_way -= 1
            yield self._done.popleft()

    def finished(self) -> list[tuple[int, Any]]:
        with suppress(UnswayedError):
            while heard := self._receive(wait=False):
                for one in heard:
                    self._handle(*one)
        return [(number, result) for number, result in self._done if not isinstance(result, WorkerCrash)]

    def __enter__(self) -> Pool:
        try:
            self._assign()  # they start while the first blocks are made
        except BaseException:
            self.close()
            raise
        return self

    def _assign(self) -> None:
        while len(self._workers) < self.size:
            self._workers.append(self._start_worker())
        free = [w for w in self._workers if w.ready and not any(ticket.suspect for ticket in w.tickets.values())]
        while self._suspects:  # nothing new is given out until each of them has found a worker that has no other
            idle = next((worker for worker in free if not worker.tickets), None)
            if idle is None:
                return
            free.remove(idle)
            self._send(idle, self._suspects.popleft())
        while self._queue and free:
            least = min(free, key=lambda worker: len(worker.tickets))  # so that none waits while others have many
            if len(least.tickets) >= self._each:
                return
            self._send(least, self._queue.popleft())

    def _send(self, worker: Worker, ticket: Ticket) -> None:
        if not worker.tickets:
            worker.since = time.monotonic()
        worker.tickets[ticket.number] = ticket
        worker.send(ticket)

    def _handle(self, worker: Worker, number: int, said: Any) -> None:
        if worker not in self._workers:
            return  # the last words of one that was given up
        if isinstance(said, WorkerCrash):
            self._workers.remove(worker)
            worker.end()
            if not worker.ready:
                self._false_starts += 1
                if self._false_starts > 2 * self.size:
                    many = f"{self._false_starts} so far"
                    raise SystemBroken(f"Workers die before they have begun, {many}: {said.reason}")
            alone = len(worker.tickets) == 1
            for ticket in worker.tickets.values():
                ticket.suspect = True
                ticket.deaths += alone
                if ticket.deaths == _ALONE:
                    self._done.append((ticket.number, said))
                else:
                    self._suspects.append(ticket)
        elif isinstance(said, Raised):
            raise said.error()
        elif number == READY:
            worker.ready = True
            self._false_starts = 0
        else:
            del worker.tickets[number]
            self._done.append((number, said))
            # How long a block takes: of quick ones, workers have more waiting, so that none waits for us.
            now = time.monotonic()
            took, worker.since = now - worker.since, now
            self._pace = (self._pace + took) / 2 if self._pace else took
            if self._threads == 1:
                self._each = max(2, min(_MOST, int(_RESERVE / max(self._pace, 1e-6))))
                self.ahead = self.size * self._each

    def close(self) -> None:
        workers, self._workers = self._workers, []
        for worker in workers:
            worker.leave()
        for worker in workers:
            worker.end()


_GRACE = 2.0  # seconds in which a worker may let go of what it holds
# Not multiprocessing's own start, which runs the caller's main module again and so asks a guard of every script.
_START = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[2]); "
    "import unswayed.run.process_pool as w; w.serve(sys.argv[1])"
)


class ProcessPool(WorkerPool):
    """Processes that each make the job's work once."""

    def __init__(self, job: Job, size: int, threads: int = 1) -> None:
        super().__init__(size, threads)
        try:
            self._job = bytes(ForkingPickler.dumps((job, threads)))
        except Exception as error:  # whatever it holds that only this process has
            raise UsageError(f"This can't be sent to worker processes: {error}. Use one worker.") from error

    def _start_worker(self) -> Worker:
        return _Process(self._job)

    def _receive(self, wait: bool) -> list[tuple[Worker, int, Any]]:
        by_connection: dict[Any, _Process] = {w.connection: w for w in self._workers if isinstance(w, _Process)}
        readable = connection.wait(list(by_connection), None if wait else 0)
        return [(by_connection[one], *by_connection[one].receive()) for one in readable]


class _Process(Worker):
    def __init__(self, job: bytes) -> None:
        super().__init__()
        ours, theirs = socket.socketpair()
        with theirs:
            self._process = subprocess.Popen(  # noqa: S603 - our own interpreter
                [sys.executable, "-c", _START, str(theirs.fileno()), json.dumps(list(map(str, sys.path)))],
                stdin=subprocess.DEVNULL,
                pass_fds=[theirs.fileno()],
                start_new_session=True,  # Ctrl-C is ours to handle, and its whole group can be ended
            )
        self.connection = Connection(ours.detach())
        self._send_bytes(job)

    def send(self, ticket: Ticket) -> None:
        self._send_bytes(ForkingPickler.dumps((ticket.number, ticket.block)))

    def _send_bytes(self, message: Any) -> None:
        with suppress(BrokenPipeError, ConnectionResetError):  # it is dead, which is heard next
            self.connection.send_bytes(message)

    def receive(self) -> tuple[int, Any]:
        try:
            number, result = self.connection.recv()
        except (EOFError, OSError):
            reason = "it no longer speaks"
            with suppress(subprocess.TimeoutExpired):
                code = self._process.wait(_GRACE)
                reason = f"it was ended by {signal.Signals(-code).name}" if code < 0 else f"it ended with code {code}"
            return READY, WorkerCrash(reason)
        return number, result

    def leave(self) -> None:
        self.connection.close()

    def end(self) -> None:
        self.connection.close()
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(_GRACE + 1)
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()


def serve(descriptor: str) -> None:
    """What a worker process does: makes its work, then does what it is given until nobody is there any more."""
    collect_seldom()
    os.dup2(2, 1)  # what a system prints must not stand among the results
    here = Connection(int(descriptor))
    job, threads = here.recv()
    speaking = threading.Lock()
    inbox: queue.SimpleQueue[tuple[int, Any] | None] = queue.SimpleQueue()

    def say(number: int, result: Any) -> None:
        with speaking, suppress(BrokenPipeError, ConnectionResetError):
            here.send((number, result))

    def listen() -> None:
        try:
            while True:
                inbox.put(here.recv())
        except (EOFError, OSError):  # the one who gave us work has closed, or is dead
            inbox.put(None)
            time.sleep(_GRACE)
            os._exit(1)  # still at work on what nobody waits for

    def do(number: int, block: Any) -> None:
        say(number, do_block(work, block))

    threading.Thread(target=listen, daemon=True).start()
    try:
        work = job.start()
    except Exception as error:
        return say(READY, Raised.of(error))
    say(READY, None)
    try:
        with ThreadPoolExecutor(threads) if threads > 1 else nullcontext() as pool:
            while (given := inbox.get()) is not None:
                if pool is None:
                    do(*given)
                else:
                    pool.submit(do, *given)
    finally:
        work.close()
        collect_no_more()
    return None
