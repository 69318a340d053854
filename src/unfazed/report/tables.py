"""Results, comparisons and plain rows for terminals and files: an aligned table, JSON, JSON lines, or Markdown."""

from __future__ import annotations

import json
import shutil
import sys
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec

from unfazed.core.errors import UnknownName
from unfazed.core.values import Estimate, Json
from unfazed.measure.results import Block, Results
from unfazed.report.figures import NONE, figure, number
from unfazed.report.text import one_line

FORMATS = ("table", "json", "jsonl", "md")
MEASURES = ("clean", "average", "worst", "drop", "flips", "consistency", "noticed")

Row = Mapping[str, Any]
Rows = Iterable[Row]

# Where a terminal is narrow, intervals are left out before anything is cut: which columns keep theirs.
_KEEP: tuple[frozenset[str], ...] = (
    frozenset(MEASURES),
    frozenset({"average", "drop"}),
    frozenset({"average"}),
    frozenset(),
)
_NARROWEST = 8


def render(shown: Any, format: str = "table", width: int | None = None) -> str:
    """Results, a comparison (any struct or mapping), or rows, as text. `width` is the terminal's unless given."""
    if format not in FORMATS:
        raise UnknownName("format", format, FORMATS)
    if not isinstance(shown, (msgspec.Struct, Mapping)):
        shown = list(shown)
    if format == "json":
        return _pretty(shown)
    if format == "jsonl":
        return "\n".join(_compact(row) for row in _rows(shown, flat=False))
    rows = _rows(shown, flat=True)
    if format == "md":
        return _sections(_sentences(shown), markdown(rows))
    return _sections(_sentences(shown), table(rows, width if width is not None else _terminal_width()))


def _sections(sentences: Sequence[str], body: str) -> str:
    said = "\n".join(one_line(sentence) for sentence in sentences)
    return "\n\n".join(part for part in (said, body) if part)


def _rows(shown: Any, flat: bool) -> list[Row]:
    if isinstance(shown, Results):
        return result_rows(shown)
    if isinstance(shown, msgspec.Struct):
        return struct_rows(shown)
    if isinstance(shown, Mapping):
        return [{"name": key, "value": value} for key, value in shown.items()] if flat else [shown]
    return list(shown)


def _sentences(shown: Any) -> list[str]:
    return list(getattr(shown, "sentences", ())) if isinstance(shown, msgspec.Struct) else []


def result_rows(results: Results) -> list[Row]:
    """One row for all variants, then one for each operator, family, slice value and other score."""
    rows = [_measures("all", "", results)]
    for by, blocks in results.by.items():
        rows += [_measures(by, name, block) for name, block in blocks.items()]
    for score, estimates in results.scores.items():
        rows.append({"by": "score", "name": score, **estimates})
    return rows


def _measures(by: str, name: str, block: Block | Results) -> Row:
    found = {measure: getattr(block, measure) for measure in MEASURES}
    return {"by": by, "name": name, "n": block.clean.n, **{k: v for k, v in found.items() if v is not None}}


def struct_rows(struct: msgspec.Struct) -> list[Row]:
    """The rows of a struct that holds a list of them, such as a comparison; else one row for each field."""
    for field in msgspec.structs.fields(struct):
        value = getattr(struct, field.name)
        if isinstance(value, (list, tuple)) and value and isinstance(value[0], msgspec.Struct):
            return [msgspec.structs.asdict(entry) for entry in value]
    skipped = ("sentences",)
    return [{"name": k, "value": v} for k, v in msgspec.structs.asdict(struct).items() if k not in skipped]


def _pretty(value: Json) -> str:
    try:
        return msgspec.json.format(msgspec.json.encode(value), indent=2).decode()
    except UnicodeEncodeError:  # a lone surrogate, which only an escape can spell
        return json.dumps(msgspec.to_builtins(value), indent=2)


