"""What results and comparisons have in common: rows, DataFrames, short tables for notebooks, and files."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from unswayed.base.errors import StoredFileError
from unswayed.base.json import decode
from unswayed.base.text import html_table, pandas_frame, polars_frame
from unswayed.storage.files import write_atomically

_SHOWN = 20  # rows of a table in a notebook

Cells = dict[str, Any]


class Tabular:
    """What has rows: a length, iteration, DataFrames and a table for notebooks."""

    def _rows(self) -> list[Cells]:
        raise NotImplementedError

    def __len__(self) -> int:
        return len(self._rows())

    def __iter__(self) -> Iterator[Cells]:
        return iter(self._rows())

    def _columns(self) -> dict[str, list[Any]]:
        rows = self._rows()
        return {name: [row[name] for row in rows] for name in (rows[0] if rows else {})}

    def to_pandas(self) -> Any:
        """The rows as a pandas DataFrame."""
        return pandas_frame(self._columns())

    def to_polars(self) -> Any:
        """The rows as a polars DataFrame."""
        return polars_frame(self._columns())


def aligned(rows: list[Cells]) -> list[str]:
    """Rows as lines of text with a heading, as many as a screen shows."""
    if not rows:
        return []
    cells = [list(rows[0]), *([str(value) for value in row.values()] for row in rows[:_SHOWN])]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    lines = ["  ".join(c.ljust(w) for c, w in zip(line, widths, strict=True)).rstrip() for line in cells]
    return [*lines, *([f"… {len(rows) - _SHOWN:,} more rows"] if len(rows) > _SHOWN else [])]


def html(rows: list[Cells], caption: str) -> str:
    return html_table({name: [row[name] for row in rows] for name in (rows[0] if rows else {})}, caption, _SHOWN)


class _Saved(msgspec.Struct, frozen=True):
    """A file of results: what it holds, and the folder of the run."""

    kind: str
    format: int
    run: str | None
    content: msgspec.Raw


def save_to(path: Path, value: msgspec.Struct, run: object) -> Path:
    folder = getattr(run, "path", None)
    content = msgspec.Raw(msgspec.json.encode(value))
    saved = _Saved(type(value).__name__, 1, None if folder is None else str(Path(folder).resolve()), content)
    write_atomically(path, msgspec.json.encode(saved) + b"\n")
    return path


def load_from(path: Path, kind: type[Any]) -> tuple[Any, str | None]:
    try:
        saved = decode(path.read_bytes(), _Saved)
        if (saved.kind, saved.format) != (kind.__name__, 1):
            raise msgspec.ValidationError(f"it holds {saved.kind} of format {saved.format}")
        return decode(bytes(saved.content), kind), saved.run
    except OSError as error:
        raise StoredFileError(f"{path}: the file can't be read ({error.strerror or error}).") from error
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise StoredFileError(f"{path} is not a file that {kind.__name__}.save() wrote: {error}.") from error
