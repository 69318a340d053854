"""Scores of whole sets that are not means over items, such as macro-F1, slot F1 and BLEU."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
import numpy.typing as npt

from unfazed.core.estimate import Array, Ints, Statistic, ratio
from unfazed.measure.order_weights import cvar_weights, worst_weights
from unfazed.measure.run_table import Part, Scored
from unfazed.run.plan import Weigh
from unfazed.score import Scorer

if TYPE_CHECKING:
    from unfazed.measure.definitions import Scope

Pick = Literal["all", "worst", "cvar"]


@dataclass(frozen=True)
class SetScore(Statistic):
    """The scores of whole sets under a scorer that is not a mean.

    An example's values are codes of `rows`, the scorer's statistics; -1 is none. There are `width` codes for each
    set. The statistic is the mean of the sets' scores, or, with `drop`, the first set's less the mean of the rest.
    `pick` says with which weight each code counts: alike, or by rank where the lowest is to count.
    """

    scorer: Scorer
    rows: Array
    width: int
    drop: bool = False
    pick: Pick = "all"
    weigh: Weigh = "variants"
    worst_of: int = 1

    def columns(self, distinct: Array) -> Array:
        n, codes = distinct.shape
        known = np.vstack([self.rows, np.zeros((1, self.rows.shape[1]))])  # the last row, reached by -1, adds nothing
        picked = known[distinct.astype(np.intp)].reshape(n, codes // self.width, self.width, -1)
        weights = self.weights(distinct.reshape(n, codes // self.width, self.width) >= 0)
        sums: Array = np.einsum("esw,eswc->esc", weights, picked)
        return sums.reshape(n, -1)

    def weights(self, present: npt.NDArray[np.bool_]) -> Array:
        """The weight of each code, by example, set and place: in a set, an example's sum to one, or to their number."""
        counts = present.sum(axis=2)
        if self.pick == "all":
            weights: Array = present / np.maximum(counts, 1)[:, :, None]
        else:
            table = (worst_weights if self.pick == "worst" else cvar_weights)(self.width, self.worst_of)
            weights = table[counts]
        if self.weigh == "examples":
            return weights
        if self.drop:
            counts[:, 0] = counts[:, 1:].sum(axis=1)
        out: Array = weights * counts[:, :, None]
        return out

    def __call__(self, sums: Array, n: int) -> Array:
        scores = self.scorer.aggregate(sums.reshape(len(sums), -1, self.rows.shape[1]))
        if self.drop:
            return scores[:, 0] - _mean_of_defined(scores[:, 1:])
        return _mean_of_defined(scores)

    @property
    def id(self) -> str:
        return f"{self.scorer.name}:{self.scorer.version}:{self.drop}"


def _mean_of_defined(scores: Array) -> Array:
    defined = ~np.isnan(scores)
    return ratio(np.where(defined, scores, 0.0).sum(axis=1), defined.sum(axis=1).astype(float))


class Layout:
    """How the codes of an example's variants are laid out: draw by draw, in as many columns as the fullest draw needs.

    It is found by `see` before any is laid out, as all examples have the same.
    """

    def __init__(self) -> None:
        self.draws: Ints = np.zeros(0, dtype=np.int64)
        self.width = 1
        self.most = 1  # variants of one example

    def see(self, part: Part, scored: Scored, scope: Scope) -> None:
        if scored.scorer.linear:
            return
        variants = scope.same[scored.known[scope.same]]
        if len(variants):
            self.draws = np.union1d(self.draws, part.draw[variants])
            *_, rank = self._ranked(part, scored, variants)
            self.width = max(self.width, int(rank.max()) + 1)
            self.most = max(self.most, int(np.bincount(part.example[variants]).max()))

    def codes(self, part: Part, scored: Scored, variants: Ints) -> Array:
        """For each varied example a row; -1 where a draw has fewer variants."""
        examples, draws = len(np.unique(part.example[variants])), max(len(self.draws), 1)
        out = np.full((examples * draws, self.width), -1.0)
        if len(variants):
            order, cell, rank = self._ranked(part, scored, variants)
            out[cell, rank] = scored.codes[variants][order]
        return out.reshape(examples, draws * self.width)

    def ranked(self, part: Part, scored: Scored, variants: Ints) -> Array:
        """For each varied example the codes of its variants, that with the lowest score of its own first."""
        score = np.where(np.isnan(scored.varied), np.inf, scored.varied)[variants]
        order = np.lexsort((np.arange(len(variants)), score, part.example[variants]))
        _, example = np.unique(part.example[variants], return_inverse=True)
        counts = np.bincount(example)
        out = np.full((len(counts), self.most), -1.0)
        rank = np.arange(len(variants)) - np.repeat(np.cumsum(counts) - counts, counts)
        out[example[order], rank] = scored.codes[variants][order]
        return out

    def repeated(self, codes: Ints, counts: Ints) -> Array:
        """Each code as often as it counts."""
        out: Array = np.where(np.arange(self.most) < counts[:, None], codes[:, None], -1).astype(np.float64)
        return out

    def _ranked(self, part: Part, scored: Scored, variants: Ints) -> tuple[Ints, Ints, Ints]:
        """The variants' order; and, in that order, the number of each one's example and draw and its place in there."""
        draw = np.searchsorted(self.draws, part.draw[variants])
        _, example = np.unique(part.example[variants], return_inverse=True)
        # by code, for which operator comes first must not make rows distinct
        order = np.lexsort((scored.codes[variants], draw, example))
        cell = (example * len(self.draws) + draw)[order]
        starts = np.flatnonzero(np.append(True, cell[1:] != cell[:-1]))
        rank = np.arange(len(cell)) - np.repeat(starts, np.diff(np.append(starts, len(cell))))
        return order, cell, rank
