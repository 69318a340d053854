"""Parquet files of plain columns, written and read as streams of rows."""

from __future__ import annotations

import errno
import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple

from unswayed.base.errors import StoredFileError, UsageError, option
from unswayed.storage.untrusted_files import is_own, open_hashed, open_regular

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

ROWS_A_BATCH = 16_384
BYTES_A_BATCH = 32 << 20
MOST_AT_ONCE = 512 << 20  # bytes of rows that are read together
ROWS_AT_ONCE = 2_048  # read together; a file of kilobytes may hold the same megabyte in each of them

Row = Sequence[Any]


def write_rows(path: Path, columns: Mapping[str, str], rows: Iterable[Row]) -> None:
    """Writes rows of `int` and `str` columns. Memory holds one batch, however many rows."""
    write_columns(path, columns, ([list(c) for c in zip(*block, strict=True)] for block in blocks(rows)))


def write_columns(path: Path, columns: Mapping[str, str], pieces: Iterable[list[list[Any]]]) -> None:
    """The same for rows that come as the columns of a batch at once."""
    from arro3.core import Array, RecordBatch, Schema

    kinds = _kinds()
    schema = Schema([field(name, kinds[kind]) for name, kind in columns.items()])
    types = [kinds[kind] for kind in columns.values()]
    columns_of = ([Array(column, t) for column, t in zip(piece, types, strict=True)] for piece in pieces)
    write_batches(path, schema, (RecordBatch.from_arrays(arrays, schema=schema) for arrays in columns_of))


def joined_columns(pieces: Iterable[list[list[Any]]]) -> Iterator[list[list[Any]]]:
    """Pieces put together, or cut, to batches, none too long and none too large. No value of theirs is missing."""
    joined: list[list[Any]] = []
    size = 0
    for piece in pieces:
        size += sum(sum(map(len, column)) for column in piece if type(column[0]) is str)
        if joined:
            for column, more in zip(joined, piece, strict=True):
                column += more
        else:
            joined = piece
        while len(joined[0]) > ROWS_A_BATCH:
            yield [column[:ROWS_A_BATCH] for column in joined]
            joined, size = [column[ROWS_A_BATCH:] for column in joined], 0
        if len(joined[0]) == ROWS_A_BATCH or size > BYTES_A_BATCH:
            yield joined
            joined, size = [], 0
    if joined:
        yield joined


def _kinds() -> dict[str, Any]:
    from arro3.core import DataType

    return {"int": DataType.int64(), "str": DataType.large_utf8()}


def field(name: str, kind: Any) -> Any:
    """A column of that name and Arrow type, whose values may be missing. Arrow's names end at the first NUL."""
    from arro3.core import Field

    if "\0" in name:
        raise UsageError(f"The column {name!r} can't be written: its name has a NUL character. Rename it in your data.")
    return Field(name, kind, nullable=True)


def write_batches(path: Path, schema: Any, batches: Iterable[Any]) -> None:
    """Writes record batches of one schema as they come."""
    from arro3.core import RecordBatchReader
    from arro3.io import write_parquet

    problem: list[BaseException] = []

    def guarded() -> Iterator[Any]:
        # An exception can't pass through the writer's native code with its type, so it is carried round it.
        try:
            yield from batches
        except BaseException as error:
            problem.append(error)

    try:
        with path.open("wb") as file:
            write_parquet(
                RecordBatchReader.from_batches(schema, guarded()),
                file,
                compression="zstd(3)",
                max_row_group_size=ROWS_A_BATCH * 4,
            )
    except BaseException as error:
        if problem:
            raise problem[0] from None
        if isinstance(error, (KeyboardInterrupt, SystemExit, MemoryError)):
            raise
        # The native writer panics where the disk is full, with an exception that is not an Exception.
        full = getattr(error, "errno", None) == errno.ENOSPC or os.strerror(errno.ENOSPC) in str(error)
        elsewhere = f"the disk is full. Free some space, or choose another folder with {option('o', 'to')}"
        what = elsewhere if full else str(error)
        raise StoredFileError(f"{path}: the file can't be written: {what}.") from error
    if problem:
        raise problem[0]


def blocks(rows: Iterable[Row]) -> Iterator[list[Row]]:
    """The rows in batches, none too long and none too large."""
    block: list[Row] = []
    size = 0
    for row in rows:
        block.append(row)
        size += sum(len(cell) for cell in row if type(cell) is str)
        if len(block) == ROWS_A_BATCH or size > BYTES_A_BATCH:
            yield block
            block, size = [], 0
    if block:
        yield block


