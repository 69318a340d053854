"""Columns as a pandas or polars DataFrame, and as a short table for notebooks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from unfazed.core.errors import MissingExtra

Columns = Mapping[str, Sequence[Any]]

_LONGEST = 200  # characters of a cell


def pandas_frame(columns: Columns) -> Any:
    """A pandas DataFrame; without pandas, an error with the line that installs it."""
    try:
        import pandas
    except ImportError as error:
        raise MissingExtra("to_pandas()", "pandas") from error
    return pandas.DataFrame({name: list(values) for name, values in columns.items()})


def polars_frame(columns: Columns) -> Any:
    """A polars DataFrame; without polars, an error with the line that installs it."""
    try:
        import polars
    except ImportError as error:
        raise MissingExtra("to_polars()", "polars") from error
    return polars.DataFrame({name: list(values) for name, values in columns.items()}, strict=False)


def html_table(columns: Columns, caption: str = "", rows: int = 10, total: int | None = None) -> str:
    """The first rows as an HTML table. `total` is how many rows there are, where `columns` holds only some of them."""
    shown = list(zip(*(list(values)[:rows] for values in columns.values()), strict=True))
    total = len(next(iter(columns.values()), ())) if total is None else total
    head = "".join(f"<th>{escape(name)}</th>" for name in columns)
    body = "".join(f"<tr>{''.join(f'<td>{_cell(value)}</td>' for value in row)}</tr>" for row in shown)
    more = f"<p>{total - len(shown):,} more rows</p>" if total > len(shown) else ""
    title = f"<p><b>{escape(caption)}</b></p>" if caption else ""
    return f"<div>{title}<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{more}</div>"


def _cell(value: Any) -> str:
    text = "" if value is None else f"{value:.4g}" if isinstance(value, float) else str(value)
    return escape(text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…")
