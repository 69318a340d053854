"""Means of one number for each example, or each cluster of them, and their intervals in closed form.

The interval is a score interval: a mean is in it if the numbers seen would not be surprising, were that the true one.
Errors that are less rare vary more, so the variance is taken where the end of the interval lies, and not at the mean.

Near the ceiling nobody can tell from n examples whether one in n/3 fails with all of its variants. So no interval that
covers 93% of such populations, too, ends less than 1.73/n beyond the mean on average (`least_distance`), however many
variants there are: ten variants that go wrong one by one have a narrower interval only where more errors are seen.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite, sqrt

import numpy as np

from unswayed.stats.resample import Array, Ints, MeanKind, Statistic
from unswayed.stats.significance import t_p_value, t_quantile

Span = tuple[float, float]
Ends = tuple[float | None, float | None]

# Found by simulation (benchmarks/coverage): units at the end of the span that are added to those seen, and the part of
# the variance's growth towards that end that is taken
_UNSEEN = 3.0
_GROWTH: dict[MeanKind, float] = {"share": 0.85, "difference": 1.0, "contrast": 1.0}
_WHOLE = 0.25  # units that fail as a whole, seen in addition where each has several answers
_BLOCK = 1 << 22  # numbers held at once while examples are left out one by one


@dataclass(frozen=True)
class Numbers:
    """Of each unit, an example or a cluster: the `total` of its numbers, its `weight`, and how many there are of it.

    Their mean is the sum of totals over the sum of weights. A unit is `composite` if it has answers to several
    examples, as a cluster does, so that it seldom fails as a whole.
    """

    total: Array
    weight: Array
    counts: Array
    composite: bool = False

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
    return Numbers(total, weight, np.ones(len(total)), composite=len(total) < len(values))


def mean_interval(
    numbers: Array | Numbers, span: Span = (0.0, 1.0), level: float = 0.95, kind: MeanKind = "share"
) -> Ends:
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
    t, value = t_quantile((1 + level) / 2, freedom(numbers)), numbers.value
    if not finite:
        return max(span[0], value - t * _error(numbers)), min(span[1], value + t * _error(numbers))
    found = []
    for side in (-1, 1):
        # The distance y from the mean at which y = t standard errors, if the truth were there
        variance, (slope, bend), units = _error(numbers) ** 2, _growth(numbers, side, span, kind), numbers.units
        whole, half = 1 + bend * t * t / units, t * t * slope / units / 2
        found.append(value + side * (half + sqrt(half**2 + whole * t * t * variance)) / whole)
    return max(span[0], found[0]), min(span[1], found[1])


def mean_p(numbers: Numbers, span: Span, kind: MeanKind, value: float | None = None) -> float:
    """The p-value that goes with that interval: 1 - the highest level at which it excludes zero.

    `value` is the distance of the mean from zero, if the interval is moved.
    """
    numbers, value = _weighing(numbers), numbers.value if value is None else value
    if numbers.units < 2 or value == 0:
        return 1.0
    variance = _error(numbers) ** 2
    if isfinite(span[0]) and isfinite(span[1]):
        side = -1 if value > 0 else 1
        slope, bend = _growth(numbers, side, span, kind)
        variance += (slope * abs(value) - bend * value**2) / numbers.units
    t = abs(value) / sqrt(variance) if variance > 0 else float("inf")
    return t_p_value(t, freedom(numbers))


def _weighing(numbers: Array | Numbers) -> Numbers:
    """The numbers that have a weight."""
    numbers = numbers if isinstance(numbers, Numbers) else numbers_of(numbers)
    kept = numbers.weight > 0
    if kept.all():
        return numbers
    return Numbers(numbers.total[kept], numbers.weight[kept], numbers.counts[kept], numbers.composite)


def _growth(numbers: Numbers, side: int, span: Span, kind: MeanKind) -> tuple[float, float]:
    """How fast the variance of a number grows as the true mean moves away from the one seen, to one `side`; and how
    fast that slows down, as a share's variance p(1 - p) does.

    The growth is the mean size of deviations to that side, each weighted by itself, less that of those to the other:
    the more a number can deviate, the more its variance grows with how many do. For shares of one variant that is
    Wilson's interval; if variants go wrong one by one, it is narrower than if all variants of an example go wrong
    together. Unseen units are added at the end of the span; of composite units, only as far off as those seen make
    likely. Where the variance falls, three quarters of that are taken: the exact interval of a share (Clopper and
    Pearson) is as much wider than Wilson's.
    """
    weight, counts, value = numbers.weight, numbers.counts, numbers.value
    average = float(counts @ weight) / numbers.units
    rest = side * (numbers.total - value * weight) / average
    large = float(counts @ weight**2) / numbers.units / average**2  # large clusters count for more
    far = abs(span[(side + 1) // 2] - value) / (2 if kind == "contrast" else 1)
    mine, squares, bend = np.maximum(rest, 0.0), rest**2, 1.0
    if numbers.composite:
        # the variance seen, in that of units of which each fails as a whole or not at all
        seen, scale = float(counts @ squares), (span[1] - span[0]) / (1 if kind == "share" else 2)
        whole = numbers.units * large * (value - span[0]) * (span[1] - value)
        if kind != "share":
            whole = scale * float(counts @ np.abs(numbers.total)) / average
        added = _WHOLE * large * scale**2
        bend = min(1.0, (seen + added) / (max(whole, 0.0) + added))
        far *= sqrt(bend)
    one = _UNSEEN * far * large
    both, own = float(counts @ mine), float(counts @ mine**2)  # deviations to both sides have the same sum
    if not both + one:
        return 0.0, bend
    slope = (2 * own - float(counts @ squares) + one * far * large) / (both + one)
    return slope * (_GROWTH[kind] if slope > 0 else 3 / 4), bend


def least_distance(n: int, coverage: float = 0.93) -> float:
    """How far beyond the mean an interval of n examples that never fail as a whole must end, on average.

    If y in n examples fail as a whole, none is seen with the chance (1 - y/n)^n. An interval that covers then ends at
    least y/n beyond the mean in all but (1 - coverage) / (1 - y/n)^n of such samples. This is the integral over y.
    """
    y = np.linspace(0, n * (1 - (1 - coverage) ** (1 / n)), 2001)
    must = np.maximum(1 - (1 - coverage) / (1 - y / n) ** n, 0.0)
    return float(((must[1:] + must[:-1]) / 2 * np.diff(y)).sum()) / n


def freedom(numbers: Numbers) -> float:
    """Degrees of freedom: units less one, with fewer units if a few of them have most of the weight."""
    squares = numbers.weight**2
    units = float(numbers.counts @ squares) ** 2 / float(numbers.counts @ squares**2)
    return max(1.0, units - 1)


def heavy_tails(numbers: Numbers) -> float:
    """Degrees of freedom of a variance that few of the numbers make up, as a few items do that of agreement."""
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
