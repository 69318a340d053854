"""Simulations of people, repeats, unequal variances and power: `python -m benchmarks._sampled` prints them."""

from __future__ import annotations

from tempfile import TemporaryDirectory

import numpy as np

import unfazed
from unfazed.core.estimate import mean_interval
from unfazed.core.suite import Manifest, Suite, write_suite
from unfazed.core.values import Example, Variant
from unfazed.measure.mixed import complete_effects
from unfazed.measure.variance import Cells, components
from unfazed.systems.callable import CallableSystem

SPREADS = (0.0, 0.3, 1.0)  # of people, in log odds


def unequal_variances(times: int, n: int = 100) -> list[dict[str, object]]:
    """False positives of the mixed-effects regression, standard deviations 1, 1 and 5."""
    rng = np.random.default_rng(1)
    found = np.zeros(3)
    for _ in range(times):
        scores = rng.normal(size=(n, 1)) + rng.normal(size=(n, 3)) * [1, 1, 5]
        fit = complete_effects(scores, ["a", "b", "c"]).coefficients
        p = [(fit[name].p, fit[name].p_holm) for name in ("b", "c")]
        found += [*((own or 0) < 0.05 for own, _ in p), min(held or 0 for _, held in p) < 0.05]
    names = ("mixed effects: first condition", "second condition", "either, by Holm")
    return [
        {"simulated": name, "found": share, "asked": 0.05} for name, share in zip(names, found / times, strict=True)
    ]


def people(times: int) -> list[dict[str, object]]:
    """The coverage of both intervals, where examples and people are drawn anew each time."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(80)
    rng = np.random.default_rng(2)
    rows: list[dict[str, object]] = []
    for who in (3, 5, 10):
        for n in (100, 1000):
            for spread in SPREADS:
                truth = float(weights @ (1 / (1 + np.exp(-1 - np.hypot(1.5, spread) * nodes))) / weights.sum())
                these = like = 0
                for _ in range(times):
                    odds = rng.normal(1, 1.5, (n, 1)) + rng.normal(0, spread, (1, who))
                    y = (rng.random((n, who)) < 1 / (1 + np.exp(-odds))).astype(float)
                    i, j = np.indices(y.shape)
                    found = components(Cells(i.ravel(), j.ravel(), np.zeros(y.size, dtype=np.int64), y.ravel()))
                    assert found is not None
                    low, high = mean_interval(y.mean(axis=1))
                    these += (low or 0) <= truth <= (high or 1)
                    wide = found.interval(0.95, (0.0, 1.0), True)
                    like += min(low or 0, wide[0]) <= truth <= max(high or 1, wide[1])
                what = f"{who} people × {n} examples, spread {spread}"
                rows.append({"simulated": what, "found": like / times, "these people": these / times, "asked": 0.93})
    return rows


def random_answerer(times: int) -> list[dict[str, object]]:
    """How often flips beyond chance cover zero, from the run to the number: a tenth of the answers are sampled."""
    covered = {"flips": 0, "consistency": 0, "drop": 0}
    with TemporaryDirectory() as folder:
        suite = _suite(f"{folder}/suite")
        for seed in range(times):
            rng = np.random.default_rng(seed)

            def answer(batch: list[dict[str, str]], rng: np.random.Generator = rng) -> list[str]:
                return ["no" if rng.random() < 0.1 else "yes" for _ in batch]

            system = CallableSystem(answer, name="random", identity="random")
            run = unfazed.run_system(suite, system, f"{folder}/{seed}", repeats=3)
            found = unfazed.measure_run(run, ["accuracy"], stored=False, sanity=False).repeats
            for name in covered:
                covered[name] += getattr(found, name).low <= 0 <= getattr(found, name).high
    return [
        {"simulated": f"random answerer: {name} beyond chance cover zero", "found": count / times, "asked": 0.93}
        for name, count in covered.items()
    ]


def _suite(path: str, n: int = 60, draws: int = 3) -> Suite:
    examples = [Example(i, f"e{i}", {"text": f"text {i}"}, "yes") for i in range(n)]
    variants = [
        Variant(i, f"e{i}", j, "k/a", "k", "same", {"text": f"text {i} {j}"}, "yes", "")
        for i in range(n)
        for j in range(draws)
    ]
    return write_suite(path, Manifest(task="classify", language="en"), lambda: examples, lambda: variants)


def sampled(times: int) -> list[dict[str, object]]:
    """Rows of what was simulated, how often it was found, and how often it should be."""
    return [*unequal_variances(10 * times), *people(times), *random_answerer(times)]


if __name__ == "__main__":
    for row in sampled(200):
        print(row)
