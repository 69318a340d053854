"""Statistics of files: outputs against gold line by line, and a metric's scores against people's judgements (daRR)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import combinations
from math import isfinite
from pathlib import Path

import msgspec
import numpy as np

from unswayed.base.errors import DataError, NothingEvaluated
from unswayed.base.ids import file_hash
from unswayed.base.json import decode
from unswayed.base.task import Task, task_named, tasks
from unswayed.base.values import Estimate, Json
from unswayed.data import SegmentScore, read_lines, read_segment_scores, without_break
from unswayed.measure.set_scores import SetScore
from unswayed.run.scoring import scored_by
from unswayed.run.workers import in_use
from unswayed.score import Scorer, kendall, pearson, scorers
from unswayed.stats import Array, Mean, Observations, Question, Resampling, Statistic, estimates, sign


def score_files(name: str, gold: str | Path, predicted: str | Path, settings: Resampling | None = None) -> Estimate:
    """The score of two files with a text, or in `.jsonl` files a JSON value, a line."""
    scorer = scorers.get(name)()
    golds, outputs = _values(Path(gold)), _values(Path(predicted))
    check_lengths(gold, len(golds), predicted, len(outputs))
    files = {"gold": file_id(gold), "outputs": file_id(predicted)}
    return score_values(scorer, golds, outputs, task_of(name), files, settings)


def score_values(
    scorer: Scorer, golds: Sequence[Json], outputs: Sequence[Json], task: Task, files: Mapping[str, str],
    settings: Resampling | None = None,
) -> Estimate:  # fmt: skip
    """The score of outputs with its interval; `files` are ids of what was read, for the signature.

    Outputs that can't be read are missing, where a score is due.
    """
    settings = settings or Resampling()
    due = [i for i, gold in enumerate(golds) if scorer.gold_key(gold, task) is not None]
    known = [i for i in due if scorer.key(outputs[i], task) is not None]
    if not known:
        raise NothingEvaluated(f"No output can be scored with {scorer.name}: {len(due)} of {len(golds)} golds are fit.")
    said, right = [outputs[i] for i in known], [golds[i] for i in known]
    if (rows := scorer.classes(said, right, task)) is None:
        with scored_by(in_use()) as stats:
            rows = stats(scorer, list(zip(said, right, strict=True)), task)
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
    """Raises if two files that belong together don't have the same number of lines."""
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
    """A hash of what a file holds, for signatures."""
    return file_hash(Path(path))[:16]


VERSION = 1  # of these definitions; part of every signature
DIFFERENCE = 25.0  # of raw scores, from which on people are taken to prefer one translation


class Correlation(msgspec.Struct, frozen=True):
    """Over n segments, or systems."""

    pearson: float | None
    kendall: float | None
    n: int


class Darr(msgspec.Struct, frozen=True):
    """`tau` is (concordant - discordant) / pairs, where a tie of the metric is discordant.

    `missing` pairs are those for which the metric gave no score.
    """

    pairs: int
    tau: float | None
    low: float | None
    high: float | None
    concordant: int
    discordant: int
    missing: int
    segment: Correlation
    system: Correlation
    signature: str


class _Tau(Statistic):
    def __call__(self, sums: Array, n: int) -> Array:
        with np.errstate(invalid="ignore"):
            tau: Array = (sums[:, 0] - sums[:, 1]) / (sums[:, 0] + sums[:, 1])
        return tau


def darr(
    human: str | Path, metric: str | Path, settings: Resampling | None = None, difference: float = DIFFERENCE
) -> Darr:
    """daRR and correlations of the metric's scores with people's. Systems named Human… are not judged."""
    settings = settings or Resampling()
    judged = read_segment_scores(Path(human), "RAW.SCR", finite=True)
    judged = [row for row in judged if not row.system.upper().startswith("HUMAN")]
    rows = read_segment_scores(Path(metric), "SCORE")
    scored = {(row.system, row.segment): row.score for row in rows if isfinite(row.score)}
    counts, missing = _relative_ranks(judged, scored, difference)
    files = {"human": file_hash(Path(human))[:16], "metric": file_hash(Path(metric))[:16]}
    signature = sign({"measure": f"darr:{VERSION}", "difference": difference, **files}, settings)
    pairs = int(counts.sum())
    if not pairs and not missing:
        raise NothingEvaluated(f"No two translations of a segment are {difference:g} points apart in {human}.")
    tau = _tau(counts, missing, settings, signature)
    both = [(row, scored[row.system, row.segment]) for row in judged if (row.system, row.segment) in scored]
    concordant, discordant = (int(total) for total in counts.sum(axis=0))
    return Darr(
        pairs, tau.value, tau.low, tau.high, concordant, discordant, missing,
        _correlation([row.score for row, _ in both], [score for _, score in both]),
        _by_system(both), signature,
    )  # fmt: skip


def _relative_ranks(
    judged: list[SegmentScore], scored: dict[tuple[str, str], float], difference: float
) -> tuple[Array, int]:
    """For each segment with a pair: how many the metric orders as people do, and how many not."""
    segments: dict[str, list[SegmentScore]] = defaultdict(list)
    for row in judged:
        segments[row.segment].append(row)
    counts, missing = [], 0
    for rows in segments.values():
        concordant = discordant = 0
        for one, other in combinations(rows, 2):
            if abs(one.score - other.score) < difference:
                continue
            better, worse = (one, other) if one.score > other.score else (other, one)
            high, low = scored.get((better.system, better.segment)), scored.get((worse.system, worse.segment))
            if high is None or low is None:
                missing += 1
            elif high > low:
                concordant += 1
            else:
                discordant += 1
        if concordant or discordant:
            counts.append((concordant, discordant))
    return np.array(counts, dtype=float).reshape(-1, 2), missing


def _tau(counts: Array, missing: int, settings: Resampling, signature: str) -> Estimate:
    """Resampled by segment: its pairs stand or fall together."""
    left = np.zeros(max(len(counts), 1), dtype=np.int64)
    left[0] = missing
    column = Observations(np.arange(len(counts)), counts, _Tau(), left, (-1.0, 1.0))
    return estimates([Question(column, signature)], settings)[0]


def _by_system(both: list[tuple[SegmentScore, float]]) -> Correlation:
    people: dict[str, list[float]] = defaultdict(list)
    metric: dict[str, list[float]] = defaultdict(list)
    for row, score in both:
        people[row.system].append(row.score)
        metric[row.system].append(score)
    names = sorted(people)
    return _correlation([float(np.mean(people[s])) for s in names], [float(np.mean(metric[s])) for s in names])


def _correlation(one: list[float], other: list[float]) -> Correlation:
    x, y = np.array(one), np.array(other)
    return Correlation(pearson(x, y), kendall(x, y), len(x))
