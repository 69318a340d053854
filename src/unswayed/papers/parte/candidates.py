"""P̂aRTE's `RTE_test_paraphrased.jsonl`: every pair of RTE, and all pairs made of it that people found to be good."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import msgspec

from unswayed.base import DataError, Inputs
from unswayed.data import read_lines

ENTAILED, NOT_ENTAILED = "entailed", "not_entailed"


class _CandidateRow(msgspec.Struct):
    dataset: str
    corpus_sent_id: int | str
    task: str
    sentence1: str
    sentence2: str
    gold_label: bool
    s1_para_id: str | None
    s2_para_id: str | None
    silver_label: bool | None = None


class CandidatePair(NamedTuple):
    """A line of the file. `side` is what was paraphrased: premise, hypothesis, both, or nothing in an original."""

    line: int
    original_id: str
    inputs: Inputs
    side: str
    gold: str
    made_of: str  # the ids of the paraphrases
    groups: dict[str, str]


def read_candidates(file: Path) -> Iterator[CandidatePair]:
    """The lines, each checked; raises DataError with the line of the first that is wrong."""
    for number, line in enumerate(read_lines(file), 1):
        if line.isspace():
            continue
        try:
            row = msgspec.json.decode(line, type=_CandidateRow)
        except msgspec.MsgspecError as error:
            raise DataError(f"this is not a line of P̂aRTE's paraphrased pairs: {error}.", file, number) from error
        yield _pair(row, file, number)


def _pair(row: _CandidateRow, file: Path, line: int) -> CandidatePair:
    made = {field: id for field, id in (("premise", row.s1_para_id), ("hypothesis", row.s2_para_id)) if id is not None}
    label = row.silver_label if made else row.gold_label
    if label is None:
        raise DataError("a paraphrased pair needs its silver_label, true or false.", file, line)
    return CandidatePair(
        line,
        f"{row.dataset}_{row.corpus_sent_id}_{row.task}",
        {"premise": row.sentence1, "hypothesis": row.sentence2},
        "both" if len(made) == 2 else next(iter(made), ""),
        ENTAILED if label else NOT_ENTAILED,
        " ".join(made.values()),
        {"task": row.task, "challenge": row.dataset.partition("_")[0]},
    )


def by_original(file: Path) -> list[tuple[CandidatePair, list[tuple[int, CandidatePair]]]]:
    """Originals in the file's order, each with the pairs made of it, numbered from 0 on each side."""
    rows = list(read_candidates(file))
    originals: dict[str, CandidatePair] = {}
    for row in rows:
        if not row.side:
            if row.original_id in originals:
                raise DataError(f"the original pair {row.original_id} comes twice.", file, row.line)
            originals[row.original_id] = row
    found: dict[str, list[tuple[int, CandidatePair]]] = {id: [] for id in originals}
    seen: Counter[tuple[str, str]] = Counter()
    for row in rows:
        if row.side:
            if row.original_id not in originals:
                raise DataError(f"there is no line of the original pair {row.original_id}.", file, row.line)
            found[row.original_id].append((seen[row.original_id, row.side], row))
            seen[row.original_id, row.side] += 1
    return [(originals[id], made) for id, made in found.items()]
