"""How often intervals cover what is true, in simulations where that is known. Short by default; --all is long.

A section is a function that gives rows; `SECTIONS` has them all, and a sibling module may hold one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from benchmarks import comparisons
from benchmarks._measure import Row, show
from benchmarks._said import said
from benchmarks._sampled import sampled
from unfazed.core.estimate import mean_interval, numbers_of
from unfazed.core.suite import Manifest
from unfazed.core.task import task_named
from unfazed.core.values import Example, Output, Variant
from unfazed.measure.definitions import MEASURES
from unfazed.measure.gathering import class_found
from unfazed.measure.measuring import measure_run
from unfazed.measure.order_weights import cvar_weights, worst_weights
from unfazed.measure.set_scores import SetScore
from unfazed.score import scorers

ASKED = 93.0  # per cent of 95 % intervals that should cover
SIZES, DRAWS, RATES = (10, 30, 100, 1000), (1, 3, 10), (0.4, 0.6, 0.8, 0.9, 0.95, 0.98, 0.995)
ALIKE = (0.3, 2.0, 50.0)  # how alike the variants of an example are: the fewer, the more
Array = npt.NDArray[np.float64]


class Cell(NamedTuple):
    """One setting, and the share of its intervals that covered."""

    share: float
    where: str


def row(name: str, what: str, cells: list[Cell], asked: float = ASKED) -> Row:
    """The worst cell of a section, which is what has to hold."""
    worst = min(cells)
    mean = 100 * sum(cell.share for cell in cells) / len(cells)
    note = f"worst of {len(cells)} settings: {worst.where}; {mean:.1f} % on average"
    return Row(name=name, what=what, unit="%", ours=round(100 * worst.share, 1), asked=asked, note=note)


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


def _covers(numbers: Array, true: float, drop: bool) -> float:
    """The share of samples, one a row, whose interval covers."""
    span = (-1.0, 1.0) if drop else (0.0, 1.0)
    inside = 0
    for sample in numbers:
        low, high = mean_interval(sample, span, 0.95, "difference" if drop else "share")
        inside += low is not None and high is not None and low <= true + 1e-12 and true - 1e-12 <= high
    return inside / len(numbers)


def by_measure(
    times: int, sizes: tuple[int, ...] = SIZES, rates: tuple[float, ...] = RATES, asked: float = ASKED
) -> Iterator[Row]:
    """Every measure over sizes, draws, rates, and how alike an example's variants are."""
    rng = np.random.default_rng(1)
    cells: dict[str, list[Cell]] = {}
    for alike, n, draws, rate in product(ALIKE, sizes, DRAWS, rates):
        world = World(rate, alike, draws, rng)
        true = {name: float(values.mean()) for name, values in world.numbers(400_000).items()}
        for name, values in world.numbers(times, n).items():
            share = _covers(values, true[name], name == "drop")
            cells.setdefault(name, []).append(Cell(share, f"n = {n}, {draws} draws, rate {rate}, {alike:g} alike"))
    for name, found in cells.items():
        yield row(name, f"95 % intervals of {name} that cover", found, asked)


def clusters(times: int) -> Iterator[Row]:
    """Twenty examples a paragraph that stand and fall together, and paragraphs of very different sizes."""
    rng = np.random.default_rng(2)
    cells = []
    for count, rate, equal in product((10, 30, 100), (0.6, 0.9, 0.97), (True, False)):
        inside = 0
        for _ in range(times):
            sizes = np.full(count, 20) if equal else rng.integers(1, 60, count)
            common = np.repeat(rng.beta(rate * 1.5, (1 - rate) * 1.5, count), sizes)
            x = (rng.random(len(common)) < common).astype(float)
            low, high = mean_interval(numbers_of(x, clusters=np.repeat(np.arange(count), sizes)))
            inside += low is not None and high is not None and low <= rate <= high
        cells.append(Cell(inside / times, f"{count} clusters of {'20' if equal else '1 to 59'}, rate {rate}"))
    yield row("clusters", "95 % intervals with --cluster that cover", cells)


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
        true = float((2 * size * right / (size + said)).mean())
        inside = 0
        for _ in range(times):
            gold = rng.choice(classes, n, p=size)
            output = np.where(rng.random(n) < right[gold], gold, instead[gold])
            rows = scorer.classes(output.astype(str).tolist(), gold.astype(str).tolist(), task)
            assert rows is not None
            codes = np.arange(n, dtype=float)[:, None]
            made = class_found(SetScore(scorer, rows, 1), codes, np.arange(n), np.ones(n))
            low, high = made.interval((0.0, 1.0), 0.95, "share")
            inside += low is not None and high is not None and low <= true <= high
        cells.setdefault(classes, []).append(Cell(inside / times, f"n = {n}, skew {skew:g}, accuracy about {known}"))
    for classes, found in cells.items():
        yield row(f"macro-F1, {classes} classes", f"95 % intervals of macro-F1 that cover, {classes} classes", found)


