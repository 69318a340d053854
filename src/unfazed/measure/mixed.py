"""Mixed-effects regression of scores: a random intercept for each example, a fixed effect for each condition.

With one score for every example under every condition the REML estimates have a closed form. With holes, or with
several scores, the likelihood is profiled down to one number, the ratio of the two variances, and minimised over that.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import log, sqrt
from statistics import NormalDist
from typing import Literal, NamedTuple

import msgspec
import numpy as np

from unfazed.core.errors import NothingEvaluated, UsageError
from unfazed.core.estimate import Array, Ints, digest, sign

VERSION = 1  # of this definition; part of every signature
_GOLDEN = (sqrt(5) - 1) / 2


class Coefficient(msgspec.Struct, frozen=True):
    """A difference from the reference condition. `paired_se` does not assume that all differences vary equally."""

    value: float
    se: float
    low: float
    high: float
    p: float
    paired_se: float | None = None


class Mixed(msgspec.Struct, frozen=True):
    """The fitted regression. `incomplete` examples lack a condition; `missing` scores were no finite numbers."""

    reference: str
    intercept: Coefficient
    coefficients: dict[str, Coefficient]
    variance: dict[str, float]
    method: Literal["closed form", "REML"]
    n: int
    examples: int
    incomplete: int
    missing: int
    signature: str


class _Fit(NamedTuple):
    """Means of the conditions, their covariance, and the variances of examples and of the rest."""

    means: Array
    covariance: Array
    between: float
    within: float


def mixed_effects(
    examples: Sequence[str], conditions: Sequence[str], scores: Sequence[float], reference: str | None = None,
    level: float = 0.95,
) -> Mixed:  # fmt: skip
    """The regression of scores on conditions; the reference is the first condition by name unless given."""
    if not 0 < level < 1:
        raise UsageError(f"The level of intervals must lie between 0 and 1, not {level}.")
    values = np.asarray(scores, dtype=np.float64)
    known = np.isfinite(values)
    names, condition = np.unique(np.asarray(conditions, dtype=str)[known], return_inverse=True)
    _, example = np.unique(np.asarray(examples, dtype=str)[known], return_inverse=True)
    order = _order([str(name) for name in names], reference)
    places = np.empty(len(order), dtype=np.int64)
    places[order] = np.arange(len(order))
    return _summary(
        [str(names[i]) for i in order], places[condition], example.astype(np.int64), values[known], level,
        missing=int((~known).sum()),
    )  # fmt: skip


def complete_effects(scores: Array, names: Sequence[str], level: float = 0.95) -> Mixed:
    """The same for a table without holes, one row an example; the first column is the reference."""
    n, k = scores.shape
    if n < 2 or k < 2:
        raise NothingEvaluated(f"The regression needs two examples and two conditions, not {n} and {k}.")
    fit = _closed_form(scores)
    return _mixed(list(names), fit, "closed form", (scores.size, n, 0, 0), level, scores, digest(scores))


def _order(names: list[str], reference: str | None) -> list[int]:
    if len(names) < 2:
        raise NothingEvaluated(f"The regression compares conditions, but the scores have only {names}.")
    if reference is None:
        return list(range(len(names)))
    if reference not in names:
        raise UsageError(f"There is no condition {reference!r}; there are {', '.join(names)}.")
    first = names.index(reference)
    return [first, *(i for i in range(len(names)) if i != first)]


def _summary(names: list[str], condition: Ints, example: Ints, values: Array, level: float, missing: int) -> Mixed:
    k, n = len(names), int(example.max()) + 1
    if n < 2:
        raise NothingEvaluated("The regression needs scores of at least two examples.")
    counts = np.bincount(example * k + condition, minlength=n * k).reshape(n, k).astype(np.float64)
    incomplete = int((counts == 0).any(axis=1).sum())
    sizes = (len(values), n, incomplete, missing)
    if (counts == 1).all():
        table = np.empty((n, k))
        table[example, condition] = values
        return _mixed(names, _closed_form(table), "closed form", sizes, level, table, digest(table))
    if len(values) <= n or len(values) <= k + 1:
        raise NothingEvaluated("Every example has a single score, so examples can't be told from chance.")
    return _mixed(
        names, _reml(counts, condition, example, values), "REML", sizes, level, None, digest(condition, example, values)
    )


def _closed_form(scores: Array) -> _Fit:
    """Two-way analysis of variance. Where examples vary less than chance would have them, their variance is zero."""
    n, k = scores.shape
    means = scores.mean(axis=0)
    middle = scores.mean(axis=1)
    between = k * float(((middle - means.mean()) ** 2).sum())
    within = float(((scores - middle[:, None] - (means - means.mean())) ** 2).sum())
    error, spread = within / ((n - 1) * (k - 1)), between / (n - 1)
    variance = (spread - error) / k
    if variance < 0:
        variance, error = 0.0, (between + within) / (n * k - k)
    return _Fit(means, (np.eye(k) * error + variance) / n, variance, error)


def _reml(counts: Array, condition: Ints, example: Ints, values: Array) -> _Fit:
    """Profile REML over the ratio of variances; examples with the same number of scores are summed beforehand."""
    n, k = counts.shape
    total = np.bincount(example, values, n)
    sizes, group = np.unique(counts.sum(axis=1), return_inverse=True)
    parts = [group == i for i in range(len(sizes))]
    many = np.array([part.sum() for part in parts])
    crossed = np.stack([counts[part].T @ counts[part] for part in parts])
    weighted = np.stack([total[part] @ counts[part] for part in parts])
    squared = np.array([total[part] @ total[part] for part in parts])
    sums, seen, square = np.bincount(condition, values, k), np.diag(counts.sum(axis=0)), float(values @ values)
    freedom = len(values) - k

    def solve(ratio: float) -> tuple[float, Array, Array, float]:
        shrink = ratio / (1 + sizes * ratio)
        matrix = seen - np.tensordot(shrink, crossed, 1)
        vector = sums - shrink @ weighted
        means = np.linalg.solve(matrix, vector)
        rest = float(square - shrink @ squared - means @ vector)
        within = max(rest, 1e-300) / freedom
        deviance = freedom * log(within) + float(many @ np.log1p(sizes * ratio))
        return deviance + float(np.linalg.slogdet(matrix)[1]), means, matrix, within

    def deviance(share: float) -> float:
        return solve(share / (1 - share))[0]

    share = _minimum(deviance)
    ratio = share / (1 - share)
    _, means, matrix, within = solve(ratio)
    covariance = np.asarray(np.linalg.inv(matrix) * within, dtype=np.float64)
    return _Fit(means, covariance, within * ratio, within)


def _minimum(function: Callable[[float], float], grid: int = 200, rounds: int = 60) -> float:
    """Where a function on 0 up to 1 is smallest: the best point of a grid, then golden sections around it."""
    shares = np.linspace(0, 1, grid, endpoint=False)
    best = int(np.argmin([function(float(share)) for share in shares]))
    low, high = float(shares[max(best - 1, 0)]), float(shares[best + 1]) if best + 1 < grid else 1 - 1e-9
    left, right = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
    at_left, at_right = function(left), function(right)
    for _ in range(rounds):
        if at_left <= at_right:
            high, right, at_right = right, left, at_left
            left = high - _GOLDEN * (high - low)
            at_left = function(left)
        else:
            low, left, at_left = left, right, at_right
            right = low + _GOLDEN * (high - low)
            at_right = function(right)
    middle = (low + high) / 2
    return 0.0 if function(0.0) <= function(middle) else middle


def _mixed(
    names: list[str], fit: _Fit, method: Literal["closed form", "REML"], sizes: tuple[int, int, int, int],
    level: float, table: Array | None, scores: str,
) -> Mixed:  # fmt: skip
    wide = NormalDist().inv_cdf((1 + level) / 2)

    def coefficient(value: float, variance: float, paired: float | None = None) -> Coefficient:
        se = sqrt(max(variance, 0.0))
        p = 2 * NormalDist().cdf(-abs(value / se)) if se else (1.0 if value == 0 else 0.0)
        return Coefficient(value, se, value - wide * se, value + wide * se, p, paired)

    c = fit.covariance
    others = {
        name: coefficient(
            float(fit.means[j] - fit.means[0]),
            float(c[j, j] + c[0, 0] - 2 * c[0, j]),
            None if table is None else float((table[:, j] - table[:, 0]).std(ddof=1) / sqrt(len(table))),
        )
        for j, name in enumerate(names)
        if j
    }
    variance = {"example": fit.between, "residual": fit.within}
    decided = {"measure": f"mixed:{VERSION}", "conditions": ",".join(names), "method": method, "scores": scores}
    return Mixed(
        names[0], coefficient(float(fit.means[0]), float(c[0, 0])), others, variance, method, *sizes,
        sign({**decided, "missing": sizes[3], "level": level}),
    )  # fmt: skip
