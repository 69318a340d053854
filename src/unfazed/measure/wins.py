"""Win rates: how often one score beats another, tested against a coin by the exact binomial, one-tailed."""

from __future__ import annotations

from collections.abc import Callable
from math import exp, lgamma, log, log1p
from typing import Literal

import msgspec
import numpy as np
import numpy.typing as npt

from unfazed.core.errors import UsageError
from unfazed.core.values import Estimate

Ties = Literal["loss", "half", "drop"]
TIES: tuple[Ties, ...] = ("loss", "half", "drop")
VERSION = 1  # of this definition; part of every signature


class Wins(msgspec.Struct, frozen=True):
    """Wins, ties and losses, the share of wins with its interval, and the chance of as many by a coin."""

    share: Estimate
    wins: int
    ties: int
    losses: int
    p: float | None


def win_rate(
    better: npt.NDArray[np.float64], worse: npt.NDArray[np.float64], signature: str = "", ties: Ties = "loss",
    level: float = 0.95,
) -> Wins:  # fmt: skip
    """How often `better` is above `worse`; where either is not finite, the pair is missing.

    A tie is a loss, as where robustness asks for a strictly higher score; or half a win; or dropped.
    """
    if ties not in TIES:
        raise UsageError(f"Ties are a loss, half or dropped (drop), not {ties!r}.")
    known = np.isfinite(better) & np.isfinite(worse)
    gap = better[known] - worse[known]
    won, tied = int((gap > 0).sum()), int((gap == 0).sum())
    lost = len(gap) - won - tied
    n = len(gap) - tied if ties == "drop" else len(gap)
    counted = won + tied / 2 if ties == "half" else float(won)
    sign = f"measure=wins:{VERSION}|ties={ties}|level={level}|{signature}"
    missing = int((~known).sum())
    if not n:
        return Wins(Estimate(None, None, None, 0, missing, sign), won, tied, lost, None)
    low, high = clopper_pearson(counted, n, level)
    share = Estimate(counted / n, low, high, n, missing, sign)
    return Wins(share, won, tied, lost, binomial_tail(int(counted), n))  # half a win is rounded down: the safe side


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
