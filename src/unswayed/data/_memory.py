"""Examples from what is in memory already: texts, records, DataFrames; passed by the same checks as those of a file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from math import isnan
from pathlib import Path
from typing import Any

import msgspec

from unswayed.base.errors import DataError, UsageError
from unswayed.base.task import task_named
from unswayed.base.values import Example, Json
from unswayed.data._checks import Checks, LabelCounts
from unswayed.data._fields import KNOWN_FIELDS, Fields
from unswayed.data._guess import TaskGuess, guess_data_task
from unswayed.data._reader import Problem, ReadOptions

_GROUP_ROWS = 10_000  # rows, to find slices
_CHECKED_ROWS = 512  # rows that are checked together
_MAX_GROUPS, _MIN_ROWS_PER_GROUP = 20, 5

Record = Example | Mapping[str, Json] | str


def examples_of(data: object, options: ReadOptions | None = None) -> list[Example]:
    """Checked examples, numbered anew. `data` is one of

    - texts: `["turn off the lights", …]`,
    - Examples, or mappings such as `{"text": …, "label": …}`,
    - a pandas or polars DataFrame, a `datasets.Dataset`, or another table that speaks Arrow.
    """
    return read_memory(data, options or ReadOptions())[0]


def read_memory(data: object, options: ReadOptions) -> tuple[list[Example], TaskGuess, tuple[str, ...]]:
    """The examples, what they are about, and what was guessed of their fields."""
    # What messages call the data, as they call a file by its path.
    place = Path("<examples>" if isinstance(data, (Sequence, Iterator)) else f"<{type(data).__name__}>")
    fields, rows = Fields(options), _records_of(data)
    used = {*options.inputs, options.gold, options.id, *options.groups, *KNOWN_FIELDS}
    names = Counter(map(str, data.columns if _library_of(data) == "pandas" and hasattr(data, "columns") else ()))
    twice = next((name for name, count in names.items() if count > 1 and name in used), None)
    if twice is not None:
        raise DataError(f"{names[twice]} columns are named {twice!r}. Rename or drop all but one.", place)
    examples: list[Example] = []
    for row, record in enumerate(rows):
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
    found = guess_data_task(examples, fields.gold, options.task)
    task = task_named(found.task)
    checks, labels = Checks(task, options.labels), LabelCounts(place, task, options)
    passed: list[Example] = []
    for at in range(0, len(examples), _CHECKED_ROWS):
        block = examples[at : at + _CHECKED_ROWS]
        checked = checks.check_block(block, [example.row + 1 for example in block])
        if checked is not None:
            labels.add_each(checked)
            passed += checked
            continue
        for example in block:  # one by one, to find the row that is wrong
            try:
                passed.append(checks.check_example(example, example.row + 1))
            except Problem as problem:
                raise DataError(str(problem), place, example.row + 1) from None
            labels.add(example)
    labels.check()
    return passed, found, fields.guessed(place)


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


def _records_of(data: Any) -> Iterable[Any]:
    """The rows of whatever holds them."""
    library = _library_of(data)
    if library == "datasets":
        return _dataset_records(data)
    if library == "pandas":
        if not hasattr(data, "columns"):  # a Series of texts
            return list(data)
        columns = []
        for at in range(len(data.columns)):
            cells = [_json_cell(value) for value in data.iloc[:, at].tolist()]
            # pandas makes whole numbers floats beside a missing one
            floats = [cell for cell in cells if cell is not None]
            if len(floats) < len(cells) and all(type(cell) is float and cell.is_integer() for cell in floats):
                cells = [None if cell is None else int(cell) for cell in cells]
            columns.append(cells)
        names = [str(name) for name in data.columns]
        return (dict(zip(names, cells, strict=True)) for cells in zip(*columns, strict=True))
    if library == "polars":
        whole = data.collect() if hasattr(data, "collect") else data
        return list(whole.iter_rows(named=True) if hasattr(whole, "iter_rows") else whole)
    if hasattr(data, "__arrow_c_stream__"):
        return _arrow_records(data)
    if isinstance(data, (str, bytes, Mapping)) or not isinstance(data, Iterable):
        raise UsageError(
            f"data must be a path, a list of texts or records, a DataFrame or a Dataset, not {type(data).__qualname__}."
        )
    return data


def _dataset_records(data: Any) -> Iterable[object]:
    """The rows of a `datasets.Dataset`; class numbers become their names."""
    from unswayed.data.hf import naming_of

    if isinstance(data, dict):
        raise UsageError(
            f"This DatasetDict has the splits {', '.join(data)}. Choose one, as in data[{next(iter(data))!r}]."
        )
    if not hasattr(data, "column_names"):  # a column of texts
        yield from data
        return
    features = {} if data.features is None else data.features.to_dict()
    namings = {column: naming_of(feature) for column, feature in features.items()}
    for row in data:
        for column, name_of in namings.items():
            if name_of is not None:
                row[column] = name_of(row[column])
        yield row


def _arrow_records(data: Any) -> Iterable[object]:
    from arro3.core import Table

    for batch in Table.from_arrow(data).to_batches():
        columns = {name: batch[name].to_pylist() for name in batch.schema.names}
        yield from (dict(zip(columns, cells, strict=True)) for cells in zip(*columns.values(), strict=True))


def _json_cell(value: Any) -> Any:
    """A cell as JSON has it: arrays as lists, and None for pandas' several kinds of nothing."""
    if hasattr(value, "tolist"):
        return value.tolist()
    nothing = type(value).__name__ in ("NAType", "NaTType") or (isinstance(value, float) and isnan(value))
    return None if nothing else value
