"""Parquet files of examples, in unswayed's own form or with flat columns."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec

from unswayed.base.errors import DataError
from unswayed.base.ids import decode
from unswayed.base.options import ReadOptions
from unswayed.base.values import Json
from unswayed.data._fields import RecordReader
from unswayed.data._forms import naming_of
from unswayed.data._reader import Record, as_data_errors
from unswayed.storage.parquet import read_batches, read_metadata


class _DatasetInfo(msgspec.Struct, frozen=True):
    features: dict[str, Json] = {}


class _Metadata(msgspec.Struct, frozen=True):
    info: _DatasetInfo = _DatasetInfo()


class Parquet(RecordReader):
    """A row an example; a column may be a struct, as `inputs` and `gold` are in unswayed's own form."""

    suffixes = (".parquet", ".pq")

    def records(self, path: Path, options: ReadOptions) -> Iterator[Record]:
        with as_data_errors(path):
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
                    yield dict(zip(names, cells, strict=True))
