"""From a path, or what is in memory, to checked examples: finds the reader and guesses the task and language.

And from a corpus, or from parallel data, that has people's versions of its texts, to a suite.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from math import isnan
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from unswayed.base.errors import DataError, UsageError, nearest, option
from unswayed.base.ids import content_id, file_hash
from unswayed.base.options import ReadOptions
from unswayed.base.task import task_named
from unswayed.base.values import Example, Json, Variant
from unswayed.data._checks import Checks, DataKind, LabelCounts, data_kind, with_languages
from unswayed.data._fields import KNOWN_FIELDS, Fields
from unswayed.data._forms import Form, naming_of
from unswayed.data._guess import guess_data_task, read_as
from unswayed.data._reader import Problem, ReadBlock, Reader, readers
from unswayed.data.table import COLUMNS, SOURCE, MeaningPair, read_meaning_pairs
from unswayed.storage.suite import Manifest, Suite, plan_id, write_suite
from unswayed.storage.suite_jsonl import import_suite

_GUESSED_ROWS = 200  # examples of a file looked at to guess the task and the language
_SHOWN_PROBLEMS = 5  # bad rows in one message
_SEARCHED_ROWS = 1_000  # rows of a file read after the first bad one, to find more to show
_GROUP_ROWS = 10_000  # rows, to find slices
_CHECKED_ROWS = 512  # rows in memory that are checked together
_MAX_GROUPS, _MIN_ROWS_PER_GROUP = 20, 5
_OWN_LABELS = ("tag", "slu")  # tasks whose labels are of words, so that a version has its own


class Source(NamedTuple):
    """Data that is read once: what it is about, an id of its content, and its examples, as they are read."""

    kind: DataKind
    id: str
    examples: Iterable[Example]
    read_as: str  # how it was read, in a line


def read_examples(path: str | Path, options: ReadOptions | None = None) -> Iterator[Example]:
    """The examples of a file or folder, as they are read. Call it again to read again.

    Example: `list(unswayed.read_examples("mine.jsonl"))`.

    The first bad row raises DataError, which names the row and, with it, up to four more.
    """
    path, options = Path(path), options or ReadOptions()
    reader = find_reader(path, options)  # at once, so that a wrong path raises here and not at the first example

    def examples() -> Iterator[Example]:
        yield from _open_file(path, options, reader).checked_examples()

    return examples()


def task_and_language(path: str | Path, options: ReadOptions | None = None, language: str | None = None) -> DataKind:
    """The task and language of data: as chosen, or else guessed from its first examples."""
    path, options = Path(path), options or ReadOptions()
    return _open_file(path, options, find_reader(path, options)).kind(language)


def examples_of(data: object, options: ReadOptions | None = None) -> list[Example]:
    """Checked examples, numbered anew. `data` is one of

    - texts: `["turn off the lights", …]`,
    - Examples, or mappings such as `{"text": …, "label": …}`,
    - a pandas or polars DataFrame, a `datasets.Dataset`, or another table that speaks Arrow.
    """
    return list(_open_memory(data, options or ReadOptions()).checked_examples())


def open_source(data: object, options: ReadOptions | None = None, language: str | None = None) -> Source:
    """Data to be read once: a path, or whatever `examples_of` takes. A file is hashed as bytes, and parsed once."""
    options = options or ReadOptions()
    if isinstance(data, (str, Path)):
        path = Path(data)
        opened = _open_file(path, options, find_reader(path, options))
        kind = opened.kind(language)
        examples_read = with_languages(opened.checked_examples(), kind, path)
        return Source(kind, content_id_of(path), examples_read, opened.read_as(kind))
    opened = _open_memory(data, options)
    examples = list(opened.checked_examples())
    kind = opened.kind(language)
    examples = list(with_languages(examples, kind))
    id = content_id([[e.id, e.inputs, e.gold, e.groups] for e in examples], size=16)
    return Source(kind, id, examples, opened.read_as(kind))


class _OpenSource(NamedTuple):
    """Data of which the first examples were looked at; they are not read again."""

    first: list[Example]
    blocks: Iterator[ReadBlock]  # of all examples
    path: Path
    options: ReadOptions
    task: str
    compared: dict[str, str]
    language: str
    form: Form  # of the records, which knows which fields were taken
    searched: int  # rows after the first bad one, to find more to show

    def kind(self, language: str | None) -> DataKind:
        return data_kind(self.task, self.compared, self.first, language or self.language)

    def read_as(self, kind: DataKind) -> str:
        """How the data were read, in a line."""
        form, more = self.form, self.searched > 0 and len(self.first) == _GUESSED_ROWS
        return read_as(kind.task, kind.compared, self.first, kind.language, form.taken, form.left, more)

    def checked_examples(self) -> Iterator[Example]:
        task = task_named(self.task)
        checks, labels = Checks(task, self.options.labels), LabelCounts(self.path, task, self.options)
        for block in self.blocks:
            passed = checks.check_block(block.examples, block.lines)
            if passed is not None:
                labels.add(passed)
                yield from passed
                continue
            stream = block.placed()
            for example, file, line in stream:  # one by one, to find the row that is wrong
                try:
                    example = checks.check_example(example, line)
                except Problem as problem:
                    # What is wrong with rows soon after it comes along, so that all can be fixed together.
                    found, blocks = [str(problem)], map(ReadBlock.placed, self.blocks)
                    later = islice(chain(stream, chain.from_iterable(blocks)), self.searched)
                    try:
                        for other, its_file, its_line in later:
                            try:
                                checks.check_example(other, its_line)
                            except Problem as another:
                                found.append(str(DataError(str(another), its_file, its_line)))
                            if len(found) == _SHOWN_PROBLEMS:
                                break
                    except DataError as error:
                        found.append(str(error))
                    raise DataError("\n".join(found), file, line) from None
                labels.add([example])
                yield example
        labels.check()


def _open_file(path: Path, options: ReadOptions, reader: Reader) -> _OpenSource:
    """Reads as many examples as the guesses need. A bad row among them is raised only when the rest is read."""
    blocks, head = reader.blocks(path, options), list[ReadBlock]()
    first: list[Example] = []
    failed: DataError | None = None
    try:
        while len(first) < _GUESSED_ROWS and (block := next(blocks, None)):
            head.append(block)
            first += block.examples
    except DataError as error:
        failed = error
    if not first:
        raise failed or DataError("is empty: there is no example in it.", path)

    def all_blocks() -> Iterator[ReadBlock]:
        yield from head
        if failed is not None:
            raise failed
        yield from blocks

    first = first[:_GUESSED_ROWS]
    form = reader.fields.form if reader.fields else Form(options)
    task, compared = guess_data_task(first, form.gold, options.task or reader.task, reader.equivalent)
    return _OpenSource(first, all_blocks(), path, options, task, compared, reader.language, form, _SEARCHED_ROWS)


def _open_memory(data: object, options: ReadOptions) -> _OpenSource:
    # What messages call the data, as they call a file by its path.
    place = Path("<examples>" if isinstance(data, (Sequence, Iterator)) else f"<{type(data).__name__}>")
    fields = Fields(options)
    used = {*options.input, options.gold, options.id, *options.groups, *KNOWN_FIELDS}
    names = Counter(map(str, data.columns if _library_of(data) == "pandas" and hasattr(data, "columns") else ()))
    twice = next((name for name, count in names.items() if count > 1 and name in used), None)
    if twice is not None:
        raise DataError(f"{names[twice]} columns are named {twice!r}. Rename or drop all but one.", place)
    examples: list[Example] = []
    for row, record in enumerate(_records_of(data)):
        if isinstance(record, Example):
            examples.append(msgspec.structs.replace(record, row=row))
        elif isinstance(record, str):
            examples.append(fields.example(row, {"text": str(record)}, place, row + 1))
        elif isinstance(record, Mapping):  # numpy's texts, numbers and arrays become Python's own
            cells = {str(name): v.tolist() if hasattr(v, "tolist") else v for name, v in record.items()}
            examples.append(fields.example(row, cells, place, row + 1))
        else:
            kind = type(record).__qualname__
            raise DataError(f"this must be a text, a mapping or an Example, not {kind}.", place, row + 1)
    if not examples:
        raise DataError("there are no examples.", place)
    task, compared = guess_data_task(examples, fields.form.gold, options.task)
    blocks = (examples[at : at + _CHECKED_ROWS] for at in range(0, len(examples), _CHECKED_ROWS))
    placed = (ReadBlock(some, [place] * len(some), [example.row + 1 for example in some]) for some in blocks)
    return _OpenSource(examples, placed, place, options, task, compared, "", fields.form, 0)


def likely_groups(data: Any, taken: Collection[str | None]) -> tuple[str, ...]:
    """The columns of a table or of a list of records to slice results by: those of few values that are nothing else.

    `taken` are the columns that the user chose for something else. Files have none of these.
    """
    head: Iterable[Any] = ()  # an iterator can be read only once, so it has none
    if isinstance(data, (list, tuple)):
        head = data[:_GROUP_ROWS]
    elif (
        _library_of(data) in ("pandas", "polars", "datasets")
        and (hasattr(data, "columns") or hasattr(data, "column_names"))
        and not isinstance(data, dict)
    ):
        head = _records_of(data.head(_GROUP_ROWS) if hasattr(data, "head") else data.take(_GROUP_ROWS))
    rows = [row for row in head if isinstance(row, Mapping)]
    known = {*(name for name in taken if isinstance(name, str)), *KNOWN_FIELDS}  # a wrong name is refused later
    found = []
    for name in rows[0] if rows else ():
        if known.isdisjoint((name, str(name).casefold())) and all(name in row for row in rows):
            values = [row[name] for row in rows if row[name] is not None]
            few = min(_MAX_GROUPS, len(values) // _MIN_ROWS_PER_GROUP)
            if all(isinstance(value, (str, int)) for value in values) and 2 <= len(set(values)) <= few:
                found.append(name)
    return tuple(found)


def _library_of(data: object) -> str:
    """The library that the data's type comes from. None is imported: who has a DataFrame has its library."""
    return type(data).__module__.partition(".")[0]


