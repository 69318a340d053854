"""A program in any language as a system: it reads a JSON request a line and writes a JSON answer a line."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import time
import weakref
from collections.abc import Mapping, Sequence
from pathlib import Path
from queue import LifoQueue
from threading import Event, Lock

import msgspec

from unswayed.base.chat import as_sent
from unswayed.base.errors import SystemBroken, UsageError
from unswayed.base.ids import content_id, file_hash
from unswayed.base.secrets import masked_command, masked_spec
from unswayed.base.values import Inputs, Json
from unswayed.systems.child import BrokeOff, Child, Closed
from unswayed.systems.fingerprint import source_id
from unswayed.systems.system import Failed, System, plain

MAX_LINE = 64 << 20
_SCRIPTS = (".py", ".js", ".mjs", ".ts", ".rb", ".pl", ".sh", ".r", ".R", ".jl", ".lua", ".php")
_GRACE = 2.0  # seconds in which a process may leave by itself at close
_FALSE_STARTS = 5  # processes that break off before the first answer of all: the program does not work
_IN_A_ROW = 100  # the same after it has worked: no run of bad items is that long


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
        self.command = _checked(command)
        if timeout <= 0 or start_timeout < 0 or concurrency < 1:
            raise UsageError("timeout must be more than 0, start_timeout 0 or more, and concurrency 1 or more.")
        kept = masked_command(self.command)
        self.name = masked_spec(name) if name else shlex.join(kept)
        self.concurrency, self.batch_size = concurrency, batch_size
        self._timeout, self._start_timeout, self._max_line = timeout, start_timeout, max_line
        self._identity = f"cmd {command_id(self.command)}" if identity is None else identity
        self._environment = environment
        self._closed = Event()
        self._closing = Lock()
        self._seats: list[_Seat] = []  # up to `concurrency` of them, made as they are needed
        self._free: LifoQueue[_Seat] = LifoQueue()
        self._slowest_start: float | None = None
        self._broken_in_a_row = 0
        # Processes end with the system even where nobody called close().
        self._finalizer = weakref.finalize(self, _end_all, self._seats)

    def predict(self, batch: Sequence[Inputs]) -> Sequence[Json | Failed]:
        if not batch:
            return []
        seat = self._take()
        try:
            return self._ask(seat, batch)
        except Closed:
            seat.leave()
            raise UsageError(f"{self.name} was closed; open it again to use it.") from None
        except BaseException:
            seat.leave()  # answers to this batch may still be on their way
            raise
        finally:
            self._free.put(seat)

    def _take(self) -> _Seat:
        """A free seat, or a new one where there may be more."""
        with self._closing:
            if self._free.empty() and len(self._seats) < self.concurrency:
                self._seats.append(_Seat())
                return self._seats[-1]
        return self._free.get()

    def close(self) -> None:
        with self._closing:
            self._closed.set()
            seats = [self._free.get() for _ in self._seats]  # a batch that is being asked gives up within a tick
            for seat in seats:
                seat.leave(_GRACE)
                self._free.put(seat)

    def _ask(self, seat: _Seat, batch: Sequence[Inputs]) -> list[Json | Failed]:
        first, seat.asked = seat.asked, seat.asked + len(batch)
        lines: dict[int, bytes] = {}
        answers: dict[int, Json | Failed] = {}
        for n, inputs in enumerate(batch, first):
            try:
                lines[n] = msgspec.json.encode({"id": n, "inputs": as_sent(inputs)}) + b"\n"
            except UnicodeEncodeError as error:
                answers[n] = Failed(f"the input is not a text: {error.reason}", final=True)
        self._try(seat, lines, answers)
        for n, line in lines.items():
            while n not in answers:
                self._try(seat, {n: line}, answers, final=True)
        return [answers[n] for n in range(first, first + len(batch))]

    def _try(
        self, seat: _Seat, lines: dict[int, bytes], answers: dict[int, Json | Failed], final: bool = False
    ) -> None:
        """Asks these items. Where the process breaks off, those that it did not answer are left to ask again.

        An item is to blame only if this process was asked nothing else, or if it alone was waited for in vain.
        """
        if self._closed.is_set():
            raise Closed
        if seat.child is None:
            seat.child = Child(self.command, self._max_line, self._closed, self._environment)
        conversation = _Conversation(self, seat.child.asked == 0, lines, answers)
        lonely = len(lines) == 1 and seat.child.asked == 0
        try:
            seat.child.exchange(
                b"".join(lines.values()), conversation.waiting, conversation.take, conversation.patience
            )
        except BrokeOff as problem:
            seat.leave()
            self._broken(problem)
            if lonely or (problem.silent and len(lines) == 1):
                answers.update({n: Failed(f"the process {problem}", final) for n in conversation.waiting})

    def _broken(self, problem: BrokeOff) -> None:
        self._broken_in_a_row += 1
        limit = _FALSE_STARTS if self._slowest_start is None else _IN_A_ROW
        if self._broken_in_a_row >= limit:
            never = " before its first answer" if self._slowest_start is None else ""
            raise SystemBroken(f"{self.name} broke off {limit} times in a row{never}. The last time it {problem}")

    def answered(self, first_after: float | None) -> None:
        """Notes that a process works and, for the first answer of a new one, how long it took to start."""
        self._broken_in_a_row = 0
        if first_after is not None:
            self._slowest_start = max(self._slowest_start or 0.0, first_after)

    def patience(self, starting: bool) -> float:
        if not starting:
            return self._timeout
        if self._slowest_start is None:
            return self._timeout + self._start_timeout
        return self._timeout + min(self._start_timeout, 2 * self._slowest_start)


class _Seat:
    """A place for one process, whichever fills it now, and the count of all that was asked there."""

    def __init__(self) -> None:
        self.child: Child | None = None
        self.asked = 0

    def leave(self, grace: float = 0.0) -> None:
        child, self.child = self.child, None
        if child is not None:
            child.end(grace)


class _Conversation:
    """What is asked of one process in one go, and what is still to be answered."""

    def __init__(
        self, system: ProcessSystem, new: bool, lines: dict[int, bytes], answers: dict[int, Json | Failed]
    ) -> None:
        self._system = system
        self._answers = answers
        self._starting = time.monotonic() if new else None
        self.waiting = set(lines)

    def patience(self) -> float:
        return self._system.patience(self._starting is not None)

    def take(self, line: bytes) -> int:
        n, answer = _answer(line)
        if n not in self.waiting:
            problem = "a second time" if n in self._answers else "which was not asked or has been answered before"
            raise SystemBroken(f"{self._system.name} answered id {n} {problem}: {_quoted(line)}")
        self.waiting.remove(n)
        self._answers[n] = answer
        self._system.answered(None if self._starting is None else time.monotonic() - self._starting)
        self._starting = None
        return n


def _answer(line: bytes) -> tuple[int, Json | Failed]:
    """The id and the answer that a line holds."""
    try:
        value = msgspec.json.decode(line)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        try:
            value = json.loads(line)  # knows NaN, of which the item can then be told
        except (ValueError, RecursionError):
            raise BrokeOff(f"wrote a line that is not JSON (logs belong on standard error): {_quoted(line)}") from None
    n = value.get("id") if isinstance(value, dict) else None
    if isinstance(n, float) and n.is_integer():
        n = int(n)  # some languages write 7 as 7.0
    if not isinstance(n, int) or isinstance(n, bool):
        raise BrokeOff(f'wrote a line that is not {{"id": number, "output": …}}: {_quoted(line)}')
    if value.get("error") is not None:
        return n, Failed(str(value["error"]))
    if "output" not in value:
        return n, Failed(f'the answer has neither "output" nor "error": {_quoted(line)}', final=True)
    return n, plain(value["output"])


def _quoted(line: bytes) -> str:
    text = line[:800].decode(errors="replace").strip()
    return repr(text[:200]) + ("…" if len(line) > 200 else "")


def _checked(command: Sequence[str]) -> list[str]:
    if isinstance(command, str) or not command:
        raise UsageError('A command is a list such as ["node", "answer.js"]; as one text it is "cmd:node answer.js".')
    if shutil.which(command[0]) is None:
        raise UsageError(
            f"The command {command[0]!r} is not found, or may not be run. Is it installed and on the PATH?"
        )
    return list(command)


def command_id(command: Sequence[str]) -> str:
    """The command line without keys, and the content of the files that it names, also as in `--model=FILE`, of the
    program, and of what a script among them imports or names."""
    files: list[Json] = sorted([name, _content(Path(name))] for name in files_in(command))
    program = shutil.which(command[0]) if command else None
    if program and not _INTERPRETERS.match(Path(program).name) and not os.path.isfile(command[0]):
        files.append(["", file_hash(Path(program))])
    return content_id([masked_command(command), files], 16)


# Their version is the machine's: it says nothing of the system, and workers on other machines may have another.
_INTERPRETERS = re.compile(
    r"(python|node|ruby|perl|php|java|bash|sh|zsh|dash|deno|bun|julia|Rscript|lua|dotnet|env|uv|npx|docker|podman|go)"
    r"[\d.]*(\.exe)?$"
)


def _content(file: Path) -> Json:
    return source_id(file) if file.suffix in _SCRIPTS else file_hash(file)


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
