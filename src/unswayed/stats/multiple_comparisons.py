"""Several means at once: simultaneous intervals and corrections (max-T), and which mean differs from the rest.

The sets are paired (operators, which vary the same examples) or groups (slices, of which an example is in one)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

from unswayed.stats.resample import Array, Ints
from unswayed.stats.sign_flip import sign_flip_p
from unswayed.stats.significance import t_p_value

_BLOCK = 2048  # rows that are summed together, in however many parts they come, so that sums have the same bits
_MAX_DRAWN = 1 << 21  # random numbers held at once
_JITTER = 1e-9  # keeps the factor of a singular matrix (two equal means) the same on every processor
_STILL = 1e-7  # of the size of the numbers: less is rounding
_NO_WIDTH = 1e-12
_NORMAL = NormalDist()


class JointMeans:
    """`width` means over the same examples. A mean is the sum of its numbers over that of their weights."""

    def __init__(self, width: int) -> None:
        self._width = width
        self._waiting: list[Array] = []
        self._clusters: dict[int, Array] = {}
        self._sums = np.zeros(2 * width)
        self._products = np.zeros((2 * width, 2 * width))

    def add(self, numbers: Array, weights: Array, clusters: Ints | None = None) -> None:
        """A row for each example, in the order of the data, with weight 0 where it has no number.

        Examples of one cluster are summed; `clusters` are given in every call or in none.
        """
        rows: Array = np.hstack([numbers, weights])
        if clusters is None:
            self._waiting.append(rows)
            if sum(map(len, self._waiting)) >= _BLOCK:
                self._fold(_BLOCK)
            return
        for cluster in np.unique(clusters).tolist():
            total = rows[clusters == cluster].sum(axis=0)
            self._clusters[cluster] = self._clusters[cluster] + total if cluster in self._clusters else total

    def _fold(self, least: int) -> None:
        rows = np.vstack(self._waiting) if self._waiting else np.zeros((0, 2 * self._width))
        while len(rows) >= least and len(rows):
            block, rows = rows[:_BLOCK], rows[_BLOCK:]
            self._sums += block.sum(axis=0)
            self._products += block.T @ block
        self._waiting = [rows]

    def correlation(self, chosen: Sequence[int] | None = None) -> Array:
        """That of the means, or of the chosen ones: 0 where two have nothing in common, or one does not vary."""
        self._waiting += self._clusters.values()
        self._clusters = {}
        self._fold(1)
        w = self._width
        values, mixed, counts = self._products[:w, :w], self._products[:w, w:], self._products[w:, w:]
        mean = self._sums[:w] / np.maximum(self._sums[w:], 1)
        # a row with the sum v of c numbers adds v - c · mean to what its mean varies by
        varies = values - mixed * mean - mixed.T * mean[:, None] + counts * np.outer(mean, mean)
        spread = np.sqrt(np.maximum(np.diag(varies), 0.0))
        found = _correlation(varies, spread, spread <= _STILL * (1 + np.sqrt(np.diag(values))))
        return found if chosen is None else found[np.ix_(chosen, chosen)]


def _correlation(covariance: Array, spread: Array, still: npt.NDArray[np.bool_]) -> Array:
    """The correlation that a covariance gives; 0 for what stands still."""
    scale = np.where(still, 0.0, 1 / np.where(still, 1.0, spread))
    found: Array = np.clip(covariance * np.outer(scale, scale), -1.0, 1.0)
    np.fill_diagonal(found, 1.0)
    return found


def draw_largest(correlation: Array, times: int, seed: int) -> Array:
    """Draws of the largest |z| among means that do not differ from zero, in ascending order."""
    width = len(correlation)
    factor = np.linalg.cholesky((correlation + _JITTER * np.eye(width)) / (1 + _JITTER)) if width else correlation
    rng = np.random.Generator(np.random.PCG64(seed))
    found = np.zeros(times)
    step = max(1, _MAX_DRAWN // max(width, 1))
    for at in range(0, times if width else 0, step):
        drawn = rng.standard_normal((min(step, times - at), width))
        found[at : at + step] = np.abs(drawn @ factor.T).max(axis=1)
    return np.sort(found)


def max_t_p_values(p_values: Sequence[float], drawn: Array) -> list[float]:
    """How often the largest of all would be as large as each, if none differed; never above Bonferroni's."""
    found = []
    for p in p_values:
        z = -_NORMAL.inv_cdf(p / 2) if p > 0 else np.inf
        as_large = len(drawn) - int(np.searchsorted(drawn, z - _NO_WIDTH))
        found.append(max(p, min(1.0, p * len(p_values), (1 + as_large) / (1 + len(drawn)))))
    return found


