"""Simulations in which the truth is known: coverage, false names and differences, power. Short by default; --all long.

A section gives rows for a number of simulations; `SECTIONS` has them all. The note of a row has the coverage, the mean
width over that of a reference that is named, the power and the number of simulations.
`python -m benchmarks.coverage drops clusters --times 1000` prints some sections.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from itertools import product
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from benchmarks._compared import comparisons
from benchmarks._corpus import corpus
from benchmarks._corrected import alpha, corrected, prompts, slices, told_apart
from benchmarks._measure import Row, show
from benchmarks._power import ceiling, drops, grades, wildcards
from benchmarks._said import said
from benchmarks._sampled import people, power, random_answerer, unequal_variances
from benchmarks._simulated import Cell, MadeRun, Trials, cell, exact_width, paired_t, worst_cell
from benchmarks._stopped import stopped
from benchmarks._traps import traps
from unswayed.base.task import task_named
from unswayed.measure.definitions import MEASURES, class_found
from unswayed.measure.measuring import measure_run
from unswayed.measure.set_scores import SetScore, cvar_weights, worst_weights
from unswayed.score import scorers
from unswayed.stats import mean_interval, numbers_of, t_quantile

SIZES, DRAWS, RATES = (10, 30, 100, 1000), (1, 3, 10), (0.4, 0.6, 0.8, 0.9, 0.95, 0.98, 0.995)
ALIKE = (0.3, 2.0, 50.0)  # how alike the variants of an example are: the fewer, the more
Array = npt.NDArray[np.float64]


class World:
    """Examples that differ in how hard they are, and answers that mostly stay what they were on the clean input."""

    def __init__(self, rate: float, alike: float, draws: int, rng: np.random.Generator) -> None:
        self.rate, self.alike, self.draws, self.rng = rate, alike, draws, rng

    def answers(self, *shape: int) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.bool_]]:
        """Whether clean answers are right, and whether those to variants are."""
        rng = self.rng
        right = rng.beta(self.rate * self.alike, (1 - self.rate) * self.alike, shape)
        clean = rng.random(shape) < right + 0.3 * (1 - right)
        again = rng.random((*shape, self.draws)) < right[..., None]
        kept = rng.random((*shape, self.draws)) < 0.6
        return clean, np.where(kept, clean[..., None], again)

    def numbers(self, *shape: int) -> dict[str, Array]:
        """The number of each example for each measure, as the definitions have it."""
        clean, varied = self.answers(*shape)
        scores = np.sort(varied, axis=-1).astype(float)
        k = min(3, self.draws)
        changed = (varied != clean[..., None]).mean(axis=-1)
        average = scores.mean(axis=-1)
        return {
            "clean": clean.astype(float),
            "average": average,
            "worst": scores @ worst_weights(self.draws, k)[self.draws, : self.draws],
            "cvar": scores @ cvar_weights(self.draws, k)[self.draws, : self.draws],
            "drop": clean - average,
            "flips": changed,
            "consistency": (changed == 0).astype(float),
            "noticed": 1 - changed,
        }


def by_measure(times: int, sizes: tuple[int, ...] = SIZES, rates: tuple[float, ...] = RATES) -> Iterator[Row]:
    """Every measure over sizes, draws, rates, and how alike an example's variants are."""
    rng = np.random.default_rng(1)
    cells: dict[str, list[Cell]] = {}
    for alike, n, draws, rate in product(ALIKE, sizes, DRAWS, rates):
        world = World(rate, alike, draws, rng)
        many = world.numbers(100_000)
        for name, samples in world.numbers(times, n).items():
            true, drop = float(many[name].mean()), name == "drop"
            seen = Trials("paired t" if drop else "Clopper and Pearson's at effective n")
            span, kind = ((-1.0, 1.0), "difference") if drop else ((0.0, 1.0), "share")
            # as many independent answers as have the same variance
            effective = max(1, round(n * true * (1 - true) / max(float(many[name].var()), 1e-9)))
            for sample in samples:
                theirs = paired_t(sample) if drop else exact_width(int(rng.binomial(effective, true)), effective)
                seen.add(mean_interval(sample, span, 0.95, kind), true, theirs)  # type: ignore[arg-type]
            cells.setdefault(name, []).append(cell(f"n = {n}, {draws} draws, rate {rate}, {alike:g} alike", seen))
    for name, found in cells.items():
        yield worst_cell(name, f"95% intervals of {name} that cover", found, times)


