"""One measure of two systems over the same examples, resampled: bootstrap intervals and swapping tests, for studies."""

from __future__ import annotations

import numpy as np

from unswayed.measure.spill import Spill, Tally
from unswayed.stats import (
    Mean,
    Observations,
    Paired,
    Resampling,
    Sample,
    Statistic,
    bootstrap,
    interval,
    mcnemar,
    swap,
)

_SAME = 1e-12


class Pair:
    """One measure of two systems, over the examples that both have it for, gathered part by part."""

    def __init__(self, statistic: Statistic, span: tuple[float, float], spill: Spill) -> None:
        self.statistic = statistic
        self.span = span[0] - span[1], span[1] - span[0]
        self.missing = 0
        self._a, self._b, self._both, self._less = (Tally(spill) for _ in range(4))

    def add(self, a: Observations, b: Observations) -> None:
        self.missing += int(a.missing.sum())
        self._a.add(a.values)
        self._b.add(b.values)
        self._both.add(np.hstack([a.values, b.values]))
        if self._mean:
            self._less.add(b.values - a.values)

    @property
    def _mean(self) -> bool:
        return isinstance(self.statistic, Mean)

    @property
    def n(self) -> int:
        return self._a.n

    @property
    def values(self) -> tuple[float, float]:
        return self._a.sample(self.statistic).value, self._b.sample(self.statistic).value

    def sample(self) -> Sample:
        if self._mean:
            return self._less.sample(self.statistic)  # one column takes fewer distinct rows than two
        return self._both.sample(Paired(self.statistic))

    def p_value(self, settings: Resampling) -> tuple[float, str]:
        """How often swapping the systems at random gives as large a difference, and the test that says so."""
        if self._mean:
            rows, counts = self._less.rows()
            difference = rows[:, 0]
            most = np.abs(difference).max()
            steps = np.rint(difference / (most or 1))
            if np.allclose(steps * most, difference, rtol=0, atol=_SAME):
                return mcnemar(int(counts[steps > 0].sum()), int(counts[steps < 0].sum())), "mcnemar"
        both, counts = self._both.rows()
        a, b = (self.statistic.columns(half) for half in np.hsplit(both, 2))
        drawn = swap(a, b, counts, self.statistic, settings.bootstrap, settings.seed)
        drawn = drawn[~np.isnan(drawn)]
        before, after = self.values
        as_large = int((np.abs(drawn) >= abs(after - before) - _SAME).sum())
        return (1 + as_large) / (1 + len(drawn)), "randomisation"


def pair_of(a: Observations, b: Observations) -> Pair:
    """The pair of two whole columns."""
    pair = Pair(a.statistic, a.span, Spill())
    pair.add(a, b)
    return pair


def intervals_of(pairs: list[Pair], settings: Resampling) -> list[tuple[float | None, float | None]]:
    """The bootstrap interval of each difference, B less A."""
    samples = [pair.sample() for pair in pairs]
    drawn = bootstrap(samples, settings.bootstrap, settings.seed)
    return [
        interval(sample.value, values, sample.n, pair.span, settings.level)
        for pair, sample, values in zip(pairs, samples, drawn, strict=True)
    ]
