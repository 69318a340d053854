"""Tables of scores: one a row by example and condition, or by system and segment as WMT publishes them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import isfinite
from pathlib import Path
from typing import NamedTuple

from unswayed.base.errors import DataError, UnknownName
from unswayed.data._reader import read_lines, without_break
from unswayed.data.table import csv_rows


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
    rows = table_rows(path)
    header = _header(rows, path)
    places = [_place(header, name, path) for name in (example, condition, score)]
    found = ScoreTable([], [], [])
    seen_width = len(header)
    for line, cells in rows:
        if len(cells) != seen_width:
            raise DataError(f"this row has {len(cells)} cells, the header {seen_width}.", path, line)
        found.examples.append(cells[places[0]])
        found.conditions.append(cells[places[1]])
        found.scores.append(_number(cells[places[2]], path, line, empty=True))
    if not found.scores:
        raise DataError("there is no score in this table.", path)
    return found


def read_segment_scores(path: Path, score: str, finite: bool = False) -> list[SegmentScore]:
    """System, segment and score of each row. Columns go by WMT's names or plain ones; `score` is tried first."""
    rows = table_rows(path)
    header = _header(rows, path)
    system, segment = _any_place(header, SYSTEM, path), _any_place(header, SEGMENT, path)
    value = _any_place(header, (score, *SCORE), path)
    found: dict[tuple[str, str], SegmentScore] = {}
    for line, cells in rows:
        if len(cells) <= max(system, segment, value):
            raise DataError(f"this row has {len(cells)} cells, the header {len(header)}.", path, line)
        key = cells[system], cells[segment]
        if key in found:
            raise DataError(f"system {key[0]!r} has two scores for segment {key[1]!r}.", path, line)
        number = _number(cells[value], path, line)
        if finite and not isfinite(number):
            raise DataError(f"the score {cells[value]!r} is not a finite number.", path, line)
        found[key] = SegmentScore(*key, number)
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


def _header(rows: Iterator[tuple[int, list[str]]], path: Path) -> list[str]:
    _, header = next(rows, (0, []))
    if not header:
        raise DataError("the file is empty; a header with the columns' names is needed.", path)
    return [name.strip() for name in header]


def _place(header: Sequence[str], name: str, path: Path) -> int:
    if name not in header:
        raise UnknownName(f"column of {path}", name, [h for h in header if h])
    return list(header).index(name)


def _any_place(header: Sequence[str], names: Sequence[str], path: Path) -> int:
    place = next((list(header).index(name) for name in names if name in header), None)
    if place is None:
        raise DataError(f"the header {', '.join(header)} has none of the columns {', '.join(names)}.", path, 1)
    return place


def _number(cell: str, path: Path, line: int, empty: bool = False) -> float:
    if empty and cell.strip().lower() in ("", "na", "none", "null"):
        return float("nan")
    try:
        return float(cell)
    except ValueError:
        raise DataError(f"the score {cell!r:.40} is not a number.", path, line) from None
