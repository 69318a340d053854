"""Answers that other tools logged: what reads a log, a file for each tool, and the system that answers from logs."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from fnmatch import fnmatchcase
from hashlib import blake2b
from pathlib import Path
from types import MappingProxyType
from typing import Any, ClassVar, NamedTuple

import msgspec

from unswayed.base.chat import LISTED, messages_problem
from unswayed.base.errors import DataError, StoredFileError, UsageError
from unswayed.base.ids import canonical, content_id, decode
from unswayed.base.registry import Registry
from unswayed.base.text import spelled
from unswayed.base.values import Inputs, Json
from unswayed.storage.suite import Suite
from unswayed.storage.untrusted_files import bounded_lines, open_regular, read_bounded
from unswayed.systems.system import Failed, System

__all__ = ["Log", "LogEntry", "LogReader", "LoggedId", "LoggedSystem", "log_readers", "open_log"]
MOST_LOG_BYTES = 2 << 30  # unpacked
_HEAD = 1 << 20  # bytes of a file by which its reader is chosen


_NOTHING: Mapping[str, Any] = MappingProxyType({})


class LoggedId(NamedTuple):
    """What a log says instead of inputs: the example, and the source and the draw of a variant; none of the example."""

    example: str
    source: str = ""
    draw: int = 0


class LogEntry(NamedTuple):
    """What a log says of one sample in one of its repeats.

    `id` pairs samples of two logs, and `content` is equal exactly if their inputs are. `scores` has a number for each
    scorer, not a number where it gave none. `inputs` are the texts that the sample was made of, by name. `text` is what
    was asked, if a reader was asked for texts, and `asked` the same in the log's own form, such as messages. `of` names
    the example or variant of a suite, if the log does.
    """

    id: str
    content: str = ""
    scores: Mapping[str, float] = _NOTHING
    output: Json | Failed = None
    inputs: Inputs = {}  # noqa: RUF012 - never changed
    text: str = ""
    gold: Json = None
    task: str = ""
    system: str = ""
    cluster: str | None = None
    of: LoggedId | None = None
    asked: Json = None


class LogReader:
    """Extend with what its files look like, and put in `data/logs/NAME.py` or behind the entry point `unswayed.logs`.

    A file is read by the reader that recognises it, or else by the one that has its suffix.
    """

    patterns: ClassVar[tuple[str, ...]] = ()  # of the names that its files have in a folder of logs
    suffixes: ClassVar[tuple[str, ...]] = ()
    known_direction: ClassVar[bool] = False  # is more better in every score that is not known to be of the other kind?

    def __init__(self) -> None:
        self.lower_is_better: set[str] = set()  # scores, as far as is known before they are read
        self.higher_is_better: set[str] = set()
        self.cluster = ""  # the field by which the tool itself groups samples

    def recognises(self, file: Path) -> bool:
        return False

    def entry(self, record: Any, cluster: str | None = None) -> LogEntry | None:
        """What an object in a file of JSON lines, or in a JSON list, says; None where it is no answer.

        `cluster` is the field of the data by which samples belong together.
        """
        raise NotImplementedError

    def records(self, file: Path) -> Iterator[tuple[int, Json]]:
        """The objects in a file of JSON lines, or in a JSON list, with their numbers."""
        if file.suffix == ".json":
            yield from enumerate(objects_in(file), 1)
            return
        with open_regular(file) as lines:
            for row, line in enumerate(bounded_lines(lines, file), 1):
                if line.strip():
                    try:
                        yield row, decode(line)
                    except msgspec.MsgspecError as error:
                        with suppress(ValueError, RecursionError):  # NaN and Infinity, which Python's writer makes
                            yield row, json.loads(line)
                            continue
                        what = f"this is not a logged answer ({type(error).__name__}: {error})."
                        raise DataError(what, file, row) from error

    def entries(
        self, file: Path, texts: bool = True, rows: Collection[int] | None = None, cluster: str | None = None
    ) -> Iterator[LogEntry]:
        """All that a file says, or what the entries with these numbers say, which are counted from 0.

        Extend where it is not of JSON lines. Without `texts`, outputs and inputs may be left out.
        """
        count = 0
        for row, record in self.records(file):
            if rows is not None and count > max(rows, default=-1):
                return
            try:
                found = self.entry(record, cluster)
            except (msgspec.MsgspecError, AttributeError, LookupError, TypeError, ValueError) as error:
                what = f"this is not a logged answer ({type(error).__name__}: {error})."
                raise DataError(what, file, row) from error
            if found is None:
                continue
            if rows is None or count in rows:
                yield found
            count += 1


log_readers: Registry[LogReader] = Registry("log", LogReader, "unswayed.data.logs")


def objects_in(file: Path) -> list[Json]:
    """The objects in a JSON list, also if it is what an API returned: `{"data": [...]}`."""
    try:
        found = decode_constants(read_bounded(file, MOST_LOG_BYTES))
    except (msgspec.MsgspecError, ValueError, RecursionError, StoredFileError) as error:
        raise DataError(f"this is not JSON ({error}).", file) from error
    if isinstance(found, dict):
        found = next((found[name] for name in ("data", "runs", "traces") if isinstance(found.get(name), list)), [found])
    return found if isinstance(found, list) else []


def decode_constants(content: bytes, type: Any = Any) -> Any:
    """JSON that may have NaN and Infinity, which are None then."""
    try:
        return decode(content, type)
    except msgspec.DecodeError:
        return decode(msgspec.json.encode(json.loads(content)), type)


def first_record(file: Path) -> Json:
    """The first object of a file of JSON lines or of a JSON list; None where there is none."""
    if file.suffix not in (".jsonl", ".json"):
        return None
    with open_regular(file) as opened:
        head = opened.read(_HEAD)
    text = head.decode("utf-8", "replace").lstrip("\ufeff \r\n\t")
    with suppress(ValueError, RecursionError):
        if file.suffix == ".json" and (start := re.match(r'(\{\s*"(data|runs|traces)"\s*:\s*)?\[\s*', text)):
            text = text[start.end() :]
        record = json.JSONDecoder().raw_decode(text)[0]
        return record if isinstance(record, dict) else None
    return None


def beginning(file: Path) -> bytes:
    """The first bytes of a JSON file, by which a whole object is recognised; none of another file."""
    if file.suffix != ".json":
        return b""
    with open_regular(file) as opened:
        return opened.read(4096).lstrip(b"\xef\xbb\xbf \r\n\t")


def score_of(value: Json) -> float:
    """A score as a number: true is 1, and what is none is not a number."""
    return float(value) if isinstance(value, bool | int | float) else float("nan")


def text_of(value: Json) -> str:
    """What was asked or answered, as a text: messages are their contents, and objects of one text are this text."""
    if isinstance(value, str):
        return value
    if isinstance(value, list) and messages_problem(value) is None:
        return "\n".join(text_of(message.get("content")) for message in value)
    if isinstance(value, list) and value and all(isinstance(part, dict) and "text" in part for part in value):
        return "".join(str(part["text"]) for part in value)
    if isinstance(value, dict):
        inner = next(
            (value[name] for name in ("messages", "content", "output", "answer", "text") if name in value), None
        )
        if inner is not None and not isinstance(inner, int | float):
            return text_of(inner)
        if len(value) == 1:
            return text_of(next(iter(value.values())))
    return "" if value is None else spelled(value)


def fields_of(value: Json) -> dict[str, str]:
    """The texts in an object, by name; lists of passages as a suite has them."""
    if not isinstance(value, dict):
        return {}
    found = {name: text for name, text in value.items() if isinstance(text, str)}
    listed = {name: canonical(value[name]).decode() for name in LISTED if isinstance(value.get(name), list)}
    return found | listed


class Log:
    """The log at a path: a file, or the one file of a folder. `PATH#NAME` chooses a task, model or provider.

    NAME may be a pattern, such as `mmlu_*`: all tasks that it fits are then read together.
    """

    def __init__(self, path: str | Path) -> None:
        text, self.wanted = str(path), ""
        if not Path(text).exists() and "#" in text:
            text, _, self.wanted = text.rpartition("#")
        self.path = Path(text)
        readers = [log_readers.get(name)() for name in log_readers.names()]
        suffixes = {suffix for reader in readers for suffix in reader.suffixes}
        if self.path.is_file() and self.path.suffix in suffixes:
            files = [self.path]
        else:
            patterns = [pattern for reader in readers for pattern in reader.patterns] if self.path.is_dir() else []
            files = sorted({file for pattern in patterns for file in self.path.rglob(pattern)})
        if not files:
            kinds = "a file that ends in .jsonl, .eval or .json"
            folders = "a folder in which lm_eval (with --log_samples), Inspect or DeepEval wrote one"
            raise DataError(f"there is no log here. A log is {kinds}, or {folders}.", self.path)
        self.files = [(_reader_of(file, readers), file) for file in files]

    def entries(
        self, texts: bool = True, rows: Mapping[Path, Collection[int]] | None = None, cluster: str | None = None
    ) -> Iterator[tuple[Path, int, LogEntry]]:
        """Everything that its files say: the file, the number of the entry in it, and the entry."""
        for reader, file in self.files:
            if rows is not None and file not in rows:
                continue
            wanted = None if rows is None else sorted(rows[file])
            found = reader.entries(file, texts, None if wanted is None else frozenset(wanted), cluster)
            for at, entry in enumerate(found):
                if not self.wanted or any(
                    fnmatchcase(name, self.wanted) for name in (entry.task, entry.system) if name
                ):
                    yield file, at if wanted is None else wanted[at], entry

    @property
    def cluster(self) -> str:
        """The field by which the log's own tool groups samples, as far as was seen."""
        return self.files[0][0].cluster

    def direction(self, score: str) -> bool | None:
        """Is more of this score better? None where nobody says."""
        reader = self.files[0][0]
        if score.partition(",")[0] in reader.lower_is_better:
            return False
        return True if reader.known_direction or score in reader.higher_is_better else None


