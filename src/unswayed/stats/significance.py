"""Exact tests and intervals of shares, and p-values corrected for the number of comparisons made."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import exp, lgamma, log, log1p

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