def max_t_level(level: float, drawn: Array, width: int) -> float:
    """The level at which `width` intervals, each made by itself, cover all together with chance `level`.

    An interval at this level excludes zero where `max_t_p_values` gives at most 1 - level.
    """
    one = 1 - (1 - level) / max(width, 1)
    beyond = int((1 - level) * (1 + len(drawn)) + _NO_WIDTH) - 1  # draws that may be as large
    if 0 <= beyond < len(drawn):
        one = min(one, 2 * _NORMAL.cdf(float(drawn[-1 - beyond])) - 1)
    return max(one, level)


_DRAWS = 4_000  # draws of the largest of all
_DEALS = 1_000  # in a test of groups
_MAX_DEALT = 40_000_000  # numbers that are dealt anew in a test of groups
_MIN_DEALS = 400  # however many examples there are
_STEPS = 200  # in which the variance between sets is looked for


@dataclass(frozen=True)
class SetComparisons:
    """For each set: its mean, that of the others, the corrected p-value of their difference, and its shrunk mean.

    `pairs` has the p-value of the difference of each two, and `together` the level at which the sets' own intervals
    cover all of them with the chance that was asked for. What can't be tested has p = 1.
    """

    value: Array
    rest: Array
    p: Array
    shrunk: Array
    pairs: Array
    together: float

    def most(self, alpha: float) -> int | None:
        """The set whose mean is above the rest's and above each other one's; None if none surely is."""
        above = [int(j) for j in np.flatnonzero((self.p <= alpha) & (self.value > self.rest))]
        top = max(above, key=lambda j: float(self.value[j]), default=None)
        if top is None:
            return None
        others = [k for k in range(len(self.value)) if k != top]
        sure = all(self.pairs[top, k] * len(others) <= alpha and self.value[top] > self.value[k] for k in others)
        return top if sure else None


def compare_paired_sets(total: Array, weight: Array, half: float, level: float, seed: int = 0) -> SetComparisons:
    """Sets that share units: a row for each unit and a column for each set, of weight 0 where it has none.

    `half` is half of what a number can span: each error counts one unit that lies as far off, so that units that all
    agree are not certain.
    """
    n, width = total.shape
    units, sums = (weight > 0).sum(axis=0), weight.sum(axis=0)
    value: Array = total.sum(axis=0) / np.maximum(sums, _NO_WIDTH)
    moves = value * weight
    np.subtract(total, moves, out=moves)  # in place, since there may be millions of units
    moves /= np.maximum(sums, _NO_WIDTH)
    covariance = moves.T @ moves * (n / max(n - 1, 1))
    floor = np.diag((half / np.maximum(units, 1)) ** 2)
    contrast = np.full((width, width), -1 / max(width - 1, 1))
    np.fill_diagonal(contrast, 1.0)
    difference, apart = contrast @ value, value - float(sums @ value) / max(float(sums.sum()), _NO_WIDTH)
    # what each unit gives to the difference of a set from the rest: with another sign as likely, if all sets are alike
    single = [sign_flip_p(moves @ row + weight @ (row * apart / np.maximum(sums, _NO_WIDTH))) for row in contrast]
    correlations = []
    for varies in (contrast @ covariance @ contrast.T, covariance):
        deviation = np.sqrt(np.maximum(np.diag(varies), 0.0))
        correlations.append(_correlation(varies, deviation, deviation <= _NO_WIDTH))
    drawn, every = (draw_largest(correlation, _DRAWS, seed) for correlation in correlations)
    p = np.array(max_t_p_values(single, drawn)) if width > 1 else np.ones(width)
    pairs = np.ones((width, width))
    for j in range(width):
        for k in range(j):
            off = covariance[j, j] + covariance[k, k] - 2 * covariance[j, k] + floor[j, j] + floor[k, k]
            pairs[j, k] = pairs[k, j] = _t_test_p(value[j] - value[k], sqrt(off), int(min(units[j], units[k])) - 1)
    return SetComparisons(
        value, value - difference, p, _shrunk_means(value, covariance + floor), pairs, max_t_level(level, every, width)
    )


