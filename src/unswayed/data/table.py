"""Tables in text: comma-separated with a header, or tab-separated with a header.

Also tables for testing a metric: scores by example and condition, scores by system and segment as WMT publishes them,
and rows of a reference, the same meaning in another dialect, and a text whose meaning changed.
"""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterator, Sequence
from math import isfinite
from pathlib import Path
from typing import NamedTuple

from unswayed.base.errors import DataError, UnknownName
from unswayed.base.options import ReadOptions
from unswayed.data._fields import RecordReader
from unswayed.data._reader import Record, read_lines, suffix_of, without_break
from unswayed.data.conll import looks_like_conll

_LONGEST_CELL = (1 << 31) - 1  # the csv module's own limit is 128 kB

NumberedRow = tuple[int, list[str]]  # the line that a row begins on, and its cells


class TableReader(RecordReader):
    """CSV with quoting, by `,` or `;`; TSV without any, so that a quotation mark is only that."""

    suffixes = (".csv", ".tsv", ".tab")
    cells = True

    def accepts(self, path: Path) -> bool:
        return super().accepts(path) and not (path.suffix.lower() == ".tsv" and looks_like_conll(path))

    def records(self, path: Path, options: ReadOptions) -> Iterator[Record]:
        how = "A cell that holds the separator or a line break must stand in quotation marks."
        if suffix_of(path) == ".csv":
            rows = csv_rows(path, encoding=options.encoding)
        else:
            how = "A tab-separated cell can't hold a tab or a line break; use CSV or JSONL for such texts."
            texts = map(without_break, read_lines(path, options.encoding))
            rows = ((line, text.split("\t") if text else []) for line, text in enumerate(texts, 1))
        _, header = next(rows, (0, []))
        refuse_repeated(header, path)
        for line, cells in rows:
            if not cells and len(header) > 1:
                continue  # a blank line; where there is one column, it is an empty text
            cells = cells or [""]
            if len(cells) != len(header):
                has = f"this row has {len(cells)} cells, but the header has {len(header)} ({', '.join(header)})"
                raise DataError(f"{has}. {how}", path, line)
            self.line = line
            yield {name: cell for name, cell in zip(header, cells, strict=True) if name}


def csv_rows(path: Path, delimiter: str | None = None, encoding: str | None = None) -> Iterator[NumberedRow]:
    """The rows of a CSV file, whose delimiter is guessed from its header unless given."""
    csv.field_size_limit(_LONGEST_CELL)
    if delimiter is None:
        first = next(read_lines(path, encoding), "")
        delimiter = ";" if ";" in first and "," not in first else ","
    rows = csv.reader(read_lines(path, encoding), delimiter=delimiter, strict=True)
    line = 1
    try:
        for cells in rows:
            yield line, cells
            line = rows.line_num + 1
    except csv.Error as error:
        what = f'the quoting of this row is broken ({error}). Double each " inside a quoted cell.'
        raise DataError(what, path, line) from error


def csv_records(
    path: Path, needed: Sequence[str], delimiter: str | None = None, hint: str = ""
) -> Iterator[tuple[int, dict[str, str]]]:
    """The rows of a CSV file below its header: the line of each, and its cells by column.

    Raises where a `needed` column is not there; `hint` ends that message.
    """
    rows = csv_rows(path, delimiter)
    _, header = next(rows, (0, []))
    absent = [name for name in needed if name not in header]
    if absent:
        raise DataError(f"the header has no column {', '.join(absent)}{hint}.", path, 1)
    for line, cells in rows:
        if cells and len(cells) != len(header):
            raise DataError(f"this row has {len(cells)} cells, but the header has {len(header)}.", path, line)
        if cells:
            yield line, dict(zip(header, cells, strict=True))


def refuse_repeated(header: Sequence[str], path: Path) -> None:
    """Raises if two columns of a header have the same name."""
    twice = next((name for name, count in Counter(header).items() if count > 1 and name), None)
    if twice is not None:
        raise DataError(f"the header has the column {twice!r} twice. Rename one of them.", path, 1)


class SegmentScore(NamedTuple):
    """The score of one system's translation of one segment."""

    system: str
    segment: str
    score: float


class ScoreTable(NamedTuple):
    """The columns of a long table; a score that is left empty or is NaN is not a number here either."""

    examples: list[str]
    conditions: list[str]
    scores: list[float]


