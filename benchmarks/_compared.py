"""Simulated comparisons with a known truth: false differences, and the power of the headline."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import msgspec
import numpy as np

from benchmarks._measure import Row
from benchmarks._simulated import Bools, MadeRun, share
from unswayed.measure.comparison.outcome import Comparison
from unswayed.measure.comparison.runs import compare
from unswayed.stats import holm

GAIN = 0.055  # of the second system, where there is a true difference


def simulated(
    rng: np.random.Generator, gain: float, n: int = 200, operators: int = 10, size: int = 1
) -> tuple[MadeRun, MadeRun]:
    """Two systems that have 80% right, the second `gain` more; examples of a cluster are answered alike.

    Each example is easy or hard for a system as a whole, so that its operators' answers are related.
    """
    clusters = np.arange(n) // size

    def answers(share: float) -> Bools:
        ease = np.repeat(rng.normal(size=-(-n // size)), size)[:n, None]
        own = np.repeat(rng.normal(size=(-(-n // size), operators)), size, axis=0)[:n]
        line = np.sort(np.sqrt(0.5) * (rng.normal(size=200_000) + rng.normal(size=200_000)))[int((1 - share) * 200_000)]
        return np.asarray(np.sqrt(0.5) * (ease + own) > line)

    def made(share: float) -> MadeRun:
        right, sources = answers(share), [f"k/{j}" for j in range(operators)]
        return MadeRun(np.ones(n, dtype=bool), right, sources, {"cluster": clusters.tolist()})

    return made(0.8), made(0.8 + gain)


def false_difference(found: Comparison) -> bool:
    """Is any difference but the primary one said to be more than chance?"""
    return any(d.shown for d in found.differences if not d.primary)


def headline(found: Comparison) -> bool:
    return any(d.shown for d in found.differences if d.primary)


def headline_among_all(found: Comparison) -> bool:
    """The headline as it was: in one family with every operator, by Holm's method."""
    p = [d.p for d in found.differences if d.p is not None]
    place = next(i for i, d in enumerate(found.differences) if d.primary)
    return holm(p)[place] <= 0.05


def comparisons(times: int) -> Iterator[Row]:
    """Shares of simulated comparisons in which a difference is said to be more than chance."""
    rng = np.random.default_rng(0)

    def found(gain: float, cluster: str | None = None, **made: int) -> tuple[list[Comparison], list[Comparison]]:
        """As asked, and without knowing of clusters."""
        both = [simulated(rng, gain, **made) for _ in range(times)]
        blind = [compare(a, b, plan={"measure": {"groups": [], "bootstrap": 2000, "sanity": False}}) for a, b in both]
        if cluster is None:
            return blind, blind
        return [
            compare(a, b, plan={"measure": {"cluster": cluster, "bootstrap": 2000, "sanity": False}}) for a, b in both
        ], blind

    null, better = found(0.0)[0], found(GAIN)[0]
    clustered, blind = found(0.0, "cluster", n=400, operators=2, size=20)

    def row(name: str, what: str, of: list[Comparison], test: Callable[[Comparison], bool], most: float | None) -> Row:
        return share(name, f"compare, {what}", float(np.mean([test(one) for one in of])), times, most=most)

    yield row("false headline", "no difference, 10 operators: headline differs", null, headline, 0.05)
    yield row("false rest", "the same: any of the rest differs", null, false_difference, 0.05)
    power = row("power", "a true difference, 10 operators: headline, tested by itself", better, headline, None)
    family = float(np.mean([headline_among_all(one) for one in better]))
    note = f"{power.note}; in one Holm family with all others: {100 * family:.0f}%"
    yield msgspec.structs.replace(power, more=True, note=note)
    yield row("false headline, clusters", "no difference, clusters of 20: headline differs", clustered, headline, 0.05)
    yield row("false rest, clusters", "the same: any of the rest differs", clustered, false_difference, 0.05)
    yield row("clusters not declared", "the same without --cluster: headline differs", blind, headline, None)
