"""How many sentences a comparison needs to find a difference that is there."""

from __future__ import annotations

from math import ceil
from statistics import NormalDist

from unfazed.core.errors import UsageError
from unfazed.core.estimate import binomial_tail


def power_of_wins(share: float, n: int, alpha: float = 0.05) -> float:
    """The chance that the exact one-tailed binomial test on n pairs finds a win rate of `share`."""
    low, high = n // 2, n + 1  # the fewest wins that are significant lie between
    while low < high:
        middle = (low + high) // 2
        if binomial_tail(middle, n) <= alpha:
            high = middle
        else:
            low = middle + 1
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