SYSTEM = ("SYS", "system", "sys")
SEGMENT = ("SID", "segment", "seg", "seg_id", "segment_id", "id")
SCORE = ("SCORE", "score", "SCR", "RAW.SCR", "raw", "metric", "value")


def read_score_table(path: Path, example: str, condition: str, score: str) -> ScoreTable:
    """A table with a row for each score, by the names of its columns."""
    header, rows = _open_table(path)
    for name in (example, condition, score):
        if name not in header:
            raise UnknownName(f"column of {path}", name, [h for h in header if h])
    places = [header.index(name) for name in (example, condition, score)]
    found = ScoreTable([], [], [])
    for line, cells in rows:
        if len(cells) != len(header):
            raise DataError(f"this row has {len(cells)} cells, the header {len(header)}.", path, line)
        one, other, number = (cells[place] for place in places)
        found.examples.append(one)
        found.conditions.append(other)
        empty = number.strip().lower() in ("", "na", "none", "null")
        found.scores.append(float("nan") if empty else _score_number(number, path, line))
    if not found.scores:
        raise DataError("there is no score in this table.", path)
    return found


def read_segment_scores(path: Path, score: str, finite: bool = False) -> list[SegmentScore]:
    """System, segment and score of each row. Columns go by WMT's names or plain ones; `score` is tried first."""
    header, rows = _open_table(path)
    places = []
    for names in (SYSTEM, SEGMENT, (score, *SCORE)):
        place = next((header.index(name) for name in names if name in header), None)
        if place is None:
            raise DataError(f"the header {', '.join(header)} has none of the columns {', '.join(names)}.", path, 1)
        places.append(place)
    found: dict[tuple[str, str], SegmentScore] = {}
    for line, cells in rows:
        if len(cells) <= max(places):
            raise DataError(f"this row has {len(cells)} cells, the header {len(header)}.", path, line)
        system, segment, value = (cells[place] for place in places)
        if (system, segment) in found:
            raise DataError(f"system {system!r} has two scores for segment {segment!r}.", path, line)
        number = _score_number(value, path, line)
        if finite and not isfinite(number):
            raise DataError(f"the score {value!r} is not a finite number.", path, line)
        found[system, segment] = SegmentScore(system, segment, number)
    if not found:
        raise DataError("there is no score in this table.", path)
    return list(found.values())


def table_rows(path: Path, encoding: str | None = None) -> Iterator[tuple[int, list[str]]]:
    """The cells of each line with its number: by tabs or commas where the first line has one, else by blanks."""
    first = next(read_lines(path, encoding), "")
    if "\t" in first or not ("," in first or ";" in first):
        tab = "\t" if "\t" in first else None
        for line, text in enumerate(read_lines(path, encoding), 1):
            cells = without_break(text).split(tab)
            if any(cells):
                yield line, cells
        return
    yield from ((line, cells) for line, cells in csv_rows(path, encoding=encoding) if cells)


def _open_table(path: Path) -> tuple[list[str], Iterator[NumberedRow]]:
    """The header of a table, and the rows below it."""
    rows = table_rows(path)
    _, header = next(rows, (0, []))
    if not header:
        raise DataError("the file is empty; a header with the columns' names is needed.", path)
    return [name.strip() for name in header], rows


def _score_number(cell: str, path: Path, line: int) -> float:
    try:
        return float(cell)
    except ValueError:
        raise DataError(f"the score {cell!r:.40} is not a number.", path, line) from None


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
    found, places, width = [], [0, 1, 2], 0
    source: int | None = None
    for line, cells in table_rows(path, encoding):
        names = [cell.strip().lower() for cell in cells]
        if not width:
            width = len(cells)
            named = set(COLUMNS) & set(names)
            if named and named != set(COLUMNS):
                lacking = ", ".join(name for name in COLUMNS if name not in names)
                what = f"the header lacks {lacking}. Columns: {', '.join(COLUMNS)}, and {SOURCE} if needed."
                raise DataError(what, path, 1)
            if named:
                places = [names.index(name) for name in COLUMNS]
                source = names.index(SOURCE) if SOURCE in names else None
                continue
        if len(cells) != width or width < len(COLUMNS):
            wanted = max(width, len(COLUMNS))
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
