"""The contract of a scorer: numbers for each item, once, from whose sums every score and interval follows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from unfazed.core.task import Task
from unfazed.core.values import Json

Array = npt.NDArray[np.float64]


class Scorer:
    """Extend, and put in `score/NAME.py` or behind the entry point `unfazed.scorers`.

    An interval resamples the rows of `stats` and never scores a text again.
    """

    name: ClassVar[str]
    version: ClassVar[int] = 1
    linear: ClassVar[bool] = True  # the score of a set is the mean of its items' scores

    def stats(self, outputs: Sequence[Json], golds: Sequence[Json], task: Task) -> Array:
        """One row of sufficient statistics for each item."""
        raise NotImplementedError

    def aggregate(self, sums: Array) -> Array:
        """The score of a set from the sum of its rows, along the last axis; NaN where it is not defined."""
        raise NotImplementedError