def _records_of(data: Any) -> Iterator[Any]:
    """The rows of whatever holds them."""
    library = _library_of(data)
    if library == "datasets":
        if isinstance(data, dict):
            how = f"Choose one, as in data[{next(iter(data))!r}]."
            raise UsageError(f"This DatasetDict has the splits {', '.join(data)}. {how}")
        features: dict[str, Json] = {}
        if hasattr(data, "column_names"):  # else it is a column of texts
            features = {} if data.features is None else data.features.to_dict()
        namings = {column: name_of for column, feature in features.items() if (name_of := naming_of(feature))}
        for row in data:
            for column, name_of in namings.items():
                row[column] = name_of(row[column])
            yield row
    elif library == "pandas" and hasattr(data, "columns"):
        columns = []
        for at in range(len(data.columns)):
            cells = data.iloc[:, at].tolist()
            for n, cell in enumerate(cells):  # as JSON has it: arrays as lists, and None for several kinds of nothing
                if hasattr(cell, "tolist"):
                    cells[n] = cell.tolist()
                elif type(cell).__name__ in ("NAType", "NaTType") or (isinstance(cell, float) and isnan(cell)):
                    cells[n] = None
            # pandas makes whole numbers floats beside a missing one
            floats = [cell for cell in cells if cell is not None]
            if len(floats) < len(cells) and all(type(cell) is float and cell.is_integer() for cell in floats):
                cells = [None if cell is None else int(cell) for cell in cells]
            columns.append(cells)
        names = [str(name) for name in data.columns]
        yield from (dict(zip(names, cells, strict=True)) for cells in zip(*columns, strict=True))
    elif library == "polars":
        whole = data.collect() if hasattr(data, "collect") else data
        yield from whole.iter_rows(named=True) if hasattr(whole, "iter_rows") else whole
    elif library != "pandas" and hasattr(data, "__arrow_c_stream__"):
        from arro3.core import Table

        for batch in Table.from_arrow(data).to_batches():
            names = batch.schema.names
            rows = zip(*(batch[name].to_pylist() for name in names), strict=True)
            yield from (dict(zip(names, cells, strict=True)) for cells in rows)
    elif isinstance(data, (str, bytes, Mapping)) or not isinstance(data, Iterable):
        kinds = "a path, a list of texts or records, a DataFrame or a Dataset"
        raise UsageError(f"data must be {kinds}, not {type(data).__qualname__}.")
    else:
        yield from data


