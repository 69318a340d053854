"""One number of a report: what each example, or cluster of examples, gives to it, gathered part by part."""

from __future__ import annotations

from math import isfinite
from typing import NamedTuple

import numpy as np

from unswayed.base.values import Estimate
from unswayed.measure.class_scores import f1_numbers
from unswayed.measure.run_table import Bools
from unswayed.measure.set_scores import SetScore
from unswayed.measure.spill import Kept, Spill, Tally
from unswayed.stats import (
    Array,
    Ints,
    Mean,
    MeanKind,
    Numbers,
    Observations,
    Ratio,
    Statistic,
    heavy_tails,
    mean_interval,
    pseudo_of,
    summed,
)

KEPT = ("drop",)  # measures whose numbers are kept by example, for what compares several sets


class Gathered:
    """One number that is wanted, gathered part by part."""

    def __init__(self, column: Observations, signature: str, spill: Spill, over: str | None, keep: bool) -> None:
        self.span, self.statistic, self.kind, self.signature = column.span, column.statistic, column.kind, signature
        self.missing = self.n = 0
        self._over = over
        self._tally = Tally(spill)
        self._clusters = ClusterSums(column.statistic)
        statistic = column.statistic
        self._by_class: _ByClass | None = None
        if isinstance(statistic, SetScore) and statistic.by_class:
            self._by_class = _ByClass(statistic, spill)
        self._spill, self._keep = spill, keep
        self._kept: list[tuple[Kept, Kept]] = []

    def add(self, column: Observations, inside: Bools | None, first: int, clusters: Ints | None) -> None:
        examples, values, missing = column.examples, column.values, column.missing
        if inside is not None:
            chosen = inside[examples]
            examples, values, missing = examples[chosen], values[chosen], missing[inside]
        self.missing += int(missing.sum())
        self.n += len(values)
        if self._by_class is not None and clusters is not None:
            self._by_class.add(values, clusters[examples])
        elif clusters is not None:
            self._clusters.add(values, clusters[examples])
        else:
            self._tally.add(values)
            if self._keep:
                self._kept.append((self._spill.put(examples + first), self._spill.put(values)))

    def estimate(self, level: float) -> Estimate:
        over = "examples like these" if self._over is None else self._over
        found = self._found() if self.n else None
        if found is None or not isfinite(found.value):
            return Estimate(None, None, None, 0, self.missing, self.signature, over=over)
        low, high = found.interval(self.span, level, self.kind)
        return Estimate(found.value, low, high, self.n, self.missing, self.signature, over=over)

    def _found(self) -> _Found:
        if self._by_class is not None:
            return self._by_class.found(self._tally)
        if self._over is not None:
            rows = self._clusters.rows()[1]
            return _found(self.statistic, rows, np.ones(len(rows)))
        rows, counts = self._tally.rows()
        return _found(self.statistic, _columns(self.statistic, rows), counts.astype(np.float64))

    def units(self) -> tuple[Ints, Numbers]:
        """The number of each example, or cluster, in the data, and what it gives: its total and its weight."""
        if self._by_class is not None and self._over is not None:
            units, found = self._by_class.units()
            return units, found.numbers
        if self._over is not None:
            units, rows = self._clusters.rows()
        else:
            if not self._kept:
                return np.zeros(0, dtype=np.int64), Numbers(np.zeros(0), np.zeros(0), np.zeros(0))
            units = self._spill.joined([examples for examples, _ in self._kept])
            values = self._spill.joined([values for _, values in self._kept])
            if self._by_class is not None:
                return units, self._by_class.of(values).numbers
            rows = _columns(self.statistic, values)
            del values  # there may be millions
        return units, _found(self.statistic, rows, np.ones(len(rows))).numbers


def estimate_of(column: Observations, signature: str, level: float) -> Estimate:
    """The estimate that observations give whose examples are all there."""
    n, missing, statistic = len(column.values), int(column.missing.sum()), column.statistic
    if not n:
        return Estimate(None, None, None, 0, missing, signature)
    found = _found(statistic, _columns(statistic, column.values), np.ones(n))
    return Estimate(found.value, *found.interval(column.span, level, column.kind), n, missing, signature)


