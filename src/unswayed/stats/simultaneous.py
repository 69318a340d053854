"""Several means of the same examples at once: how they vary together, and corrections (max-T) that make use of it."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import NormalDist

import numpy as np

from unswayed.stats.statistics import Array, Ints

_BLOCK = 2048  # rows that are summed together, in however many parts they come, so that sums have the same bits
_CELLS = 1 << 21  # random numbers held at once
_JITTER = 1e-9  # keeps the factor of a singular matrix (two equal means) the same on every processor
_STILL = 1e-7  # of the size of the numbers: less is rounding
_NO_WIDTH = 1e-12
_NORMAL = NormalDist()


class Together:
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
        still = spread <= _STILL * (1 + np.sqrt(np.diag(values)))
        scale = np.where(still, 0.0, 1 / np.where(still, 1.0, spread))
        found: Array = np.clip(varies * np.outer(scale, scale), -1.0, 1.0)
        np.fill_diagonal(found, 1.0)
        return found if chosen is None else found[np.ix_(chosen, chosen)]


def largest(correlation: Array, times: int, seed: int) -> Array:
    """Draws of the largest |z| among means that do not differ from zero, in ascending order."""
    width = len(correlation)
    factor = np.linalg.cholesky((correlation + _JITTER * np.eye(width)) / (1 + _JITTER)) if width else correlation
    rng = np.random.Generator(np.random.PCG64(seed))
    found = np.zeros(times)
    step = max(1, _CELLS // max(width, 1))
    for at in range(0, times if width else 0, step):
        drawn = rng.standard_normal((min(step, times - at), width))
        found[at : at + step] = np.abs(drawn @ factor.T).max(axis=1)
    return np.sort(found)


def corrected_together(p_values: Sequence[float], drawn: Array) -> list[float]:
    """How often the largest of all would be as large as each, if none differed; never above Bonferroni's."""
    found = []
    for p in p_values:
        z = -_NORMAL.inv_cdf(p / 2) if p > 0 else np.inf
        as_large = len(drawn) - int(np.searchsorted(drawn, z - _NO_WIDTH))
        found.append(max(p, min(1.0, p * len(p_values), (1 + as_large) / (1 + len(drawn)))))
    return found


def level_together(level: float, drawn: Array, width: int) -> float:
    """The level at which `width` intervals, each made by itself, cover all together with chance `level`.

    An interval at this level excludes zero where `corrected_together` gives at most 1 - level.
    """
    one = 1 - (1 - level) / max(width, 1)
    beyond = int((1 - level) * (1 + len(drawn)) + _NO_WIDTH) - 1  # draws that may be as large
    if 0 <= beyond < len(drawn):
        one = min(one, 2 * _NORMAL.cdf(float(drawn[-1 - beyond])) - 1)
    return max(one, level)
