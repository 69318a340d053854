"""Intervals that hold whenever one stops looking: a confidence sequence for means of examples in random order.

It is the normal mixture of Robbins with the variance estimated, as Waudby-Smith and others do: the interval for n given
beforehand, at a higher level that depends on n alone. Its pseudo-examples grow with the level, so that it also holds
where few numbers differ from the others.
"""

from __future__ import annotations

from math import erf, log, sqrt

_TIGHTEST = 1000.0  # examples at which the sequence is about as narrow as it can be
_MIXTURE = 8.0 / _TIGHTEST  # the mixture's variance in units of one example's
_HIGHEST = 1 - 1e-15  # beyond it no quantile can be told from infinity


def anytime_deviate(n: int, level: float = 0.95) -> float:
    """How many standard errors wide, on each side, an interval of n examples is that holds at all n at once."""
    spread = _MIXTURE * n
    return sqrt(2 * (1 + 1 / spread) * log(sqrt(spread + 1) / (1 - level)))


def anytime_level(n: int, level: float = 0.95) -> float:
    """The level at which intervals of n examples given beforehand are as wide."""
    return min(erf(anytime_deviate(n, level) / sqrt(2)), _HIGHEST)