def read_columns(
    path: Path, columns: Mapping[str, str], sha256: str, chosen: Sequence[str] | None = None
) -> Iterator[list[list[Any]]]:
    """The rows of a file of that hash, some at a time, as one list for each column."""
    chosen = list(columns) if chosen is None else chosen
    for batch in _checked(path, columns, sha256):
        yield [batch[name].to_pylist() for name in chosen]


class Repeated(NamedTuple):
    """A column in which values come again and again: the distinct ones, and the number of each row's."""

    values: list[str]
    numbers: npt.NDArray[np.int64]


def read_numbered(
    path: Path, columns: Mapping[str, str], sha256: str, repeated: Collection[str]
) -> Iterator[dict[str, Any]]:
    """The same by name: a column of `int` as an array, and one of `str` as a list, or as `Repeated` where named so."""
    import numpy as np
    from arro3.core import DataType, dictionary_dictionary, dictionary_indices

    for batch in _checked(path, columns, sha256):
        found: dict[str, Any] = {}
        for name, kind in columns.items():
            if name in repeated:
                told = batch[name].cast(DataType.dictionary(DataType.int32(), DataType.large_utf8()))
                numbers = np.asarray(dictionary_indices(told)).astype(np.int64)
                found[name] = Repeated(dictionary_dictionary(told).to_pylist(), numbers)
            else:
                found[name] = np.asarray(batch[name]) if kind == "int" else batch[name].to_pylist()
        yield found


def numbered_columns(
    lists: Sequence[list[Any]], columns: Mapping[str, str], repeated: Collection[str]
) -> dict[str, Any]:
    """The same for columns in memory."""
    import numpy as np

    found: dict[str, Any] = {}
    for values, (name, kind) in zip(lists, columns.items(), strict=True):
        if name in repeated:
            number = {value: at for at, value in enumerate(dict.fromkeys(values))}
            found[name] = Repeated(list(number), np.fromiter(map(number.__getitem__, values), np.int64, len(values)))
        else:
            found[name] = np.array(values, dtype=np.int64) if kind == "int" else values
    return found


def _checked(path: Path, columns: Mapping[str, str], sha256: str) -> Iterator[Any]:
    """Batches of a file of that hash, whose columns are these."""
    kinds = _kinds()
    with open_hashed(path, sha256) as file:
        for batch in _batches(path, file):
            if list(batch.schema.names) != list(columns):
                told = f"its columns are {batch.schema.names}, not {list(columns)}"
                raise StoredFileError(f"{path}: {told}. Make it again.")
            for name, kind in columns.items():
                if batch.schema.field(name).type != kinds[kind] or batch[name].null_count:
                    told = f"the column {name!r} has values of another type, or gaps"
                    raise StoredFileError(f"{path}: {told}. Make it again.")
            yield batch


def read_batches(path: Path) -> Iterator[tuple[list[str], dict[str, list[Any]]]]:
    """(column names, columns as lists) for each batch of a Parquet file."""
    with _opened(path) as file:
        for batch in _batches(path, file):
            names = list(batch.schema.names)
            if len(set(names)) < len(names):
                twice = next(name for name in names if names.count(name) > 1)
                raise StoredFileError(f"{path}: two columns are named {twice!r:.60}. Rename one of them.")
            with _panics(path):
                columns = {name: list(batch[name].to_pylist()) for name in names}
            yield names, columns


def read_metadata(path: Path) -> dict[str, str]:
    """What the writer of a Parquet file noted about it, by name."""
    from arro3.io import read_parquet

    with _opened(path) as file:
        _rows_at_once(path, file)
        with _panics(path):
            noted = read_parquet(file).schema.metadata
    return {key.decode("utf-8", "replace"): value.decode("utf-8", "replace") for key, value in noted.items()}


def _opened(path: Path) -> BinaryIO:
    try:
        return open_regular(path)
    except FileNotFoundError as error:
        raise StoredFileError(f"{path}: this file is missing.") from error


def _batches(path: Path, file: BinaryIO) -> Iterator[Any]:
    from arro3.io import read_parquet

    rows = ROWS_AT_ONCE if is_own(file) else _rows_at_once(path, file)
    with _panics(path):
        batches = iter(read_parquet(file, batch_size=rows))
    while True:
        with _panics(path):
            batch = next(batches, None)
        if batch is None:
            return
        yield bounded(path, batch)


def bounded(path: Path, batch: Any) -> Any:
    """The batch, once it is known that its values fit into memory as Python's."""
    if batch.nbytes > MOST_AT_ONCE:
        raise StoredFileError(
            f"{path}: {batch.num_rows:,} rows hold {batch.nbytes >> 20:,} MB; {MOST_AT_ONCE >> 20} MB are the most. "
            f"Shorten the longest values."
        )
    return batch


