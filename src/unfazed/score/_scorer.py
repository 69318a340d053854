"""The contract of a scorer: numbers for each item, once, from whose sums every score and interval follows."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import ClassVar

from unfazed.core.estimate.statistics import Array, ratio
from unfazed.core.ids import canonical
from unfazed.core.task import Task
from unfazed.core.values import Json

__all__ = ["Array", "Pair", "Scorer", "Stats", "ratio", "stats_here"]


class Scorer:
    """Extend, and put in `score/NAME.py` or behind the entry point `unfazed.scorers`.

    An interval resamples the rows of `stats` and never scores a text again. The score of one item is the
    aggregate of its own row; of an example's variants the one with the lowest is its worst.
    """

    name: ClassVar[str]
    version: ClassVar[int] = 1
    linear: ClassVar[bool] = True  # the score of a set is the mean of its items' scores
    apart: ClassVar[bool] = False  # an item's row does not depend on the others, so that blocks are scored and let go
    bounds: ClassVar[tuple[float, float]] = (0.0, 1.0)  # the least and the greatest score

    def key(self, value: Json, task: Task) -> Hashable:
        """What of an output or a gold this scorer looks at: values of one key score alike.

        None says that there is nothing to score; such an output is missing, not wrong.
        """
        return None if value is None else canonical(value)

    def gold_key(self, gold: Json, task: Task) -> Hashable:
        """The key of a gold, where that is read otherwise than an output; None says that no score is due."""
        return self.key(gold, task)

    def stats(self, outputs: Sequence[Json], golds: Sequence[Json], task: Task) -> Array:
        """One row of sufficient statistics for each item.

        Called with pairs of an output and a gold whose keys differ: with every one at once, so that columns may
        depend on what is seen, such as the classes; or, where the scorer says `apart`, with some after others.
        """
        raise NotImplementedError

    def aggregate(self, sums: Array) -> Array:
        """The score of a set from the sum of its rows, along the last axis; NaN where it is not defined."""
        raise NotImplementedError


Pair = tuple[Json, Json]  # an output and its gold
Stats = Callable[[Scorer, Sequence[Pair], Task], Array]


def stats_here(scorer: Scorer, pairs: Sequence[Pair], task: Task) -> Array:
    """A scorer's rows for pairs, made in this process."""
    return scorer.stats([output for output, _ in pairs], [gold for _, gold in pairs], task)
