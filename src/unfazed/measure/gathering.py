"""One number of a report: what each example, or cluster of examples, gives to it, gathered part by part."""

from __future__ import annotations

from math import isfinite, nan

import numpy as np

from unfazed.core.estimate import (
    Array,
    Ints,
    Mean,
    Numbers,
    Observations,
    Ratio,
    Statistic,
    mean_interval,
    pseudo_of,
    summed,
)
from unfazed.core.values import Estimate
from unfazed.measure.run_table import Bools
from unfazed.measure.spill import Kept, Spill, Tally

KEPT = ("drop",)  # measures whose numbers are kept by example, for what compares several sets


class Gathered:
    """One number that is wanted, gathered part by part."""

    def __init__(self, column: Observations, signature: str, spill: Spill, over: str | None, keep: bool) -> None:
        self.span, self.statistic, self.kind, self.signature = column.span, column.statistic, column.kind, signature
        self.missing = self.n = 0
        self._over = over
        self._tally = Tally(spill)
        self._clusters = ClusterSums(column.statistic)
        self._spill, self._keep = spill, keep
        self._kept: list[tuple[Kept, Kept]] = []

    def add(self, column: Observations, inside: Bools | None, first: int, clusters: Ints | None) -> None:
        examples, values, missing = column.examples, column.values, column.missing
        if inside is not None:
            chosen = inside[examples]
            examples, values, missing = examples[chosen], values[chosen], missing[inside]
        self.missing += int(missing.sum())
        self.n += len(values)
        if clusters is not None:
            self._clusters.add(values, clusters[examples])
        else:
            self._tally.add(values)
            if self._keep:
                self._kept.append((self._spill.put(examples + first), self._spill.put(values)))

    def estimate(self, level: float) -> Estimate:
        value, numbers = _numbers(self.statistic, *self._rows()) if self.n else (nan, None)
        over = "examples like these" if self._over is None else self._over
        if numbers is None or not isfinite(value):
            return Estimate(None, None, None, 0, self.missing, self.signature, over=over)
        low, high = mean_interval(numbers, self.span, level, self.kind)
        low, high = (None if low is None else min(low, value)), (None if high is None else max(high, value))
        return Estimate(value, low, high, self.n, self.missing, self.signature, over=over)

    def _rows(self) -> tuple[Array, Array]:
        if self._over is not None:
            rows = self._clusters.rows()[1]
            return rows, np.ones(len(rows))
        rows, counts = self._tally.rows()
        return _columns(self.statistic, rows), counts.astype(np.float64)

    def units(self) -> tuple[Ints, Numbers]:
        """The number of each example, or cluster, in the data, and what it gives: its total and its weight."""
        if self._over is not None:
            units, rows = self._clusters.rows()
        else:
            got = [(self._spill.get(examples), self._spill.get(values)) for examples, values in self._kept]
            units = np.concatenate([examples for examples, _ in got]) if got else np.zeros(0, dtype=np.int64)
            rows = _columns(self.statistic, np.concatenate([values for _, values in got])) if got else np.zeros((0, 2))
        return units, _numbers(self.statistic, rows, np.ones(len(rows)))[1]


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


def _numbers(statistic: Statistic, rows: Array, counts: Array) -> tuple[float, Numbers]:
    """The statistic, and the numbers whose mean it is; of a set's score they are pseudo-values."""
    if isinstance(statistic, (Mean, Ratio)):
        numbers = Numbers(rows[:, 0], rows[:, 1], counts)
        return numbers.value, numbers
    n = int(counts.sum())
    value = float(statistic(counts[None, :] @ rows, n)[0])
    return value, Numbers(pseudo_of(rows, counts, statistic), np.ones(len(rows)), counts)
