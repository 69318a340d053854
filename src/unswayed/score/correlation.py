"""Pearson's correlation of outputs with gold, where both are numbers."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np

from unswayed.base.task import Task
from unswayed.base.task.score import number_of
from unswayed.base.values import Json
from unswayed.score._scorer import Array, Scorer


class PearsonCorrelation(Scorer):
    """From -1 to 1. One item has none: an example's worst variant is the one farthest from the line that predicts gold
    from outputs, as their scales may differ."""

    name = "correlation"
    linear = False
    apart = True
    bounds = (-1.0, 1.0)

    def key(self, value: Json, task: Task) -> Hashable:
        return number_of(value)

    def stats(self, outputs: Sequence[Json], golds: Sequence[Json], task: Task) -> Array:
        """One, x, y, x², y² and xy of each item."""
        pairs = [[number_of(value) or 0.0 for value in values] for values in (outputs, golds)]
        x, y = np.clip(np.array(pairs, dtype=float), -1e100, 1e100)
        return np.column_stack([np.ones(len(x)), x, y, x * x, y * y, x * y])

    def aggregate(self, sums: Array) -> Array:
        n, x, y, xx, yy, xy = np.moveaxis(np.asarray(sums, dtype=float), -1, 0)
        with np.errstate(divide="ignore", invalid="ignore"):
            own, other, both = n * xx - x * x, n * yy - y * y, n * xy - x * y
            # sums of equal numbers differ from zero by rounding alone
            steady = (own <= 1e-12 * n * xx) | (other <= 1e-12 * n * yy)
            found: Array = np.where(steady, np.nan, np.clip(both / np.sqrt(own * other), -1.0, 1.0))
        return found

    def item_scores(self, rows: Array) -> Array:
        x, y = rows[:, 1] - rows[:, 1].mean(), rows[:, 2] - rows[:, 2].mean()
        slope = float(x @ y) / square if (square := float(x @ x)) else 0.0
        found: Array = -np.abs(y - slope * x)
        return found
