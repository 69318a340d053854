"""Simulations of judges that people correct, agreement among people, prompts, slices, and the judge of `realism`."""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import product
from types import SimpleNamespace
from typing import Any

import numpy as np

from benchmarks._measure import Row
from benchmarks._simulated import Trials, cell, share, worst_cell
from unswayed.lab.realism.judge import RealismJudge
from unswayed.measure.spread import PromptNotes, measure_spread
from unswayed.stats import prediction_powered, t_quantile
from unswayed.stats.agreement import krippendorff_alpha
from unswayed.stats.multiple_comparisons import compare_groups

JUDGES = {"good": (0.98, 0.9), "kind": (0.99, 0.6), "even": (0.85, 0.85), "guessing": (0.5, 0.5), "perfect": (1.0, 1.0)}


def corrected(times: int) -> Iterator[Row]:
    """Prediction-powered means: judges that err in several ways, few and more labels, clusters or none."""
    rng, cells, alone = np.random.default_rng(36), [], []
    for (name, (sees, rejects)), labels, rate, size in product(JUDGES.items(), (30, 100), (0.5, 0.8, 0.95), (1, 5)):
        seen, judge = Trials("of people's labels alone"), Trials("of people's labels alone")
        for _ in range(times):
            units = 1000 // size
            own = rng.beta(rate * 2, (1 - rate) * 2, units) if size > 1 else np.full(units, rate)
            of = np.repeat(np.arange(units), size)
            people = (rng.random(1000) < own[of]).astype(float)
            right = np.where(people == 1, rng.random(1000) < sees, rng.random(1000) < rejects)
            verdicts = np.where(right, people, 1 - people)
            order = rng.permutation(1000)
            some, rest = order[:labels], order[labels:]
            names = of.astype(str).tolist() if size > 1 else None
            found = prediction_powered(
                verdicts[rest], verdicts[some], people[some],
                clusters=names and [names[i] for i in rest], clusters_of_labelled=names and [names[i] for i in some],
            )  # fmt: skip
            of_people = (found.people.high or 0.0) - (found.people.low or 0.0)
            seen.add((found.corrected.low, found.corrected.high), rate, of_people)
            judge.add((found.judge.low, found.judge.high), rate, of_people)
        where = f"{name} judge, {labels} labels of 1,000, rate {rate}" + (f", clusters of {size}" if size > 1 else "")
        cells.append(cell(where, seen))
        alone.append(cell(where, judge))
    row = worst_cell("judge corrected", "95% intervals of a judge's score corrected by people that cover", cells, times)
    yield row
    lowest = min(alone, key=lambda one: one.share)
    note = f"at worst: {lowest.where}"
    yield share("judge alone", "the same of the judge alone", lowest.share, times, note=note, seen=lowest.seen)
    ratio = float(np.mean([one.seen.ratio for one in cells if one.seen.ratio is not None]))
    what = "mean width, of that of people's labels alone"
    yield share("judge corrected: width", what, ratio, times * len(cells), seen=min(cells, key=lambda c: c.share).seen)


def alpha(times: int) -> Iterator[Row]:
    """Krippendorff's alpha with few items, rare answers and few errors."""
    rng, cells = np.random.default_rng(37), []

    def ratings(n: int, people: int, rare: float, error: float, kinds: int) -> dict[str, dict[str, int]]:
        shares = np.array([1 - rare] + [rare / (kinds - 1)] * (kinds - 1))
        true, other = rng.choice(kinds, n, p=shares), rng.choice(kinds, (n, people), p=shares)
        said = np.where(rng.random((n, people)) < error, other, true[:, None])
        return {str(i): {str(j): int(x) for j, x in enumerate(row)} for i, row in enumerate(said)}

    worlds = ((2, 0.1, 0.1, 2), (2, 0.1, 0.4, 2), (3, 0.3, 0.3, 4), (3, 0.5, 0.02, 3), (5, 0.5, 0.9, 2))
    for world in worlds:
        # two people agree where neither errs, or by chance; alpha is the share of pairs in which neither does
        true = (1 - world[2]) ** 2
        for n in (10, 20, 50, 200):
            # of as many items, Student's interval of alpha in samples drawn anew
            found = [krippendorff_alpha(ratings(n, *world)) for _ in range(times)]
            values = np.array([one.value for one in found if one.value is not None])
            seen = Trials("2 t standard deviations of alpha itself")
            for one in found:
                if one.low is not None and one.high is not None:
                    wide = 2 * t_quantile(0.975, n - 1) * float(values.std(ddof=1)) if len(values) > 1 else 0.0
                    seen.add((one.low, one.high), true, wide, one.low > 0)
            where = f"{n} items, {world[0]} people, other answers {world[1]}, errors {world[2]}"
            cells.append(cell(where, seen))
    yield worst_cell("alpha", "95% intervals of Krippendorff's alpha that cover", cells, times)


