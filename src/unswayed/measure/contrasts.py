"""One measure of a run minus that of the baseline, example by example: its numbers, interval and p-value."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property, partial
from math import isfinite
from statistics import NormalDist

import numpy as np

from unswayed.measure.class_scores import ClassSums, class_sums
from unswayed.measure.set_scores import SetScore
from unswayed.measure.sets import Named, labelled
from unswayed.measure.spill import Spill, Tally
from unswayed.stats import Array, Ints, Mean, MeanKind, Numbers, Observations, Ratio, mean_interval, numbers_of

Ends = tuple[float | None, float | None]
_NORMAL = NormalDist()
_NEAREST = 1e-3  # standard errors, where p is 1 as far as anyone can tell
_FURTHEST = 8.0  # standard errors; a p-value below 1e-15 is as good as any
_BLOCK = 1024  # examples whose rows are summed together
_CELLS = 1 << 22  # numbers held at once while examples are left out one by one
_CLOSE = 1e-8
_AT_ENDS = 128  # numbers at either end that are kept as they are


def _fewer(values: Array, counts: Array) -> Numbers:
    """The numbers of examples; of many, those between the ends become three, with the same mean and variance.

    An interval depends on no more of them than that.
    """
    if len(values) > 4 * _AT_ENDS:
        order = np.argsort(values, kind="stable")
        middle, ends = order[_AT_ENDS:-_AT_ENDS], np.append(order[:_AT_ENDS], order[-_AT_ENDS:])
        n, low, high = float(counts[middle].sum()), float(values[middle[0]]), float(values[middle[-1]])
        mean = min(max(float(counts[middle] @ values[middle]) / n, low), high)
        squares = float(counts[middle] @ (values[middle] - mean) ** 2)
        room = (high - mean) * (mean - low)
        apart = min(squares / room, n) if room > 0 else 0.0  # how many of them go to the two ends of the middle
        share = (mean - low) / (high - low) if high > low else 0.5
        three = [apart * (1 - share), n - apart, apart * share]
        values, counts = np.append(values[ends], [low, mean, high]), np.append(counts[ends], three)
        values, counts = values[counts > 0], counts[counts > 0]
    return Numbers(values, np.ones(len(values)), counts)


def _without_class(score: SetScore, sums: ClassSums, values: Array) -> Array:
    entries, units, _ = score.entries(values, np.arange(len(values)))
    return score.of_sets(sums.without(entries, units))


class Contrast:
    """Gathered part by part. A score of whole sets needs all parts twice: `see` for its sums, then `add`.

    What an example gives to the difference is that of its two values; or, for a score of whole sets, that of its two
    pseudo-values.
    """

    def __init__(self, measure: str, set_: Named, column: Observations, spill: Spill, clustered: bool) -> None:
        self.measure, self.set = measure, set_
        self.span = column.span[0] - column.span[1], column.span[1] - column.span[0]
        # For a margin the unseen matters: one example far off. That of a drop lies halfway to the end of the span.
        self.to_margin: MeanKind = "contrast" if column.kind == "difference" else "difference"
        self.missing = self.n = 0
        self._statistic, self._mean = column.statistic, isinstance(column.statistic, (Mean, Ratio))
        statistic = column.statistic
        self._by_class = statistic if isinstance(statistic, SetScore) and statistic.by_class else None
        self._seen, self._kept, self.clustered = Tally(spill), Tally(spill), clustered

    @property
    def label(self) -> str:
        return labelled(self.set)

    def see(self, a: Observations, b: Observations) -> None:
        """Takes in the values of some examples, where what one gives depends on all others."""
        if not self._mean:
            self._seen.add(np.hstack([a.values, b.values]))

    @cached_property
    def _sums(self) -> list[Array]:
        """What the examples of A and of B sum to; in blocks, as a row may be long."""
        rows, counts = self._seen.rows()
        found: list[Array] = []
        for values in np.hsplit(rows, 2):
            blocks = range(0, len(values), _BLOCK)
            parts = [counts[at : at + _BLOCK] @ self._statistic.columns(values[at : at + _BLOCK]) for at in blocks]
            found.append(np.sum(parts, axis=0)[None, :])
        return found

    def _class_sums(self, score: SetScore) -> list[ClassSums]:
        """The same under a score that is a mean over classes, of which a row of sums would be too long."""
        rows, counts = self._seen.rows()
        found = [score.entries(values, np.arange(len(values))) for values in np.hsplit(rows, 2)]
        most = int(score.rows[0, 2]) if len(score.rows) else 1
        return [class_sums(entries, sets, most, counts.astype(np.float64)) for entries, _, sets in found]

    @cached_property
    def _sides(self) -> list[tuple[float, Callable[[Array], Array]]]:
        """Of A and of B: the score of all examples, and what gives the score without each of some examples."""
        n, score = self._seen.n, self._by_class
        if score is not None:
            return [
                (float(score.of_sets(sums.whole()[None])[0]), partial(_without_class, score, sums))
                for sums in self._class_sums(score)
            ]
        return [(float(self._statistic(sums, n)[0]), partial(self._without, sums)) for sums in self._sums]

    def _without(self, sums: Array, values: Array) -> Array:
        step = max(1, _CELLS // max(1, sums.shape[1]))
        blocks = [self._statistic.columns(values[at : at + step]) for at in range(0, len(values), step)]
        return np.concatenate([np.zeros(0), *(self._statistic(sums - rows, self._seen.n - 1) for rows in blocks)])

    def add(self, a: Observations, b: Observations, clusters: Ints | None) -> tuple[Array, Array]:
        """Takes in some examples and returns what each gives to the difference, and with which weight."""
        self.missing += int(a.missing.sum())
        self.n += len(a.values)
        rows = [self._rows(side, column.values) for side, column in enumerate((a, b))]
        weights = rows[0][1]
        own = [] if clusters is None else [clusters.astype(np.float64)]
        self._kept.add(np.column_stack([*own, rows[0][0], rows[1][0], weights]))
        return rows[1][0] - rows[0][0], weights

    def _rows(self, side: int, values: Array) -> tuple[Array, Array]:
        if isinstance(self._statistic, Ratio):
            return values[:, 0], values[:, 1]
        return (values[:, 0] if self._mean else self._pseudo(side, values)), np.ones(len(values))

    def _pseudo(self, side: int, values: Array) -> Array:
        if not len(values):
            return np.zeros(0)
        n, (whole, leave_out) = self._seen.n, self._sides[side]
        without = leave_out(values)
        found: Array = n * whole - (n - 1) * np.where(np.isnan(without), whole, without)
        return found

    @cached_property
    def numbers(self) -> Numbers:
        """What all examples or clusters give to the difference, B minus A."""
        rows, counts = self._kept.rows()
        given, weights = rows[:, -2] - rows[:, -3], rows[:, -1]
        if self.clustered:
            return numbers_of(given / np.maximum(weights, 1), counts * weights, rows[:, 0].astype(np.int64))
        if isinstance(self._statistic, Ratio):
            return Numbers(given, weights, counts.astype(np.float64))
        return _fewer(given, counts.astype(np.float64))

    @cached_property
    def values(self) -> tuple[float | None, float | None]:
        """The measure of A and of B."""
        if not self.n:
            return None, None
        if self._mean:
            rows, counts = self._kept.rows()
            a, b = (float(counts @ rows[:, side]) / float(counts @ rows[:, -1]) for side in (-3, -2))
        else:
            a, b = (whole for whole, _ in self._sides)
        return (a, b) if isfinite(a + b) else (None, None)

    @property
    def difference(self) -> float | None:
        a, b = self.values
        return None if a is None or b is None else b - a

    def interval(self, level: float, kind: MeanKind = "contrast") -> Ends:
        if self.difference is None:
            return None, None
        low, high = mean_interval(self.numbers, self.span, level, kind)
        value = self.difference
        return (None if low is None else min(low, value)), (None if high is None else max(high, value))

    @cached_property
    def p(self) -> float | None:
        """The p-value that goes with the interval: 1 - the highest level at which it excludes zero."""
        difference = self.difference
        if difference is None:
            return None
        if difference == 0:
            return 1.0
        return 2 * _NORMAL.cdf(-self._furthest(difference > 0))

    def _furthest(self, more: bool) -> float:
        """The z at which the end of the interval that is nearer to zero reaches it, by the secant rule."""

        def left(z: float) -> float:
            low, high = self.interval(2 * _NORMAL.cdf(z) - 1)
            end = low if more else high
            return -1.0 if end is None else end if more else -end

        inside, outside, last, z = _NEAREST, _FURTHEST, 0.0, 1.96
        above = abs(self.difference or 0.0)  # the end at no level at all
        if left(inside) <= 0:
            return 0.0
        for _ in range(100):
            at = left(z)
            inside, outside = (z, outside) if at > 0 else (inside, z)
            guess = z - at * (z - last) / (at - above) if at != above else outside
            last, above = z, at
            z = guess if inside < guess < outside else (inside + outside) / 2
            if abs(z - last) < _CLOSE:
                break
        return z
