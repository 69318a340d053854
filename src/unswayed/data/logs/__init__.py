"""Answers that other tools logged: what reads a log, a file for each tool, and the system that answers from logs."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import ClassVar, NamedTuple

import msgspec

from unswayed.base.errors import DataError, UsageError
from unswayed.base.ids import canonical, decode
from unswayed.base.registry import Registry
from unswayed.base.values import Inputs, Json
from unswayed.storage.suite import Suite
from unswayed.storage.untrusted_files import bounded_lines, open_regular
from unswayed.systems.system import Failed, System

__all__ = ["LogReader", "LoggedAnswer", "LoggedId", "LoggedSystem", "log_readers"]


class LoggedId(NamedTuple):
    """What a log says instead of inputs: the example, and the source and the draw of a variant; none of the example."""

    example: str
    source: str = ""
    draw: int = 0


LoggedAnswer = tuple[Inputs | LoggedId, Json | Failed]
MOST_LOG_BYTES = 2 << 30  # unpacked


class LogReader:
    """Extend with what its files look like, and put in `data/logs/NAME.py` or behind the entry point `unswayed.logs`.

    A file is read by the reader that recognises it, or else by the one that has its suffix.
    """

    patterns: ClassVar[tuple[str, ...]] = ()  # of the names that its files have in a folder of logs
    suffixes: ClassVar[tuple[str, ...]] = ()

    def recognises(self, file: Path) -> bool:
        return False

    def answer(self, record: Json) -> LoggedAnswer:
        """What a line of a file of JSON lines says."""
        raise NotImplementedError

    def answers(self, file: Path) -> Iterator[LoggedAnswer]:
        """All that a file says. Extend where it is not of JSON lines."""
        with open_regular(file) as lines:
            for row, line in enumerate(bounded_lines(lines, file), 1):
                if not line.strip():
                    continue
                try:
                    yield self.answer(decode(line))
                except (msgspec.MsgspecError, AttributeError, LookupError, TypeError, ValueError) as error:
                    what = f"this is not a logged answer ({type(error).__name__}: {error})."
                    raise DataError(what, file, row) from error


log_readers: Registry[LogReader] = Registry("log", LogReader, "unswayed.data.logs")


def first_record(file: Path) -> Json:
    """The first line of a file of JSON lines; None where it is no such file, or the line is no object."""
    if file.suffix != ".jsonl":
        return None
    with open_regular(file) as lines:
        line = next((line for line in bounded_lines(lines, file) if line.strip()), b"")
    try:
        record = decode(line)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return None
    return record if isinstance(record, dict) else None


class LoggedSystem(System):
    """Says what a log says. A line of one's own is `{"inputs": {…}, "output": …}`, or has an `error` instead.

    In place of inputs it may have the `id` of an example and, for a variant, its `person` or `source` and its `draw`.
    """

    batch_size = 1024
    retries = 0
    deterministic = True

    def __init__(self, path: str) -> None:
        self.name = f"logged:{path}"
        self._path = path
        self._answers: dict[bytes, Json | Failed] = {}
        self._by_id: dict[LoggedId, Json | Failed] = {}
        readers = [log_readers.get(name)() for name in log_readers.names()]
        place, suffixes = Path(path), [suffix for reader in readers for suffix in reader.suffixes]
        if place.is_file() and place.suffix in suffixes:
            files = [place]
        else:
            patterns = [pattern for reader in readers for pattern in reader.patterns] if place.is_dir() else []
            files = sorted(file for pattern in patterns for file in place.rglob(pattern))
        if not files:
            kinds = "a file that ends in .jsonl, .eval or .json"
            folders = "a folder in which lm_eval (with --log_samples) or inspect wrote one"
            raise DataError(f"there is no log here. A log is {kinds}, or {folders}.", place)
        read_from: dict[bytes, Path] = {}
        for file in files:
            fitting = [reader for reader in readers if reader.recognises(file)]
            fitting += [reader for reader in readers if file.suffix in reader.suffixes]
            for inputs, answer in fitting[0].answers(file):
                if isinstance(inputs, LoggedId):
                    if repr(self._by_id.setdefault(inputs, answer)) != repr(answer):
                        raise DataError(f"there are two answers to {_shown(inputs)}. Keep one of them.", file)
                    continue
                key = canonical(inputs)
                if read_from.setdefault(key, file) != file and repr(answer) != repr(self._answers[key]):
                    raise DataError(
                        f"{read_from[key].name} has another answer to {_quoted(inputs)}. Name one file.", file
                    )
                self._answers.setdefault(key, answer)

    @property
    def identity(self) -> str:
        digest = blake2b(digest_size=16)
        for key, answer in sorted(self._answers.items()):
            digest.update(key)
            digest.update(canonical([answer.error] if isinstance(answer, Failed) else {"said": answer}))
        for id, answer in sorted(self._by_id.items(), key=lambda entry: entry[0]):
            digest.update(canonical([*id, [answer.error] if isinstance(answer, Failed) else {"said": answer}]))
        return f"logged {digest.hexdigest()}"

    def prepare(self, suite: Suite) -> None:
        """A log of another suite, or one that was stopped, is told before anything is stored."""
        self._place(suite)
        asked = (i for e, variants in suite.groups() for i in (e.inputs, *(v.inputs for v in variants)))
        lacking = [inputs for inputs in asked if canonical(inputs) not in self._answers]
        if lacking:
            total = suite.manifest.examples + suite.manifest.variants
            raise UsageError(
                f"{self._path} has no answer to {len(lacking):,} of the {total:,} inputs of {suite.name}; the first is "
                f"{_quoted(lacking[0])}. Was it logged for this suite, without a limit, and to its end?"
            )

    def _place(self, suite: Suite) -> None:
        """Puts answers that were logged by id with the inputs that they are answers to."""
        whose: dict[bytes, LoggedId] = {}
        used = 0
        for example, variants in suite.groups() if self._by_id else ():
            for id, inputs in [
                (LoggedId(example.id), example.inputs),
                *((LoggedId(example.id, v.source, v.draw), v.inputs) for v in variants),
            ]:
                if id not in self._by_id:
                    continue
                answer, key, used = self._by_id[id], canonical(inputs), used + 1
                first = whose.setdefault(key, id)
                if repr(self._by_id[first]) != repr(answer):
                    raise UsageError(
                        f"{self._path}: {_shown(first)} and {_shown(id)} have the same text in {suite.name}, but "
                        f"different answers. A text is asked once. To keep them apart, give all rows of the suite "
                        f"another input of its own, such as 'asked': its id."
                    )
                self._answers[key] = answer
        if used < len(self._by_id):
            left = f"{len(self._by_id) - used:,} of {len(self._by_id):,}"
            print(f"unswayed: {self._path}: {left} logged answers are to nothing in {suite.name}.", file=sys.stderr)

    def predict(self, batch: Sequence[Inputs]) -> Sequence[Json | Failed]:
        unknown = Failed("the log has no answer to this", final=True)
        return [self._answers.get(canonical(inputs), unknown) for inputs in batch]


def _shown(id: LoggedId) -> str:
    """An id as messages have it."""
    draw = f", draw {id.draw}" if id.draw else ""
    return f"{id.example!r:.60}" + (f" ({id.source:.60}{draw})" if id.source else "")


def _quoted(inputs: Inputs) -> str:
    return repr(" | ".join(inputs.values()))[:80]