class SimulatedRun:
    """A run in memory of a simulated world, so that a section can go through all of `measure_run`."""

    system = identity = "simulated"

    def __init__(self, world: World, n: int) -> None:
        manifest = Manifest(task="classify", language="en")
        self.suite: Any = SimpleNamespace(id="sim", signed="sim", task=task_named("classify"), manifest=manifest)
        self._clean, self._varied = world.answers(n)

    def items(self) -> Iterator[tuple[Example, Output, list[tuple[Variant, Output]]]]:
        for i, (clean, varied) in enumerate(zip(self._clean.tolist(), self._varied.tolist(), strict=True)):
            made = [
                (Variant(i, str(i), d, "keyboard/a", "keyboard", "same", {"text": f"{d} {i}"}, "a", ""), _said(right))
                for d, right in enumerate(varied)
            ]
            yield Example(i, str(i), {"text": str(i)}, "a"), _said(clean), made


def _said(right: bool) -> Output:
    return Output("a" if right else "b")


def whole_way(times: int) -> Iterator[Row]:
    """The same through `measure_run`, from outputs to estimates."""
    rng = np.random.default_rng(4)
    cells = []
    for n, rate in ((10, 0.9), (30, 0.95), (100, 0.8)):
        world = World(rate, 2.0, 3, rng)
        true = {name: float(values.mean()) for name, values in world.numbers(400_000).items()}
        inside = dict.fromkeys((m for m in MEASURES if m != "noticed"), 0)
        for _ in range(times):
            whole = measure_run(SimulatedRun(world, n), ["accuracy"], stored=False, sanity=False).whole
            for name in inside:
                found = getattr(whole, name)
                inside[name] += found.low <= true[name] <= found.high
        cells += [Cell(count / times, f"{name}, n = {n}, rate {rate}") for name, count in inside.items()]
    yield row("measure_run", "95 % intervals of all measures that cover, from outputs to estimates", cells, 90.0)


def told(simulated: list[dict[str, object]]) -> Iterator[Row]:
    """The rows of a sibling: what was simulated, how often it was found, and how often it should be."""
    for one in simulated:
        name, share = str(one["simulated"]), one["found"]
        assert isinstance(share, float)
        note = f"asked: {one['asked']}" if one.get("asked") else ""
        yield Row(name=name, what=name, unit="%", ours=round(100 * share, 1), note=note)


Section = Callable[[bool], Iterator[Row]]

SECTIONS: dict[str, Section] = {
    "measures": lambda long: by_measure(2000) if long else by_measure(200, (10, 100), (0.4, 0.9, 0.995), 90.0),
    "clusters": lambda long: clusters(4000 if long else 500),
    "macro-F1": lambda long: macro_f1(1000 if long else 150),
    "compare": lambda long: iter(comparisons.rows(1000 if long else 60)),
    "said": lambda long: told(said(500 if long else 20)),
    "sampled": lambda long: told(sampled(500 if long else 20)),
    "measure_run": lambda long: whole_way(1000 if long else 150),
}


def rows() -> Iterator[Row]:
    for section in SECTIONS.values():
        yield from section(False)


def long_rows() -> Iterator[Row]:
    for section in SECTIONS.values():
        yield from section(True)


def main() -> None:
    show("coverage", rows())


if __name__ == "__main__":
    main()
