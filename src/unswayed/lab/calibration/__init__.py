"""Fits of profiles, and what they share: tallies, the cheapest alignment, steps of a gamma, rounding."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

STEADY_SHAPE = 50.0  # shape of a gamma that hardly varies
_HASTE_STEPS = 256  # of the list that haste is drawn from


class EventCounts:
    """Events by name, and the places where they could have been."""

    def __init__(self) -> None:
        self.seen: Counter[str] = Counter()
        self.places: Counter[str] = Counter()

    def add(self, name: str, happened: bool) -> None:
        """Counts a place where an event could be, and whether it was."""
        self.places[name] += 1
        self.seen[name] += happened

    def share(self, name: str, weight: float = 0.0, mean: float = 0.0) -> float:
        """The share of the places where an event was; `mean` counts as that of `weight` more places."""
        return (self.seen[name] + weight * mean) / max(1e-9, self.places[name] + weight)


def cheapest_path(
    n: int, m: int, steps: Callable[[int, int], Iterable[tuple[float, int, int, bool]]]
) -> list[tuple[int, int, int, int, bool]]:
    """The cheapest alignment of n things with m others, as stretches i to j of the ones that became k to l.

    `steps` gives the steps that may lead to a place: what each costs, how far it goes on both sides, and a mark, which
    the stretch has then.
    """
    cost = [[0.0] * (m + 1) for _ in range(n + 1)]
    back: list[list[tuple[int, int, bool]]] = [[(0, 0, False)] * (m + 1) for _ in range(n + 1)]
    for i in range(n + 1):
        for j in range(m + 1):
            ways = [(cost[i - di][j - dj] + price, (di, dj, mark)) for price, di, dj, mark in steps(i, j)]
            if ways:
                cost[i][j], back[i][j] = min(ways)
    path, i, j = [], n, m
    while i or j:
        di, dj, mark = back[i][j]
        path.append((i - di, i, j - dj, j, mark))
        i, j = i - di, j - dj
    return path[::-1]


def gamma_steps(shape: float) -> list[float]:
    """Equally likely values of the gamma of this shape with mean 1."""
    if shape >= STEADY_SHAPE * 0.98:
        return [1.0]
    grid = np.arange(-40, 4.2, 0.002)  # of logs
    sums = np.cumsum(np.exp(shape * grid - np.exp(grid)))
    places = np.searchsorted(sums, (np.arange(_HASTE_STEPS) + 0.5) / _HASTE_STEPS * sums[-1])
    values = np.exp(grid[places])
    return [four_digits(value) for value in values / values.mean()]


def four_digits(value: float) -> float:
    """The number with four significant digits."""
    return float(f"{value:.4g}")


def round_numbers(value: Any, rounded: Callable[[float], float] = four_digits) -> Any:
    """The JSON value with all its fractions rounded."""
    if isinstance(value, dict):
        return {key: round_numbers(inner, rounded) for key, inner in value.items()}
    if isinstance(value, list):
        return [round_numbers(inner, rounded) for inner in value]
    return rounded(value) if isinstance(value, float) else value
