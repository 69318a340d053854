"""Scores of a file of outputs against a file of gold, line by line, with intervals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec
import numpy as np

from unfazed.core.errors import DataError, NothingEvaluated
from unfazed.core.estimate import Mean, Observations, Question, Resampling, estimates, sign
from unfazed.core.ids import file_hash
from unfazed.core.json import decode
from unfazed.core.task import Task, task_named, tasks
from unfazed.core.values import Estimate, Json
from unfazed.data import read_lines, without_break
from unfazed.measure.measures import SetScore
from unfazed.score import Scorer, scorers


def score_files(name: str, gold: str | Path, predicted: str | Path, settings: Resampling | None = None) -> Estimate:
    """The score of two files with a text, or in `.jsonl` files a JSON value, a line."""
    scorer = scorers.get(name)()
    golds, outputs = _values(Path(gold)), _values(Path(predicted))
    check_lengths(gold, len(golds), predicted, len(outputs))
    files = {"gold": file_id(gold), "outputs": file_id(predicted)}
    return score_values(scorer, golds, outputs, task_of(name), files, settings)


def score_values(
    scorer: Scorer,
    golds: Sequence[Json],
    outputs: Sequence[Json],
    task: Task,
    files: Mapping[str, str],
    settings: Resampling | None = None,
) -> Estimate:
    """The score of outputs with its interval; `files` are ids of what was read, for the signature.

    Outputs that can't be read are missing, where a score is due.
    """
    settings = settings or Resampling()
    due = [i for i, gold in enumerate(golds) if scorer.gold_key(gold, task) is not None]
    known = [i for i in due if scorer.key(outputs[i], task) is not None]
    if not known:
        raise NothingEvaluated(f"No output can be scored with {scorer.name}: {len(due)} of {len(golds)} golds are fit.")
    rows = scorer.stats([outputs[i] for i in known], [golds[i] for i in known], task)
    missing = np.zeros(len(golds), dtype=np.int64)
    missing[list(set(due) - set(known))] = 1
    if scorer.linear:
        column = Observations(np.array(known), scorer.aggregate(rows)[:, None], Mean(), missing, scorer.bounds)
    else:
        codes = np.arange(len(rows), dtype=float)[:, None]
        column = Observations(np.array(known), codes, SetScore(scorer, rows, 1), missing, scorer.bounds)
    return estimates(
        [Question(column, sign({"score": f"{scorer.name}:{scorer.version}", **files}, settings))], settings
    )[0]


def task_of(scorer: str) -> Task:
    """The task that the scorer belongs to, so that it reads labels and answers as the task does."""
    owners = [name for name in tasks.names() if scorer in task_named(name).scores]
    return task_named(owners[0] if owners else "classify")


def check_lengths(gold: str | Path, golds: int, predicted: str | Path, outputs: int) -> None:
    if golds != outputs:
        raise DataError(f"this has {outputs} lines, but {gold} has {golds}. A line must answer each line.", predicted)


def _values(path: Path) -> list[Json]:
    lines = [without_break(line) for line in read_lines(path)]
    if path.suffix.lower() not in (".jsonl", ".ndjson"):
        return lines
    values: list[Json] = []
    for number, line in enumerate(lines, 1):
        try:
            values.append(decode(line))
        except msgspec.MsgspecError as error:
            raise DataError(f"this is not valid JSON: {error}.", path, number) from error
    return values


def file_id(path: str | Path) -> str:
    return file_hash(Path(path))[:16]
