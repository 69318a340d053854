"""Paired tests of two columns of scores, for studies: bootstrap intervals, swapping tests, win rates, their power."""

from __future__ import annotations

from math import ceil
from statistics import NormalDist
from typing import Literal, NamedTuple

import msgspec
import numpy as np

from unswayed.base.errors import UsageError
from unswayed.stats import (
    Array,
    Estimate,
    Observations,
    Paired,
    Resampling,
    Statistic,
    binomial_tail,
    bootstrap,
    count_rows,
    digest,
    interval,
    sample_of,
    share_of,
    sign,
    swap,
)  # fmt: skip

_SAME = 1e-12


class Pair(NamedTuple):
    """One measure of two systems, over the examples that both have it for: what each example gives to either."""

    a: Array
    b: Array
    statistic: Statistic
    span: tuple[float, float]  # of the difference

    @property
    def values(self) -> tuple[float, float]:
        return sample_of(self.a, self.statistic).value, sample_of(self.b, self.statistic).value

    def p_value(self, settings: Resampling) -> float:
        """How often swapping the systems at random gives as large a difference."""
        both, counts = count_rows(np.hstack([self.a, self.b]))
        a, b = (self.statistic.columns(half) for half in np.hsplit(both, 2))
        drawn = swap(a, b, counts, self.statistic, settings.bootstrap, settings.seed)
        drawn = drawn[~np.isnan(drawn)]
        before, after = self.values
        as_large = int((np.abs(drawn) >= abs(after - before) - _SAME).sum())
        return (1 + as_large) / (1 + len(drawn))


def pair_of(a: Observations, b: Observations) -> Pair:
    """The pair of two whole columns."""
    return Pair(a.values, b.values, a.statistic, (a.span[0] - a.span[1], a.span[1] - a.span[0]))


def intervals_of(pairs: list[Pair], settings: Resampling) -> list[tuple[float | None, float | None]]:
    """The bootstrap interval of each difference, B less A."""
    samples = [sample_of(np.hstack([pair.a, pair.b]), Paired(pair.statistic)) for pair in pairs]
    drawn = bootstrap(samples, settings.bootstrap, settings.seed)
    return [
        interval(sample.value, values, sample.n, pair.span, settings.level)
        for pair, sample, values in zip(pairs, samples, drawn, strict=True)
    ]


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


def win_rate(better: Array, worse: Array, ties: Ties = "loss", level: float = 0.95, **decided: object) -> Wins:
    """How often `better` is above `worse`; where either is not finite, the pair is missing.

    `decided` adds to the signature what made the scores.

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
    fields = {"measure": f"wins:{VERSION}", "ties": ties, "level": level, "scores": digest(better, worse), **decided}
    share = share_of(counted, n, int((~known).sum()), sign(fields), level)
    p = binomial_tail(int(counted), n) if n else None  # half a win is rounded down: the safe side
    return Wins(share, won, tied, lost, p)


def power_of_wins(share: float, n: int, alpha: float = 0.05) -> float:
    """The chance that the exact one-tailed binomial test on n pairs finds a win rate of `share`."""
    low, high = n // 2, n + 1  # the fewest wins that are significant lie between
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if binomial_tail(middle, n) <= alpha else (middle + 1, high)
    return binomial_tail(low, n, share)


def pairs_for_wins(share: float, alpha: float = 0.05, wanted: float = 0.8, most: int = 1_000_000) -> int:
    """The pairs from which on the one-tailed binomial test finds a win rate of `share` with the wanted power."""
    _check(alpha, wanted)
    if not 0.5 < share <= 1:
        raise UsageError(f"The win rate to find must lie above 0.5 and not above 1, not {share}.")
    z = NormalDist().inv_cdf
    guess = ((z(1 - alpha) * 0.5 + z(wanted) * (share * (1 - share)) ** 0.5) / (share - 0.5)) ** 2
    n = max(1, int(guess * 0.9))
    while n <= most:
        # power moves in a saw with n, so what is wanted must hold for the next ones as well
        if all(power_of_wins(share, n + more, alpha) >= wanted for more in range(4)):
            return n
        n += max(1, n // 200)
    raise UsageError(f"More than {most:,} pairs are needed to find a win rate of {share}.")


def pairs_for_difference(difference: float, sd: float, alpha: float = 0.05, wanted: float = 0.8) -> int:
    """The pairs that a two-tailed test of the mean difference needs; `sd` is that of the differences."""
    _check(alpha, wanted)
    if not difference or sd <= 0:
        raise UsageError("The difference must not be 0, and the standard deviation must be above 0.")
    z = NormalDist().inv_cdf
    return max(2, ceil(((z(1 - alpha / 2) + z(wanted)) * sd / difference) ** 2))


def _check(alpha: float, wanted: float) -> None:
    if not 0 < alpha < 1 or not 0 < wanted < 1:
        raise UsageError(f"The level ({alpha}) and the power ({wanted}) must lie between 0 and 1.")
