"""Runs that end when an interval is narrow enough: how often does the interval miss the truth at that time, or ever?"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from statistics import median
from typing import NamedTuple

import numpy as np

from benchmarks._measure import Row
from benchmarks._simulated import share
from unswayed.stats import Array, MeanKind, mean_interval
from unswayed.stats.intervals import anytime_level

EXAMPLES = 2000
WITHIN = (0.1, 0.05, 0.02)
Draw = Callable[[np.random.Generator], tuple[Array, float]]


def flips(rate: float, draws: int) -> Draw:
    """Shares of changed answers; examples differ in how easily theirs change."""

    def draw(rng: np.random.Generator) -> tuple[Array, float]:
        own = rng.beta(rate, 1 - rate, EXAMPLES)
        return rng.binomial(draws, own) / draws, rate

    return draw


def drop(clean: float, lost: float, gained: float, draws: int) -> Draw:
    """Drops where some right answers become wrong, and some wrong ones right."""

    def draw(rng: np.random.Generator) -> tuple[Array, float]:
        right = rng.random(EXAMPLES) < clean
        varied = rng.binomial(draws, np.where(right, 1 - lost, gained)) / draws
        return right - varied, clean * lost - (1 - clean) * gained

    return draw


CASES: dict[str, tuple[Draw, MeanKind]] = {
    "flips of 0.5%": (flips(0.005, 1), "share"),
    "flips of 5%, three draws": (flips(0.05, 3), "share"),
    "flips of 30%": (flips(0.3, 1), "share"),
    "a drop of 0.01": (drop(0.95, 0.01, 0.0, 1), "difference"),
    "a drop of 0.05, three draws": (drop(0.9, 0.08, 0.2, 3), "difference"),
    "a drop of 0.3": (drop(0.8, 0.45, 0.3, 1), "difference"),
}


def looks() -> list[int]:
    found, n = [], 32.0
    while n < EXAMPLES:
        found.append(int(n))
        n *= 1.25
    return [*found, EXAMPLES]


class Found(NamedTuple):
    """Shares of runs whose interval misses, and at how many examples each rule stopped them."""

    at_stop: dict[float, float]
    ever: float
    usual: float  # at any look, with intervals that are not widened
    stops: dict[float, list[int]]


def missed(draw: Draw, kind: MeanKind, runs: int, seed: int = 0) -> Found:
    rng = np.random.default_rng(seed)
    at_stop, ever, usual = dict.fromkeys(WITHIN, 0.0), 0.0, 0.0
    stops: dict[float, list[int]] = {within: [] for within in WITHIN}
    span = (-1.0, 1.0) if kind == "difference" else (0.0, 1.0)
    for _ in range(runs):
        values, truth = draw(rng)
        waiting, any_miss, any_usual = set(WITHIN), False, False
        for n in looks():
            low, high = mean_interval(values[:n], span, kind=kind)
            assert low is not None
            assert high is not None
            ends = mean_interval(values[:n], span, anytime_level(n), kind)
            assert ends[0] is not None
            assert ends[1] is not None
            miss = not ends[0] <= truth <= ends[1]
            any_miss, any_usual = any_miss or miss, any_usual or not low <= truth <= high
            for within in [w for w in waiting if (ends[1] - ends[0]) / 2 <= w or n == EXAMPLES]:
                waiting.remove(within)
                at_stop[within] += miss / runs
                stops[within].append(n)
        ever, usual = ever + any_miss / runs, usual + any_usual / runs
    return Found(at_stop, ever, usual, stops)


def stopped(times: int) -> Iterator[Row]:
    """Misses when a rule stops the run, and at any look, of intervals that hold whenever one looks."""
    for name, (draw, kind) in CASES.items():
        found = missed(draw, kind, times)
        at_stop = max(found.at_stop, key=lambda within: found.at_stop[within])
        note = f"the worst of ±{', ±'.join(f'{w:g}' for w in WITHIN)}: ±{at_stop:g}, reached at "
        note += f"{median(found.stops[at_stop]):,.0f} examples"
        what = f"stop-when, {name}: interval misses when the run stops"
        yield share(f"stopped: {name}", what, found.at_stop[at_stop], times, most=0.05, note=note)
        what = f"stop-when, {name}: interval misses at any of {len(looks())} looks"
        note = f"intervals for one look: {100 * found.usual:.1f}%"
        yield share(f"any look: {name}", what, found.ever, times, most=0.05, note=note)