def content_id_of(path: Path) -> str:
    """An id of a file's bytes, or of those of all files in a folder."""
    files = sorted(f for f in path.rglob("*") if f.is_file()) if path.is_dir() else [path]
    return content_id([[file.name, file_hash(file)] for file in files], size=16)


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
        how = f"Choose one with {option('format-in', 'format')}."
        raise UsageError(f"{path} could be read by {' or '.join(fitting)}. {how}")
    if not fitting:
        inside = sorted(child.name for child in path.iterdir() if _fitting_readers(child)) if path.is_dir() else []
        if inside:
            what = f"this folder holds {', '.join(inside)}. Name one of them, such as {path / inside[0]}."
            raise DataError(what, path)
        what = f"no reader knows this kind of {'folder' if path.is_dir() else 'file'} by its name."
        how = f"Choose a reader with {option('format-in', 'format')}: {', '.join(readers.names())}."
        raise DataError(f"{what} {how}", path)
    reader = readers.get(fitting[0])()
    if reader.suffixes and path.is_dir():
        raise DataError(f"this is a folder, but the reader {fitting[0]} reads files. Name one of its files.", path)
    chosen = options.chosen_fields()
    if chosen and not reader.has_fields:
        what = f"{path} is read by {fitting[0]}, which has no fields to choose."
        raise UsageError(f"{what} Leave out {', '.join(chosen)}.")
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
    kind, source, examples, _ = open_source(path, options, language)

    def variants() -> Iterator[Variant]:
        variant = None
        for variant in find_reader(path, options).variants(path, options):
            yield variant
        if variant is None:
            raise DataError("this corpus has no variants. Make some with `unswayed vary`.", path)

    people = find_reader(path, options).people
    plan, by = plan_id("corpus", source, options), {"*": people} if people else {}
    manifest = Manifest(task=kind.task, language=kind.language, people=by, plan=plan)
    return write_suite(to, manifest, lambda: examples, variants, overwrite)


