"""Intervals that hold whenever one stops looking: a confidence sequence for means of examples in random order.

It is the normal mixture of Robbins with the variance estimated, as Waudby-Smith and others do: an interval that holds
for one n given beforehand is widened by a factor that depends on n alone.
"""

from __future__ import annotations

from math import log, sqrt
from statistics import NormalDist

_TIGHTEST = 1000.0  # examples at which the sequence is about as narrow as it can be
_MIXTURE = 8.0 / _TIGHTEST  # the mixture's variance in units of one example's


def anytime_factor(n: int, level: float = 0.95) -> float:
    """By how much an interval of n examples is widened to hold at all n at once."""
    spread = _MIXTURE * n
    width = sqrt(2 * (1 + 1 / spread) * log(sqrt(spread + 1) / (1 - level)))
    return width / NormalDist().inv_cdf((1 + level) / 2)


def anytime_interval(
    value: float, low: float, high: float, n: int, span: tuple[float, float] = (0.0, 1.0), level: float = 0.95
) -> tuple[float, float]:
    """The interval of n examples that holds however it was decided to stop at n; within the measure's span."""
    factor = anytime_factor(n, level)
    return max(span[0], value - factor * (value - low)), min(span[1], value + factor * (high - value))
