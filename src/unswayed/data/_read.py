"""From a path to examples, or to a suite where a corpus has people's versions: finds the reader, guesses the task, and
lets only sound examples through.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import NamedTuple

from unswayed.base.errors import DataError, UsageError, nearest, option
from unswayed.base.identify import SEVERAL
from unswayed.base.ids import content_id, file_hash
from unswayed.base.language import language_tag
from unswayed.base.task import Task, task_named
from unswayed.base.values import Example, Variant
from unswayed.data._check import Checks
from unswayed.data._guess import Guess, guess
from unswayed.data._labels import LabelCounts
from unswayed.data._languages import about_language, identified, in_languages
from unswayed.data._memory import guessed_examples
from unswayed.data._reader import Placed, Problem, ReadBlock, Reader, ReadOptions, readers
from unswayed.storage.suite import Manifest, Suite, plan_id, write_suite

PEEK = 200  # examples looked at to guess the task and the language
SHOWN = 5  # bad rows in one message
BEYOND = 1_000  # rows read after the first bad one, to find more to show


class Kind(NamedTuple):
    """What data is about."""

    task: str
    language: str
    language_guessed: bool
    compared: dict[str, str] = {}  # noqa: RUF012 - never changed; extract and equivalent, where the data decides
    notes: tuple[str, ...] = ()  # what was guessed that the user may want otherwise, in sentences


class Source(NamedTuple):
    """Data that is read once: what it is about, an id of its content, and its examples, as they are read."""

    kind: Kind
    id: str
    examples: Iterable[Example]


def read_examples(path: str | Path, options: ReadOptions | None = None) -> Iterator[Example]:
    """The examples of a file or folder, as they are read. Call it again to read again.

    Example: `list(unswayed.read_examples("mine.jsonl"))`.

    The first bad row raises DataError, which names the row and, with it, up to four more.
    """
    path, options = Path(path), options or ReadOptions()
    return _read(path, options, find_reader(path, options))


def task_and_language(path: str | Path, options: ReadOptions | None = None, language: str | None = None) -> Kind:
    """The task and language of data: as chosen, or else guessed from its first examples."""
    path, options = Path(path), options or ReadOptions()
    return _open(path, options, find_reader(path, options)).kind(language)


def open_source(data: object, options: ReadOptions | None = None, language: str | None = None) -> Source:
    """Data to be read once: a path, or whatever `examples_of` takes. A file is hashed as bytes, and parsed once."""
    options = options or ReadOptions()
    if isinstance(data, (str, Path)):
        path = Path(data)
        opened = _open(path, options, find_reader(path, options))
        kind = opened.kind(language)
        return Source(kind, content_of(path), in_languages(opened.sound(), kind, path))
    examples, found, said = guessed_examples(data, options)
    kind = _kind(found, examples, language, said)
    examples = list(in_languages(examples, kind))
    return Source(kind, content_id([[e.id, e.inputs, e.gold, e.groups] for e in examples], size=16), examples)


def _read(path: Path, options: ReadOptions, reader: Reader) -> Iterator[Example]:
    yield from _open(path, options, reader).sound()


class _Opened(NamedTuple):
    """A file of which the first examples were looked at; they are not read again."""

    head: list[ReadBlock]
    rest: Iterator[ReadBlock]
    task: Task
    path: Path
    options: ReadOptions
    guessed: Guess
    language: str
    said: tuple[str, ...]

    def kind(self, language: str | None) -> Kind:
        return _kind(self.guessed, _first(self.head), language or self.language, self.said)

    def sound(self) -> Iterator[Example]:
        checks, labels = Checks(self.task, self.options.labels), LabelCounts(self.path, self.task, self.options)
        blocks = chain(self.head, self.rest)
        for block in blocks:
            passed = checks.passed_each(block.examples, block.lines)
            if passed is not None:
                labels.add_each(passed)
                yield from passed
                continue
            stream = block.placed()
            for placed in stream:
                try:
                    example = checks.passed(placed.example, placed.line)
                except Problem as problem:
                    later = chain(stream, chain.from_iterable(map(ReadBlock.placed, blocks)))
                    raise _with_more(problem, placed, later, checks) from None
                labels.add(example)
                yield example
        labels.check()


def _open(path: Path, options: ReadOptions, reader: Reader) -> _Opened:
    head, rest = _peek(reader.blocks(path, options))
    first = _first(head)
    if not first:
        next(rest, None)  # raises, if a bad row is why there are none
        raise _empty(path)
    gold = reader.fields.gold if reader.fields else None
    found = guess(first, gold, options.task or reader.task, reader.equivalent)
    said = reader.fields.guessed(path) if reader.fields else ()
    return _Opened(head, rest, task_named(found.task), path, options, found, reader.language, said)


def _kind(found: Guess, examples: Sequence[Example], language: str | None, said: tuple[str, ...] = ()) -> Kind:
    tag = language_tag(language) if language else ""
    if tag and tag != SEVERAL:
        return Kind(found.task, tag, False, found.compared, said)
    of = identified(examples, found.task)
    return Kind(found.task, of, not tag, found.compared, (*said, *about_language(of)))


def content_of(path: Path) -> str:
    """An id of a file's bytes, or of those of all files in a folder."""
    files = sorted(f for f in path.rglob("*") if f.is_file()) if path.is_dir() else [path]
    return content_id([[file.name, file_hash(file)] for file in files], size=16)


