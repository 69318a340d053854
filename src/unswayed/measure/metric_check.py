"""Is a metric any good? Whether it prefers a dialect to a changed meaning, and whether it ranks as people do (daRR)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import combinations
from math import isfinite
from pathlib import Path
from typing import Any, Literal

import msgspec
import numpy as np

from unswayed.base.errors import NothingEvaluated, UnknownName, UsageError
from unswayed.base.ids import file_hash
from unswayed.base.text import data_frame, figure, number, percent
from unswayed.base.values import Estimate
from unswayed.data import MeaningPair, SegmentScore, read_segment_scores
from unswayed.measure.paired import Mixed, Ties, Wins, mixed_effects, win_rate
from unswayed.measure.results import Cells, Tabular
from unswayed.score import kendall, pearson
from unswayed.stats import Array, Observations, Question, Resampling, Statistic, estimates, ratio, sign
from unswayed.storage.answers import AnswerStore
from unswayed.systems import Metric, Scores, Segment

Answer = Literal["robust", "not robust", "unclear"]


class MetricCheck(msgspec.Struct, frozen=True, kw_only=True):
    """What one metric does with a dialect and a changed meaning.

    `scores` has, for each pair, the dialect's score and the changed meaning's. `success` is how often the dialect
    scores above the changed meaning, `failure` how often it is the other way round. `regression` has the difference of
    the mean scores, from the changed meaning. `identical` counts references that are also a candidate, where every
    metric does well.
    """

    metric: str
    answer: Answer
    sentence: str
    segments: int
    success: Wins
    failure: Wins
    means: dict[str, float | None]
    regression: Mixed
    identical: int = 0
    scores: list[tuple[float, float]] = []


class MetricChecks(Tabular):
    """What a metric of yours does, and others on the same pairs: a sentence, a table, and the rows that fail.

    Example: `unswayed.metrics.check(score, df).failing().head()`.
    """

    def __init__(self, pairs: Sequence[MeaningPair], found: Sequence[MetricCheck], level: float = 0.95) -> None:
        self.pairs, self.found, self.level = pairs, list(found), level

    @property
    def answer(self) -> Answer:
        """`robust`, `not robust` or `unclear`."""
        return self.found[0].answer

    def better_than(self, name: str) -> str:
        """By how many points your metric is right more often than another one, pair by pair."""
        mine = self.found[0]
        other = next((one for one in self.found[1:] if one.metric == name), None)
        if other is None:
            raise UnknownName("metric to compare with", name, [one.metric for one in self.found[1:]])
        right = [[float(same > changed) for same, changed in one.scores] for one in (mine, other)]
        names, n = [str(i) for i in range(len(self.pairs))] * 2, len(self.pairs)
        kinds = ["mine"] * n + ["other"] * n
        effect = mixed_effects(names, kinds, [*right[0], *right[1]], reference="other", level=self.level)
        gap = effect.coefficients["mine"]
        value, low, high = (100 * min(max(end or 0.0, -1.0), 1.0) for end in (gap.value, gap.low, gap.high))
        if low <= 0 <= high:
            return f"Not shown to be better or worse than {name}: {value:+.1f} points [{low:.1f}, {high:.1f}]."
        if value > 0:
            return f"Better than {name} by {value:.1f} points [{low:.1f}, {high:.1f}]."
        return f"Worse than {name} by {-value:.1f} points [{-high:.1f}, {-low:.1f}]."

    def failing(self) -> Any:
        """The pairs whose changed meaning scores at least as high as the dialect, the worst first, as a DataFrame."""
        rows = [
            (changed - same, *pair[:3], same, changed)
            for pair, (same, changed) in zip(self.pairs, self.found[0].scores, strict=True)
            if not same > changed
        ]
        rows.sort(key=lambda row: -row[0])
        names = ("reference", "dialect", "changed", "dialect_score", "changed_score")
        return data_frame("pandas", {name: [row[at] for row in rows] for at, name in enumerate(names, 1)})

    def _rows(self) -> list[Cells]:
        return [
            {
                "metric": one.metric, "answer": one.answer, "value": one.success.share.value,
                "low": one.success.share.low, "high": one.success.share.high, "segments": one.segments,
            }
            for one in self.found
        ]  # fmt: skip

    def _shown(self) -> tuple[list[str], list[Cells]]:
        better = [self.better_than(one.metric) for one in self.found[1:]]
        return [self.found[0].sentence, *better], table_to_paste(self.found)


def check_metric(
    name: str, metric: Metric, pairs: Sequence[MeaningPair], dialect: str = "the dialect", ties: Ties = "loss",
    level: float = 0.95, store: AnswerStore | None = None,
) -> MetricCheck:  # fmt: skip
    """Scores both candidates of each pair, and says whether the metric prefers the dialect to a changed meaning."""
    scores = Scores(metric, store)
    scores.learn([pair.reference for pair in pairs])
    if "source" in metric.uses and any(pair.source is None for pair in pairs):
        raise UsageError(f"{name} looks at the source, and the pairs have none. Add a column named source.")
    found: Mapping[str, list[float]] = {
        kind: scores.score(Segment(getattr(pair, kind), pair.reference, pair.source) for pair in pairs)
        for kind in ("dialect", "changed")
    }
    same, changed = (np.asarray(found[kind]) for kind in ("dialect", "changed"))
    if not (np.isfinite(same) & np.isfinite(changed)).any():
        raise NothingEvaluated(f"{name} gave no pair two finite scores, so nothing can be said of it.")
    success = win_rate(same, changed, ties, level, metric=metric.identity)
    failure = win_rate(changed, same, ties, level, metric=metric.identity)
    names = [str(i) for i in range(len(pairs))] * 2
    kinds = ["dialect"] * len(pairs) + ["changed"] * len(pairs)
    fitted = mixed_effects(names, kinds, [*found["dialect"], *found["changed"]], reference="changed", level=level)
    answer: Answer = "unclear"
    if success.share.low is not None and success.share.low > 0.5:
        answer = "robust"
    elif failure.share.low is not None and failure.share.low > 0.5:
        answer = "not robust"
    finite = {kind: [value for value in values if np.isfinite(value)] for kind, values in found.items()}
    segments = f"{success.share.n:,} segments"
    sentences = {
        "robust": f"Robust: {dialect} scores above a change of meaning in {_share(success.share)} of {segments}.",
        "not robust": f"Not robust: a change of meaning scores above {dialect} in {_share(failure.share)} of "
        f"{segments}.",
        "unclear": f"Unclear: of {segments}, {dialect} scores higher in {success.wins:,}, a change of meaning in "
        f"{failure.wins:,}, and {success.ties:,} are ties. Add rows to get a clear answer.",
    }
    return MetricCheck(
        metric=name,
        answer=answer,
        sentence=sentences[answer],
        segments=success.share.n,
        success=success,
        failure=failure,
        means={kind: float(np.mean(values)) if values else None for kind, values in finite.items()},
        regression=fitted,
        identical=sum(pair.reference in (pair.dialect, pair.changed) for pair in pairs),
        scores=list(zip(found["dialect"], found["changed"], strict=True)),
    )


def _share(share: Estimate) -> str:
    if share.low is None or share.high is None or share.value is None:
        return percent(share.value)
    low, high = (number(100 * end, 0) for end in (share.low, share.high))
    return f"{percent(share.value)} [{low}, {high}]"


def metric_rows(found: Sequence[MetricCheck]) -> list[dict[str, object]]:
    """A row for each metric, for people."""
    rows: list[dict[str, object]] = []
    for one in found:
        fitted, difference = one.regression, None
        if (effect := fitted.coefficients.get("dialect")) is not None:
            ends = effect.value, effect.low, effect.high
            difference = Estimate(*ends, one.segments, fitted.missing, fitted.signature)
        shares = {"dialect above changed": one.success.share, "changed above dialect": one.failure.share}
        rows.append({"metric": one.metric, "answer": one.answer, **shares, "ties": one.success.ties})
        rows[-1] |= {"difference of means": difference, "segments": one.segments}
    return rows


def table_to_paste(found: Sequence[MetricCheck]) -> list[Cells]:
    """A row for each metric with text alone. `≥` marks a share that is a lower bound, as ties count as losses."""
    rows: list[Cells] = []
    for one in found:
        bound = "≥ " if one.success.ties else ""
        shown = figure(one.success.share)
        rows.append({"metric": one.metric, "answer": one.answer, "dialect above changed": f"{bound}{shown}"})
        rows[-1] |= {"ties": f"{one.success.ties:,}", "segments": f"{one.segments:,}"}
    return rows


_DARR_VERSION = 1  # of these definitions; part of every signature
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
        return ratio(sums[:, 0] - sums[:, 1], sums[:, 0] + sums[:, 1])


def darr(
    human: str | Path, metric: str | Path, settings: Resampling | None = None, difference: float = DIFFERENCE
) -> Darr:
    """daRR and correlations of the metric's scores with people's. Systems named Human… are not judged."""
    settings = settings or Resampling()
    judged = read_segment_scores(Path(human), "RAW.SCR", finite=True)
    judged = [row for row in judged if not row.system.upper().startswith("HUMAN")]
    rows = read_segment_scores(Path(metric), "SCORE")
    scored = {(row.system, row.segment): row.score for row in rows if isfinite(row.score)}
    segments: dict[str, list[SegmentScore]] = defaultdict(list)
    for row in judged:
        segments[row.segment].append(row)
    # for each segment with a pair: how many the metric orders as people do, and how many not
    ranked, missing = [], 0
    for own in segments.values():
        right = wrong = 0
        for one, other in combinations(own, 2):
            if abs(one.score - other.score) < difference:
                continue
            better, worse = (one, other) if one.score > other.score else (other, one)
            high, low = scored.get((better.system, better.segment)), scored.get((worse.system, worse.segment))
            if high is None or low is None:
                missing += 1
            elif high > low:
                right += 1
            else:
                wrong += 1
        if right or wrong:
            ranked.append((right, wrong))
    counts = np.array(ranked, dtype=float).reshape(-1, 2)
    files = {"human": file_hash(Path(human))[:16], "metric": file_hash(Path(metric))[:16]}
    signature = sign({"measure": f"darr:{_DARR_VERSION}", "difference": difference, **files}, settings)
    pairs = int(counts.sum())
    if not pairs and not missing:
        raise NothingEvaluated(f"No two translations of a segment are {difference:g} points apart in {human}.")
    # resampled by segment: its pairs stand or fall together
    left = np.zeros(max(len(counts), 1), dtype=np.int64)
    left[0] = missing
    column = Observations(np.arange(len(counts)), counts, _Tau(), left, (-1.0, 1.0))
    tau = estimates([Question(column, signature)], settings)[0]
    both = [(row, scored[row.system, row.segment]) for row in judged if (row.system, row.segment) in scored]
    systems: dict[str, tuple[list[float], list[float]]] = defaultdict(lambda: ([], []))
    for row, score in both:
        systems[row.system][0].append(row.score)
        systems[row.system][1].append(score)
    means = [[float(np.mean(systems[name][side])) for name in sorted(systems)] for side in (0, 1)]
    segment = _correlation([row.score for row, _ in both], [score for _, score in both])
    concordant, discordant = (int(total) for total in counts.sum(axis=0))
    return Darr(
        pairs, tau.value, tau.low, tau.high, concordant, discordant, missing, segment, _correlation(*means), signature,
    )  # fmt: skip


def _correlation(one: list[float], other: list[float]) -> Correlation:
    x, y = np.array(one), np.array(other)
    return Correlation(pearson(x, y), kendall(x, y), len(x))
