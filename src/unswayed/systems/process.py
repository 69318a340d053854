"""A program in any language as a system: it reads a JSON request a line and writes a JSON answer a line.

Nothing that the program does can block this process or outlive it.
"""

from __future__ import annotations

import json
import os
import re
import selectors
import shlex
import shutil
import signal
import subprocess
import time
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from queue import LifoQueue
from threading import Event, Lock
from typing import TYPE_CHECKING

import msgspec

from unswayed.base.chat import as_sent
from unswayed.base.dependencies import Dependencies
from unswayed.base.errors import SystemBroken, UsageError
from unswayed.base.ids import content_id, file_hash
from unswayed.base.secrets import masked_command, masked_spec
from unswayed.base.values import Inputs, Json
from unswayed.systems.callable import source_id
from unswayed.systems.program_files import SCRIPTS, program_dependencies, written_meanwhile
from unswayed.systems.system import Failed, System, plain

if TYPE_CHECKING:
    from unswayed.storage.suite import Suite

_TICK = 0.2  # seconds between looks at the clock and at the process
_PIECE = 1 << 20  # bytes read or written at once
_STDERR_KEPT = 8192  # bytes


class BrokeOff(Exception):
    """The process died, fell silent, or wrote what is not an answer. It is of no more use."""

    def __init__(self, what: str, silent: bool = False) -> None:
        super().__init__(what)
        self.silent = silent


class Closed(Exception):
    """The system was closed while it was asked."""