class ClusterSums:
    """The sums of each cluster's rows, gathered part by part."""

    def __init__(self, statistic: Statistic) -> None:
        self._statistic = statistic
        self._found: dict[int, Array] = {}

    def add(self, values: Array, clusters: Ints) -> None:
        rows = _columns(self._statistic, values)
        for cluster, row in zip(np.unique(clusters).tolist(), summed(rows, clusters), strict=True):
            self._found[cluster] = self._found[cluster] + row if cluster in self._found else row

    def rows(self) -> tuple[Ints, Array]:
        """The numbers of the clusters, in ascending order, and the sum of each."""
        order = sorted(self._found)
        return np.array(order, dtype=np.int64), np.array([self._found[cluster] for cluster in order])


def _columns(statistic: Statistic, values: Array) -> Array:
    """What is summed: for a mean the numbers and how many there are."""
    if isinstance(statistic, Mean):
        return np.column_stack([values[:, 0], np.ones(len(values))])
    return statistic.columns(values)


class _Found(NamedTuple):
    """A statistic, the numbers whose mean it is but for its bias, and the value with more of that bias removed."""

    value: float
    numbers: Numbers
    raised: float | None = None
    plain: bool = False

    def interval(self, span: tuple[float, float], level: float, kind: MeanKind) -> tuple[float | None, float | None]:
        """Of a biased statistic the interval reaches from below the value as it is to above the corrected ones."""
        numbers, value = self.numbers, self.value
        low, high = mean_interval(numbers, span, level, kind, None if self.plain else heavy_tails(numbers))
        if low is None or high is None:
            return low, high
        corrected = numbers.value
        low = min(value, low + min(0.0, value - corrected))
        high = max(value, high + max(0.0, (self.raised or corrected) - corrected))
        return max(low, span[0]), min(high, span[1])


def _found(statistic: Statistic, rows: Array, counts: Array) -> _Found:
    """The statistic, and the numbers whose mean it is; of a set's score they are pseudo-values."""
    if isinstance(statistic, (Mean, Ratio)):
        numbers = Numbers(rows[:, 0], rows[:, 1], counts)
        return _Found(numbers.value, numbers, plain=True)
    n = int(counts.sum())
    value = float(statistic(counts[None, :] @ rows, n)[0])
    return _Found(value, Numbers(pseudo_of(rows, counts, statistic), np.ones(len(rows)), counts))


def class_found(statistic: SetScore, values: Array, unit: Ints, counts: Array) -> _Found:
    """The same of a score that is a mean over classes; `counts` says how many there are of each unit."""
    entries, units, sets = statistic.entries(values, unit)
    made = f1_numbers(entries, units, sets, counts)
    n = int(counts.sum())
    value = float(statistic.of_sets(made.whole[None])[0])
    without = statistic.of_sets(made.without)
    pseudo = n * value - (n - 1) * np.where(np.isnan(without), value, without)
    raised = None if statistic.drop else float(statistic.of_sets(made.raised[None])[0])
    return _Found(value, Numbers(pseudo, np.ones(units), counts), raised)


class _ByClass:
    """The values of examples and their clusters, for a score that is a mean over classes."""

    def __init__(self, statistic: SetScore, spill: Spill) -> None:
        self._statistic, self._spill = statistic, spill
        self._kept: list[tuple[Kept, Kept]] = []

    def add(self, values: Array, clusters: Ints) -> None:
        self._kept.append((self._spill.put(values), self._spill.put(clusters)))

    def units(self) -> tuple[Ints, _Found]:
        values, clusters = (self._spill.joined([pair[i] for pair in self._kept]) for i in (0, 1))
        numbers, unit = np.unique(clusters, return_inverse=True)
        return numbers, class_found(self._statistic, values, unit, np.ones(len(numbers)))

    def of(self, values: Array, counts: Array | None = None) -> _Found:
        """Of rows that are examples each, or `counts` of them."""
        n = len(values)
        return class_found(self._statistic, values, np.arange(n), np.ones(n) if counts is None else counts)

    def found(self, tally: Tally) -> _Found:
        if self._kept:
            return self.units()[1]
        rows, counts = tally.rows()
        return self.of(rows, counts.astype(np.float64))
