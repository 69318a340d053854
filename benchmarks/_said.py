"""Simulated runs with a known truth: how often a set-up is called broken, a set is named, and robustness is claimed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np
import numpy.typing as npt

from unfazed.core.task import task_named
from unfazed.core.values import Example, Output, Variant
from unfazed.measure.measuring import measure_run
from unfazed.measure.results import Named, Results

Bools = npt.NDArray[np.bool_]
_LABELS = ("a", "b")


class _Made:
    """A run of two labels: `clean` tells which examples are right, `varied` (a column an operator) which variants."""

    def __init__(self, clean: Bools, varied: Bools, slices: npt.NDArray[np.int64]) -> None:
        manifest = SimpleNamespace(labels=None, unchanged={}, compared={}, people={})
        self.suite: Any = SimpleNamespace(id="s", signed="s", task=task_named("classify"), manifest=manifest)
        self.system = self.identity = "simulated"
        self._clean, self._varied, self._slices = clean, varied, slices

    def items(self) -> Iterator[tuple[Example, Output, list[tuple[Variant, Output]]]]:
        for i, (right, row, slice_) in enumerate(zip(self._clean, self._varied, self._slices.tolist(), strict=True)):
            gold, other = _LABELS[i % 2], _LABELS[1 - i % 2]
            varied = [
                (
                    Variant(i, str(i), 0, f"k/{j}", "k", "same", {"text": f"{i} {j}"}, gold, ""),
                    Output(gold if one else other),
                )
                for j, one in enumerate(row.tolist())
            ]
            yield (
                Example(i, str(i), {"text": str(i)}, gold, {"slice": str(slice_)}),
                Output(gold if right else other),
                varied,
            )


def run(
    rng: np.random.Generator, n: int, operators: int, slices: int, loss: float, right: float = 0.9,
    hurt: tuple[str, float] | None = None, **how: Any,
) -> Results:  # fmt: skip
    """Variants of rightly answered examples go wrong with the chance `loss`; of one operator or slice with another."""
    clean = rng.random(n) < right
    code = rng.choice(slices, n, p=rng.dirichlet(np.full(slices, 2.0)))
    chance = np.full((n, operators), loss)
    if hurt is not None:
        chance[(code == 0) if hurt[0] == "slice" else slice(None), 0 if hurt[0] == "operator" else slice(None)] = hurt[
            1
        ]
    varied = np.where(clean[:, None], rng.random((n, operators)) >= chance, rng.random((n, operators)) < 0.2)
    return measure_run(_Made(clean, varied, code), ["accuracy"], **how)


def named(results: Results) -> list[Named]:
    """What a reader is told is hurt more than the rest."""
    assert results.naming is not None
    return [one for kind in results.naming.sets.values() for one in kind.values() if one.hurt]


def said(times: int, seed: int = 0) -> list[dict[str, object]]:
    """Rows of what was simulated, how often it was said, and how often it may or should be."""
    rng = np.random.default_rng(seed)

    def share(of: Callable[[], bool]) -> float:
        return float(np.mean([of() for _ in range(times)]))

    rows: list[dict[str, object]] = []
    for right, asked in ((0.75, "at most 0.01"), (0.5, "high")):
        what = f"clean {right:.0%} right of two labels, n = 100: called broken"
        rows.append(
            {
                "simulated": what,
                "found": share(lambda r=right: bool(run(rng, 100, 1, 1, 0.1, r).sanity)),
                "asked": asked,
            }
        )
    for n, operators, slices, loss in ((50, 3, 5, 0.1), (50, 3, 20, 0.3), (200, 10, 20, 0.0), (500, 5, 50, 0.1)):
        what = f"all alike, loss {loss:g}, n = {n}, {operators} operators, {slices} slices: any named"
        found = share(lambda a=(n, operators, slices, loss): bool(named(run(rng, *a, sanity=False))))
        rows.append({"simulated": what, "found": found, "asked": "at most 0.05"})
    for kind, n in (("operator", 200), ("slice", 500)):
        told = [named(run(rng, n, 4, 5, 0.05, hurt=(kind, 0.3), sanity=False)) for _ in range(times)]
        true = 0.9 * 0.3 - 0.1 * 0.2
        covered = [
            one.low <= true <= one.high
            for found in told
            for one in found
            if one.low is not None and one.high is not None
        ]
        rows.append(
            {
                "simulated": f"one {kind} loses 0.3, others 0.05, n = {n}: named",
                "found": float(np.mean([bool(f) for f in told])),
                "asked": "",
            }
        )
        rows.append(
            {
                "simulated": f"of these, intervals of the named {kind} that hold",
                "found": float(np.mean(covered)),
                "asked": "at least 0.93",
            }
        )
    for n in (100, 400):
        margin = 0.9 * 0.1 - 0.1 * 0.2
        claims = share(lambda n=n, m=margin: run(rng, n, 1, 1, 0.1, within=m, sanity=False).within.whole.shown)  # type: ignore[union-attr]
        rows.append(
            {
                "simulated": f"the drop is the margin, n = {n}: claimed robust within it",
                "found": claims,
                "asked": "at most 0.05",
            }
        )
    steady = share(lambda: run(rng, 1000, 1, 1, 0.0, 1.0, within=0.02, sanity=False).within.whole.shown)  # type: ignore[union-attr]
    rows.append({"simulated": "no drop, n = 1000, margin 0.02: claimed", "found": steady, "asked": "high"})
    return rows
