"""The numbers of variants summed up by example, part by part, so that memory holds no variant of an earlier part."""

from __future__ import annotations

import numpy as np

from unswayed.measure.sampling import Sources
from unswayed.measure.spill import Kept, Spill, Tally
from unswayed.stats import Array, Ints, Numbers, numbers_of


class ByExample:
    """Takes the parts of a run twice: `add` all of them, then `add_squares`, which needs the means of all.

    `strata` is how many operators, or families, the variants are of; examples are compared within theirs.
    """

    def __init__(self, spill: Spill, strata: int, clusters: Ints | None = None) -> None:
        self._spill, self._clusters = spill, clusters
        self._means, self._squares = Tally(spill), Tally(spill)
        self._clustered: list[tuple[Kept, Kept]] = []
        self._total, self._many = np.zeros(strata), np.zeros(strata, dtype=np.int64)
        self._first = self._most = self.altered = 0

    def add(self, size: int, example: Ints, stratum: Ints, values: Array, altered: Array) -> None:
        """The variants of the next `size` examples; `altered` tells which are not as the example was."""
        many = np.bincount(example, minlength=size)
        there = np.flatnonzero(many)
        means = np.bincount(example, weights=values, minlength=size)[there] / many[there]
        self._means.add(np.column_stack([means, many[there]]))
        if self._clusters is not None:
            own = self._clusters[self._first + there]
            self._clustered.append((self._spill.put(means), self._spill.put(own)))
        np.add.at(self._total, stratum, values)
        np.add.at(self._many, stratum, 1)
        self._first += size
        self._most = max(self._most, int(many.max(initial=0)))
        self.altered += int(altered.sum())

    def add_squares(self, size: int, example: Ints, stratum: Ints, values: Array) -> None:
        """The same variants again."""
        centred = values - (self._total / np.maximum(self._many, 1))[stratum]
        many = np.bincount(example, minlength=size)
        middle = np.bincount(example, weights=centred, minlength=size) / np.maximum(many, 1)
        squares: Array = np.bincount(example, weights=(centred - middle[example]) ** 2, minlength=size).astype(
            np.float64
        )
        self._squares.add(squares[many > 0, None])

    @property
    def examples(self) -> int:
        """How many have a number."""
        return self._means.n

    @property
    def variants(self) -> int:
        return int(self._many.sum())

    @property
    def several_each(self) -> bool:
        """Is there more than one example, and one with more than one number?"""
        return self.examples > 1 and self._most > 1

    def mean(self) -> float:
        """The mean of the examples' means."""
        rows, counts = self._means.rows()
        return float(counts @ rows[:, 0]) / self.examples

    def units(self) -> Numbers:
        """The mean of each example, or of each cluster of them."""
        if self._clusters is None:
            rows, counts = self._means.rows()
            return Numbers(rows[:, 0], np.ones(len(rows)), counts.astype(np.float64))
        means, clusters = (self._spill.joined([pair[i] for pair in self._clustered]) for i in (0, 1))
        return numbers_of(means, clusters=clusters)

    def sources(self, own: float | None) -> Sources:
        """Examples and, within them, draws, which have nothing in common from one example to the next."""
        rows, counts = self._means.rows()
        between = float(counts @ (rows[:, 0] - self.mean()) ** 2) / (self.examples - 1)
        freedom = self.variants - self.examples
        if not freedom:
            return Sources(between, None, None, None)
        squares, often = self._squares.rows()
        within = float(often @ squares[:, 0]) / freedom
        noise = None if own is None else min(own, within)
        examples = max(between - within * float(counts @ (1 / rows[:, 1])) / self.examples, 0.0)
        return Sources(examples, within - (noise or 0.0), noise, None)
