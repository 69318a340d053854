"""From a path to checked examples: finds the reader and guesses the task and language. And from a corpus, or from
parallel data, that has people's versions of its texts, to a suite.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import NamedTuple

import msgspec

from unswayed.base.errors import DataError, UsageError, nearest, option
from unswayed.base.ids import content_id, file_hash
from unswayed.base.language import SEVERAL, language_tag
from unswayed.base.task import Task, task_named
from unswayed.base.values import Example, Variant
from unswayed.data._checks import Checks, LabelCounts
from unswayed.data._guess import DataKind, TaskGuess, guess_data_task, identify_examples, language_notes, with_languages
from unswayed.data._memory import read_memory
from unswayed.data._reader import PlacedExample, Problem, ReadBlock, Reader, ReadOptions, readers
from unswayed.storage.suite import Manifest, Suite, plan_id, write_suite

_GUESSED_ROWS = 200  # examples looked at to guess the task and the language
_SHOWN_PROBLEMS = 5  # bad rows in one message
_SEARCHED_ROWS = 1_000  # rows read after the first bad one, to find more to show


class Source(NamedTuple):
    """Data that is read once: what it is about, an id of its content, and its examples, as they are read."""

    kind: DataKind
    id: str
    examples: Iterable[Example]


def read_examples(path: str | Path, options: ReadOptions | None = None) -> Iterator[Example]:
    """The examples of a file or folder, as they are read. Call it again to read again.

    Example: `list(unswayed.read_examples("mine.jsonl"))`.

    The first bad row raises DataError, which names the row and, with it, up to four more.
    """
    path, options = Path(path), options or ReadOptions()
    reader = find_reader(path, options)  # at once, so that a wrong path raises here and not at the first example

    def examples() -> Iterator[Example]:
        yield from _open_reader(path, options, reader).checked_examples()

    return examples()


def task_and_language(path: str | Path, options: ReadOptions | None = None, language: str | None = None) -> DataKind:
    """The task and language of data: as chosen, or else guessed from its first examples."""
    path, options = Path(path), options or ReadOptions()
    return _open_reader(path, options, find_reader(path, options)).kind(language)


def open_source(data: object, options: ReadOptions | None = None, language: str | None = None) -> Source:
    """Data to be read once: a path, or whatever `examples_of` takes. A file is hashed as bytes, and parsed once."""
    options = options or ReadOptions()
    if isinstance(data, (str, Path)):
        path = Path(data)
        opened = _open_reader(path, options, find_reader(path, options))
        kind = opened.kind(language)
        return Source(kind, content_id_of(path), with_languages(opened.checked_examples(), kind, path))
    examples, found, notes = read_memory(data, options)
    kind = _data_kind(found, examples, language, notes)
    examples = list(with_languages(examples, kind))
    return Source(kind, content_id([[e.id, e.inputs, e.gold, e.groups] for e in examples], size=16), examples)


class _OpenSource(NamedTuple):
    """A file of which the first examples were looked at; they are not read again."""

    head: list[ReadBlock]
    rest: Iterator[ReadBlock]
    task: Task
    path: Path
    options: ReadOptions
    guessed: TaskGuess
    language: str
    notes: tuple[str, ...]

    def kind(self, language: str | None) -> DataKind:
        return _data_kind(self.guessed, _first_examples(self.head), language or self.language, self.notes)

    def checked_examples(self) -> Iterator[Example]:
        checks, labels = Checks(self.task, self.options.labels), LabelCounts(self.path, self.task, self.options)
        blocks = chain(self.head, self.rest)
        for block in blocks:
            passed = checks.check_block(block.examples, block.lines)
            if passed is not None:
                labels.add_each(passed)
                yield from passed
                continue
            stream = block.placed()
            for placed in stream:
                try:
                    example = checks.check_example(placed.example, placed.line)
                except Problem as problem:
                    later = chain(stream, chain.from_iterable(map(ReadBlock.placed, blocks)))
                    raise _error_with_more(problem, placed, later, checks) from None
                labels.add(example)
                yield example
        labels.check()


def _raise(error: DataError) -> ReadBlock:
    raise error


def _open_reader(path: Path, options: ReadOptions, reader: Reader) -> _OpenSource:
    """Reads as many examples as the guesses need. A bad row among them is raised only when the rest is read."""
    rest = reader.blocks(path, options)
    head: list[ReadBlock] = []
    try:
        while len(_first_examples(head)) < _GUESSED_ROWS and (block := next(rest, None)):
            head.append(block)
    except DataError as error:
        if not _first_examples(head):
            raise
        rest = map(_raise, [error])
    first = _first_examples(head)
    if not first:
        raise DataError("is empty: there is no example in it.", path)
    gold = reader.fields.gold if reader.fields else None
    found = guess_data_task(first, gold, options.task or reader.task, reader.equivalent)
    notes = reader.fields.guessed(path) if reader.fields else ()
    return _OpenSource(head, rest, task_named(found.task), path, options, found, reader.language, notes)


def _data_kind(
    found: TaskGuess, examples: Sequence[Example], language: str | None, notes: tuple[str, ...] = ()
) -> DataKind:
    tag = language_tag(language) if language else ""
    if tag and tag != SEVERAL:
        return DataKind(found.task, tag, False, found.compared, notes)
    of = identify_examples(examples, found.task)
    return DataKind(found.task, of, not tag, found.compared, (*notes, *language_notes(of)))


def content_id_of(path: Path) -> str:
    """An id of a file's bytes, or of those of all files in a folder."""
    files = sorted(f for f in path.rglob("*") if f.is_file()) if path.is_dir() else [path]
    return content_id([[file.name, file_hash(file)] for file in files], size=16)


