"""Worker processes on this machine. They end with the process that started them, however that ends."""

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
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from multiprocessing.connection import Connection, wait
from typing import Any

from unfazed.run.crew import READY, Crew, Gone, Ticket, Worker
from unfazed.run.pool import Job, Raised, Work, done

_GRACE = 2.0  # seconds in which a worker may let go of what it holds
# Not multiprocessing's own start, which runs the caller's main module again and so asks a guard of every script.
_START = "import json, sys; sys.path[:] = json.loads(sys.argv[2]); import unfazed.run.local as w; w.serve(sys.argv[1])"


class LocalCrew(Crew):
    """Processes that each make the job's work once."""

    def __init__(self, job: Job, size: int, threads: int = 1) -> None:
        super().__init__(size, threads)
        self._job, self._threads = job, threads

    def _hire(self) -> Worker:
        return _Process(self._job, self._threads)

    def _hear(self, wait: bool) -> list[tuple[Worker, int, Any]]:
        by_connection = {w.connection: w for w in self._workers if isinstance(w, _Process)}
        heard: list[tuple[Worker, int, Any]] = []
        for connection in _readable(list(by_connection), None if wait else 0):
            worker = by_connection[connection]
            heard.append((worker, *worker.said()))
        return heard


def _readable(connections: list[Connection], timeout: float | None) -> list[Connection]:
    return [c for c in wait(connections, timeout) if isinstance(c, Connection)]


class _Process(Worker):
    def __init__(self, job: Job, threads: int) -> None:
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
        self._tell((job, threads))

    def send(self, ticket: Ticket) -> None:
        self._tell((ticket.number, ticket.block))

    def _tell(self, message: Any) -> None:
        with suppress(BrokenPipeError, ConnectionResetError):  # it is dead, which is heard next
            self.connection.send(message)

    def said(self) -> tuple[int, Any]:
        try:
            number, result = self.connection.recv()
        except (EOFError, OSError):
            return READY, Gone(self._death())
        return number, result

    def _death(self) -> str:
        with suppress(subprocess.TimeoutExpired):
            code = self._process.wait(_GRACE)
            return f"it was ended by {signal.Signals(-code).name}" if code < 0 else f"it ended with code {code}"
        return "it no longer speaks"

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
    os.dup2(2, 1)  # what a system prints must not stand among the results
    connection = Connection(int(descriptor))
    job, threads = connection.recv()
    speaking = threading.Lock()

    def say(number: int, result: Any) -> None:
        with speaking, suppress(BrokenPipeError, ConnectionResetError):
            connection.send((number, result))

    inbox: queue.SimpleQueue[tuple[int, Any] | None] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(connection, inbox), daemon=True).start()
    try:
        work = job.start()
    except Exception as error:
        return say(READY, Raised.of(error))
    say(READY, None)
    try:
        _work_off(inbox, work, say, threads)
    finally:
        work.close()
    return None


def _listen(connection: Connection, inbox: queue.SimpleQueue[tuple[int, Any] | None]) -> None:
    try:
        while True:
            inbox.put(connection.recv())
    except (EOFError, OSError):  # the one who gave us work has closed, or is dead
        inbox.put(None)
        time.sleep(_GRACE)
        os._exit(1)  # still at work on what nobody waits for


def _work_off(
    inbox: queue.SimpleQueue[tuple[int, Any] | None], work: Work, say: Callable[[int, Any], None], threads: int
) -> None:
    def one(number: int, block: Any) -> None:
        say(number, done(work, block))

    if threads == 1:
        while (given := inbox.get()) is not None:
            one(*given)
        return
    with ThreadPoolExecutor(threads) as pool:
        while (given := inbox.get()) is not None:
            pool.submit(one, *given)
