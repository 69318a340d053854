"""The statistics that measures are: functions of sums over examples."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from unfazed.score._scorer import Array, Scorer, ratio

__all__ = ["Array", "Corpus", "Mean", "Ratio", "Statistic"]


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
class Corpus(Statistic):
    """The scores of whole sets under a scorer that is not a mean.

    An example's values are codes of `rows`, the scorer's statistics; -1 is none. There are `width` codes for each
    set. The statistic is the mean of the sets' scores, or, with `drop`, the first set's less the mean of the rest.
    """

    scorer: Scorer
    rows: Array
    width: int
    drop: bool = False

    def columns(self, distinct: Array) -> Array:
        n, codes = distinct.shape
        known = np.vstack([self.rows, np.zeros((1, self.rows.shape[1]))])  # the last row, reached by -1, adds nothing
        picked = known[distinct.astype(np.intp)].reshape(n, codes // self.width, self.width, -1)
        sums: Array = picked.sum(axis=2)
        return sums.reshape(n, -1)

    def __call__(self, sums: Array, n: int) -> Array:
        scores = self.scorer.aggregate(sums.reshape(len(sums), -1, self.rows.shape[1]))
        if self.drop:
            return scores[:, 0] - _mean_of_defined(scores[:, 1:])
        return _mean_of_defined(scores)

    @property
    def id(self) -> str:
        return f"{self.scorer.name}:{self.scorer.version}:{self.drop}"


def _mean_of_defined(scores: npt.NDArray[np.float64]) -> Array:
    defined = ~np.isnan(scores)
    return ratio(np.where(defined, scores, 0.0).sum(axis=1), defined.sum(axis=1).astype(float))