def import_rows(
    path: str | Path, to: str | Path, task: str | None = None, language: str | None = None, overwrite: bool = False
) -> Suite:
    """Makes a suite of JSON lines with examples and variants, whose task is guessed as that of other data is."""
    return import_suite(path, to, task, language, overwrite, guess_data_task)


def import_versions(
    path: str | Path, versions: Sequence[str], to: str | Path, options: ReadOptions | None = None,
    language: str | None = None, overwrite: bool = False,
) -> Suite:  # fmt: skip
    """Makes a suite of clean data and other versions of it, which people made.

    A version is `NAME=FILE`, a file in the same form as the clean one and with its ids, or else as many rows in the
    same order; or `NAME`, a column of the clean file that holds the text. Versions that equal the clean text stay.
    """
    path, options = Path(path), options or ReadOptions()
    kind, source, examples, _ = open_source(path, options, language)
    clean, task = list(examples), task_named(kind.task)
    found: dict[str, dict[int, Example]] = {}  # by version, what stands for each row of the clean data
    files = []
    for version in versions:
        name, given, file = version.partition("=")
        if not name or (given and not file):
            raise UsageError(f"{option('variant', 'versions')} must be NAME or NAME=FILE, not {version!r}.")
        if given:
            files.append(content_id_of(Path(file)))
            rows = list(read_examples(file, msgspec.structs.replace(options, task=task.name)))
            by_id = {example.id: example for example in clean}
            in_order = 2 * sum(row.id in by_id for row in rows) <= len(rows)  # else they are found by id
            if in_order and len(rows) != len(clean):
                what = f"there are {len(rows):,} rows, but {len(clean):,} clean ones, and their ids differ."
                raise DataError(f"{what} Give the rows of both files the same ids.", file)
            owners = clean if in_order else [by_id.get(row.id) for row in rows]
            found[name] = {}
            for n, (owner, row) in enumerate(zip(owners, rows, strict=True), 1):
                if owner is None:
                    raise DataError(f"the id {row.id!r} is not in the clean data.", file, n)
                if row.gold != owner.gold and task.name not in _OWN_LABELS:
                    raise DataError(f"the gold of {row.id!r} is not that of the clean row.", file, n)
                inputs = {field: row.inputs.get(field, text) for field, text in owner.inputs.items()}
                found[name][owner.row] = msgspec.structs.replace(owner, inputs=inputs, gold=row.gold)
        else:
            if task.name in _OWN_LABELS:
                how = f"Use {option('variant')} {name}=FILE."
                raise UsageError(f"A column can't hold the tags of another version. {how}")
            fields = task.texts(clean[0].inputs)
            if len(fields) != 1:
                raise UsageError(f"The examples have the texts {', '.join(fields)}, and a column holds one. Use files.")
            column = read_examples(path, msgspec.structs.replace(options, input=(name,), task="text"))
            found[name] = {
                old.row: msgspec.structs.replace(old, inputs={**old.inputs, fields[0]: new.inputs[name]})
                for old, new in zip(clean, column, strict=True)
            }
    if len(found) < len(versions):
        raise UsageError(f"Two of {option('variant', 'versions')} have the same name. Rename one.")

    def variants() -> Iterator[Variant]:
        for example in clean:
            for name, version in found.items():
                if (other := version.get(example.row)) is not None:
                    by = f"people/{name}"
                    yield Variant(example.row, example.id, 0, by, "people", "same", other.inputs, other.gold, "")

    plan = plan_id("versions", source, options, list(versions), files)
    manifest = Manifest(task=kind.task, language=kind.language, plan=plan)
    return write_suite(to, manifest, lambda: clean, variants, overwrite)


def meaning_pairs(data: object) -> list[MeaningPair]:
    """Two candidates for each reference, from a file, a DataFrame or records with the columns of `MeaningPair`."""
    if isinstance(data, (str, Path)):
        return read_meaning_pairs(Path(data))
    found, name = [], type(data).__name__
    for n, row in enumerate(_records_of(data)):
        cells = row if isinstance(row, Mapping) else {}
        missing = [column for column in COLUMNS if not isinstance(cells.get(column), str) or not cells[column].strip()]
        if missing:
            what = f"there is no text in {', '.join(missing)}. Each row needs {', '.join(COLUMNS)}."
            raise DataError(what, f"<{name}>", n)
        source = cells.get(SOURCE)
        reference, dialect, changed = (cells[column].strip() for column in COLUMNS)
        found.append(MeaningPair(reference, dialect, changed, source))
    if not found:
        raise DataError(f"there are no rows. Each row needs {', '.join(COLUMNS)}.", f"<{name}>")
    return found
