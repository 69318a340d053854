"""What a person said: the one record that `unswayed collect export` writes and everything that reads people takes.

A file of another form that users write by hand becomes records here, at the door; nothing behind it knows the form.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import count
from pathlib import Path
from typing import Any

import msgspec

from unswayed.base.errors import DataError
from unswayed.base.ids import decode
from unswayed.base.values import Json
from unswayed.storage.files import growing, write_json_lines
from unswayed.storage.parquet import read_batches, write_rows
from unswayed.storage.untrusted_files import read_json_lines

GOLD = "gold item"  # why an answer that checks its author does not count
EXCLUDED = "excluded: "  # followed by the owner's reason


class Judgement(msgspec.Struct, frozen=True, kw_only=True):
    """One person's answer to one item: who, what they were asked, what they answered, and whether it counts."""

    person: str
    kind: str  # of task, such as `same_meaning`
    item: str
    asked: dict[str, Json]
    answer: dict[str, Json]
    counted: bool = True
    why_not: str = ""  # an answer that is not counted: GOLD, EXCLUDED and the reason, or "flagged: " and the flags
    stratum: str = ""
    origin: dict[str, Json] = {}  # where the item comes from, which people do not see
    gold: Json = None
    correct: bool | None = None
    flags: list[str] = []
    seconds: float | None = None
    received: float | None = None
    shown: dict[str, Json] = {}
    about: dict[str, str] = {}
    errors: list[Json] = []
    heard: dict[str, str] = {}
    comment: str = ""
    attempts: list[Json] = []  # earlier ones at the same item, which did not count
    log: Json = None

    @property
    def is_check(self) -> bool:
        """Is this a valid answer to an item whose right answer is known?"""
        return self.why_not == GOLD


Converter = Callable[[Mapping[str, Any]], Judgement]


def read_judgements(
    path: str | Path, kind: str, by_hand: Converter | None = None, *, asked: Any = None, answer: Any = None
) -> list[Judgement]:
    """The records of a JSON-lines or Parquet file, counted or not; all are answers in a study of this kind.

    `by_hand` makes a record of a row that is not one, such as a line of a CSV file; it raises DataError if it can't.
    `asked` and `answer` are types that these parts of a record must fit.
    """
    path = Path(path)
    judgements: list[Judgement] = []
    seen: set[tuple[str, str]] = set()
    for line, row in _rows(path):
        try:
            if by_hand is not None and not {"person", "kind", "asked", "answer"} <= row.keys():
                made = by_hand(row)
            else:
                try:
                    made = msgspec.convert(row, Judgement)
                except msgspec.ValidationError as error:
                    raise DataError(f"this is not a record of `unswayed collect export`: {error}.") from error
            if made.kind != kind:
                raise DataError(f"this is an answer in a {made.kind} study, not in a {kind} study.")
            for name, value, wanted in (("asked", made.asked, asked), ("answer", made.answer, answer)):
                try:
                    msgspec.convert(value, wanted or dict)
                except msgspec.ValidationError as error:
                    raise DataError(f"{name}: {error}.") from error
        except DataError as error:
            raise DataError(str(error), path, line) from error
        if made.person and (made.person, made.item) in seen:
            raise DataError(f"{made.person!r} answers item {made.item!r} twice.", path, line)
        seen.add((made.person, made.item))
        judgements.append(made)
    return judgements


def _rows(path: Path) -> Iterator[tuple[int, Mapping[str, Any]]]:
    if path.suffix == ".parquet":
        number = count(1)
        for names, batch in read_batches(path):
            for cells in zip(*batch.values(), strict=True):
                row = dict(zip(names, cells, strict=True))
                yield next(number), {f: _read(path, f, row[c]) for f, c in _NAMES.items() if row.get(c) is not None}
        return
    if path.suffix.lower() != ".csv":
        yield from read_json_lines(path, dict[str, Any])
        return
    try:
        content = path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise DataError(f"the file can't be read ({error.strerror}).", path) from error
    except UnicodeDecodeError as error:
        raise DataError(f"byte {error.start + 1} is not UTF-8.", path) from error
    reader = csv.DictReader(io.StringIO(content, newline=""), strict=True)
    try:
        for row in reader:
            yield reader.line_num, row
    except csv.Error as error:
        raise DataError(f"the quoting of this row is broken ({error}).", path, reader.line_num) from error


_PLAIN = {"person": "str", "kind": "str", "item": "str", "counted": "int", "why_not": "str", "stratum": "str",
          "correct": "int", "comment": "str"}  # fmt: skip
_TIMES = {"seconds": "milliseconds", "received": "received"}  # whole milliseconds in Parquet
_NAMES = {field: _TIMES.get(field, field) for field in Judgement.__struct_fields__}
_COLUMNS = {column: "int" if field in _TIMES else _PLAIN.get(field, "str") for field, column in _NAMES.items()}


def _read(path: Path, field: str, cell: Any) -> Any:
    if field in _TIMES:
        return cell / 1000
    if field in ("counted", "correct"):
        return bool(cell)
    if field in _PLAIN:
        return cell
    try:
        return decode(cell)
    except (msgspec.MsgspecError, TypeError) as error:
        raise DataError(f"{field} is not JSON: {error}.", path) from error


def write_judgements(judgements: Iterable[Judgement], to: str | Path) -> None:
    """Writes JSON lines, or `.parquet`, where values of several parts are JSON texts and times are milliseconds."""
    to = Path(to)
    if to.suffix == ".parquet":
        with growing(to) as partial:
            write_rows(partial, _COLUMNS, (tuple(_cell(j, field) for field in _NAMES) for j in judgements))
    else:
        write_json_lines(to, judgements)


def _cell(judgement: Judgement, field: str) -> str | int | None:
    value: Any = getattr(judgement, field)
    if value is None:
        return None
    if field in _TIMES:
        return round(float(value) * 1000)
    if field in _PLAIN:
        return int(value) if _PLAIN[field] == "int" else str(value)
    return msgspec.json.encode(value).decode()
