"""A child process that is asked in lines and answers in lines; nothing that it does can block or outlive us."""

from __future__ import annotations

import os
import selectors
import signal
import subprocess
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from threading import Event
from typing import IO

from unswayed.base.errors import UsageError

_TICK = 0.2  # seconds between looks at the clock and at the process
_PIECE = 1 << 20
_STDERR_KEPT = 8192


class BrokeOff(Exception):
    """The process died, fell silent, or wrote what is not an answer. It is of no more use."""

    def __init__(self, what: str, silent: bool = False) -> None:
        super().__init__(what)
        self.silent = silent


class Closed(Exception):
    """The system was closed while it was asked."""


class Child:
    """Used by one thread at a time. All three pipes are served from one loop, so none can fill up and stall."""

    def __init__(
        self, command: Sequence[str], max_line: int, stop: Event, environment: Mapping[str, str] | None = None
    ) -> None:
        self._max_line = max_line
        self._stop = stop
        self.asked = 0
        self._process = _started(command, environment)
        self._in, self._out, self._err = _pipes(self._process)
        self._selector = selectors.DefaultSelector()
        for pipe in (self._in, self._out, self._err):
            os.set_blocking(pipe.fileno(), False)
        self._selector.register(self._out, selectors.EVENT_READ)
        self._selector.register(self._err, selectors.EVENT_READ)
        self._unsent = memoryview(b"")
        self._read = bytearray()
        self._searched = 0  # bytes of `_read` in which there is no line end
        self._ended = False
        self._last_words = b""

    def exchange(
        self, request: bytes, waiting: Collection[int], take: Callable[[bytes], int], patience: Callable[[], float]
    ) -> None:
        """Sends `request` and reads lines until `take` has emptied `waiting`.

        `take` returns the id that a line answers. `patience()` is how long the next answer may be waited for.
        """
        self.asked += len(waiting)
        self._send(request)
        since = time.monotonic()
        while waiting:
            if self._stop.is_set():
                raise Closed
            quiet = not self._turn()
            for line in self._lines():
                take(line)
                since = time.monotonic()
                if not waiting:
                    return
            if self._ended or (quiet and self._gone(0)):
                raise BrokeOff(self._death())
            if time.monotonic() - since > (allowed := patience()):
                raise BrokeOff(self._silence(allowed), silent=True)

    def output(self, patience: float) -> bytes:
        """All that it writes until it ends; raises BrokeOff where it fails, or takes more than `patience` seconds."""
        self._in.close()
        until = time.monotonic() + patience
        while not self._ended:
            if self._stop.is_set():
                raise Closed
            self._turn()
            if len(self._read) > self._max_line:
                raise BrokeOff(f"wrote more than {self._max_line:,} bytes")
            if time.monotonic() > until:
                raise BrokeOff(f"did not end within {patience:g} s{self.last_words()}", silent=True)
        how = self._death()
        if self._process.returncode != 0:
            raise BrokeOff(how)
        return bytes(self._read)

    def _send(self, request: bytes) -> None:
        self._unsent = memoryview(request)
        with suppress(KeyError):
            self._selector.unregister(self._in)
        if not self._in.closed:
            self._selector.register(self._in, selectors.EVENT_WRITE)

    def _turn(self) -> bool:
        """Waits a tick for something to read or write, and does it. Was there anything?"""
        events = self._selector.select(_TICK)
        for key, _ in events:
            if key.fileobj is self._in:
                self._write()
            elif key.fileobj is self._out:
                self._read_output()
            else:
                self._read_errors()
        return bool(events)

    def _write(self) -> None:
        try:
            sent = os.write(self._in.fileno(), self._unsent[:_PIECE])
        except BlockingIOError:
            return
        except BrokenPipeError:  # it no longer reads; what it has written may still come
            sent = len(self._unsent)
        self._unsent = self._unsent[sent:]
        if not self._unsent:
            self._selector.unregister(self._in)

    def _read_output(self) -> None:
        with suppress(BlockingIOError):
            piece = os.read(self._out.fileno(), _PIECE)
            self._read += piece
            if not piece:
                self._ended = True
                self._selector.unregister(self._out)

    def _read_errors(self) -> None:
        with suppress(BlockingIOError):
            piece = os.read(self._err.fileno(), _PIECE)
            self._last_words = (self._last_words + piece)[-_STDERR_KEPT:]
            if not piece:
                self._selector.unregister(self._err)

    def _lines(self) -> Iterator[bytes]:
        while (end := self._read.find(b"\n", self._searched)) >= 0:
            line = bytes(self._read[:end])
            del self._read[: end + 1]
            self._searched = 0
            if len(line) > self._max_line:
                break
            if line.strip():
                yield line
        else:
            self._searched = len(self._read)
            if self._searched <= self._max_line:
                return
        raise BrokeOff(f"wrote a line of more than {self._max_line:,} bytes")

    def _death(self) -> str:
        """How it ended, with its last words."""
        self._gone(1.0)
        with suppress(KeyError):  # what it wrote just before it died
            while self._selector.get_key(self._err) and self._selector.select(0):
                self._read_errors()
        if not self._gone(0):
            return "closed its standard output" + self.last_words()
        self.end()
        code = self._process.returncode
        how = f"ended with code {code}" if code >= 0 else f"was ended by {_signal_name(-code)}"
        return how + self.last_words()

    def _silence(self, seconds: float) -> str:
        begun = bytes(self._read[:200]).decode(errors="replace")
        hint = f"it wrote {begun!r} without ending the line" if begun else "does it flush its output after each line?"
        return f"gave no answer within {seconds:g} s ({hint}){self.last_words()}"

    def last_words(self) -> str:
        """The last lines of its standard error, for an error message."""
        lines = self._last_words.decode(errors="replace").strip().splitlines()
        return f". Its standard error ends: {' | '.join(lines[-5:])[-1000:]}" if lines else ""

    def _gone(self, seconds: float) -> bool:
        """Has it ended, or does it within the time? It is not reaped, so that its group keeps its number."""
        if self._process.returncode is not None:
            return True
        until = time.monotonic() + seconds
        look = os.WEXITED | os.WNOHANG | os.WNOWAIT
        while os.waitid(os.P_PID, self._process.pid, look) is None:
            if time.monotonic() >= until:
                return False
            time.sleep(0.005)
        return True

    def end(self, grace: float = 0.0) -> None:
        """Ends the process and all that it started; with `grace` seconds to leave by itself first."""
        self._in.close()
        if self._process.returncode is None:
            if grace and not self._gone(grace):
                self._signal(signal.SIGTERM)
                self._gone(grace)
            self._signal(signal.SIGKILL)
            self._process.wait()
        self._out.close()
        self._err.close()
        self._selector.close()

    def _signal(self, number: signal.Signals) -> None:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, number)


def _started(command: Sequence[str], environment: Mapping[str, str] | None) -> subprocess.Popen[bytes]:
    pipe = subprocess.PIPE
    env = {**os.environ, **environment} if environment else None
    try:
        # Its own session: Ctrl-C is ours to handle, and its whole group can be ended.
        return subprocess.Popen(  # noqa: S603
            command, bufsize=0, stdin=pipe, stdout=pipe, stderr=pipe, start_new_session=True, env=env
        )
    except OSError as error:
        raise UsageError(f"The command {command[0]!r} can't be started: {error.strerror or error}.") from error


def _pipes(process: subprocess.Popen[bytes]) -> tuple[IO[bytes], IO[bytes], IO[bytes]]:
    assert process.stdin is not None
    assert process.stdout is not None
    assert process.stderr is not None
    return process.stdin, process.stdout, process.stderr


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
