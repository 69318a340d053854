"""Profiles of typists fitted to files, as the bytes of the file that `keyboard/pinyin` reads."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from unfazed.core.values import Inputs
from unfazed.measure.realism.reading import read_people
from unfazed.vary.calibrate_keyboard import fit
from unfazed.vary.keyboard import ime
from unfazed.vary.people import Typists, read_typists

ROWS = {"all": slice(None), "even": slice(0, None, 2), "odd": slice(1, None, 2)}
_DIGITS = 5


def calibrated(
    clean: str | None, real: Sequence[str], fields: Sequence[str], rows: str, engine: str, onto: str | None
) -> tuple[bytes, int]:
    """The file's content, and how many people it holds."""
    before, people = read_people(clean, real, fields)
    used = ROWS[rows]
    found = list(read_typists(onto).people) if onto else []
    for person in people:
        found.append(fit(_texts(before.rows[used]), _texts(person.rows[used]), ime.engine(engine)))
    return msgspec.json.encode(rounded(msgspec.to_builtins(Typists(engine, found)))) + b"\n", len(found)


def _texts(rows: Sequence[Inputs]) -> list[list[str]]:
    return [list(row.values()) for row in rows]


def rounded(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: rounded(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [rounded(inner) for inner in value]
    return round(value, _DIGITS) if isinstance(value, float) else value
