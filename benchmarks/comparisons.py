"""Simulated comparisons with a known truth: false differences, and the power of the headline."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt

from benchmarks._measure import Row, show
from unfazed.core.estimate import holm
from unfazed.core.suite import Manifest
from unfazed.core.task import task_named
from unfazed.core.values import Example, Output, Variant
from unfazed.measure.compared import Comparison
from unfazed.measure.comparison import compare

GAIN = 0.055  # of the second system, where there is a true difference
_RIGHT, _WRONG = Output("right"), Output("wrong")
Bools = npt.NDArray[np.bool_]


class _Made:
    """A run whose answers are known: `right` has a row for each example and a column for each operator."""

    def __init__(self, right: Bools, clusters: npt.NDArray[np.int64]) -> None:
        manifest = Manifest(task="classify", language="en")
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


def rows(times: int = 60) -> list[Row]:
    """Shares of simulated comparisons in which a difference is said to be more than chance."""
    rng = np.random.default_rng(0)

    def found(gain: float, cluster: str | None = None, **made: int) -> tuple[list[Comparison], list[Comparison]]:
        """As asked, and without knowing of clusters."""
        both = [simulated(rng, gain, **made) for _ in range(times)]
        blind = [compare(a, b, groups=[], bootstrap=2000, sanity=False) for a, b in both]
        if cluster is None:
            return blind, blind
        return [compare(a, b, cluster=cluster, bootstrap=2000, sanity=False) for a, b in both], blind

    null, better = found(0.0)[0], found(GAIN)[0]
    clustered, blind = found(0.0, "cluster", n=400, operators=2, size=20)

    def row(name: str, what: str, of: list[Comparison], test: Callable[[Comparison], bool], asked: float | None) -> Row:
        share = 100 * float(np.mean([test(one) for one in of]))
        return Row(name, what, share, "%", more=False, asked=asked, note=f"{times} comparisons")

    slack = 100 * 3 * (0.05 * 0.95 / times) ** 0.5  # three standard errors of a simulated 5 %
    return [
        row("false headline", "no difference, 10 operators: headline", null, headline, 5 + slack),
        row("false rest", "no difference, 10 operators: any of the rest", null, false_difference, 5 + slack),
        row("power", "a true difference: headline, tested by itself", better, headline, None),
        row("power in a family", "the same, in one Holm family with all others", better, headline_among_all, None),
        row(
            "false headline, clusters",
            "no difference, clusters of 20: headline",
            clustered,
            headline,
            5 + slack,
        ),
        row("false rest, clusters", "the same: any of the rest", clustered, false_difference, 5 + slack),
        row("clusters not declared", "the same without --cluster: headline", blind, headline, None),
    ]


def long_rows() -> list[Row]:
    return [msgspec.structs.replace(row, name=f"{row.name} (long)") for row in rows(1000)]


def main() -> None:
    show("comparisons", rows())


if __name__ == "__main__":
    main()
