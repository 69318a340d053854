"""What people said of paraphrases, from a file: their 0 to 100 for the meaning, and whether it is grammatical."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from unfazed.core import DataError, decode_json
from unfazed.papers.parte.filters import Rating, Ratings

_ORIGINAL, _PARAPHRASE = ("original", "text", "a"), ("paraphrase", "other", "b")
_YES, _NO = ("true", "1", "yes", "1.0"), ("false", "0", "no", "0.0")


def read_ratings(path: str | Path) -> Ratings:
    """The mean of each paraphrase's ratings, and whether more than half found it grammatical.

    Rows of JSON lines or CSV have `original`, `paraphrase`, `similarity` and, if it was asked, `grammatical`. The
    collection app's `a` and `b` do as well, and both may stand in an `item` and an `answer` of their own.
    """
    path = Path(path)
    found: dict[tuple[str, str], list[tuple[float, bool]]] = {}
    for line, row in _rows(path):
        for part in ("item", "answer"):
            row = {**row, **row[part]} if isinstance(row.get(part), dict) else row
        original, paraphrase = (_text(row, names, path, line) for names in (_ORIGINAL, _PARAPHRASE))
        found.setdefault((original, paraphrase), []).append((_similarity(row, path, line), _grammar(row, path, line)))
    if not found:
        raise DataError("there is no rating in it.", path)
    return {
        key: Rating(sum(s for s, _ in given) / len(given), 2 * sum(g for _, g in given) > len(given))
        for key, given in found.items()
    }


def _rows(path: Path) -> Iterator[tuple[int, Mapping[str, Any]]]:
    try:
        content = path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise DataError(f"the file can't be read ({error.strerror}).", path) from error
    except UnicodeDecodeError as error:
        raise DataError(f"byte {error.start + 1} is not UTF-8.", path) from error
    if path.suffix.lower() == ".csv":
        reader = csv.DictReader(io.StringIO(content, newline=""), strict=True)
        try:
            for row in reader:
                yield reader.line_num, row
        except csv.Error as error:
            raise DataError(f"the quoting of this row is broken ({error}).", path, reader.line_num) from error
        return
    for line, text in enumerate(content.split("\n"), 1):
        if text.strip():
            try:
                yield line, decode_json(text, dict[str, Any])
            except msgspec.MsgspecError as error:
                raise DataError(f"this is not a JSON object: {error}.", path, line) from error


def _text(row: Mapping[str, Any], names: tuple[str, ...], path: Path, line: int) -> str:
    value = next((row[name] for name in names if isinstance(row.get(name), str)), None)
    if value is None:
        raise DataError(f"there is no {names[0]!r} in this row.", path, line)
    return str(value)


def _similarity(row: Mapping[str, Any], path: Path, line: int) -> float:
    try:
        value = float(row["similarity"])
    except (KeyError, TypeError, ValueError):
        raise DataError(f"similarity must be a number, not {row.get('similarity')!r:.40}.", path, line) from None
    if not 0 <= value <= 100:
        raise DataError(f"similarity must be from 0 to 100, not {value:g}.", path, line)
    return value


def _grammar(row: Mapping[str, Any], path: Path, line: int) -> bool:
    value = str(row.get("grammatical", True)).lower()
    if value not in (*_YES, *_NO):
        raise DataError(f"grammatical must be true or false, not {value!r:.40}.", path, line)
    return value in _YES
