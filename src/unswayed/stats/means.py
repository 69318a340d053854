"""Means of one number for each example, or each cluster of them, and their intervals in closed form.

The interval is Student's, with pseudo-examples at the ends of the span as Agresti and Coull add them to shares: without
them, examples that all agree would look certain. It is monotone: a number that rises lowers neither end.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite, sqrt
from statistics import NormalDist

import numpy as np

from unswayed.stats.resample import Array, Ints, MeanKind, Statistic
from unswayed.stats.significance import t_quantile

Span = tuple[float, float]
Ends = tuple[float | None, float | None]

_MOVED = 64  # outlying numbers that are moved to the end of the span to keep the interval monotone
_CENTRES = 12  # places of the centre for which the order of unequal weights is tried
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

    `span` is the least and the greatest that a number can be; without ends the interval is Student's alone. The kind
    "difference" is for numbers whose middle is the rule and whose ends are rare, such as drops, and "contrast" for
    those that are tested against zero. `at_most` bounds the
    degrees of freedom.
    """
    numbers = numbers if isinstance(numbers, Numbers) else numbers_of(numbers)
    kept = numbers.weight > 0
    if not kept.all():
        numbers = Numbers(numbers.total[kept], numbers.weight[kept], numbers.counts[kept])
    finite = isfinite(span[0]) and isfinite(span[1])
    if not numbers.units:
        return None, None
    if numbers.units == 1:
        return span if finite else (None, None)
    degrees = freedom(numbers)
    t = t_quantile((1 + level) / 2, degrees if at_most is None else min(degrees, at_most))
    if not finite:
        return numbers.value - t * _error(numbers), numbers.value + t * _error(numbers)
    # Seen from the middle, so that the upper end is the lower end of the mirrored numbers.
    middle, half = (span[0] + span[1]) / 2, (span[1] - span[0]) / 2
    centred = Numbers(numbers.total - middle * numbers.weight, numbers.weight, numbers.counts)
    mirrored = Numbers(-centred.total, centred.weight, centred.counts)
    low, high = _lower(centred, half, t, level, kind), -_lower(mirrored, half, t, level, kind)
    return middle + max(-half, low), middle + min(half, high)


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


def _lower(numbers: Numbers, half: float, t: float, level: float, kind: MeanKind) -> float:
    """The lower end of the interval of numbers from -half to half, and at most their mean.

    A number far above the others widens the interval by more than it lifts it. So that no number can lower this end by
    rising, numbers are raised to the end of the span, one more at a time, and the lowest of the results is taken. Those
    come first that widen it most; with unequal weights, which these are depends on where the centre ends up.
    """
    z = NormalDist().inv_cdf((1 + level) / 2)
    average = float(numbers.counts @ numbers.weight) / numbers.units
    whole = float(numbers.counts @ numbers.weight) + z * z / 2 * average  # half of the pseudo-examples move the centre
    at_ends, in_middle = z * z / (4 if kind == "contrast" else 1), 0.0 if kind == "share" else z * z / 2
    lever = _leverage(numbers)
    own = float(numbers.counts @ (lever * numbers.weight**2))
    sums = [float(numbers.counts @ column) for column in (
        numbers.total, lever * numbers.total**2, lever * numbers.total * numbers.weight
    )]  # fmt: skip

    def ends(around: float) -> tuple[Array, Array]:
        """The centre and the end with no, one, two, … numbers raised."""
        # the places of the units below the end of the span that widen the interval most if raised to it, those first
        means = numbers.total / numbers.weight
        below = np.flatnonzero(means < half)
        wide = (lever * numbers.weight * (half + means - 2 * around))[below]
        if len(below) > _MOVED:
            chosen = np.argpartition(-wide, _MOVED - 1)[:_MOVED]
            below, wide = below[chosen], wide[chosen]
        below = below[np.argsort(-wide, kind="stable")]
        times = np.minimum(numbers.counts[below], _MOVED).astype(np.int64)
        at = np.repeat(below, times)[:_MOVED]
        total, weight, raised = numbers.total[at], numbers.weight[at], half * numbers.weight[at]
        first = sums[0] + _steps(raised - total)
        second = sums[1] + _steps(lever[at] * (raised**2 - total**2))
        cross = sums[2] + _steps(lever[at] * weight * (raised - total))
        centre: Array = first / whole
        squares = second - 2 * centre * cross + centre**2 * own
        squares += average**2 * (at_ends * (half**2 + centre**2) + in_middle * centre**2)
        return centre, (first - t * np.sqrt(np.maximum(squares, 0.0))) / whole

    centre, low = ends(sums[0] / whole)
    lowest = float(low.min())
    if np.ptp(numbers.weight) > 0:
        for around in np.linspace(centre[0], centre[-1], _CENTRES)[1:]:
            lowest = min(lowest, float(ends(float(around))[1].min()))
    return min(lowest, numbers.value)


def _steps(changes: Array) -> Array:
    return np.append(0.0, np.cumsum(changes))


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