def _first(blocks: Iterable[ReadBlock]) -> list[Example]:
    """The examples that are looked at."""
    return list(islice(chain.from_iterable(block.examples for block in blocks), PEEK))


def _peek(blocks: Iterator[ReadBlock]) -> tuple[list[ReadBlock], Iterator[ReadBlock]]:
    """The first examples, and the rest. A bad row among the first raises only when the rest is asked for."""
    head: list[ReadBlock] = []
    try:
        while len(_first(head)) < PEEK and (block := next(blocks, None)):
            head.append(block)
    except DataError as error:
        return head, _raising(error)
    return head, blocks


def _raising(error: DataError) -> Iterator[ReadBlock]:
    raise error
    yield


def _with_more(problem: Problem, placed: Placed, stream: Iterator[Placed], checks: Checks) -> DataError:
    """The error for a bad row, with the bad rows soon after it, so that they can be fixed together."""
    more = []
    try:
        for later in islice(stream, BEYOND):
            try:
                checks.passed(later.example, later.line)
            except Problem as another:
                more.append(str(DataError(str(another), later.file, later.line)))
            if len(more) == SHOWN - 1:
                break
    except DataError as error:
        more.append(str(error))
    return DataError("\n".join([str(problem), *more]), placed.file, placed.line)


def _empty(path: Path) -> DataError:
    return DataError("is empty: there is no example in it.", path)


def find_reader(path: Path, options: ReadOptions) -> Reader:
    """The reader that is asked for, or the one that knows the path."""
    try:
        there = path.exists()
    except OSError:  # no name of a file at all, such as a long text
        there = False
    if not there:
        raise _no_such(path)
    name = options.format or _only_fitting(path)
    reader = readers.get(name)()
    if reader.suffixes and path.is_dir():
        raise DataError(f"this is a folder, but the reader {name} reads files. Name one of its files.", path)
    chosen = options.chosen_fields()
    if chosen and not reader.has_fields:
        raise UsageError(f"{path} is read by {name}, which has no fields to choose. Leave out {', '.join(chosen)}.")
    return reader


def _only_fitting(path: Path) -> str:
    fitting = _fitting(path)
    if len(fitting) > 1:
        raise UsageError(
            f"{path} could be read by {' or '.join(fitting)}. Choose one with {option('format-in', 'format')}."
        )
    if fitting:
        return fitting[0]
    inside = sorted(child.name for child in path.iterdir() if _fitting(child)) if path.is_dir() else []
    if inside:
        raise DataError(f"this folder holds {', '.join(inside)}. Name one of them, such as {path / inside[0]}.", path)
    raise DataError(
        f"no reader knows this kind of {'folder' if path.is_dir() else 'file'} by its name. "
        f"Choose a reader with {option('format-in', 'format')}: {', '.join(readers.names())}.",
        path,
    )


def _fitting(path: Path) -> list[str]:
    known = [(name, readers.get(name)) for name in readers.names()]
    fitting = [(name, reader) for name, reader in known if reader().accepts(path)]
    return [name for name, reader in fitting if not reader.fallback] or [name for name, _ in fitting]


def _no_such(path: Path) -> DataError:
    beside = [child.name for child in path.parent.iterdir()] if path.parent.is_dir() else []
    near = nearest(path.name, beside)
    hint = f" Did you mean {path.parent / near}?" if near else ""
    return DataError(f"there is no such file or folder.{hint}", path)


def import_corpus(
    path: str | Path, to: str | Path, options: ReadOptions | None = None, language: str | None = None,
    overwrite: bool = False,
) -> Suite:  # fmt: skip
    """Makes a suite of a corpus whose reader knows variants, such as READIN's folders."""
    path, options = Path(path), options or ReadOptions()
    kind, source, examples = open_source(path, options, language)

    def variants() -> Iterator[Variant]:
        count = 0
        for variant in find_reader(path, options).variants(path, options):
            count += 1
            yield variant
        if not count:
            raise DataError("this corpus has no variants. Make some with `unswayed vary`.", path)

    people = find_reader(path, options).people
    manifest = Manifest(
        task=kind.task,
        language=kind.language,
        people={"*": people} if people else {},
        plan=plan_id("corpus", source, options),
    )
    return write_suite(to, manifest, lambda: examples, variants, overwrite)