def _first_examples(blocks: Iterable[ReadBlock]) -> list[Example]:
    """The examples that are looked at."""
    return list(islice(chain.from_iterable(block.examples for block in blocks), _GUESSED_ROWS))


def _error_with_more(
    problem: Problem, placed: PlacedExample, stream: Iterator[PlacedExample], checks: Checks
) -> DataError:
    """The error for a bad row, with the bad rows soon after it, so that they can be fixed together."""
    more = []
    try:
        for later in islice(stream, _SEARCHED_ROWS):
            try:
                checks.check_example(later.example, later.line)
            except Problem as another:
                more.append(str(DataError(str(another), later.file, later.line)))
            if len(more) == _SHOWN_PROBLEMS - 1:
                break
    except DataError as error:
        more.append(str(error))
    return DataError("\n".join([str(problem), *more]), placed.file, placed.line)


def find_reader(path: Path, options: ReadOptions) -> Reader:
    """The reader that the user chose, or the one that knows the path."""
    try:
        there = path.exists()
    except OSError:  # no name of a file at all, such as a long text
        there = False
    if not there:
        beside = [child.name for child in path.parent.iterdir()] if path.parent.is_dir() else []
        near = nearest(path.name, beside)
        hint = f" Did you mean {path.parent / near}?" if near else ""
        raise DataError(f"there is no such file or folder.{hint}", path)
    fitting = [options.format] if options.format else _fitting_readers(path)
    if len(fitting) > 1:
        raise UsageError(
            f"{path} could be read by {' or '.join(fitting)}. Choose one with {option('format-in', 'format')}."
        )
    if not fitting:
        inside = sorted(child.name for child in path.iterdir() if _fitting_readers(child)) if path.is_dir() else []
        if inside:
            raise DataError(
                f"this folder holds {', '.join(inside)}. Name one of them, such as {path / inside[0]}.", path
            )
        raise DataError(
            f"no reader knows this kind of {'folder' if path.is_dir() else 'file'} by its name. "
            f"Choose a reader with {option('format-in', 'format')}: {', '.join(readers.names())}.",
            path,
        )
    reader = readers.get(fitting[0])()
    if reader.suffixes and path.is_dir():
        raise DataError(f"this is a folder, but the reader {fitting[0]} reads files. Name one of its files.", path)
    chosen = options.chosen_fields()
    if chosen and not reader.has_fields:
        raise UsageError(
            f"{path} is read by {fitting[0]}, which has no fields to choose. Leave out {', '.join(chosen)}."
        )
    return reader


