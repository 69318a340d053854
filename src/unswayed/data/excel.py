"""Workbooks of Excel and LibreOffice: a sheet with a header, then a row an example; of a formula, its value."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from datetime import date, datetime, time
from pathlib import Path
from typing import Any

from unswayed.base.errors import DataError, UnknownName, UsageError, import_extra, option
from unswayed.base.options import ReadOptions
from unswayed.data._fields import RecordReader
from unswayed.data._reader import MAX_UNPACKED_RATIO, UNPACKED_BYTES, Record, open_bytes
from unswayed.data.table import refuse_repeated


class Excel(RecordReader):
    """The only sheet with cells, or the one that is named. Numbers and dates become texts, as in CSV."""

    suffixes = (".xlsx", ".xlsm", ".xlsb", ".xls", ".ods")
    cells = True

    def records(self, path: Path, options: ReadOptions) -> Iterator[Record]:
        calamine = import_extra("python_calamine", "Reading workbooks", "excel")
        with open_bytes(path) as file:
            if zipfile.is_zipfile(file):
                try:
                    size = sum(part.file_size for part in zipfile.ZipFile(file).infolist())
                except (zipfile.BadZipFile, ValueError, OSError, NotImplementedError) as error:
                    raise DataError(f"this is not a whole workbook ({error}).", path) from error
                if size > max(UNPACKED_BYTES, MAX_UNPACKED_RATIO * path.stat().st_size):
                    what = f"unpacked, the workbook is more than {MAX_UNPACKED_RATIO} times as large, as none is."
                    raise DataError(what, path)
        wanted = options.sheet
        try:
            with open_bytes(path) as file:
                book = calamine.load_workbook(file)
            names = list(book.sheet_names)
            if wanted is not None and wanted not in names:
                raise UnknownName("sheet", wanted, names)
            names = names if wanted is None else [wanted]
            sheets = {name: book.get_sheet_by_name(name).to_python(skip_empty_area=False) for name in names}
        except (UnknownName, DataError, KeyboardInterrupt, SystemExit, MemoryError):
            raise
        except BaseException as error:  # a panic of the library is no Exception
            raise DataError(f"this is not a whole workbook ({' '.join(str(error).split()):.120}).", path) from error
        full = {name: rows for name, rows in sheets.items() if any(cell != "" for row in rows for cell in row)}
        if len(full) > 1:
            raise UsageError(f"{path} has the sheets {', '.join(full)}. Choose one with {option('sheet')}.")
        rows: list[list[Any]] = next(iter(full.values()), [])
        header = [_cell_text(cell) for cell in rows[0]] if rows else []
        refuse_repeated(header, path)
        for line, cells in enumerate(rows[1:], 2):
            texts = [_cell_text(cell) for cell in cells]
            if any(texts):
                self.line = line
                yield {name: text for name, text in zip(header, texts, strict=False) if name}


def _cell_text(cell: Any) -> str:
    if isinstance(cell, bool):
        return "true" if cell else "false"
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    return cell.isoformat() if isinstance(cell, datetime | date | time) else str(cell)
