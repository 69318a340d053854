"""Exact tests and intervals of shares, p-values corrected for the number of comparisons made, and Student's t.

Its tails and quantiles are for any positive degrees of freedom, whole or not."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from math import erfc, exp, inf, isinf, lgamma, log, log1p, pi, sqrt
from statistics import NormalDist

import numpy as np

from unswayed.base.errors import UnknownName
from unswayed.base.values import Estimate


def bonferroni(p_values: Sequence[float]) -> list[float]:
    """Each p-value times their number, at most 1."""
    return [min(1.0, p * len(p_values)) for p in p_values]


def holm(p_values: Sequence[float]) -> list[float]:
    """Holm's step-down: the smallest times m, the next times m - 1, …, never below the one before it.

    It holds the same promise as Bonferroni's and is never larger.
    """
    corrected = [0.0] * len(p_values)
    highest = 0.0
    for done, place in enumerate(sorted(range(len(p_values)), key=lambda i: p_values[i])):
        highest = max(highest, min(1.0, p_values[place] * (len(p_values) - done)))
        corrected[place] = highest
    return corrected


CORRECTIONS: dict[str, Callable[[Sequence[float]], list[float]]] = {
    "holm": holm,
    "bonferroni": bonferroni,
    "none": list,
}


def correct(p_values: Sequence[float | None], method: str = "holm") -> list[float | None]:
    """The corrected p-values; where nothing was tested (None), nothing is corrected and nothing counted."""
    if method not in CORRECTIONS:
        raise UnknownName("correction", method, CORRECTIONS)
    corrected = iter(CORRECTIONS[method]([p for p in p_values if p is not None]))
    return [None if p is None else next(corrected) for p in p_values]


def mcnemar(more: int, less: int) -> float:
    """The exact two-sided p-value that `more` and `less` come from a fair coin."""
    total, smaller = more + less, min(more, less)
    logs = np.append(0.0, np.cumsum(np.log(np.arange(1, total + 1))))
    wins = np.arange(smaller + 1)
    chances = np.exp(logs[total] - logs[wins] - logs[total - wins] - total * np.log(2))
    return min(1.0, 2 * float(chances.sum()))


def binomial_tail(k: int, n: int, p: float = 0.5) -> float:
    """The chance of k or more of n."""
    if k <= 0 or p >= 1:
        return 1.0
    if k > n or p <= 0:
        return 0.0
    counts = np.arange(k, n + 1)
    logs = np.array([lgamma(n + 1) - lgamma(i + 1) - lgamma(n - i + 1) for i in counts.tolist()])
    logs += counts * log(p) + (n - counts) * log1p(-p)
    top = float(logs.max())
    return min(1.0, exp(top) * float(np.exp(logs - top).sum()))


def share_of(k: float, n: int, missing: int, signature: str, level: float = 0.95) -> Estimate:
    """The share k of n, with its exact interval; no value of none."""
    if not n:
        return Estimate(None, None, None, 0, missing, signature)
    low, high = clopper_pearson(k, n, level)
    return Estimate(k / n, low, high, n, missing, signature)


def clopper_pearson(k: float, n: int, level: float = 0.95) -> tuple[float, float]:
    """The exact interval of a share, by bisection; counts with halves are widened to whole ones."""
    tail = (1 - level) / 2
    few, many = int(k), int(-(-k // 1))
    low = 0.0 if few == 0 else _bisect(lambda p: binomial_tail(few, n, p) < tail)
    high = 1.0 if many == n else _bisect(lambda p: binomial_tail(many + 1, n, p) < 1 - tail)
    return low, high


def _bisect(below: Callable[[float], bool]) -> float:
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        if below(middle):
            low = middle
        else:
            high = middle
    return (low + high) / 2


_TINY = 1e-300
_LARGE = 1e5  # degrees of freedom from which a corrected normal deviate is exact to ten digits


def t_p_value(t: float, df: float) -> float:
    """The two-sided p-value of a t statistic."""
    if isinf(t):
        return 0.0
    if df >= _LARGE:
        return erfc(abs(t) * (1 - 1 / (4 * df)) / sqrt(2 + t * t / df))
    return incomplete_beta(df / 2, 0.5, df / (df + t * t))


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


def incomplete_beta(a: float, b: float, x: float) -> float:
    """The regularised incomplete beta function, by its continued fraction on the side where that converges fast."""
    if x <= 0 or x >= 1:
        return float(x >= 1)
    if x > (a + 1) / (a + b + 2):
        return 1 - incomplete_beta(b, a, 1 - x)
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
