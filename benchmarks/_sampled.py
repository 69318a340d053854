"""Simulations of people, repeats, unequal variances, and of the power that a run was said to have."""

from __future__ import annotations

from collections.abc import Iterator
from tempfile import TemporaryDirectory

import msgspec
import numpy as np

import unswayed
from benchmarks._measure import Row
from benchmarks._simulated import MadeRun, Trials, cell, paired_t, share, worst_cell
from unswayed.base.values import Example, Variant
from unswayed.measure.paired import complete_effects
from unswayed.measure.people import Cells, components
from unswayed.measure.sentences import FLIPS
from unswayed.stats import mean_interval
from unswayed.storage.suite import Manifest, Suite, write_suite
from unswayed.systems.callable import CallableSystem

SPREADS = (0.0, 0.3, 1.0)  # of people, in log odds


def unequal_variances(times: int, n: int = 100) -> Iterator[Row]:
    """False positives of the mixed-effects regression, standard deviations 1, 1 and 5."""
    rng = np.random.default_rng(1)
    found = np.zeros(3)
    for _ in range(times):
        scores = rng.normal(size=(n, 1)) + rng.normal(size=(n, 3)) * [1, 1, 5]
        fit = complete_effects(scores, ["a", "b", "c"]).coefficients
        p = [(fit[name].p, fit[name].p_holm) for name in ("b", "c")]
        found += [*((own or 0) < 0.05 for own, _ in p), min(held or 0 for _, held in p) < 0.05]
    for name, part in zip(("first condition", "second condition", "either, by Holm"), found / times, strict=True):
        what = f"mixed effects, sd 1, 1, 5, no difference: {name} differs"
        yield share(f"mixed effects: {name}", what, float(part), times, most=0.05)


def people(times: int) -> Iterator[Row]:
    """The coverage of both intervals, where examples and people are drawn anew each time."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(80)
    rng = np.random.default_rng(2)
    for_these, for_others = [], []
    for who in (3, 5, 10):
        for n in (100, 1000):
            for spread in SPREADS:
                truth = float(weights @ (1 / (1 + np.exp(-1 - np.hypot(1.5, spread) * nodes))) / weights.sum())
                these, like = (Trials("Student's over examples") for _ in range(2))
                for _ in range(times):
                    odds = rng.normal(1, 1.5, (n, 1)) + rng.normal(0, spread, (1, who))
                    y = (rng.random((n, who)) < 1 / (1 + np.exp(-odds))).astype(float)
                    i, j = np.indices(y.shape)
                    found = components(Cells(i.ravel(), j.ravel(), np.zeros(y.size, dtype=np.int64), y.ravel()))
                    assert found is not None
                    low, high = mean_interval(y.mean(axis=1))
                    theirs, wide = paired_t(y.mean(axis=1)), found.interval(0.95, (0.0, 1.0), True)
                    these.add((low, high), truth, theirs)
                    like.add((min(low or 0, wide[0]), max(high or 1, wide[1])), truth, theirs)
                what = f"{who} people × {n} examples, spread {spread}"
                for_others.append(cell(what, like))
                for_these.append(cell(what, these))
    yield worst_cell("people", "intervals for people like these that cover", for_others, times)
    lowest = min(for_these, key=lambda one: one.share)
    note = f"at worst: {lowest.where}"
    yield share("these people", "the same for these people", lowest.share, times, note=note, seen=lowest.seen)


def random_answerer(times: int) -> Iterator[Row]:
    """How often flips beyond chance cover zero, from the run to the number: a tenth of the answers are sampled."""
    covered = {name: Trials("") for name in ("flips", "consistency", "drop")}
    with TemporaryDirectory() as folder:
        suite = _suite(f"{folder}/suite")
        for seed in range(times):
            rng = np.random.default_rng(seed)

            def answer(batch: list[dict[str, str]], rng: np.random.Generator = rng) -> list[str]:
                return ["no" if rng.random() < 0.1 else "yes" for _ in batch]

            system = CallableSystem(answer, name="random", identity="random")
            run = unswayed.run_system(suite, system, f"{folder}/{seed}", plan={"run": {"repeats": 3}})
            found = unswayed.measure_run(
                run, {"measure": {"scores": ["accuracy"], "stored": False, "sanity": False}}
            ).repeats
            for name in covered:
                one = getattr(found, name)
                covered[name].add((one.low, one.high), 0.0, found=not one.low <= 0 <= one.high)
    for name, seen in covered.items():
        what = f"repeats, a system that samples 10% of its answers: {name} beyond chance covers zero"
        yield share(f"repeats: {name}", what, seen.coverage, times, least=0.93, seen=seen)


def power(times: int) -> Iterator[Row]:
    """How often runs find what `results.power()` of a run like them said would be found in 80%."""
    rng = np.random.default_rng(5)
    for measure, n, size in (("flips", 200, 1), ("drop", 300, 1), ("drop", 400, 10), ("flips", 400, 10)):
        cluster = None if size == 1 else "c"
        said = [_least(rng, measure, n, size, cluster) for _ in range(10)]
        least = float(np.mean(said))
        found = [_measured(rng, least, measure, n, size, cluster) for _ in range(times)]
        limit = FLIPS[0] if measure == "flips" else 0.0
        hits = float(np.mean([(getattr(one.whole, measure).low or 0) > limit for one in found]))
        told = f"{measure} of {least:.3f} in {n} examples" + (f" in clusters of {size}" if cluster else "")
        chance = round(300 * (0.8 * 0.2 / times) ** 0.5, 1)
        yield msgspec.structs.replace(
            share(f"power: {told}", f"power, the detectable {told}: found (80% predicted)", hits, times),
            asked=80.0, by_chance=chance,
        )  # fmt: skip


def _least(rng: np.random.Generator, measure: str, n: int, size: int, cluster: str | None) -> float:
    """What is said to be detectable, of a run with about as much of it."""
    found = _measured(rng, 0.06, measure, n, size, cluster).power()
    return next(one.now for one in found.detectable if one.measure == measure)


def _measured(
    rng: np.random.Generator, rate: float, measure: str, n: int, size: int, cluster: str | None
) -> unswayed.Results:
    """Answers of two variants change at this rate, more in some clusters than in others; all clean ones are right."""
    units = -(-n // size)
    own = np.repeat(rng.beta(rate * 4, (1 - rate) * 4, units), size)[:n]
    varied = rng.random((n, 2)) >= own[:, None]
    made = MadeRun(np.ones(n, dtype=bool), varied, ["k/a", "k/a"], {"c": (np.arange(n) // size).tolist()})
    return unswayed.measure_run(
        made, {"measure": {"scores": ["accuracy"], "stored": False, "sanity": False, "cluster": cluster, "groups": []}}
    )  # type: ignore[arg-type]


def _suite(path: str, n: int = 60, draws: int = 3) -> Suite:
    examples = [Example(i, f"e{i}", {"text": f"text {i}"}, "yes") for i in range(n)]
    variants = [
        Variant(i, f"e{i}", j, "k/a", "k", "same", {"text": f"text {i} {j}"}, "yes", "")
        for i in range(n)
        for j in range(draws)
    ]
    return write_suite(path, Manifest(task="classify", language="en"), lambda: examples, lambda: variants)
