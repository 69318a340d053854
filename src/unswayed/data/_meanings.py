"""Rows for testing a metric: a reference, the same meaning in another dialect, and a text whose meaning changed."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from unswayed.base.errors import DataError
from unswayed.data._reader import read_lines
from unswayed.data._scores import table_rows

COLUMNS = ("reference", "dialect", "changed")
SOURCE = "source"


class MeaningPair(NamedTuple):
    """Two candidates for one reference. `source` is the text that they translate, where the file has it."""

    reference: str
    dialect: str
    changed: str
    source: str | None = None


def read_meaning_pairs(path: Path, encoding: str | None = None) -> list[MeaningPair]:
    """A TSV or CSV file with columns of these names, or without a header and with these three columns in order."""
    first = next(read_lines(path, encoding), "")
    if first.strip() and not any(mark in first for mark in "\t,;"):
        raise DataError(f"the columns {', '.join(COLUMNS)} must be separated by tabs or commas.", path, 1)
    found = []
    places: list[int] = []
    source: int | None = None
    width = 0
    for line, cells in table_rows(path, encoding):
        names = [cell.strip().lower() for cell in cells]
        if not width:
            width = len(cells)
            named = set(COLUMNS) & set(names)
            if named and named != set(COLUMNS):
                lacking = ", ".join(name for name in COLUMNS if name not in names)
                raise DataError(
                    f"the header lacks {lacking}. Columns: {', '.join(COLUMNS)}, and {SOURCE} if needed.", path, 1
                )
            places = [names.index(name) for name in COLUMNS] if named else [0, 1, 2]
            source = names.index(SOURCE) if named and SOURCE in names else None
            if named:
                continue
        if len(cells) != width or width < len(COLUMNS):
            wanted = width if width >= len(COLUMNS) else len(COLUMNS)
            raise DataError(f"this row has {len(cells)} columns; {wanted} are expected.", path, line)
        texts = [cells[place].strip() for place in places]
        if not all(texts):
            empty = next(name for name, text in zip(COLUMNS, texts, strict=True) if not text)
            raise DataError(f"the {empty} is empty.", path, line)
        reference, dialect, changed = texts
        found.append(MeaningPair(reference, dialect, changed, None if source is None else cells[source].strip()))
    if not found:
        raise DataError(f"there are no rows. Each row needs {', '.join(COLUMNS)}.", path)
    return found