def compare_groups(
    total: Array, weight: Array, code: Ints, width: int, half: float, level: float, seed: int = 0
) -> SetComparisons:
    """Sets that share no unit: `code` is the set of each unit, -1 for none.

    Units are dealt to the sets anew, many times: the p-value is how often the largest difference of a set from the rest
    is then as large. That holds for sets of any size, and however skewed the numbers are, if all sets are alike. Sets
    with the same mean may vary more or less: so each difference is counted in its own standard errors, and has to pass
    Welch's test too. That errs towards the short tail of skewed numbers: a difference to that side is corrected for the
    number of sets a second time (Šidák), one to the side of the long tail is not. One unit that lies `half` off is
    added to each error: units that all agree are not certain.
    """
    inside = code >= 0
    total, weight, code = total[inside], weight[inside], code[inside]
    n, whole = len(total), float(weight.sum())
    sums, sizes = np.bincount(code, total, width), np.bincount(code, weight, width)
    units = np.bincount(code, minlength=width)
    others, many, many_others = n - units, np.maximum(units, 1), np.maximum(n - units, 1)
    mean = float(total.sum()) / whole if whole else 0.0
    value: Array = np.divide(sums, sizes, out=np.full(width, np.nan), where=sizes > 0)
    rest: Array = np.divide(total.sum() - sums, whole - sizes, out=np.full(width, np.nan), where=whole - sizes > 0)
    tested = (units > 0) & (units < n)
    moves, floor = total - mean * weight, half * whole / max(n, 1)
    squared = moves**2
    all_squares = float(squared.sum())

    def differences(code: Ints) -> tuple[Array, Array, Array]:
        """Of each set from the rest, in standard errors; and the squared errors of the sets' and the rests' means."""
        total = np.bincount(code, moves, width).astype(np.float64)
        squares = np.bincount(code, squared, width).astype(np.float64)
        # moves sum to zero, so the sum of the rest's is -total, whose square is the same
        own, off = (
            np.maximum(part - total**2 / size, 0.0) / np.maximum(count - 1, 1) / size + (floor / size) ** 2
            for part, count, size in ((squares, units, many), (all_squares - squares, others, many_others))
        )
        apart: Array = np.abs(total) * (1 / many + 1 / many_others)
        return apart / np.sqrt(np.maximum(own + off, _NO_WIDTH**2)), own, off

    seen, own, off = differences(code)
    found = np.where(tested, seen, 0.0)
    times = int(min(_DEALS, max(_MIN_DEALS, _MAX_DEALT // max(n, 1))))
    rng = np.random.Generator(np.random.PCG64(seed))
    top = np.array([differences(rng.permutation(code))[0][tested].max(initial=0.0) for _ in range(times)])
    dealt = (1 + (top[None, :] >= found[:, None] - _NO_WIDTH * (1 + found[:, None])).sum(axis=1)) / (1 + times)
    # Welch's test of each set; its error is on the side that the skew of the difference points away from
    freedom = (own + off) ** 2 / np.maximum(
        own**2 / np.maximum(units - 1, 1) + off**2 / np.maximum(others - 1, 1), _NO_WIDTH**4
    )
    welch = np.array([t_p_value(float(t), max(float(df), 1.0)) for t, df in zip(seen, freedom, strict=True)])
    moved, of_set, cubed = (np.bincount(code, x, width).astype(np.float64) for x in (moves, squared, moves**3))

    def third(total: Array, squares: Array, cubes: Array, count: Ints) -> Array:
        """The third moment of a mean, from the sums of powers of its numbers."""
        centre = total / count
        found: Array = (cubes - 3 * centre * squares + 2 * count * centre**3) / count**3
        return found

    skew = third(moved, of_set, cubed, many) - third(-moved, all_squares - of_set, cubed.sum() - cubed, many_others)
    twice = -np.expm1(len(welch) * np.log1p(-np.minimum(welch, 1 - _NO_WIDTH)))
    welch = np.where(np.sign(skew) == np.sign(moved), welch, twice)
    p = np.where(tested, np.maximum(dealt, welch), 1.0)
    errors = own * (n / max(whole, _NO_WIDTH)) ** 2
    degrees_of = np.maximum(units - 1, 1)
    pairs = np.ones((width, width))
    for j in range(width):
        for k in range(j):
            both = errors[j] + errors[k]
            degrees = both**2 / max(errors[j] ** 2 / degrees_of[j] + errors[k] ** 2 / degrees_of[k], _NO_WIDTH**2)
            pairs[j, k] = pairs[k, j] = _t_test_p(value[j] - value[k], sqrt(both), degrees)
    known = units > 0
    shrunk = np.full(width, np.nan)
    shrunk[known] = _shrunk_means(value[known], np.diag(errors[known]))
    return SetComparisons(value, rest, p, shrunk, pairs, level ** (1 / max(int(known.sum()), 1)))


def _t_test_p(difference: float, spread: float, freedom: float) -> float:
    if not np.isfinite(difference) or spread <= _NO_WIDTH or freedom < 1:
        return 1.0
    return t_p_value(float(difference / spread), float(freedom))


def _shrunk_means(value: Array, covariance: Array) -> Array:
    """The means drawn towards their common one (empirical Bayes): the more, the less they differ beyond chance.

    The true means are taken as normal around one mean; how much they vary is found by maximum likelihood (REML).
    """
    width = len(value)
    if width < 2:
        return value
    ones = np.ones(width)
    largest_share = float(np.var(value)) + float(np.diag(covariance).max())
    best, found = -np.inf, value
    for step in range(_STEPS + 1):
        between = largest_share * (step / _STEPS) ** 2
        inverse = np.linalg.inv(covariance + between * np.eye(width) + _NO_WIDTH * np.eye(width))
        precision = float(ones @ inverse @ ones)
        mean = float(ones @ inverse @ value) / precision
        off = value - mean
        likelihood = float(np.linalg.slogdet(inverse)[1]) - np.log(precision) - float(off @ inverse @ off)
        if likelihood > best + _NO_WIDTH:
            best, found = likelihood, mean + between * (inverse @ off)
    return found
