"""What is said of simulated runs: that a set-up is broken, that a set is hurt most, that a system is robust."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from benchmarks._measure import Row
from benchmarks._simulated import MadeRun, share
from unswayed.measure.measuring import measure_run
from unswayed.measure.results import Named, Results


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
    made = MadeRun(clean, varied, [f"k/{j}" for j in range(operators)], {"slice": code.tolist()})
    return measure_run(made, {"measure": {"scores": ["accuracy"], **how}})


def named(results: Results) -> list[Named]:
    """What a reader is told is hurt more than the rest."""
    assert results.naming is not None
    return [one for kind in results.naming.sets.values() for one in kind.values() if one.hurt]


def said(times: int) -> Iterator[Row]:
    """How often a set-up is called broken, a set is named, and robustness is claimed."""
    rng = np.random.default_rng(0)

    def part(of: Callable[[], object]) -> float:
        return float(np.mean([bool(of()) for _ in range(times)]))

    for right, name, least, most in ((0.75, "sound", None, 0.01), (0.5, "at chance", 0.95, None)):
        what = f"sanity, clean {right:.0%} right of two labels, n = 200: called broken"
        found = part(lambda r=right: run(rng, 200, 1, 1, 0.1, r).sanity)
        yield share(f"sanity: {name}", what, found, times, least=least, most=most)
    one, right = np.arange(50) % 2 == 0, rng.random(50) < 0.9
    made = {
        "one answer for all": MadeRun(one, one[:, None], ["k/0"]),
        "labels of other names": MadeRun(right, right[:, None], ["k/0"], says=("LABEL_0", "LABEL_1")),
    }
    for name, broken in made.items():
        signs = measure_run(broken, {"measure": {"scores": ["accuracy"]}}).sanity
        yield share(f"sanity: {name}", f"sanity, {name}, n = 50: called broken", float(bool(signs)), 1, least=1.0)
    for n, operators, slices, loss in ((50, 3, 5, 0.1), (50, 3, 20, 0.3), (200, 10, 20, 0.0), (500, 5, 50, 0.1)):
        what = f"naming, all alike, drop {loss:g}, n = {n}, {operators} operators, {slices} slices: any is named"
        found = part(lambda a=(n, operators, slices, loss): named(run(rng, *a, sanity=False)))
        yield share(f"false name: {n}, {operators}, {slices}", what, found, times, most=0.05)
    for kind, n in (("operator", 200), ("slice", 500)):
        told = [named(run(rng, n, 4, 5, 0.05, hurt=(kind, 0.3), sanity=False)) for _ in range(times)]
        true = 0.9 * 0.3 - 0.1 * 0.2
        known = [one for found in told for one in found if one.low is not None and one.high is not None]
        what = f"naming, one {kind} loses 0.3, others 0.05, n = {n}: any is named (power)"
        yield share(f"named {kind}", what, float(np.mean([bool(f) for f in told])), times, least=0.8)
        what = f"of these, intervals of the named {kind} that cover"
        covered = float(np.mean([one.low <= true <= one.high for one in known])) if known else 0.0
        yield share(f"named {kind} covers", what, covered, max(len(known), 1), least=0.93)
    for n in (100, 400):
        margin = 0.9 * 0.1 - 0.1 * 0.2
        claims = part(lambda n=n, m=margin: run(rng, n, 1, 1, 0.1, within=m, sanity=False).within.whole.shown)  # type: ignore[union-attr]
        what = f"within, the drop is the margin, n = {n}: claimed robust"
        yield share(f"false claim: {n}", what, claims, times, most=0.05)
    steady = part(lambda: run(rng, 1000, 1, 1, 0.0, 1.0, within=0.02, sanity=False).within.whole.shown)  # type: ignore[union-attr]
    yield share(
        "true claim", "within, no drop, n = 1000, margin 0.02: claimed robust (power)", steady, times, least=0.8
    )
