"""Means of one number for each example, or each cluster of them, and their intervals in closed form.

The interval is a score interval: a mean is in it if the numbers seen would not be surprising, were that the true one.
Errors that are less rare vary more, so the variance is taken where the end of the interval lies, and not at the mean.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite, sqrt

import numpy as np

from unswayed.stats.resample import Array, Ints, MeanKind, Statistic
from unswayed.stats.significance import t_p_value, t_quantile

Span = tuple[float, float]
Ends = tuple[float | None, float | None]

# numbers at the end of the span that are added to those seen, as found by simulation (benchmarks/coverage)
_UNSEEN: dict[MeanKind, float] = {"share": 1.0, "difference": 4.0, "contrast": 4.0}
_BLOCK = 1 << 22  # numbers held at once while examples are left out one by one


@dataclass(frozen=True)
class Numbers:
    """Of each unit, an example or a cluster: the `total` of its numbers, its `weight`, and how many there are of it.

    Their mean is the sum of totals over the sum of weights.
    """

    total: Array
    weight: Array
    counts: Array

    @property
    def units(self) -> int:
        return int(self.counts.sum())

    @property
    def value(self) -> float:
        weight = float(self.counts @ self.weight)
        return float(self.counts @ self.total) / weight if weight else float("nan")


def numbers_of(values: Array, weights: Array | None = None, clusters: Ints | None = None) -> Numbers:
    """The numbers of examples, each with a weight (1 by default); those of one cluster are summed."""
    values = np.asarray(values, dtype=np.float64)
    weight: Array = np.ones(len(values)) if weights is None else np.asarray(weights, dtype=np.float64)
    total: Array = values * weight
    if clusters is not None:
        _, code = np.unique(clusters, return_inverse=True)
        total = np.bincount(code, weights=total).astype(np.float64)
        weight = np.bincount(code, weights=weight).astype(np.float64)
    return Numbers(total, weight, np.ones(len(total)))


def mean_interval(
    numbers: Array | Numbers, span: Span = (0.0, 1.0), level: float = 0.95, kind: MeanKind = "share",
    at_most: float | None = None,
) -> Ends:  # fmt: skip
    """The interval of a mean over units drawn at random; the whole span if there is but one unit.

    `span` is the least and the greatest that a number can be; without ends the interval is Student's. `kind` says how
    much an unseen number at the end of the span counts. `at_most` bounds the degrees of freedom.
    """
    numbers = _weighing(numbers)
    finite = isfinite(span[0]) and isfinite(span[1])
    if not numbers.units:
        return None, None
    if numbers.units == 1:
        return span if finite else (None, None)
    degrees = freedom(numbers)
    t, value = t_quantile((1 + level) / 2, degrees if at_most is None else min(degrees, at_most)), numbers.value
    if not finite:
        return max(span[0], value - t * _error(numbers)), min(span[1], value + t * _error(numbers))
    found = []
    for side, end in zip((-1, 1), span, strict=True):
        # The distance y from the mean at which y = t standard errors, if the truth were there
        variance, slope, units = _error(numbers) ** 2, _skew(numbers, side, abs(end - value), kind), numbers.units
        whole, half = 1 + t * t / units, t * t * slope / units / 2
        found.append(value + side * (half + sqrt(half**2 + whole * t * t * variance)) / whole)
    return max(span[0], found[0]), min(span[1], found[1])


def mean_p(
    numbers: Numbers, span: Span, kind: MeanKind, at_most: float | None = None, value: float | None = None
) -> float:
    """The p-value that goes with that interval: 1 - the highest level at which it excludes zero.

    `value` is the distance of the mean from zero, if the interval is moved.
    """
    numbers, value = _weighing(numbers), numbers.value if value is None else value
    if numbers.units < 2 or value == 0:
        return 1.0
    degrees, variance = freedom(numbers), _error(numbers) ** 2
    if isfinite(span[0]) and isfinite(span[1]):
        side = -1 if value > 0 else 1
        slope = _skew(numbers, side, abs(span[(side + 1) // 2] - numbers.value), kind)
        variance += (slope * abs(value) - value**2) / numbers.units
    t = abs(value) / sqrt(variance) if variance > 0 else float("inf")
    return t_p_value(t, degrees if at_most is None else min(degrees, at_most))


def _weighing(numbers: Array | Numbers) -> Numbers:
    """The numbers that have a weight."""
    numbers = numbers if isinstance(numbers, Numbers) else numbers_of(numbers)
    kept = numbers.weight > 0
    return numbers if kept.all() else Numbers(numbers.total[kept], numbers.weight[kept], numbers.counts[kept])


def _skew(numbers: Numbers, side: int, far: float, kind: MeanKind) -> float:
    """How fast the variance of a number grows as the true mean moves away from the one seen, to one `side`.

    It is the third central moment over the second, with unseen numbers at the end of the span, which is `far` away.
    For shares of one variant that is Wilson's interval; if variants go wrong one by one, it is narrower than if all
    variants of an example go wrong together. Where the variance falls, three quarters of that are taken: the exact
    interval of a share (Clopper and Pearson) is as much wider than Wilson's.
    """
    average = float(numbers.counts @ numbers.weight) / numbers.units
    far = far / 2 if kind == "contrast" else far
    rest = (numbers.total - numbers.value * numbers.weight) / average
    one = far * float(numbers.counts @ numbers.weight**2) / numbers.units / average**2  # large clusters count for more
    second = float(numbers.counts @ rest**2) + _UNSEEN[kind] * one**2
    third = side * float(numbers.counts @ rest**3) + _UNSEEN[kind] * one**3
    slope = third / second if second > 0 else 0.0
    return slope if slope > 0 else slope * 3 / 4


def freedom(numbers: Numbers) -> float:
    """Degrees of freedom: units less one, with fewer units if a few of them have most of the weight."""
    squares = numbers.weight**2
    units = float(numbers.counts @ squares) ** 2 / float(numbers.counts @ squares**2)
    return max(1.0, units - 1)


def heavy_tails(numbers: Numbers) -> float:
    """Degrees of freedom of a variance that few of the numbers make up, as rare classes do that of macro-F1."""
    squares = (numbers.total - numbers.value * numbers.weight) ** 2
    fourth = float(numbers.counts @ squares**2)
    return max(2.0, float(numbers.counts @ squares) ** 2 / fourth) if fourth else float("inf")


def _leverage(numbers: Numbers) -> Array:
    """By how much leaving out a unit moves the mean more than leaving out an average one does; squared."""
    share = numbers.weight / float(numbers.counts @ numbers.weight)
    out: Array = ((1 - 1 / numbers.units) / np.maximum(1 - share, 1e-12)) ** 2
    return out


def _error(numbers: Numbers) -> float:
    """The standard error of the mean."""
    weight = float(numbers.counts @ numbers.weight)
    rest = numbers.total - numbers.value * numbers.weight
    squares = float(numbers.counts @ (_leverage(numbers) * rest**2))
    return sqrt(squares * numbers.units / (numbers.units - 1)) / weight


def summed(rows: Array, clusters: Ints) -> Array:
    """The sum of each cluster's rows, in the order of the clusters' numbers."""
    _, code = np.unique(clusters, return_inverse=True)
    out: Array = np.zeros((int(code.max(initial=-1)) + 1, rows.shape[1]))
    np.add.at(out, code, rows)
    return out


def pseudo_of(rows: Array, counts: Array, statistic: Statistic) -> Array:
    """The pseudo-value of each distinct row, of which there are `counts`: n times the statistic less n - 1 times that
    of all the others. Their mean is the statistic with its bias of order 1/n removed; they vary as the numbers of a
    mean do.
    """
    n = int(counts.sum())
    sums: Array = counts[None, :] @ rows
    whole = float(statistic(sums, n)[0])
    step = max(1, _BLOCK // max(1, rows.shape[1]))
    parts = [statistic(sums - rows[at : at + step], n - 1) for at in range(0, len(rows), step)]
    without = np.concatenate(parts) if parts else np.zeros(0)
    without = np.where(np.isnan(without), whole, without)  # it alone made the statistic defined
    out: Array = n * whole - (n - 1) * without
    return out


def pass_power(passed: Array, trials: Array, k: int) -> Array:
    """pass^k of each unit: the chance that k of its trials, chosen at random, all passed; unknown if it has fewer."""
    chance = np.ones(len(passed))
    for draw in range(k):
        chance *= np.maximum(passed - draw, 0) / np.maximum(trials - draw, 1)
    out: Array = np.where(trials >= k, chance, np.nan)
    return out