def prompts(times: int) -> Iterator[Row]:
    """The spread over prompts that were asked with every example, on examples like these."""
    rng, cells, false = np.random.default_rng(38), [], 0
    nodes, weights = np.polynomial.hermite_e.hermegauss(60)
    for count, examples, spread in ((20, 100, 0.0), (20, 100, 0.5), (50, 200, 0.3)):
        names = ("5%", "50%", "95%", "range", "own")
        inside = {name: Trials("the binomial error's, 4 √(p (1 - p) / n)") for name in names}
        for seed in range(times):
            level, hard = 1 + rng.normal(0, spread, count + 1), rng.normal(0, 1.5, examples)
            right = rng.random((count + 1, examples)) < 1 / (1 + np.exp(-level[:, None] - hard))
            true = (1 / (1 + np.exp(-level[:, None] - 1.5 * nodes))) @ weights / weights.sum()
            draw, example = (grid.ravel() for grid in np.indices((count, examples)))
            scored = SimpleNamespace(varied=right[:-1].astype(float).ravel(), clean=right[-1].astype(float))
            part = SimpleNamespace(first=0, operators=["p"], operator=np.zeros(len(draw), dtype=np.int64),
                                   example=example, draw=draw, scored={"s": scored})  # fmt: skip
            table: Any = SimpleNamespace(kinds=[(0, "p", "same", "prompt")], parts=lambda part=part: [part],
                                         sources=lambda many=count * examples: {"p": many})  # fmt: skip
            scorer: Any = SimpleNamespace(linear=True, name="s")
            found = measure_spread(table, scorer, PromptNotes(), 0.95, seed, lambda a, b: f"{a}|{b}")["p"]
            low, middle, high = np.quantile(true[:-1], (0.05, 0.5, 0.95))
            truths = {"5%": low, "50%": middle, "95%": high, "range": high - low, "own": true[-1]}
            for name, value in truths.items():
                one = {**found.quantiles, "range": found.range, "own": found.own}[name]
                wide = 4 * (max(value * (1 - value), 0.01) / examples) ** 0.5
                inside[name].add((one.low, one.high), value, wide, found.p <= 0.05)
            false += spread == 0 and found.p <= 0.05
        cells += [cell(f"{name}, {count} prompts × {examples}, sd {spread}", seen) for name, seen in inside.items()]
    yield worst_cell("prompts", "95% intervals of the spread over prompts that cover, all asked", cells, times)
    yield share("prompts: range", "equally good prompts: the range is said to be no chance", false / times, times,
                most=0.05)  # fmt: skip


def slices(times: int) -> Iterator[Row]:
    """Twenty slices of 25 examples: none differs, or one loses 15 points more."""
    rng, code, found = np.random.default_rng(39), np.repeat(np.arange(20), 25), {False: 0, True: 0}
    for seed, hurt in product(range(times), (False, True)):
        rates = np.where((code == 19) & hurt, 0.35, 0.05)
        lost = ((rng.random((500, 3)) < 0.5) & (rng.random(500) < rates)[:, None]).mean(axis=1)
        p = compare_groups(lost, np.ones(500), code, 20, 1.0, 0.95, seed).p
        found[hurt] += bool((p[19] if hurt else p.min()) <= 0.05)
    yield share("slices: none", "20 slices of 25, none differs: any is found", found[False] / times, times, most=0.06)
    yield share("slices: one", "the same, one loses 15 points more: it is found (power)", found[True] / times, times)


def told_apart(times: int) -> Iterator[Row]:
    """The AUC of `realism` for a simulation that is just as people are."""
    text = "the quick brown fox jumps over lazy dog while people type letters on keyboards and make slips"
    vocabulary = text.split()

    def typed(text: str, rng: random.Random) -> str:
        return " ".join(word[:-1] if rng.random() < 0.1 and len(word) > 3 else word for word in text.split())

    seen = Trials("Hanley and McNeil's")
    for seed in range(times):
        rng = random.Random(seed)
        clean = [" ".join(rng.choices(vocabulary, k=9)) + f" {i}" for i in range(120)]
        judge = RealismJudge(clean, [[typed(text, rng) for text in clean] for _ in range(2)], seed, "en")
        found = judge.against_people([[typed(text, rng) for text in clean]])
        hanley = 2 * 1.96 * ((0.25 + 2 * 119 * (1 / 3 - 0.25)) / 120**2) ** 0.5  # of 120 texts each, at 0.5
        seen.add((found.low, found.high), 0.5, hanley, not (found.low or 0.0) <= 0.5 <= (found.high or 1.0))
    what = "95% intervals of realism's AUC that cover 0.5 where nothing differs"
    yield share("AUC", what, seen.coverage, times, least=0.93, seen=seen)
