"""A JSON file that is one list of rows, or one object that holds them in a list, such as `{"data": […]}`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec

from unswayed.base.errors import DataError
from unswayed.base.options import ReadOptions
from unswayed.data._fields import RecordReader
from unswayed.data._forms import json_problem, record_of
from unswayed.data._reader import Record, open_bytes, read_lines
from unswayed.data.jsonl import SPLITS, WRAPPED

_ROW_FIELDS = ("data", "rows", "examples", "items", "records", "instances", "samples")


class Json(RecordReader):
    """`[{"text": …, "label": …}, …]`. `line` counts the rows, as such a file is often a single line."""

    suffixes = (".json",)
    fallback = True

    def accepts(self, path: Path) -> bool:
        if not super().accepts(path):
            return False
        with open_bytes(path) as file:
            start = file.read(1 << 14).removeprefix(b"\xef\xbb\xbf").lstrip()
        wide = start.count(0) * 4 > len(start) > 0
        return wide or start.startswith(b"[") or bool(WRAPPED.match(start) or SPLITS.match(start)) or not start

    def records(self, path: Path, options: ReadOptions) -> Iterator[Record]:
        text = "".join(read_lines(path, options.encoding))
        if not text.strip():
            return
        try:
            found = msgspec.json.decode(text)
        except (msgspec.MsgspecError, UnicodeError, RecursionError) as error:
            what, line = json_problem(text, error)
            raise DataError(what, path, line) from error
        if isinstance(found, dict):
            holder = next((name for name in _ROW_FIELDS if isinstance(found.get(name), list)), None)
            lists = [name for name, rows in found.items() if isinstance(rows, list) and rows]
            if holder is None and len(lists) > 1:
                what = (
                    f"it holds several lists of rows: {', '.join(lists)}. Save the one you want in a file of its own."
                )
                raise DataError(what, path)
            if holder is None:
                names = ", ".join(map(repr, found)) or "nothing"
                what = f"the rows must be in a list, under one of {', '.join(_ROW_FIELDS)}; it holds {names}."
                raise DataError(what, path)
            found = found[holder]
        if not isinstance(found, list):
            raise DataError(f"this must be a list of rows, not {text.strip():.40}", path)
        for row, record in enumerate(map(record_of, found), 1):
            if not isinstance(record, dict):
                raise DataError(f"row {row} must be an object {{…}}, not {record!r:.40}", path, row)
            self.line = row
            yield record
