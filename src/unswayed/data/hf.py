"""Folders that Hugging Face `datasets` writes with `save_to_disk`, read without that package."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from unswayed.base.errors import DataError, nearest
from unswayed.base.ids import decode
from unswayed.base.options import ReadOptions
from unswayed.data._fields import RecordReader
from unswayed.data._forms import naming_of
from unswayed.data._reader import Record, as_data_errors, open_bytes
from unswayed.storage.parquet import ROWS_AT_ONCE, bounded
from unswayed.storage.untrusted_files import read_bounded


class _ArrowFile(msgspec.Struct):
    filename: str


class _DatasetState(msgspec.Struct):
    """`state.json`, of which only the list of files is needed."""

    files: list[_ArrowFile] | None = msgspec.field(name="_data_files", default=None)


class Hf(RecordReader):
    """A dataset, or one split of a dataset dictionary as `folder/split`. Class numbers become their names."""

    def accepts(self, path: Path) -> bool:
        return any((path / name).is_file() for name in ("state.json", "dataset_dict.json"))

    def records(self, path: Path, options: ReadOptions) -> Iterator[Record]:
        if (path / "dataset_dict.json").is_file():
            splits = [str(split) for split in _read_json(path / "dataset_dict.json").get("splits") or []]
            if not splits:
                raise DataError("this dataset dictionary has no splits.", path)
            likely = path / (nearest("test", splits) or splits[0])
            what = f"this folder holds the splits {', '.join(splits)}. Name one of them, such as {likely}."
            raise DataError(what, path)
        file = path / "dataset_info.json"
        features = _read_json(file).get("features") or {}
        if not isinstance(features, dict):
            raise DataError(f"features must be given by column, not {features!r:.60}.", file)
        naming = {column: name_of for column, feature in features.items() if (name_of := naming_of(feature))}
        file = path / "state.json"
        try:
            names = [entry.filename for entry in msgspec.convert(_read_json(file), _DatasetState).files or ()]
        except msgspec.ValidationError as error:
            raise DataError(f"this does not say which files there are: {error}.", file) from error
        inside = {child.name for child in path.iterdir()}
        absent = next((name for name in names if name not in inside), None)  # or it leads out of the folder
        if absent is not None:
            raise DataError(f"state.json names {absent:.200}, which is not here. Copy the folder again, whole.", path)
        for name in names:
            for columns in _read_columns(path / name):
                for column in naming.keys() & columns.keys():
                    try:
                        for at, value in enumerate(columns[column]):
                            columns[column][at] = naming[column](value)
                    except (LookupError, TypeError) as error:
                        what = f"{column} {value!r} has no name in dataset_info.json."
                        raise DataError(what, path, self.line + at + 1) from error
                for cells in zip(*columns.values(), strict=True):
                    self.line += 1
                    yield dict(zip(columns, cells, strict=True))


def _read_columns(file: Path) -> Iterator[dict[str, list[Any]]]:
    from arro3.io import read_ipc_stream

    try:
        with as_data_errors(file), open_bytes(file) as opened:
            for whole in read_ipc_stream(opened):
                for at in range(0, whole.num_rows, ROWS_AT_ONCE):  # some columns need no bytes for any number of rows
                    batch = bounded(file, whole.slice(at, min(ROWS_AT_ONCE, whole.num_rows - at)))
                    yield {name: list(batch[name].to_pylist()) for name in batch.schema.names}
    except (GeneratorExit, KeyboardInterrupt, SystemExit, MemoryError, DataError):
        raise
    except BaseException as error:  # the native reader panics on some damaged files
        raise DataError(f"this Arrow file is damaged or cut off ({error}). Copy the folder again.", file) from error


def _read_json(file: Path) -> dict[str, Any]:
    try:
        with as_data_errors(file):
            return decode(read_bounded(file), dict[str, Any])
    except FileNotFoundError as error:
        raise DataError("this file is missing, so the folder is not a whole dataset.", file) from error
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise DataError(f"this is not valid JSON: {error}.", file) from error
