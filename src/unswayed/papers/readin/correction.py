"""How well texts were corrected: precision, recall and F1 of finding errors and of mending them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from hashlib import blake2b
from itertools import islice
from pathlib import Path

import msgspec
import numpy as np
from rapidfuzz.distance import Levenshtein

from unswayed.base import DataError, Estimate, canonical
from unswayed.data import read_lines, without_break
from unswayed.measure import check_lengths
from unswayed.stats import Observations, Question, Ratio, Resampling, estimates, sign

VERSION = 1
_SIGHAN_TEXT = re.compile(r"\(pid=([^)]*)\)\s*(.*)", re.S)
_SIGHAN_TRUTH = re.compile(r"([^\s,]+),\s*(0|\d+\s*,.*)")

Changes = dict[int, str]  # place in the source → what stands there instead


class Prf(msgspec.Struct, frozen=True):
    """Precision, recall and F1, each with its interval by sentence."""

    precision: Estimate
    recall: Estimate
    f1: Estimate


class Level(msgspec.Struct, frozen=True):
    """`detection` asks only for the place of an error, `correction` also for what belongs there."""

    detection: Prf
    correction: Prf


class Correction(msgspec.Struct, frozen=True):
    """By character, and by sentence, which is right only if all of its errors are found and nothing else is touched.

    `wrongly_changed` is the share of sentences without an error that were changed.
    """

    character: Level
    sentence: Level
    wrongly_changed: Estimate
    sentences: int
    with_errors: int


def score_correction(
    sources: Sequence[str], golds: Sequence[str], outputs: Sequence[str], settings: Resampling | None = None
) -> Correction:
    """Scores corrected texts against the right ones; `sources` are the texts as they were written."""
    settings = settings or Resampling()
    rows = np.array([_row(*texts) for texts in zip(sources, golds, outputs, strict=True)], dtype=float)
    if not len(rows):
        raise DataError("there are no texts to score.")
    digest = blake2b(canonical([list(sources), list(golds), list(outputs)]), digest_size=8).hexdigest()
    questions = [
        Question(
            _column(rows, above, below), sign({"measure": f"correction.{name}:{VERSION}", "texts": digest}, settings)
        )
        for name, above, below in _questions()
    ]
    found = iter(estimates(questions, settings))
    character, sentence = (Level(*(Prf(*islice(found, 3)) for _ in range(2))) for _ in range(2))
    return Correction(character, sentence, next(found), len(rows), int(rows[:, 5].sum()))


# Columns of a row: for characters, then for sentences, changed, wrong in the source, found, mended; then whether a
# sentence was right, and whether it was changed all the same.
def _row(source: str, gold: str, output: str) -> tuple[int, ...]:
    true, said = changes(source, gold), changes(source, output)
    found = true.keys() & said.keys()
    mended = sum(true[at] == said[at] for at in found)
    whole = bool(true) and true.keys() == said.keys()
    return (
        *(len(said), len(true), len(found), mended),
        *(bool(said), bool(true), whole, whole and gold == output),
        *(not true, not true and bool(said)),
    )


def _questions() -> list[tuple[str, int, tuple[int, ...]]]:
    """A name, the column above and the columns below for each ratio; twice above for F1."""
    asked: list[tuple[str, int, tuple[int, ...]]] = []
    for level, at in (("character", 0), ("sentence", 4)):
        for kind, above in (("detection", at + 2), ("correction", at + 3)):
            for measure, below in (("precision", (at,)), ("recall", (at + 1,)), ("f1", (at, at + 1))):
                asked.append((f"{level}.{kind}.{measure}", above, below))
    return [*asked, ("wrongly_changed", 9, (8,))]


def _column(rows: np.ndarray, above: int, below: tuple[int, ...]) -> Observations:
    values = np.column_stack([rows[:, above] * len(below), rows[:, list(below)].sum(axis=1)])
    return Observations(np.arange(len(rows)), values, Ratio(), np.zeros(len(rows), dtype=np.int64), (0.0, 1.0))


def changes(source: str, text: str) -> Changes:
    """What was changed in the source to get the text: character by character where both have the same length."""
    if len(source) == len(text):
        return {at: new for at, (old, new) in enumerate(zip(source, text, strict=True)) if old != new}
    found: Changes = {}
    for op in Levenshtein.opcodes(source, text):
        if op.tag == "equal":
            continue
        for at in range(op.src_start, op.src_end):
            found[at] = ""
        first = min(op.src_start, max(len(source) - 1, 0))
        found[first] = found.get(first, "") + text[op.dest_start : op.dest_end]
    return found


def score_correction_files(
    source: str | Path, gold: str | Path, predicted: str | Path, settings: Resampling | None = None
) -> Correction:
    """Files with a text a line; the source and the gold may also be SIGHAN's input and truth."""
    sources, outputs = _texts(Path(source)), [text for _, text in _texts(Path(predicted))]
    golds = _golds(Path(gold), sources)
    check_lengths(source, len(sources), gold, len(golds))
    check_lengths(source, len(sources), predicted, len(outputs))
    return score_correction([text for _, text in sources], golds, outputs, settings)


def _texts(path: Path) -> list[tuple[str, str]]:
    """Each line's id, which SIGHAN writes before a text, and the text."""
    found = []
    for line in read_lines(path):
        text = without_break(line)
        marked = _SIGHAN_TEXT.fullmatch(text)
        found.append((marked[1], marked[2]) if marked else ("", text))
    return found


def _golds(path: Path, sources: Sequence[tuple[str, str]]) -> list[str]:
    """The right texts; from SIGHAN's truth by putting the right characters into the sources, which have ids."""
    if not all(id for id, _ in sources):
        return [text for _, text in _texts(path)]
    right: dict[str, list[str]] = {}
    for number, line in enumerate(read_lines(path), 1):
        marked = _SIGHAN_TRUTH.fullmatch(line.strip())
        if not marked:
            raise DataError("a line must be an id, then 0 or places and characters: `A2-0023-1, 10, 友`.", path, number)
        right[marked[1]] = [] if marked[2] == "0" else [part.strip() for part in marked[2].split(",")]
    return [_mended(text, right.get(id), id, path) for id, text in sources]


def _mended(text: str, right: list[str] | None, id: str, path: Path) -> str:
    if right is None:
        raise DataError(f"there is no line for {id}.", path)
    characters = list(text)
    try:
        for place, character in zip(right[::2], right[1::2], strict=True):
            if int(place) < 1:
                raise IndexError
            characters[int(place) - 1] = character
    except (ValueError, IndexError) as error:
        raise DataError(f"the places of {id} do not fit its text.", path) from error
    return "".join(characters)
