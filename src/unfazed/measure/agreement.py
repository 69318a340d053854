"""Agreement of a metric with people's judgements of translations: daRR as WMT20 counts it, Kendall and Pearson."""

from __future__ import annotations

from collections import defaultdict
from itertools import combinations
from math import isfinite
from pathlib import Path

import msgspec
import numpy as np

from unfazed.core.errors import NothingEvaluated
from unfazed.core.estimate import Array, Observations, Question, Resampling, Statistic, estimates, sign
from unfazed.core.ids import file_hash
from unfazed.core.values import Estimate
from unfazed.data import SegmentScore, read_segment_scores
from unfazed.score import kendall, pearson

VERSION = 1  # of these definitions; part of every signature
DIFFERENCE = 25.0  # of raw scores, from which on people are taken to prefer one translation


class Correlation(msgspec.Struct, frozen=True):
    """Over n segments, or systems."""

    pearson: float | None
    kendall: float | None
    n: int


class Agreement(msgspec.Struct, frozen=True):
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


def agreement(
    human: str | Path, metric: str | Path, settings: Resampling | None = None, difference: float = DIFFERENCE
) -> Agreement:
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
    return Agreement(
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
