"""Parquet files of examples, in unfazed's own form or with flat columns."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from unfazed.core.errors import DataError, StoredFileError
from unfazed.core.parquet import read_batches
from unfazed.core.values import Example
from unfazed.data._fields import Fields
from unfazed.data._reader import Reader, ReadOptions


class Parquet(Reader):
    """A row an example; a column may be a struct, as `inputs` and `gold` are in unfazed's own form."""

    suffixes = (".parquet", ".pq")

    def read(self, path: Path, options: ReadOptions) -> Iterator[Example]:
        self.file = path
        fields = Fields(options)
        try:
            for names, columns in read_batches(path):
                for cells in zip(*columns.values(), strict=True):
                    self.line += 1
                    record = dict(zip(names, cells, strict=True))
                    yield fields.example(self.line - 1, record, path, self.line)
        except StoredFileError as error:
            raise DataError(str(error).removeprefix(f"{path}: "), path) from error
