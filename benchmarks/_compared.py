"""Simulated comparisons with a known truth: false differences, and the power of the headline."""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np
import numpy.typing as npt

from unfazed.core.estimate import holm
from unfazed.core.task import task_named
from unfazed.core.values import Example, Output, Variant
from unfazed.measure.compared import Comparison
from unfazed.measure.comparison import compare

_RIGHT, _WRONG = Output("right"), Output("wrong")
Bools = npt.NDArray[np.bool_]


class _Made:
    """A run whose answers are known: `right` has a row for each example and a column for each operator."""

    def __init__(self, right: Bools, clusters: npt.NDArray[np.int64]) -> None:
        manifest = SimpleNamespace(labels=None, unchanged={})
        self.suite: Any = SimpleNamespace(id="s", signed="s", task=task_named("classify"), manifest=manifest)
        self.system = self.identity = "simulated"
        self._right, self._clusters = right, clusters

    def items(self) -> Iterator[tuple[Example, Output, list[tuple[Variant, Output]]]]:
        for i, (row, cluster) in enumerate(zip(self._right, self._clusters.tolist(), strict=True)):
            text = {"text": str(i)}
            varied = [
                (
                    Variant(i, str(i), 0, f"k/{j}", "k", "same", {"text": f"{i} {j}"}, "right", ""),
                    _RIGHT if one else _WRONG,
                )
                for j, one in enumerate(row.tolist())
            ]
            yield Example(i, str(i), text, "right", {"cluster": str(cluster)}), _RIGHT, varied


def simulated(
    rng: np.random.Generator, gain: float, n: int = 200, operators: int = 10, size: int = 1
) -> tuple[_Made, _Made]:
    """Two systems that have 80 % right, the second `gain` more; examples of a cluster are answered alike.

    Each example is easy or hard for a system as a whole, so that its operators' answers are related.
    """
    clusters = np.arange(n) // size

    def answers(share: float) -> Bools:
        ease = np.repeat(rng.normal(size=-(-n // size)), size)[:n, None]
        own = np.repeat(rng.normal(size=(-(-n // size), operators)), size, axis=0)[:n]
        line = np.sort(np.sqrt(0.5) * (rng.normal(size=200_000) + rng.normal(size=200_000)))[int((1 - share) * 200_000)]
        return np.asarray(np.sqrt(0.5) * (ease + own) > line)

    return _Made(answers(0.8), clusters), _Made(answers(0.8 + gain), clusters)


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


def comparisons(times: int, seed: int = 0) -> list[dict[str, object]]:
    """Rows of what was simulated, how often it was found, and how often it should be."""
    rng = np.random.default_rng(seed)
    null = [compare(*simulated(rng, 0.0), groups=[], bootstrap=2000, sanity=False) for _ in range(times)]
    better = [compare(*simulated(rng, 0.07), groups=[], bootstrap=2000, sanity=False) for _ in range(times)]
    together = [simulated(rng, 0.0, n=400, operators=2, size=20) for _ in range(times)]
    clustered = [compare(*both, cluster="cluster", bootstrap=2000, sanity=False) for both in together]
    blind = [compare(*both, groups=[], bootstrap=2000, sanity=False) for both in together]

    def share(found: list[Comparison], of: Any) -> float:
        return float(np.mean([of(one) for one in found]))

    return [
        {"simulated": "no difference, 10 operators: headline", "found": share(null, headline), "asked": "at most 0.05"},
        {
            "simulated": "no difference: any of the rest",
            "found": share(null, false_difference),
            "asked": "at most 0.05",
        },
        {"simulated": "7 points: headline by itself", "found": share(better, headline), "asked": ""},
        {"simulated": "7 points: in Holm's family of all", "found": share(better, headline_among_all), "asked": "less"},
        {"simulated": "clusters of 20, --cluster", "found": share(clustered, headline), "asked": "at most 0.05"},
        {
            "simulated": "clusters of 20: any of the rest",
            "found": share(clustered, false_difference),
            "asked": "at most 0.05",
        },
        {"simulated": "clusters of 20 without --cluster", "found": share(blind, headline), "asked": "more"},
    ]
