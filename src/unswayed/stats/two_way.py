"""A two-way model of rows and columns, such as prompts and examples: it fills in the cells that were not seen.

A score is a row's level plus a column's, and chance. Scores that are all 0 or 1 are the sign of such a sum (probit).
Gibbs sampling draws from the posterior of levels and variances, and so of the whole table. It needs the normal CDF and
quantile of arrays: numpy has neither, and scipy is no dependency.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unswayed.stats.resample import Array, Ints

_WARM_UP_TURNS, _KEPT_TURNS = 200, 800
_SCALE = 0.5  # of the half-Cauchy priors of the levels' standard deviations, in standard deviations of chance
# Coefficients of the complementary error function's Chebyshev fit (Numerical Recipes, erfcc), lowest power first.
_TAIL = (-1.26551223, 1.00002368, 0.37409196, 0.09678418, -0.18628806, 0.27886807, -1.13520398, 1.48851587,
         -0.82215223, 0.17087277)  # fmt: skip
# Numerators and denominators of AS 241 (PPND7): around the middle, in the tails, and far out in them.
_NEAR = ((3.3871327179, 50.434271938, 159.29113202, 59.109374720), (1.0, 17.895169469, 78.757757664, 67.187563600))
_FAR = ((1.4234372777, 2.7568153900, 1.3067284816, 0.17023821103), (1.0, 0.73700164250, 0.12021132975))
_FARTHEST = ((6.6579051150, 3.0812263860, 0.42868294337, 0.017337203997), (1.0, 0.24197894225, 0.012258202635))


@dataclass(frozen=True)
class SeenCells:
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


def row_means(cells: SeenCells, seed: int = 0) -> Array:
    """Draws from the posterior of the means of all rows over all columns; cells that were seen stay.

    If every cell was seen, all draws are the same.
    """
    if len(cells.value) == cells.shape[0] * cells.shape[1]:
        return np.bincount(cells.row, weights=cells.value)[None, :] / cells.shape[1]
    rng, means = np.random.Generator(np.random.PCG64(seed)), []
    centre, spread = (0.0, 1.0) if cells.binary else (float(cells.value.mean()), float(cells.value.std()) or 1.0)
    by_row, by_column = _Levels(cells.row, cells.shape[0], True), _Levels(cells.column, cells.shape[1], False)
    seen = np.zeros(cells.shape, dtype=np.bool_)
    seen[cells.row, cells.column] = True
    known = np.bincount(cells.row, weights=cells.value, minlength=cells.shape[0])
    score: Array = (cells.value - centre) / spread
    sign, middle, chance = 2 * cells.value - 1, 0.0, 1.0
    for turn in range(_WARM_UP_TURNS + _KEPT_TURNS):
        level = middle + by_row.value[cells.row] + by_column.value[cells.column]
        if cells.binary:
            # normal variables around the levels, each drawn from the side of zero on which its score is
            middles = sign * level
            score = (middles - normal_quantile(rng.random(len(middles)) * normal_cdf(middles))) * sign
        for levels in (by_row, by_column):
            own = levels.value[levels.at]
            levels.draw(score - level + own, chance, rng)
            level = level - own + levels.value[levels.at]
        rest = score - level + middle
        new = float(rest.mean()) + (chance / len(rest)) ** 0.5 * float(rng.standard_normal())
        level, middle = level - middle + new, new
        if not cells.binary:
            chance = max(float(((score - level) ** 2).sum()), 1e-9) / 2 / float(rng.gamma(len(score) / 2))
        if turn >= _WARM_UP_TURNS:
            whole = middle + by_row.value[:, None] + by_column.value + chance**0.5 * rng.standard_normal(cells.shape)
            made = (whole > 0).astype(np.float64) if cells.binary else whole * spread + centre
            means.append((known + np.where(seen, 0.0, made).sum(axis=1)) / cells.shape[1])
    return np.array(means)


def normal_cdf(x: Array) -> Array:
    """The share of a standard normal below each number, by a Chebyshev fit: the lower tail's relative error is 2e-7."""
    far = np.abs(x) * np.sqrt(0.5)
    t = 1 / (1 + far / 2)
    tail: Array = t * np.exp(-(far**2) + _polynomial(t, _TAIL)) / 2
    return np.where(x < 0, tail, 1 - tail)


def normal_quantile(share: Array) -> Array:
    """The number below which this share of a standard normal lies, to 3e-6: Wichura's algorithm AS 241."""
    centred = share - 0.5
    r = 0.180625 - centred**2
    near = centred * _polynomial(r, _NEAR[0]) / _polynomial(r, _NEAR[1])
    far = np.sqrt(-np.log(np.clip(np.minimum(share, 1 - share), 1e-300, 0.5)))
    a, b = far - 1.6, far - 5
    tail = np.where(far <= 5, _polynomial(a, _FAR[0]) / _polynomial(a, _FAR[1]),
                    _polynomial(b, _FARTHEST[0]) / _polynomial(b, _FARTHEST[1]))  # fmt: skip
    return np.where(np.abs(centred) <= 0.425, near, np.copysign(tail, centred))


def _polynomial(x: Array, coefficients: tuple[float, ...]) -> Array:
    total: Array = np.full_like(x, coefficients[-1])
    for c in coefficients[-2::-1]:
        total = total * x + c
    return total
