"""Is a metric robust to a dialect? Whether it scores the same meaning in a dialect above a changed meaning."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

import msgspec
import numpy as np

from unswayed.base.errors import NothingEvaluated, UsageError
from unswayed.base.text import number, percent
from unswayed.data import MeaningPair
from unswayed.measure.mixed import Mixed, mixed_effects
from unswayed.measure.wins import Ties, Wins, win_rate
from unswayed.stats import Estimate
from unswayed.storage.store import AnswerStore
from unswayed.systems import Metric, Scores, Segment

Answer = Literal["robust", "not robust", "unclear"]


class MetricCheck(msgspec.Struct, frozen=True, kw_only=True):
    """What one metric does with a dialect and a changed meaning.

    `success` is how often the dialect scores above the changed meaning, `failure` how often it is the other way round.
    `regression` has the difference of the mean scores, from the changed meaning. `identical` counts references that
    are also a candidate, where every metric does well.
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
    answer = _answer(success.share, failure.share)
    return MetricCheck(
        metric=name,
        answer=answer,
        sentence=_sentence(answer, success, failure, dialect),
        segments=success.share.n,
        success=success,
        failure=failure,
        means={kind: _mean(values) for kind, values in found.items()},
        regression=fitted,
        identical=sum(pair.reference in (pair.dialect, pair.changed) for pair in pairs),
    )


def _mean(values: Sequence[float]) -> float | None:
    finite = [value for value in values if np.isfinite(value)]
    return float(np.mean(finite)) if finite else None


def _answer(success: Estimate, failure: Estimate) -> Answer:
    if success.low is not None and success.low > 0.5:
        return "robust"
    return "not robust" if failure.low is not None and failure.low > 0.5 else "unclear"


def _sentence(answer: Answer, success: Wins, failure: Wins, dialect: str) -> str:
    segments = f"{success.share.n:,} segments"
    if answer == "robust":
        return f"Robust: {dialect} scores above a change of meaning in {_share(success.share)} of {segments}."
    if answer == "not robust":
        return f"Not robust: a change of meaning scores above {dialect} in {_share(failure.share)} of {segments}."
    return (
        f"Unclear: of {segments}, {dialect} scores higher in {success.wins:,}, a change of meaning in "
        f"{failure.wins:,}, and {success.ties:,} are ties. Add rows to get a clear answer."
    )


def _share(share: Estimate) -> str:
    if share.low is None or share.high is None or share.value is None:
        return percent(share.value)
    low, high = (number(100 * end, 0) for end in (share.low, share.high))
    return f"{percent(share.value)} [{low}, {high}]"


def metric_rows(found: Sequence[MetricCheck]) -> list[dict[str, object]]:
    """A row for each metric, for people."""
    return [
        {
            "metric": one.metric,
            "answer": one.answer,
            "dialect above changed": one.success.share,
            "changed above dialect": one.failure.share,
            "ties": one.success.ties,
            "difference of means": _difference(one),
            "segments": one.segments,
        }
        for one in found
    ]


def _difference(one: MetricCheck) -> Estimate | None:
    effect = one.regression.coefficients.get("dialect")
    if effect is None:
        return None
    return Estimate(
        effect.value, effect.low, effect.high, one.segments, one.regression.missing, one.regression.signature
    )