def _compact(value: Json) -> str:
    try:
        return msgspec.json.encode(value).decode()
    except UnicodeEncodeError:
        return json.dumps(msgspec.to_builtins(value))


def table(rows: Sequence[Row], width: int | None = None) -> str:
    """An aligned table. One that is too wide loses intervals first, then the ends of its longest texts."""
    if not rows:
        return ""
    columns = _columns(rows)
    heads = [one_line(column) for column in columns]
    for keep in _KEEP:
        cells = [[_cell(row.get(column), column in keep) for column in columns] for row in rows]
        widths = [max(map(columns_of, column)) for column in zip(heads, *cells, strict=True)]
        if width is None or _total(widths) <= width:
            break
    if width is not None:
        widths = _shrunk(widths, width)
    numeric = [_numeric(rows, column) for column in columns]
    lines = [heads, ["─" * w for w in widths], *cells]
    return "\n".join(
        "  ".join(_aligned(c, w, right) for c, w, right in zip(line, widths, numeric, strict=True)).rstrip()
        for line in lines
    )


def markdown(rows: Sequence[Row]) -> str:
    """A GitHub table."""
    if not rows:
        return ""
    columns = _columns(rows)
    rule = ["---:" if _numeric(rows, column) else ":---" for column in columns]
    body = [[_markdown_cell(row.get(column)) for column in columns] for row in rows]
    lines = [[one_line(c).translate(_MARKS) for c in columns], rule, *body]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


# An underscore inside a name is no markup on GitHub, and a figure's brackets are no link.
_MARKS = str.maketrans({**{mark: "\\" + mark for mark in "\\|`*[]"}, "<": "&lt;", ">": "&gt;", "&": "&amp;"})


def _markdown_cell(value: object) -> str:
    text = _cell(value, True)
    return text if isinstance(value, Estimate) else text.translate(_MARKS)


def _columns(rows: Sequence[Row]) -> list[str]:
    return list(dict.fromkeys(str(key) for row in rows for key in row))


def _numeric(rows: Sequence[Row], column: str) -> bool:
    values = [row[column] for row in rows if row.get(column) is not None]
    return bool(values) and all(isinstance(v, (int, float, Estimate)) and not isinstance(v, bool) for v in values)


def _cell(value: object, with_interval: bool) -> str:
    if value is None:
        return NONE
    if isinstance(value, Estimate):
        return figure(value) if with_interval else number(value.value)
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return number(value)
    if isinstance(value, (list, tuple)):
        return one_line(", ".join(str(part) for part in value))
    if isinstance(value, Mapping):
        return one_line(", ".join(f"{k}: {v}" for k, v in value.items()))
    return one_line(str(value))


def columns_of(text: str) -> int:
    """How many columns of a terminal a text takes: two for wide characters, none for what is set on another."""
    return len(text) if text.isascii() else sum(map(_columns_of_character, text))


def _columns_of_character(character: str) -> int:
    if unicodedata.combining(character) or character in "\u200c\u200d\ufe0e\ufe0f":
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def _total(widths: Sequence[int]) -> int:
    return sum(widths) + 2 * (len(widths) - 1)


def _shrunk(widths: list[int], width: int) -> list[int]:
    widths = list(widths)
    while _total(widths) > width and max(widths) > _NARROWEST:
        widths[widths.index(max(widths))] -= 1
    return widths


def _aligned(text: str, width: int, right: bool) -> str:
    text = _fitted(text, width)
    space = " " * (width - columns_of(text))
    return space + text if right else text + space


def _fitted(text: str, width: int) -> str:
    if columns_of(text) <= width:
        return text
    kept, used = [], 0
    for character in text:
        used += _columns_of_character(character)
        if used > width - 1:
            break
        kept.append(character)
    return "".join(kept) + "…"


def _terminal_width() -> int | None:
    """The terminal's columns; none where standard output is a file or a pipe, which have no edge."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None
