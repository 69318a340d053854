"""Student's t distribution: tails and quantiles for any positive degrees of freedom, whole or not."""

from __future__ import annotations

from functools import lru_cache
from math import erfc, exp, inf, isinf, lgamma, log, log1p, pi, sqrt
from statistics import NormalDist

_TINY = 1e-300
_LARGE = 1e5  # degrees of freedom from which a corrected normal deviate is exact to ten digits


def t_p_value(t: float, df: float) -> float:
    """The two-sided p-value of a t statistic."""
    if isinf(t):
        return 0.0
    if df >= _LARGE:
        return erfc(abs(t) * (1 - 1 / (4 * df)) / sqrt(2 + t * t / df))
    return _incomplete_beta(df / 2, 0.5, df / (df + t * t))


@lru_cache(maxsize=1024)
def t_quantile(p: float, df: float) -> float:
    """The t below which the share p lies; symmetric around 0."""
    if p == 0.5:
        return 0.0
    if p < 0.5:
        return -t_quantile(1 - p, df)
    if p >= 1:
        return inf
    outside, t, last = 2 * (1 - p), NormalDist().inv_cdf(p), inf
    front = 0.0 if df >= _LARGE else lgamma((df + 1) / 2) - lgamma(df / 2) - log(df * pi) / 2
    for _ in range(100):  # Newton on the logarithms of t and its tail, which are close to a line far out
        tail = t_p_value(t, df)
        density = NormalDist().pdf(t) if df >= _LARGE else exp(front - (df + 1) / 2 * log1p(t * t / df))
        step = tail * log(tail / outside) / (2 * t * density)
        t *= exp(step)
        if abs(step) < 1e-13 or (abs(step) >= last and last < 1e-6):  # what is left is rounding
            break
        last = abs(step)
    return t


def _incomplete_beta(a: float, b: float, x: float) -> float:
    """The regularised incomplete beta function, by its continued fraction on the side where that converges fast."""
    if x <= 0 or x >= 1:
        return float(x >= 1)
    if x > (a + 1) / (a + b + 2):
        return 1 - _incomplete_beta(b, a, 1 - x)
    front = exp(a * log(x) + b * log1p(-x) + lgamma(a + b) - lgamma(a) - lgamma(b)) / a
    # Lentz's evaluation: d is the running reciprocal of the denominators' ratio, c of the numerators'
    c, d = 1.0, 1 / _off_zero(1 - (a + b) * x / (a + 1))
    value = d
    for m in range(1, 10_000):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        for term in (even, odd):
            d = 1 / _off_zero(1 + term * d)
            c = _off_zero(1 + term / c)
            value *= c * d
        if abs(c * d - 1) < 1e-15:
            break
    return front * value


def _off_zero(number: float) -> float:
    return number if abs(number) > _TINY else _TINY
