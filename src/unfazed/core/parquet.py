"""Parquet files of plain columns, written and read as streams of rows."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from unfazed.core.errors import StoredFileError, UsageError, option

ROWS_A_BATCH = 16_384
BYTES_A_BATCH = 32 << 20
ROWS_AT_ONCE = 2_048  # read together; a file of kilobytes may hold the same megabyte in each of them

Row = Sequence[Any]


def write_rows(path: Path, columns: Mapping[str, str], rows: Iterable[Row]) -> int:
    """Writes rows of `int` and `str` columns; returns how many. Memory holds one batch, however many rows."""
    from arro3.core import Array, DataType, RecordBatch, Schema

    kinds = {"int": DataType.int64(), "str": DataType.large_utf8()}
    schema = Schema([field(name, kinds[kind]) for name, kind in columns.items()])
    types = [kinds[kind] for kind in columns.values()]
    count = 0

    def batches() -> Iterator[Any]:
        nonlocal count
        for block in blocks(rows):
            count += len(block)
            arrays = [Array(list(c), t) for c, t in zip(zip(*block, strict=True), types, strict=True)]
            yield RecordBatch.from_arrays(arrays, schema=schema)

    write_batches(path, schema, batches())
    return count


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


def read_rows(path: Path, columns: Sequence[str] | None = None) -> Iterator[tuple[Any, ...]]:
    """The rows of a Parquet file as tuples, in the order of `columns`, or all columns in the file's order."""
    for names, batch in read_batches(path):
        chosen = names if columns is None else columns
        missing = [c for c in chosen if c not in names]
        if missing:
            raise StoredFileError(f"{path}: there is no column {missing[0]!r}; it has {', '.join(names)}.")
        yield from zip(*(batch[c] for c in chosen), strict=True)


def read_batches(path: Path) -> Iterator[tuple[list[str], dict[str, list[Any]]]]:
    """(column names, columns as lists) for each batch of a Parquet file."""
    from arro3.io import read_parquet

    _check_magic(path)
    try:
        for batch in read_parquet(str(path), batch_size=ROWS_AT_ONCE):
            names = list(batch.schema.names)
            yield names, {name: list(batch[name].to_pylist()) for name in names}
    except GeneratorExit:
        raise
    except BaseException as error:
        raise _damaged(path, error) from error


def read_metadata(path: Path) -> dict[str, str]:
    """What the writer of a Parquet file noted about it, by name."""
    from arro3.io import read_parquet

    _check_magic(path)
    try:
        noted = read_parquet(str(path)).schema.metadata
    except BaseException as error:
        raise _damaged(path, error) from error
    return {key.decode("utf-8", "replace"): value.decode("utf-8", "replace") for key, value in noted.items()}


def _damaged(path: Path, error: BaseException) -> StoredFileError:
    # The native reader panics on damaged files, with an exception that is not an Exception.
    if isinstance(error, (KeyboardInterrupt, SystemExit, MemoryError)):
        raise error
    return StoredFileError(f"{path}: this Parquet file is damaged ({error}). Make it again.")


def _check_magic(path: Path) -> None:
    try:
        with path.open("rb") as f:
            head = f.read(4)
            size = f.seek(0, 2)
            f.seek(max(0, size - 4))
            tail = f.read(4)
    except FileNotFoundError as error:
        raise StoredFileError(f"{path}: this file is missing.") from error
    if head != b"PAR1" or tail != b"PAR1" or size < 12:
        raise StoredFileError(f"{path}: this is not a whole Parquet file; it may have been cut off. Make it again.")
