"""Results of P̂aRTE's tasks on Mechanical Turk, as its site exports them: a row is what one worker said of one task.

A task shows one or two sentences, each with one to three paraphrases. Sentences and paraphrases are counted together
from 0, a sentence before its own: of two sentences with two paraphrases each, `Answer.gm1` and `Answer.gm2` are about
the first's, `Answer.gm4` and `Answer.gm5` about the second's. `gm` is 2 for a grammatical paraphrase, 1 for one with
errors and 0 for one without sense; `range` is how like the meaning is, from 0 to 100. A sentence's own `gm` and `pg`
mark it as ungrammatical or offensive.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from unswayed.base import DataError
from unswayed.data import read_lines

_SENTENCE = re.compile(r"Input\.sentence(\d*)")
_GRAMMATICAL = {"2": True, "1": False, "0": False}


class _ParaphraseColumns(NamedTuple):
    """The columns of one paraphrase: those of its sentence and of itself, and the number of its answers."""

    sentence: str
    paraphrase: str
    number: int


def is_mturk(path: Path) -> bool:
    """Is it a CSV file with the columns of a result?"""
    if path.suffix.lower() != ".csv":
        return False
    first = next(iter(read_lines(path)), "")
    try:
        header = next(csv.reader([first]), [])
    except csv.Error:  # the reader of tables says what is wrong
        return False
    return "HITId" in header and any(name.startswith("Answer.range") for name in header)


def read_mturk(path: Path) -> Iterator[tuple[tuple[str, str], tuple[float, bool]]]:
    """A sentence with a paraphrase, how like the meaning is, and whether it is grammatical; rejected work is left out.

    A paraphrase without sense has no slider, so it counts as 0.
    """
    rows = csv.DictReader(read_lines(path), restval="")  # the last columns, for the requester, may be left out
    places = _places(rows.fieldnames or (), path)
    for cells in _readable(rows, path):
        if None in cells:
            raise DataError("this row has more cells than the header.", path, rows.line_num)
        if cells.get("AssignmentStatus", "").strip().lower() == "rejected":
            continue
        for place in places:
            pair = cells[place.sentence], cells[place.paraphrase]
            if all(text.strip() for text in pair):
                yield pair, _answer(cells, place.number, path, rows.line_num)


def _readable(rows: csv.DictReader[str], path: Path) -> Iterator[dict[str, str]]:
    try:
        yield from rows
    except csv.Error as error:
        raise DataError(f"the quoting of this row is broken ({error}).", path, rows.line_num) from error


def _places(columns: Sequence[str], path: Path) -> list[_ParaphraseColumns]:
    found, number = [], 0
    for sentence in (name for name in columns if _SENTENCE.fullmatch(name)):
        which = sentence.removeprefix("Input.sentence")
        stem = f"Input.sen{which}_paraphrase" if which else "Input.paraphrase"
        own = [name for name in columns if name.startswith(stem) and name.removeprefix(stem).isdigit()]
        for n, paraphrase in enumerate(own, 1):
            found.append(_ParaphraseColumns(sentence, paraphrase, number + n))
        number += 1 + len(own)
    missing = [
        f"Answer.{kind}{p.number}"
        for p in found
        for kind in ("gm", "range")
        if f"Answer.{kind}{p.number}" not in columns
    ]
    if not found or missing:
        raise DataError(f"there is no column {missing[0] if missing else 'Input.paraphrase0'!r}.", path, 1)
    return found


def _answer(cells: Mapping[str, str], number: int, path: Path, line: int) -> tuple[float, bool]:
    said, slider = (cells[f"Answer.{kind}{number}"].strip().removesuffix(".0") for kind in ("gm", "range"))
    if said not in _GRAMMATICAL:
        raise DataError(f"Answer.gm{number} must be 2, 1 or 0, not {said!r:.40}.", path, line)
    try:
        similarity = float(slider or 0) if said == "0" else float(slider)
    except ValueError:
        raise DataError(f"Answer.range{number} must be a number, not {slider!r:.40}.", path, line) from None
    if not 0 <= similarity <= 100:
        raise DataError(f"Answer.range{number} must be from 0 to 100, not {similarity:g}.", path, line)
    return similarity, _GRAMMATICAL[said]