def populations(times: int) -> Iterator[Row]:
    """Averages of other populations: two groups of examples, and a few examples that fail as a whole."""
    rng, cells = np.random.default_rng(13), []
    kinds = {"a tenth at 0.4": (0.1, 0.4), "a third at 0.6": (0.33, 0.6), "2 in n fail": (None, 0.0)}
    for (name, (part, hard)), n, draws, easy in product(kinds.items(), (10, 50, 300), (1, 3, 10), (0.9, 0.97, 0.99)):
        share_of_hard = 2 / n if part is None else part
        true, seen = share_of_hard * hard + (1 - share_of_hard) * easy, Trials("Clopper and Pearson's at effective n")
        for _ in range(times):
            rate = np.where(rng.random(n) < share_of_hard, hard, easy)
            sample = rng.binomial(draws, rate) / draws
            spread = (
                true * (1 - true) / draws + (1 - 1 / draws) * share_of_hard * (1 - share_of_hard) * (easy - hard) ** 2
            )
            effective = max(1, round(n * true * (1 - true) / spread))
            seen.add(mean_interval(sample), true, exact_width(int(rng.binomial(effective, true)), effective))
        cells.append(cell(f"n = {n}, {draws} draws, {name}, others at {easy}", seen))
    yield worst_cell("populations", "95% intervals of averages that cover, examples of two groups", cells, times)


def clusters(times: int) -> Iterator[Row]:
    """Examples of a paragraph that stand and fall together, or not at all, and paragraphs of very different sizes."""
    rng, cells = np.random.default_rng(2), []
    for count, rate, equal, alike in product((10, 30, 100), (0.6, 0.9, 0.97), (True, False), (0.05, 0.4)):
        seen, many = Trials("cluster t"), 1 / alike - 1
        for _ in range(times):
            sizes = np.full(count, 20) if equal else rng.integers(1, 60, count)
            common = np.repeat(rng.beta(rate * many, (1 - rate) * many, count), sizes)
            x = (rng.random(len(common)) < common).astype(float)
            numbers = numbers_of(x, clusters=np.repeat(np.arange(count), sizes))
            rest = numbers.total - numbers.value * numbers.weight
            error = float((rest**2).sum() * count / (count - 1)) ** 0.5 / float(numbers.weight.sum())
            seen.add(mean_interval(numbers), rate, 2 * t_quantile(0.975, count - 1) * error)
        size = "20" if equal else "1 to 59"
        cells.append(cell(f"{count} clusters of {size}, rate {rate}, {alike:g} alike", seen))
    yield worst_cell("clusters", "95% intervals with --cluster that cover", cells, times)


def macro_f1(times: int) -> Iterator[Row]:
    """Few and many classes, of equal and of skewed sizes, which the system knows well or less well."""
    rng, scorer, task = np.random.default_rng(3), scorers.get("macro_f1")(), task_named("classify")
    cells: dict[int, list[Cell]] = {}
    for (classes, skew), n, known in product(
        ((5, 0.0), (5, 1.5), (20, 1.0), (150, 0.0), (150, 1.0)), (100, 300, 1000), (0.6, 0.8, 0.95)
    ):
        size = np.arange(1, classes + 1) ** -skew / (np.arange(1, classes + 1) ** -skew).sum()
        right = rng.beta(6 * known, 6 * (1 - known), classes)
        instead = (np.arange(classes) + rng.integers(1, classes, classes)) % classes
        said = size * right + np.bincount(instead, size * (1 - right), classes)
        true, seen = float((2 * size * right / (size + said)).mean()), Trials("the jackknife's t")
        for _ in range(times):
            gold = rng.choice(classes, n, p=size)
            output = np.where(rng.random(n) < right[gold], gold, instead[gold])
            rows = scorer.classes(output.astype(str).tolist(), gold.astype(str).tolist(), task)
            assert rows is not None
            codes = np.arange(n, dtype=float)[:, None]
            made = class_found(SetScore(scorer, rows, 1), codes, np.arange(n), np.ones(n))
            seen.add(made.interval((0.0, 1.0), 0.95, "share")[:2], true, paired_t(made.numbers.total))
        cells.setdefault(classes, []).append(cell(f"n = {n}, skew {skew:g}, accuracy about {known}", seen))
    for classes, found in cells.items():
        what = f"95% intervals of macro-F1 that cover, {classes} classes"
        yield worst_cell(f"macro-F1, {classes} classes", what, found, times)


