"""Parquet files of examples, in unswayed's own form or with flat columns."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec

from unswayed.base.errors import DataError, StoredFileError
from unswayed.base.json import decode
from unswayed.base.values import Example, Json
from unswayed.data._encoding import as_data_error
from unswayed.data._fields import Fields
from unswayed.data._reader import Reader, ReadOptions
from unswayed.data.hf import naming_of
from unswayed.storage.parquet import read_batches, read_metadata


class _DatasetInfo(msgspec.Struct, frozen=True):
    features: dict[str, Json] = {}


class _Metadata(msgspec.Struct, frozen=True):
    info: _DatasetInfo = _DatasetInfo()


class Parquet(Reader):
    """A row an example; a column may be a struct, as `inputs` and `gold` are in unswayed's own form."""

    suffixes = (".parquet", ".pq")

    def read(self, path: Path, options: ReadOptions) -> Iterator[Example]:
        self.file = path
        self.fields = fields = Fields(options)
        try:
            try:  # class numbers become names, where Hugging Face `datasets` or `unswayed export` noted them
                about = decode(read_metadata(path).get("huggingface", "{}").encode(), _Metadata)
            except msgspec.MsgspecError:
                about = _Metadata()  # somebody else's note
            features = about.info.features.items()
            naming = {column: name_of for column, feature in features if (name_of := naming_of(feature))}
            for names, columns in read_batches(path):
                for column in naming.keys() & columns.keys():
                    try:
                        columns[column] = [naming[column](value) for value in columns[column]]
                    except (LookupError, TypeError) as error:
                        raise DataError(f"{column} has a class number without a name.", path) from error
                for cells in zip(*columns.values(), strict=True):
                    self.line += 1
                    record = dict(zip(names, cells, strict=True))
                    yield fields.example(self.line - 1, record, path, self.line)
        except StoredFileError as error:
            raise as_data_error(error, path) from error