@contextmanager
def _panics(path: Path) -> Iterator[None]:
    """The native reader panics on damaged files, with an exception that is not an Exception."""
    try:
        yield
    except (KeyboardInterrupt, SystemExit, MemoryError):
        raise
    except BaseException as error:
        raise StoredFileError(f"{path}: this Parquet file is damaged ({error}). Make it again.") from error


def _rows_at_once(path: Path, file: BinaryIO) -> int:
    """How many rows fit into memory together, whichever entries of a dictionary they hold."""
    head = file.read(4)
    size = file.seek(0, 2)
    file.seek(max(0, size - 8))
    length, tail = int.from_bytes(file.read(4), "little"), file.read(4)
    if head != b"PAR1" or tail != b"PAR1" or size < 12:
        raise StoredFileError(f"{path}: this is not a whole Parquet file; it may have been cut off. Make it again.")
    with _panics(path):
        if not 0 < length <= min(_MOST_FOOTER, size - 12):
            raise ValueError("its footer has no sound length")
        file.seek(size - 8 - length)
        facts = _Compact(file.read(length)).struct()
        elements = facts.get(_SCHEMA) or []
        names = [e[_NAME].decode("utf-8", "replace") for e in elements if isinstance(e.get(_NAME), bytes)]
        largest = 1  # bytes of a dictionary
        for column in chain.from_iterable(group.get(_COLUMNS) or [] for group in facts.get(_GROUPS) or []):
            at = (column.get(_COLUMN_FACTS) or {}).get(_DICTIONARY_AT)
            if isinstance(at, int) and at > 0:
                if at >= size:
                    raise ValueError("a dictionary lies outside the file")
                file.seek(at)
                unpacked = _Compact(file.read(_MOST_HEADER)).struct().get(_UNPACKED, 0)
                largest = max(largest, unpacked if isinstance(unpacked, int) else 0)
        file.seek(0)
    if any("\0" in name for name in names):
        raise StoredFileError(f"{path}: the name of a column has a NUL character. Rename the column.")
    return max(1, min(ROWS_AT_ONCE, 2 * MOST_AT_ONCE // largest))


_MOST_FOOTER = 256 << 20  # bytes
_MOST_HEADER = 1 << 16
_DEEPEST = 32
_SCHEMA, _GROUPS, _COLUMNS, _COLUMN_FACTS, _NAME = 2, 4, 1, 3, 4  # numbers of fields, as parquet.thrift has them
_DICTIONARY_AT, _UNPACKED = 11, 2


class _Compact:
    """Thrift's compact protocol: structs as dictionaries by field number, whatever their fields mean."""

    def __init__(self, content: bytes) -> None:
        self._content, self._at = content, 0

    def struct(self, depth: int = 0) -> dict[int, Any]:
        if depth > _DEEPEST:
            raise ValueError("its footer is nested too deeply")
        fields: dict[int, Any] = {}
        number = 0
        while kind := self._byte():
            step, kind = kind >> 4, kind & 15
            number = number + step if step else self._signed()
            fields[number] = kind == 1 if kind in (1, 2) else self._value(kind, depth)
        return fields

    def _value(self, kind: int, depth: int) -> Any:
        if kind in (1, 2, 3):
            return self._byte()
        if kind in (4, 5, 6):
            return self._signed()
        if kind in (7, 8):
            return self._bytes(8 if kind == 7 else self._unsigned())
        if kind in (9, 10):
            head = self._byte()
            count = head >> 4 if head >> 4 < 15 else self._unsigned()
            if count > len(self._content):
                raise ValueError("a list in its footer is longer than the footer")
            return [self._value(head & 15, depth + 1) for _ in range(count)]
        if kind == 12:
            return self.struct(depth + 1)
        raise ValueError(f"its footer has a value of kind {kind}, which Parquet has not")

    def _byte(self) -> int:
        return self._bytes(1)[0]

    def _bytes(self, count: int) -> bytes:
        found = self._content[self._at : self._at + count]
        if len(found) < count:
            raise ValueError("its footer is cut off")
        self._at += count
        return found

    def _unsigned(self) -> int:
        value = shift = 0
        while True:
            byte = self._byte()
            value |= (byte & 127) << shift
            if byte < 128:
                return value
            shift += 7
            if shift > 63:
                raise ValueError("a number in its footer is too long")

    def _signed(self) -> int:
        value = self._unsigned()
        return (value >> 1) ^ -(value & 1)
