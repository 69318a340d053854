"""Workbooks of Excel and LibreOffice: a sheet with a header, then a row an example; of a formula, its value."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from datetime import date, datetime, time
from pathlib import Path
from typing import Any

from unswayed.base.errors import DataError, MissingExtra, UnknownName, UsageError, option
from unswayed.base.values import Example
from unswayed.data._encoding import open_bytes
from unswayed.data._fields import Fields
from unswayed.data._reader import Reader, ReadOptions
from unswayed.data.table import refuse_repeated

_MAX_UNPACKED_RATIO, _UNPACKED_BYTES = (
    200,
    64 << 20,
)  # what grows more when unpacked, and beyond this size, is no workbook


class Excel(Reader):
    """The only sheet with cells, or the one that is named. Numbers and dates become texts, as in CSV."""

    suffixes = (".xlsx", ".xlsm", ".xlsb", ".xls", ".ods")

    def read(self, path: Path, options: ReadOptions) -> Iterator[Example]:
        self.file = path
        rows = _read_sheet(path, options.sheet)
        header = [_cell_text(cell) for cell in rows[0]] if rows else []
        refuse_repeated(header, path)
        self.fields = fields = Fields(options, cells=True)
        row = 0
        for line, cells in enumerate(rows[1:], 2):
            texts = [_cell_text(cell) for cell in cells]
            if not any(texts):
                continue
            self.line = line
            record = {name: text for name, text in zip(header, texts, strict=False) if name}
            yield fields.example(row, record, path, line)
            row += 1


def _read_sheet(path: Path, wanted: str | None) -> list[list[Any]]:
    try:
        import python_calamine as calamine
    except ImportError as error:
        raise MissingExtra("Reading workbooks", "excel") from error
    with open_bytes(path) as file:
        if zipfile.is_zipfile(file):
            try:
                size = sum(part.file_size for part in zipfile.ZipFile(file).infolist())
            except (zipfile.BadZipFile, ValueError, OSError, NotImplementedError) as error:
                raise DataError(f"this is not a whole workbook ({error}).", path) from error
            if size > max(_UNPACKED_BYTES, _MAX_UNPACKED_RATIO * path.stat().st_size):
                raise DataError(
                    f"unpacked, the workbook is more than {_MAX_UNPACKED_RATIO} times as large, as none is.", path
                )
    try:
        with open_bytes(path) as file:
            book = calamine.load_workbook(file)
        names = list(book.sheet_names)
        if wanted is not None:
            if wanted not in names:
                raise UnknownName("sheet", wanted, names)
            names = [wanted]
        sheets = {name: book.get_sheet_by_name(name).to_python(skip_empty_area=False) for name in names}
    except (UnknownName, DataError):
        raise
    except BaseException as error:  # a panic of the library is no Exception
        if isinstance(error, KeyboardInterrupt | SystemExit | MemoryError):
            raise
        raise DataError(f"this is not a whole workbook ({' '.join(str(error).split()):.120}).", path) from error
    full = {name: rows for name, rows in sheets.items() if any(cell != "" for row in rows for cell in row)}
    if len(full) > 1:
        raise UsageError(f"{path} has the sheets {', '.join(full)}. Choose one with {option('sheet')}.")
    return next(iter(full.values()), [])


def _cell_text(cell: Any) -> str:
    if isinstance(cell, bool):
        return "true" if cell else "false"
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    return cell.isoformat() if isinstance(cell, datetime | date | time) else str(cell)