def whole_way(times: int) -> Iterator[Row]:
    """The same through `measure_run`, from outputs to estimates."""
    rng = np.random.default_rng(4)
    cells = []
    for n, rate in ((10, 0.9), (30, 0.95), (100, 0.8)):
        world = World(rate, 2.0, 3, rng)
        true = {name: float(values.mean()) for name, values in world.numbers(400_000).items()}
        inside = {name: Trials("") for name in MEASURES if name != "noticed"}
        for _ in range(times):
            made = MadeRun(*world.answers(n), ["keyboard/a"] * 3)
            whole = measure_run(made, {"measure": {"scores": ["accuracy"], "stored": False, "sanity": False}}).whole
            for name in inside:
                found = getattr(whole, name)
                inside[name].add((found.low, found.high), true[name])
        cells += [cell(f"{name}, n = {n}, rate {rate}", seen) for name, seen in inside.items()]
    what = "95% intervals of all measures that cover, from outputs to estimates"
    yield worst_cell("measure_run", what, cells, times)


class Section(NamedTuple):
    """What gives rows for a number of simulations, and how many of them a short and a long table have."""

    rows: Callable[[int], Iterator[Row]]
    short: int
    long: int


SECTIONS: tuple[Section, ...] = (
    Section(drops, 400, 4000),
    Section(ceiling, 400, 4000),
    Section(wildcards, 400, 4000),
    Section(grades, 400, 4000),
    Section(populations, 400, 4000),
    Section(clusters, 400, 4000),
    Section(corpus, 200, 2000),
    Section(macro_f1, 120, 1000),
    Section(whole_way, 100, 1000),
    Section(stopped, 150, 4000),
    Section(comparisons, 30, 1000),
    Section(said, 24, 1000),
    Section(unequal_variances, 4000, 20_000),
    Section(people, 400, 2000),
    Section(random_answerer, 150, 1000),
    Section(power, 60, 1000),
    Section(traps, 60, 1000),
    Section(corrected, 60, 1000),
    Section(alpha, 100, 1000),
    Section(prompts, 40, 400),
    Section(slices, 400, 1000),
    Section(told_apart, 12, 100),
)


def rows() -> Iterator[Row]:
    yield from by_measure(200, (10, 100), (0.4, 0.9, 0.995))
    for section in SECTIONS:
        yield from section.rows(section.short)


def long_rows() -> Iterator[Row]:
    yield from by_measure(2000)
    for section in SECTIONS:
        yield from section.rows(section.long)


def main() -> None:
    parser = argparse.ArgumentParser(description="Simulations in which the truth is known.")
    parser.add_argument("sections", nargs="*", help=", ".join(section.rows.__name__ for section in SECTIONS))
    parser.add_argument("--times", type=int, help="simulations of a row; by default those of the short table")
    asked = parser.parse_args()
    if not asked.sections:
        show("coverage", by_measure(asked.times or 200, (10, 100), (0.4, 0.9, 0.995)))
    for section in SECTIONS:
        if not asked.sections or section.rows.__name__ in asked.sections:
            show("coverage", section.rows(asked.times or section.short))


if __name__ == "__main__":
    main()