def _fitting_readers(path: Path) -> list[str]:
    known = [(name, readers.get(name)) for name in readers.names()]
    fitting = [(name, reader) for name, reader in known if reader().accepts(path)]
    return [name for name, reader in fitting if not reader.fallback] or [name for name, _ in fitting]


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


_OWN_LABELS = ("tag", "slu")  # tasks whose labels are of words, so that a version has its own


def import_versions(
    path: str | Path, versions: Sequence[str], to: str | Path, options: ReadOptions | None = None,
    language: str | None = None, overwrite: bool = False,
) -> Suite:  # fmt: skip
    """Makes a suite of clean data and other versions of it, which people made.

    A version is `NAME=FILE`, a file in the same form as the clean one and with its ids, or else as many rows in the
    same order; or `NAME`, a column of the clean file that holds the text. Versions that equal the clean text stay.
    """
    path, options = Path(path), options or ReadOptions()
    kind, source, examples = open_source(path, options, language)
    clean, task = list(examples), task_named(kind.task)
    found: dict[str, dict[int, Example]] = {}  # by version, what stands for each row of the clean data
    files = []
    for version in versions:
        name, given, file = version.partition("=")
        if not name or (given and not file):
            raise UsageError(f"{option('variant', 'versions')} must be NAME or NAME=FILE, not {version!r}.")
        if given:
            files.append(content_id_of(Path(file)))
            found[name] = _version_from_file(Path(file), clean, task, options)
        else:
            found[name] = _version_from_column(path, name, clean, task, options)
    if len(found) < len(versions):
        raise UsageError(f"Two of {option('variant', 'versions')} have the same name. Rename one.")

    def variants() -> Iterator[Variant]:
        for example in clean:
            for name, rows in found.items():
                if example.row in rows:
                    inputs, gold = rows[example.row].inputs, rows[example.row].gold
                    yield Variant(example.row, example.id, 0, f"people/{name}", "people", "same", inputs, gold, "")

    plan = plan_id("versions", source, options, list(versions), files)
    manifest = Manifest(task=kind.task, language=kind.language, plan=plan)
    return write_suite(to, manifest, lambda: clean, variants, overwrite)


def _version_from_column(
    path: Path, column: str, clean: Sequence[Example], task: Task, options: ReadOptions
) -> dict[int, Example]:
    """The clean examples with the text that is varied taken from another column."""
    if task.name in _OWN_LABELS:
        raise UsageError(f"A column can't hold the tags of another version. Use {option('variant')} {column}=FILE.")
    fields = task.texts(clean[0].inputs)
    if len(fields) != 1:
        raise UsageError(f"The examples have the texts {', '.join(fields)}, and a column holds one. Use files.")
    reading = msgspec.structs.replace(options, inputs=(column,), task="text")
    rows = read_examples(path, reading)
    return {
        old.row: msgspec.structs.replace(old, inputs={**old.inputs, fields[0]: new.inputs[column]})
        for old, new in zip(clean, rows, strict=True)
    }


def _version_from_file(file: Path, clean: Sequence[Example], task: Task, options: ReadOptions) -> dict[int, Example]:
    """The examples of a file by the row of the clean one, found by id, or else in the same order."""
    versions = list(read_examples(file, msgspec.structs.replace(options, task=task.name)))
    by_id = {example.id: example for example in clean}
    known = sum(version.id in by_id for version in versions)
    if 2 * known <= len(versions) and len(versions) != len(clean):
        raise DataError(
            f"there are {len(versions):,} rows, but {len(clean):,} clean ones, and their ids differ. Give the rows of "
            f"both files the same ids.",
            file,
        )
    owners = clean if 2 * known <= len(versions) else [by_id.get(version.id) for version in versions]
    found: dict[int, Example] = {}
    for n, (owner, version) in enumerate(zip(owners, versions, strict=True), 1):
        if owner is None:
            raise DataError(f"the id {version.id!r} is not in the clean data.", file, n)
        if version.gold != owner.gold and task.name not in _OWN_LABELS:
            raise DataError(f"the gold of {version.id!r} is not that of the clean row.", file, n)
        inputs = {name: version.inputs.get(name, text) for name, text in owner.inputs.items()}
        found[owner.row] = msgspec.structs.replace(owner, inputs=inputs, gold=version.gold)
    return found
