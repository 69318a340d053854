"""Scores of whole sets, of sentences drawn one by one or in documents: entity F1, BLEU and chrF from their counts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product

import numpy as np

from benchmarks._measure import Row
from benchmarks._simulated import Cell, Trials, cell, worst_cell
from unswayed.score import scorers
from unswayed.stats import Array, Ints, Numbers, Statistic, mean_interval, pseudo_of, summed, t_quantile

Made = Callable[[np.random.Generator, Array], Array]  # a row of counts for each sentence, from how good it is


class Aggregated(Statistic):
    """What a scorer makes of the sums of its rows."""

    def __init__(self, name: str) -> None:
        self.scorer = scorers.get(name)()

    def __call__(self, sums: Array, n: int) -> Array:
        return self.scorer.aggregate(sums)


def entities(rng: np.random.Generator, quality: Array) -> Array:
    gold = rng.poisson(2.0, len(quality))
    right, more = rng.binomial(gold, quality), rng.poisson(1.4 * (1 - quality))
    return np.column_stack([right, right + more, gold]).astype(float)


def words(rng: np.random.Generator, quality: Array) -> Array:
    """BLEU's counts: longer n-grams are right less often."""
    length = np.clip(rng.lognormal(2.8, 0.5, len(quality)).astype(int), 4, 80)
    said = np.maximum(1, (length * rng.normal(1, 0.1, len(quality))).astype(int))
    total = [np.maximum(said - k, 0) for k in range(4)]
    right = [rng.binomial(many, quality ** (1 + k / 2)) for k, many in enumerate(total)]
    return np.column_stack([said, length, *right, *total]).astype(float)


def letters(rng: np.random.Generator, quality: Array) -> Array:
    """chrF's counts."""
    length = np.clip(rng.lognormal(4.3, 0.5, len(quality)).astype(int), 10, 400)
    said = np.maximum(6, (length * rng.normal(1, 0.1, len(quality))).astype(int))
    columns: list[Ints] = []
    for k in range(6):
        one, other = np.maximum(said - k, 1), np.maximum(length - k, 1)
        columns += [one, other, rng.binomial(np.minimum(one, other), quality ** (1 + 0.4 * k))]
    return np.column_stack(columns).astype(float)


SETS: dict[str, tuple[Made, float]] = {"entity_f1": (entities, 1.0), "bleu": (words, 100.0), "chrf": (letters, 100.0)}


def drawn(rng: np.random.Generator, made: Made, n: int, rate: float, documents: bool) -> Array:
    """The rows of sentences, or the sums of documents of 1 to 11 sentences that are alike."""
    if not documents:
        return made(rng, rng.beta(9 * rate, 9 * (1 - rate), n))
    code = np.repeat(np.arange(n), rng.integers(1, 12, n))
    level = np.clip(rng.beta(12 * rate, 12 * (1 - rate), n), 0.02, 0.98)[code]
    return summed(made(rng, rng.beta(9 * level, 9 * (1 - level))), code)


def corpus(times: int) -> Iterator[Row]:
    """Intervals by the jackknife, beside Student's of the same values, which do not cover near the ceiling."""
    for name, (made, top) in SETS.items():
        rng, statistic = np.random.default_rng(40), Aggregated(name)
        cells: dict[bool, list[Cell]] = {False: [], True: []}
        for rate, n, documents in product((0.7, 0.9), (10, 30, 100), (False, True)):
            true = float(statistic(drawn(rng, made, 20_000, rate, documents).sum(axis=0)[None], 1)[0])
            seen = Trials("the jackknife's t")
            for _ in range(times):
                rows = drawn(rng, made, n, rate, documents)
                value = float(statistic(rows.sum(axis=0)[None], n)[0])
                pseudo = pseudo_of(rows, np.ones(n), statistic)
                low, high = mean_interval(Numbers(pseudo, np.ones(n), np.ones(n), documents), (0.0, top))
                bias = value - float(pseudo.mean())
                ends = min(value, (low or 0.0) + min(0.0, bias)), max(value, high or 0.0)
                wide = 2 * t_quantile(0.975, n - 1) * float(pseudo.std(ddof=1)) / n**0.5
                seen.add(ends, true, wide, ends[0] > true - top / 10)
            cells[documents].append(cell(f"n = {n}, quality {rate}", seen))
        for documents, found in cells.items():
            what = f"95% intervals of {name}{' over documents' if documents else ''} that cover"
            yield worst_cell(f"{name}{', clusters' if documents else ''}", what, found, times)