class ChildProcess:
    """Used by one thread at a time. All three pipes are served from one loop, so none can fill up and stall."""

    def __init__(
        self, command: Sequence[str], max_line: int, stop: Event, environment: Mapping[str, str] | None = None
    ) -> None:
        self._max_line, self._stop, self.fresh = max_line, stop, True
        pipe, env = subprocess.PIPE, {**os.environ, **environment} if environment else None
        try:
            # Its own session: Ctrl-C is ours to handle, and its whole group can be ended.
            self._process = subprocess.Popen(  # noqa: S603
                command, bufsize=0, stdin=pipe, stdout=pipe, stderr=pipe, start_new_session=True, env=env
            )
        except OSError as error:
            raise UsageError(f"The command {command[0]!r} can't be started: {error.strerror or error}.") from error
        assert self._process.stdin and self._process.stdout and self._process.stderr  # noqa: PT018
        self._in, self._out, self._err = self._process.stdin, self._process.stdout, self._process.stderr
        self._selector = selectors.DefaultSelector()
        for stream in (self._in, self._out, self._err):
            os.set_blocking(stream.fileno(), False)
        self._selector.register(self._out, selectors.EVENT_READ)
        self._selector.register(self._err, selectors.EVENT_READ)
        self._unsent, self._read, self._stderr = memoryview(b""), bytearray(), b""
        self._searched = 0  # bytes of `_read` in which there is no line end
        self._ended = False

    def exchange(self, request: bytes, patience: Callable[[], float]) -> Iterator[bytes]:
        """Sends `request`, and gives each line that comes back for as long as the caller wants more of them.

        `patience()` is how long the next line may be waited for.
        """
        self._unsent = memoryview(request)
        with suppress(KeyError):
            self._selector.unregister(self._in)
        if not self._in.closed:
            self._selector.register(self._in, selectors.EVENT_WRITE)
        since = time.monotonic()
        while True:
            if self._stop.is_set():
                raise Closed
            quiet = not self._serve_pipes()
            while (end := self._read.find(b"\n", self._searched)) >= 0:
                line = bytes(self._read[:end])
                del self._read[: end + 1]
                self._searched = 0
                if len(line) > self._max_line:
                    break
                if line.strip():
                    yield line
                    since = time.monotonic()
            else:
                self._searched = len(self._read)
            if end >= 0 or self._searched > self._max_line:
                raise BrokeOff(f"wrote a line of more than {self._max_line:,} bytes")
            if self._ended or (quiet and self._has_ended(0)):
                raise BrokeOff(self._cause_of_death())
            if time.monotonic() - since > (allowed := patience()):
                begun = bytes(self._read[:200]).decode(errors="replace")
                flush = "does it flush its output after each line?"
                hint = f"it wrote {begun!r} without ending the line" if begun else flush
                raise BrokeOff(f"gave no answer within {allowed:g} s ({hint}){self._last_words()}", silent=True)

    def output(self, patience: float) -> bytes:
        """All that it writes until it ends; raises BrokeOff where it fails, or takes more than `patience` seconds."""
        self._in.close()
        until = time.monotonic() + patience
        while not self._ended:
            if self._stop.is_set():
                raise Closed
            self._serve_pipes()
            if len(self._read) > self._max_line:
                raise BrokeOff(f"wrote more than {self._max_line:,} bytes")
            if time.monotonic() > until:
                raise BrokeOff(f"did not end within {patience:g} s{self._last_words()}", silent=True)
        cause = self._cause_of_death()
        if self._process.returncode != 0:
            raise BrokeOff(cause)
        return bytes(self._read)

    def _serve_pipes(self) -> bool:
        """Waits a tick for something to read or write, and does it. Was there anything?"""
        events = self._selector.select(_TICK)
        for key, _ in events:
            if key.fileobj is self._in:
                try:
                    sent = os.write(self._in.fileno(), self._unsent[:_PIECE])
                except BlockingIOError:
                    continue
                except BrokenPipeError:  # it no longer reads; what it has written may still come
                    sent = len(self._unsent)
                self._unsent = self._unsent[sent:]
                if not self._unsent:
                    self._selector.unregister(self._in)
            elif key.fileobj is self._out:
                with suppress(BlockingIOError):
                    piece = os.read(self._out.fileno(), _PIECE)
                    self._read += piece
                    if not piece:
                        self._ended = True
                        self._selector.unregister(self._out)
            else:
                self._read_stderr()
        return bool(events)

    def _read_stderr(self) -> None:
        with suppress(BlockingIOError):
            piece = os.read(self._err.fileno(), _PIECE)
            self._stderr = (self._stderr + piece)[-_STDERR_KEPT:]
            if not piece:
                self._selector.unregister(self._err)

    def _cause_of_death(self) -> str:
        """How it ended, with its last words."""
        self._has_ended(1.0)
        with suppress(KeyError):  # what it wrote just before it died
            while self._selector.get_key(self._err) and self._selector.select(0):
                self._read_stderr()
        if not self._has_ended(0):
            return "closed its standard output" + self._last_words()
        self.end()
        code = self._process.returncode
        if code >= 0:
            return f"ended with code {code}{self._last_words()}"
        known = {number.value: number.name for number in signal.Signals}
        return f"was ended by {known.get(-code, f'signal {-code}')}{self._last_words()}"

    def _last_words(self) -> str:
        """The last lines of its standard error, for an error message."""
        lines = self._stderr.decode(errors="replace").strip().splitlines()
        return f". Its standard error ends: {' | '.join(lines[-5:])[-1000:]}" if lines else ""

    def _has_ended(self, seconds: float) -> bool:
        """Has it ended, or does it within the time? It is not reaped, so that its group keeps its number."""
        if self._process.returncode is not None:
            return True
        until = time.monotonic() + seconds
        while os.waitid(os.P_PID, self._process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
            if time.monotonic() >= until:
                return False
            time.sleep(0.005)
        return True

    def end(self, grace: float = 0.0) -> None:
        """Ends the process and all that it started; with `grace` seconds to leave by itself first."""
        self._in.close()
        if self._process.returncode is None:
            with suppress(ProcessLookupError, PermissionError):
                if grace and not self._has_ended(grace):
                    os.killpg(self._process.pid, signal.SIGTERM)
                    self._has_ended(grace)
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
        self._out.close()
        self._err.close()
        self._selector.close()


MAX_LINE = 64 << 20  # bytes
_GRACE = 2.0  # seconds in which a process may leave by itself at close
_FALSE_STARTS = 5  # processes that break off before the first answer of all: the program does not work
_IN_A_ROW = 100  # the same after it has worked: no run of bad items is that long


class _Seat:
    """A place for one process, whichever fills it now, and the count of all that was asked there."""

    def __init__(self) -> None:
        self.child: ChildProcess | None = None
        self.asked = 0

    def leave(self, grace: float = 0.0) -> None:
        child, self.child = self.child, None
        if child is not None:
            child.end(grace)


class ProcessSystem(System):
    """Writes `{"id": n, "inputs": {…}}`, reads `{"id": n, "output": …}` or `{"id": n, "error": "…"}` in any order.

    `timeout` is how long the next answer may take, in seconds; a new process has `start_timeout` on top. One that
    breaks off is replaced: its answers are kept, the rest is asked again item by item, and an item
    that a process of its own breaks off on has failed. `environment` is added to that of this process.
    """

    prompted = True

    def __init__(
        self, command: Sequence[str], name: str | None = None, identity: str | None = None, timeout: float = 60.0,
        start_timeout: float = 240.0, concurrency: int = 1, batch_size: int = 64, max_line: int = MAX_LINE,
        environment: Mapping[str, str] | None = None,
    ) -> None:  # fmt: skip
        if isinstance(command, str) or not command:
            raise UsageError(
                'A command is a list such as ["node", "answer.js"]; as one text it is "cmd:node answer.js".'
            )
        if shutil.which(command[0]) is None:
            raise UsageError(
                f"The command {command[0]!r} is not found, or may not be run. Is it installed and on the PATH?"
            )
        if timeout <= 0 or start_timeout < 0 or concurrency < 1:
            raise UsageError("timeout must be more than 0, start_timeout 0 or more, and concurrency 1 or more.")
        self.command = list(command)
        self.name = masked_spec(name) if name else shlex.join(masked_command(self.command))
        self.concurrency, self.batch_size = concurrency, batch_size
        self._timeout, self._start_timeout, self._max_line = timeout, start_timeout, max_line
        self._identity = f"cmd {command_id(self.command)}" if identity is None else identity
        self._environment = environment
        # Who names an identity says what decides.
        self._content: Dependencies | None = None
        self._own_identity, self._apart, self._told = identity is None, list[Path](), False
        self._closed = Event()
        self._closing = Lock()
        self._seats: list[_Seat] = []  # up to `concurrency` of them, made as they are needed
        self._free: LifoQueue[_Seat] = LifoQueue()
        self._slowest_start: float | None = None
        self._broken_in_a_row = 0
        # Processes end with the system even where nobody called close().
        self._finalizer = weakref.finalize(self, _end_all, self._seats)

    def prepare(self, suite: Suite) -> None:
        data = suite.manifest.made.get("data", {}).get("path")
        self._apart = [Path(data)] if isinstance(data, str) else []

    def rests_on(self, news: bool = False) -> Dependencies | None:
        if not self._own_identity or (news and self._told):
            return None
        if self._content is None:  # as it was before the first answer
            self._content = program_dependencies(self.command, self._apart)
        self._told = True
        return self._content

    def written(self) -> list[str]:
        if self._content is None:
            return []
        return written_meanwhile(self._content, program_dependencies(self.command, self._apart))

    def predict(self, batch: Sequence[Inputs]) -> Sequence[Json | Failed]:
        if not batch:
            return []
        seat: _Seat | None = None
        with self._closing:
            if self._free.empty() and len(self._seats) < self.concurrency:
                seat = _Seat()
                self._seats.append(seat)
        seat = seat or self._free.get()
        try:
            first, seat.asked = seat.asked, seat.asked + len(batch)
            lines: dict[int, bytes] = {}
            answers: dict[int, Json | Failed] = {}
            for n, inputs in enumerate(batch, first):
                try:
                    lines[n] = msgspec.json.encode({"id": n, "inputs": as_sent(inputs)}) + b"\n"
                except UnicodeEncodeError as error:
                    answers[n] = Failed(f"the input is not a text: {error.reason}", final=True)
            if lines:
                self._ask_lines(seat, lines, answers)
            for n, line in lines.items():
                while n not in answers:
                    self._ask_lines(seat, {n: line}, answers, final=True)
            return [answers[n] for n in range(first, first + len(batch))]
        except Closed:
            seat.leave()
            raise UsageError(f"{self.name} was closed; open it again to use it.") from None
        except BaseException:
            seat.leave()  # answers to this batch may still be on their way
            raise
        finally:
            self._free.put(seat)

    def close(self) -> None:
        with self._closing:
            self._closed.set()
            seats = [self._free.get() for _ in self._seats]  # a batch that is being asked gives up within a tick
            for seat in seats:
                seat.leave(_GRACE)
                self._free.put(seat)

    def _ask_lines(
        self, seat: _Seat, lines: dict[int, bytes], answers: dict[int, Json | Failed], final: bool = False
    ) -> None:
        """Asks these items. Where the process breaks off, those that it did not answer are left to ask again.

        An item is to blame only if this process was asked nothing else, or if it alone was waited for in vain.
        """
        if self._closed.is_set():
            raise Closed
        if seat.child is None:
            seat.child = ChildProcess(self.command, self._max_line, self._closed, self._environment)
        waiting, fresh, seat.child.fresh = set(lines), seat.child.fresh, False
        started: float | None = time.monotonic() if fresh else None  # None as soon as the process has answered

        def patience() -> float:
            if started is None:
                return self._timeout
            known = self._start_timeout if self._slowest_start is None else 2 * self._slowest_start
            return self._timeout + min(self._start_timeout, known)

        try:
            for line in seat.child.exchange(b"".join(lines.values()), patience):
                n, answer = read_answer(line)
                if n not in waiting:
                    problem = "a second time" if n in answers else "which was not asked or has been answered before"
                    raise SystemBroken(f"{self.name} answered id {n} {problem}: {_quote_line(line)}")
                waiting.remove(n)
                answers[n] = answer
                self._broken_in_a_row = 0
                if started is not None:
                    self._slowest_start = max(self._slowest_start or 0.0, time.monotonic() - started)
                    started = None
                if not waiting:
                    break
        except BrokeOff as trouble:
            seat.leave()
            self._broken_in_a_row += 1
            limit = _FALSE_STARTS if self._slowest_start is None else _IN_A_ROW
            if self._broken_in_a_row >= limit:
                never = " before its first answer" if self._slowest_start is None else ""
                raise SystemBroken(
                    f"{self.name} broke off {limit} times in a row{never}. The last time it {trouble}"
                ) from trouble
            if len(lines) == 1 and (fresh or trouble.silent):
                answers.update({n: Failed(f"the process {trouble}", final) for n in waiting})


def read_answer(line: bytes) -> tuple[int, Json | Failed]:
    """The id and the answer that a line holds."""
    try:
        value = msgspec.json.decode(line)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        try:
            value = json.loads(line)  # knows NaN, of which the item can then be told
        except (ValueError, RecursionError):
            raise BrokeOff(
                f"wrote a line that is not JSON (logs belong on standard error): {_quote_line(line)}"
            ) from None
    n = value.get("id") if isinstance(value, dict) else None
    if isinstance(n, float) and n.is_integer():
        n = int(n)  # some languages write 7 as 7.0
    if not isinstance(n, int) or isinstance(n, bool):
        raise BrokeOff(f'wrote a line that is not {{"id": number, "output": …}}: {_quote_line(line)}')
    if value.get("error") is not None:
        return n, Failed(str(value["error"]))
    if "output" not in value:
        return n, Failed(f'the answer has neither "output" nor "error": {_quote_line(line)}', final=True)
    return n, plain(value["output"])


def _quote_line(line: bytes) -> str:
    text = line[:800].decode(errors="replace").strip()
    return repr(text[:200]) + ("…" if len(line) > 200 else "")


def command_id(command: Sequence[str]) -> str:
    """The command line without keys, and the content of the files that it names, also as in `--model=FILE`, of the
    program, and of what a script among them imports or names."""
    named = [(name, Path(name)) for name in files_in(command)]
    files: list[Json] = sorted(
        [name, source_id(file) if file.suffix in SCRIPTS else file_hash(file)] for name, file in named
    )
    program = shutil.which(command[0]) if command else None
    if program and not _INTERPRETERS.match(Path(program).name) and not os.path.isfile(command[0]):
        files.append(["", file_hash(Path(program))])
    return content_id([masked_command(command), files], 16)


# Their version is the machine's: it says nothing of the system, and workers on other machines may have another.
_INTERPRETERS = re.compile(
    r"(python|node|ruby|perl|php|java|bash|sh|zsh|dash|deno|bun|julia|Rscript|lua|dotnet|env|uv|npx|docker|podman|go)"
    r"[\d.]*(\.exe)?$"
)


def files_in(command: Sequence[str] | str) -> list[str]:
    """The files that a command names, also as in `--model=FILE`."""
    if isinstance(command, str):
        try:
            command = shlex.split(command)
        except ValueError:
            return []
    return [part for argument in command for part in {argument, argument.partition("=")[2]} if os.path.isfile(part)]


def _end_all(seats: list[_Seat]) -> None:
    for seat in seats:
        seat.leave()
