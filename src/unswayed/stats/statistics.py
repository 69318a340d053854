"""The statistics that measures are, as functions of sums over examples, and the observations that they are taken of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
MeanKind = Literal[
    "share",  # the mean of numbers that may lie anywhere in their span
    "difference",  # the mean of differences, most of which are zero
    "contrast",  # the mean of differences that is tested against zero: unseen numbers matter less than for a difference
]


def ratio(above: Array, below: Array) -> Array:
    """above / below, and NaN where below is zero."""
    out: Array = np.full(np.broadcast_shapes(above.shape, below.shape), np.nan)
    np.divide(above, below, out=out, where=below != 0)
    return out


class Statistic:
    """`columns` turns the distinct values of examples into numbers to be summed; a call turns sums into the number."""

    def columns(self, distinct: Array) -> Array:
        return distinct

    def __call__(self, sums: Array, n: int) -> Array:
        """The statistic of each row of sums over n examples; NaN where it is not defined."""
        raise NotImplementedError

    @property
    def id(self) -> str:
        return type(self).__name__


class Mean(Statistic):
    """The mean over examples of one number."""

    def __call__(self, sums: Array, n: int) -> Array:
        return sums[:, 0] / n


class Ratio(Statistic):
    """The sum of one number over that of another, such as flips over variants."""

    def __call__(self, sums: Array, n: int) -> Array:
        return ratio(sums[:, 0], sums[:, 1])


@dataclass(frozen=True)
class Paired(Statistic):
    """A statistic of the right half of the columns less that of the left half."""

    inner: Statistic

    def columns(self, distinct: Array) -> Array:
        left, right = np.hsplit(distinct, 2)
        return np.hstack([self.inner.columns(left), self.inner.columns(right)])

    def __call__(self, sums: Array, n: int) -> Array:
        left, right = np.hsplit(sums, 2)
        return self.inner(right, n) - self.inner(left, n)

    @property
    def id(self) -> str:
        return f"paired {self.inner.id}"


@dataclass(frozen=True)
class Observations:
    """What a measure rests on: a row of `values` for each of `examples`, and the statistic of their sums.

    `missing` counts, for every example, the items without an output that should have counted. `span` is the least and
    the greatest that the measure can be.
    """

    examples: Ints
    values: Array
    statistic: Statistic
    missing: Ints
    span: tuple[float, float] = (0.0, 1.0)
    kind: MeanKind = "share"
