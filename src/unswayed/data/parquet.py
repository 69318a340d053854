"""Parquet files of examples, in unswayed's own form or with flat columns."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec

from unswayed.base.errors import DataError, StoredFileError
from unswayed.base.json import decode
from unswayed.base.values import Example, Json
from unswayed.data._fields import Fields
from unswayed.data._reader import Reader, ReadOptions
from unswayed.data.hf import Naming, naming_of
from unswayed.storage.parquet import read_batches, read_metadata


class _Info(msgspec.Struct, frozen=True):
    features: dict[str, Json] = {}


class _About(msgspec.Struct, frozen=True):
    info: _Info = _Info()


class Parquet(Reader):
    """A row an example; a column may be a struct, as `inputs` and `gold` are in unswayed's own form."""

    suffixes = (".parquet", ".pq")

    def read(self, path: Path, options: ReadOptions) -> Iterator[Example]:
        self.file = path
        self.fields = fields = Fields(options)
        try:
            naming = _namings(path)
            for names, columns in read_batches(path):
                for column in naming.keys() & columns.keys():
                    columns[column] = self._named(columns[column], naming[column], column)
                for cells in zip(*columns.values(), strict=True):
                    self.line += 1
                    record = dict(zip(names, cells, strict=True))
                    yield fields.example(self.line - 1, record, path, self.line)
        except StoredFileError as error:
            raise DataError(str(error).removeprefix(f"{path}: "), path) from error

    def _named(self, values: list[Json], name_of: Naming, column: str) -> list[Json]:
        try:
            return [name_of(value) for value in values]
        except (IndexError, TypeError) as error:
            raise DataError(f"{column} has a class number without a name.", self.file) from error


def _namings(path: Path) -> dict[str, Naming]:
    """By column, what turns class numbers into names, where Hugging Face `datasets` or `unswayed export` noted them."""
    try:
        about = decode(read_metadata(path).get("huggingface", "{}").encode(), _About)
    except msgspec.MsgspecError:
        return {}  # somebody else's note
    found = {column: naming_of(feature) for column, feature in about.info.features.items()}
    return {column: name_of for column, name_of in found.items() if name_of is not None}
