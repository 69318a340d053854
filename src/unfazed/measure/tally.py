"""The rows of examples for one number, gathered part by part: counted where few are distinct, else put aside."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from unfazed.core.estimate import Array, Sample, Statistic, count_rows, merge_rows
from unfazed.measure.pairs import Ints
from unfazed.measure.spill import Kept, Spill

_FIRST = 4096  # rows by which it is decided whether to count or to keep


class Tally:
    """`rows` gives what `count_rows` gives of all rows at once.

    The first few thousand decide: where a quarter of them or fewer are distinct, rows are counted from then on.
    """

    def __init__(self, spill: Spill) -> None:
        self._spill = spill
        self._waiting: list[Array] = []
        self._kept: list[Kept] = []
        self._counted: tuple[Array, Ints] | None = None
        self.n = 0

    def add(self, values: Array) -> None:
        if not len(values):
            return
        self.n += len(values)
        if self._counted is not None:
            rows, counts = count_rows(values)
            self._counted = merge_rows(np.vstack([self._counted[0], rows]), np.append(self._counted[1], counts))
        elif self._kept:
            self._kept.append(self._spill.put(values))
        else:
            self._waiting.append(values)
            if self.n >= _FIRST:
                self._decide()

    def _decide(self) -> None:
        values = np.concatenate(self._waiting)
        if len(count_rows(values[:_FIRST])[0]) * 4 <= _FIRST:
            self._counted = merge_rows(values, np.ones(len(values), dtype=np.int64))
        else:
            self._kept = [self._spill.put(values)]
        self._waiting = []

    def rows(self) -> tuple[Array, Ints]:
        """The distinct rows in ascending order and how often each occurs; or the rows as they came, once each."""
        if self._counted is not None:
            return self._counted
        found: Sequence[Array] = [self._spill.get(kept) for kept in self._kept] or self._waiting
        return count_rows(np.concatenate(found) if found else np.zeros((0, 1)))

    def sample(self, statistic: Statistic) -> Sample:
        rows, counts = self.rows()
        return Sample(statistic.columns(rows), counts, statistic)
