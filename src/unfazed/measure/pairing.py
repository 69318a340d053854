"""Two systems on the same examples: the difference of a statistic, its interval, and how likely it is by chance."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unfazed.measure.intervals import Settings, interval
from unfazed.measure.measures import Column
from unfazed.measure.resample import Sample, bootstrap, count_rows, sample_of, swap
from unfazed.measure.statistics import Array, Mean, Statistic

_SAME = 1e-12


@dataclass(frozen=True)
class Paired(Statistic):
    """A statistic of the right half of the columns less that of the left half."""

    inner: Statistic

    def columns(self, distinct: Array) -> Array:
        left, right = np.hsplit(distinct, 2)
        return np.hstack([self.inner.columns(left), self.inner.columns(right)])

    def __call__(self, sums: Array, n: int) -> Array:
        left, right = np.hsplit(sums, 2)
        return self.inner(right, n) - self.inner(left, n)

    @property
    def id(self) -> str:
        return f"paired {self.inner.id}"


@dataclass(frozen=True)
class Pair:
    """One measure of two systems, over the examples that both have it for."""

    a: Column
    b: Column

    @property
    def values(self) -> tuple[float, float]:
        first, second = (sample_of(column.values, column.statistic) for column in (self.a, self.b))
        return first.value, second.value

    def sample(self) -> Sample:
        if isinstance(self.a.statistic, Mean):  # one column of differences takes fewer distinct rows than two
            return sample_of(self.b.values - self.a.values, self.a.statistic)
        return sample_of(np.hstack([self.a.values, self.b.values]), Paired(self.a.statistic))

    @property
    def span(self) -> tuple[float, float]:
        low, high = self.a.span
        return low - high, high - low

    def p_value(self, settings: Settings) -> tuple[float, str]:
        """How often swapping the systems at random gives as large a difference, and the test that says so."""
        if isinstance(self.a.statistic, Mean):
            steps = np.rint((difference := (self.b.values - self.a.values)[:, 0]) / (np.abs(difference).max() or 1))
            if np.allclose(steps * np.abs(difference).max(), difference, rtol=0, atol=_SAME):
                return mcnemar(int((steps > 0).sum()), int((steps < 0).sum())), "mcnemar"
        both, counts = count_rows(np.hstack([self.a.values, self.b.values]))
        a, b = (self.a.statistic.columns(half) for half in np.hsplit(both, 2))
        drawn = swap(a, b, counts, self.a.statistic, settings.bootstrap, settings.seed)
        drawn = drawn[~np.isnan(drawn)]
        before, after = self.values
        as_large = int((np.abs(drawn) >= abs(after - before) - _SAME).sum())
        return (1 + as_large) / (1 + len(drawn)), "randomisation"


def intervals_of(pairs: list[Pair], settings: Settings) -> list[tuple[float | None, float | None]]:
    """The bootstrap interval of each difference, B less A."""
    samples = [pair.sample() for pair in pairs]
    drawn = bootstrap(samples, settings.bootstrap, settings.seed)
    return [
        interval(sample.value, values, sample.n, pair.span, settings.level)
        for pair, sample, values in zip(pairs, samples, drawn, strict=True)
    ]


def mcnemar(more: int, less: int) -> float:
    """The exact two-sided p-value that `more` and `less` come from a fair coin."""
    total, smaller = more + less, min(more, less)
    logs = np.append(0.0, np.cumsum(np.log(np.arange(1, total + 1))))
    wins = np.arange(smaller + 1)
    chances = np.exp(logs[total] - logs[wins] - logs[total - wins] - total * np.log(2))
    return min(1.0, 2 * float(chances.sum()))
