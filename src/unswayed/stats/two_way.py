"""A two-way model of rows and columns, such as prompts and examples: it fills in the cells that were not seen.

A score is a row's level plus a column's, and chance. Scores that are all 0 or 1 are the sign of such a sum (probit).
Gibbs sampling draws from the posterior of levels and variances, and so of the whole table.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from unswayed.stats.normal import normal_cdf, normal_quantile
from unswayed.stats.statistics import Array, Ints

_WARM_UP, _KEPT = 200, 800
_SCALE = 0.5  # of the half-Cauchy priors of the levels' standard deviations, in standard deviations of chance


@dataclass(frozen=True)
class Cells:
    """The scores that were seen, with their rows and columns. Of `shape`, the last row stands apart: it has a level of
    its own, which tells nothing about the others'."""

    row: Ints
    column: Ints
    value: Array
    shape: tuple[int, int]

    @property
    def binary(self) -> bool:
        return bool(np.isin(self.value, (0.0, 1.0)).all())


class _Levels:
    """The levels of rows or of columns: `size` times `units`, whose variance is free, so that both mix fast."""

    def __init__(self, at: Ints, many: int, apart: bool) -> None:
        self.at, self.apart = at, apart
        self.counts = np.bincount(at, minlength=many).astype(np.float64)
        self.size, self.variance = _SCALE, 1.0
        self.units: Array = np.zeros(many)

    @property
    def value(self) -> Array:
        levels: Array = self.size * self.units
        return levels

    def draw(self, rest: Array, chance: float, rng: np.random.Generator) -> None:
        """New levels, given what the other parts of the model leave of each cell, and the variance of chance."""
        total = np.bincount(self.at, weights=rest, minlength=len(self.units))
        prior = np.full(len(self.units), 1 / self.variance)
        if self.apart:
            prior[-1] = 0.01
        precision = prior + self.size**2 * self.counts / chance
        self.units = self.size * total / chance / precision + rng.standard_normal(len(prior)) / np.sqrt(precision)
        shared = self.units[: len(self.units) - self.apart]
        self.variance = (1 + float(shared @ shared)) / 2 / float(rng.gamma((1 + len(shared)) / 2))
        precision_of_size = 1 / _SCALE**2 + float(self.counts @ self.units**2) / chance
        middle = float(total @ self.units) / chance / precision_of_size
        self.size = middle + float(rng.standard_normal()) / precision_of_size**0.5


def row_means(cells: Cells, seed: int = 0) -> Array:
    """Draws from the posterior of the means of all rows over all columns; cells that were seen stay.

    If every cell was seen, all draws are the same.
    """
    if len(cells.value) == cells.shape[0] * cells.shape[1]:
        return np.bincount(cells.row, weights=cells.value)[None, :] / cells.shape[1]
    return np.array(list(_drawn(cells, np.random.Generator(np.random.PCG64(seed)))))


def _drawn(cells: Cells, rng: np.random.Generator) -> Iterator[Array]:
    centre, spread = (0.0, 1.0) if cells.binary else (float(cells.value.mean()), float(cells.value.std()) or 1.0)
    by_row, by_column = _Levels(cells.row, cells.shape[0], True), _Levels(cells.column, cells.shape[1], False)
    seen = np.zeros(cells.shape, dtype=np.bool_)
    seen[cells.row, cells.column] = True
    known = np.bincount(cells.row, weights=cells.value, minlength=cells.shape[0])
    score: Array = (cells.value - centre) / spread
    sign, middle, chance = 2 * cells.value - 1, 0.0, 1.0
    for turn in range(_WARM_UP + _KEPT):
        level = middle + by_row.value[cells.row] + by_column.value[cells.column]
        if cells.binary:
            # normal variables around the levels, each drawn from the side of zero on which its score is
            means = sign * level
            score = (means - normal_quantile(rng.random(len(means)) * normal_cdf(means))) * sign
        for levels in (by_row, by_column):
            own = levels.value[levels.at]
            levels.draw(score - level + own, chance, rng)
            level = level - own + levels.value[levels.at]
        rest = score - level + middle
        new = float(rest.mean()) + (chance / len(rest)) ** 0.5 * float(rng.standard_normal())
        level, middle = level - middle + new, new
        if not cells.binary:
            chance = max(float(((score - level) ** 2).sum()), 1e-9) / 2 / float(rng.gamma(len(score) / 2))
        if turn >= _WARM_UP:
            whole = middle + by_row.value[:, None] + by_column.value + chance**0.5 * rng.standard_normal(cells.shape)
            made = (whole > 0).astype(np.float64) if cells.binary else whole * spread + centre
            yield (known + np.where(seen, 0.0, made).sum(axis=1)) / cells.shape[1]
