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
from unswayed.data._check import Checks
from unswayed.data._fields import Fields
from unswayed.data._guess import Guess, guess
from unswayed.data._labels import LabelCounts
from unswayed.data._names import KNOWN_FIELDS
from unswayed.data._reader import Problem, ReadOptions

_LOOKED_AT = 10_000  # rows, to find slices
_AT_ONCE = 512  # rows that are checked together
_MOST_GROUPS, _ROWS_A_GROUP = 20, 5

Record = Example | Mapping[str, Json] | str


def examples_of(data: object, options: ReadOptions | None = None) -> list[Example]:
    """Checked examples, numbered anew. `data` is one of

    - texts: `["turn off the lights", …]`,
    - Examples, or mappings such as `{"text": …, "label": …}`,
    - a pandas or polars DataFrame, a `datasets.Dataset`, or another table that speaks Arrow.
    """
    return guessed_examples(data, options or ReadOptions())[0]


def guessed_examples(data: object, options: ReadOptions) -> tuple[list[Example], Guess, tuple[str, ...]]:
    """The examples, what they are about, and what was guessed of their fields."""
    fields, place, rows = Fields(options), _place_of(data), _records_of(data)
    _refuse_twice(data, {*options.inputs, options.gold, options.id, *options.groups, *KNOWN_FIELDS}, place)
    examples = [_example(row, record, fields, place) for row, record in enumerate(rows)]
    if not examples:
        raise DataError("there are no examples.", place)
    found = guess(examples, fields.gold, options.task)
    task = task_named(found.task)
    checks, labels = Checks(task, options.labels), LabelCounts(place, task, options)
    passed: list[Example] = []
    for at in range(0, len(examples), _AT_ONCE):
        passed += _sound(examples[at : at + _AT_ONCE], checks, labels, place)
    labels.check()
    return passed, found, fields.guessed(place)


def _sound(examples: list[Example], checks: Checks, labels: LabelCounts, place: Path) -> list[Example]:
    """The examples with their ids, checked together where nothing is wrong with any of them."""
    passed = checks.passed_each(examples, [example.row + 1 for example in examples])
    if passed is not None:
        labels.add_each(passed)
        return passed
    passed = []
    for example in examples:
        try:
            passed.append(checks.passed(example, example.row + 1))
        except Problem as problem:
            raise DataError(str(problem), place, example.row + 1) from None
        labels.add(example)
    return passed


def likely_groups(data: Any, taken: Collection[str | None]) -> tuple[str, ...]:
    """The columns of a table or of a list of records to slice results by: those of few values that are nothing else.

    `taken` are the columns that the user chose for something else. Files have none of these.
    """
    rows = [row for row in _head(data) if isinstance(row, Mapping)]
    known = {*(name for name in taken if isinstance(name, str)), *KNOWN_FIELDS}  # a wrong name is refused later
    columns = [name for name in (rows[0] if rows else ()) if known.isdisjoint((name, str(name).casefold()))]
    columns = [name for name in columns if all(name in row for row in rows)]
    return tuple(name for name in columns if _few([row[name] for row in rows if row[name] is not None]))


def _head(data: Any) -> Iterable[Any]:
    """The first rows of a DataFrame, a Dataset or a list; an iterator can be read only once, so it has none."""
    if isinstance(data, (list, tuple)):
        return data[:_LOOKED_AT]
    library = type(data).__module__.partition(".")[0]
    is_table = hasattr(data, "columns") or hasattr(data, "column_names")
    if library not in ("pandas", "polars", "datasets") or not is_table or isinstance(data, dict):
        return ()
    return _records_of(data.head(_LOOKED_AT) if hasattr(data, "head") else data.take(_LOOKED_AT))


def _few(values: list[Any]) -> bool:
    if not all(isinstance(value, (str, int)) for value in values):
        return False
    return 2 <= len(set(values)) <= min(_MOST_GROUPS, len(values) // _ROWS_A_GROUP)


def _example(row: int, record: object, fields: Fields, place: Path) -> Example:
    if isinstance(record, Example):
        return msgspec.structs.replace(record, row=row)
    if isinstance(record, str):
        return fields.example(row, {"text": str(record)}, place, row + 1)
    if isinstance(record, Mapping):
        return fields.example(row, {str(name): _builtin(value) for name, value in record.items()}, place, row + 1)
    raise DataError(f"this must be a text, a mapping or an Example, not {type(record).__qualname__}.", place, row + 1)


def _refuse_twice(data: Any, used: Collection[str | None], place: Path) -> None:
    """Raises where two columns have the same name, and it is one that is read."""
    is_frame = type(data).__module__.partition(".")[0] == "pandas" and hasattr(data, "columns")
    names = Counter(map(str, data.columns if is_frame else ()))
    twice = next((name for name, count in names.items() if count > 1 and name in used), None)
    if twice is not None:
        raise DataError(f"{names[twice]} columns are named {twice!r}. Rename or drop all but one.", place)


def _place_of(data: object) -> Path:
    """What messages call the data, as they call a file by its path."""
    return Path("<examples>" if isinstance(data, (Sequence, Iterator)) else f"<{type(data).__name__}>")


def _records_of(data: Any) -> Iterable[Any]:
    """The rows of whatever holds them. None of the libraries is imported: who has a DataFrame has its library."""
    library = type(data).__module__.partition(".")[0]
    if library == "pandas":
        return _pandas_records(data)
    if library == "datasets":
        return _dataset_records(data)
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


def _pandas_records(data: Any) -> Iterable[object]:
    if not hasattr(data, "columns"):  # a Series of texts
        return list(data)
    names = [str(name) for name in data.columns]
    columns = [_cells(data.iloc[:, at].tolist()) for at in range(len(names))]
    return (dict(zip(names, cells, strict=True)) for cells in zip(*columns, strict=True))


def _cells(values: list[Any]) -> list[Any]:
    """A column's cells. Whole numbers stay such where pandas made them floats, as it does beside a missing one."""
    cells = [_plain(value) for value in values]
    floats = [cell for cell in cells if cell is not None]
    if len(floats) < len(cells) and all(type(cell) is float and cell.is_integer() for cell in floats):
        return [None if cell is None else int(cell) for cell in cells]
    return cells


def _builtin(value: Any) -> Any:
    """numpy's texts, numbers and arrays as Python's own."""
    return value.tolist() if hasattr(value, "tolist") else value


def _plain(value: Any) -> Any:
    """A cell as JSON has it: arrays as lists, and None for pandas' several kinds of nothing."""
    if hasattr(value, "tolist"):
        return value.tolist()
    nothing = type(value).__name__ in ("NAType", "NaTType") or (isinstance(value, float) and isnan(value))
    return None if nothing else value


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