def _reader_of(file: Path, readers: Sequence[LogReader]) -> LogReader:
    fitting = [reader for reader in readers if reader.recognises(file)]
    fitting += [reader for reader in readers if file.suffix in reader.suffixes]
    return fitting[0]


def open_log(path: str | Path) -> Log | None:
    """The log at a path; None where there is something else, such as a run."""
    there = Path(str(path)) if Path(str(path)).exists() else Path(str(path).rpartition("#")[0] or str(path))
    if (there / "run.json").exists() or (there / "manifest.json").exists():
        return None
    if there.is_file() and (
        beginning(there).startswith(b'{"kind"') or there.suffix not in (".json", ".jsonl", ".eval")
    ):
        return None
    with suppress(DataError):
        return Log(path)
    return None


class LoggedSystem(System):
    """Says what a log says. A line of one's own is `{"inputs": {…}, "output": …}`, or has an `error` instead.

    In place of inputs it may have the `id` of an example and, for a variant, its `person` or `source` and its `draw`.
    Samples that were not exported from a suite are found by all inputs of the suite, or by its one text.
    """

    batch_size = 1024
    retries = 0
    deterministic = True

    def __init__(self, path: str) -> None:
        self.name = f"logged:{path}"
        self._path = path
        log = Log(path)
        self._answers: dict[bytes, Json | Failed] = {}
        self._by_id: dict[LoggedId, Json | Failed] = {}
        self._texts: dict[str, Json | Failed] = {}
        self._entries: list[tuple[Inputs, Json | Failed]] = []
        self._by_names: dict[tuple[str, ...], dict[bytes, Json | Failed]] = {}
        read_from: dict[bytes, Path] = {}
        who: dict[str, None] = {}
        for file, _, entry in log.entries():
            if entry.of is not None:
                if repr(self._by_id.setdefault(entry.of, entry.output)) != repr(entry.output):
                    raise DataError(f"there are two answers to {_shown(entry.of)}. Keep one of them.", file)
                continue
            key = canonical(entry.inputs or {"": entry.text})
            who[entry.system] = None
            if read_from.setdefault(key, file) != file and repr(entry.output) != repr(self._answers[key]):
                raise DataError(
                    f"{read_from[key].name} has another answer to {_quoted(entry.inputs)}. Name one file.", file
                )
            self._answers.setdefault(key, entry.output)
            self._texts.setdefault(entry.text, entry.output)
            self._entries.append((entry.inputs, entry.output))
        if len(who) > 1:
            names = ", ".join(sorted(who))
            chosen = f"{path}#{next(iter(sorted(who)))}"
            raise DataError(f"several systems answered here ({names}). Choose one, as in logged:{chosen}.", log.path)

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
        lacking = [inputs for inputs in asked if self._answer_to(inputs) is _NONE]
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
        return [self._answer_to(inputs) for inputs in batch]

    def _answer_to(self, inputs: Inputs) -> Json | Failed:
        """By the same inputs, by the same ones among more, or, of a single one, by its text."""
        key = canonical(inputs)
        if key in self._answers:
            return self._answers[key]
        names = tuple(sorted(inputs))
        if names not in self._by_names:
            own = self._by_names.setdefault(names, {})
            for given, output in self._entries:
                if given.keys() >= inputs.keys():
                    own.setdefault(canonical({name: given[name] for name in names}), output)
        if key in self._by_names[names]:
            return self._by_names[names][key]
        return self._texts.get(next(iter(inputs.values())), _NONE) if len(inputs) == 1 else _NONE


_NONE = Failed("the log has no answer to this", final=True)


def _shown(id: LoggedId) -> str:
    """An id as messages have it."""
    draw = f", draw {id.draw}" if id.draw else ""
    return f"{id.example!r:.60}" + (f" ({id.source:.60}{draw})" if id.source else "")


def _quoted(inputs: Inputs) -> str:
    return repr(" | ".join(inputs.values()))[:80]


def sample_id(*parts: Json) -> str:
    """The id of a sample that has none of its own: of what it is made of."""
    return content_id(list(parts))
