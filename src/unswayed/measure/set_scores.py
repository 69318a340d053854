"""Scores of whole sets that are not means over items, such as macro-F1, slot F1 and BLEU."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
import numpy.typing as npt

from unswayed.measure.class_scores import Entries, entries_of
from unswayed.measure.order_weights import cvar_weights, worst_weights
from unswayed.measure.run_table import Part, Scored
from unswayed.run.plan import Weigh
from unswayed.score import Scorer
from unswayed.stats import Array, Ints, Statistic, ratio

if TYPE_CHECKING:
    from unswayed.measure.definitions import Scope

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

    @property
    def by_class(self) -> bool:
        """Are the rows not statistics that can be summed, but what `Scorer.classes` gives?"""
        return type(self.scorer).classes is not Scorer.classes

    def columns(self, distinct: Array) -> Array:
        n, codes = distinct.shape
        if self.by_class:
            return self._class_columns(distinct)
        known = np.vstack([self.rows, np.zeros((1, self.rows.shape[1]))])  # the last row, reached by -1, adds nothing
        picked = known[distinct.astype(np.intp)].reshape(n, codes // self.width, self.width, -1)
        weights = self.weights(distinct.reshape(n, codes // self.width, self.width) >= 0)
        sums: Array = np.einsum("esw,eswc->esc", weights, picked)
        return sums.reshape(n, -1)

    def _class_columns(self, distinct: Array) -> Array:
        """The sums of each class; only where there is no way around them, as they take items times classes."""
        found, n, sets = self.entries(distinct, np.arange(len(distinct)))
        most = int(self.rows[0, 2]) if len(self.rows) else 0
        out = np.zeros((n * sets, 2 * most))
        row = found.unit * sets + found.set
        out[row, 2 * found.label], out[row, 2 * found.label + 1] = found.right, found.seen
        return out.reshape(n, -1)

    def entries(self, values: Array, unit: Ints) -> tuple[Entries, int, int]:
        """What each unit gives to each class; the number of units, and of sets."""
        n, sets = len(values), values.shape[1] // self.width
        codes = values.astype(np.intp).reshape(n, sets, self.width)
        present = codes >= 0
        found = entries_of(codes, self.rows, self.weights(present) * present, unit)
        return found, int(unit.max(initial=-1)) + 1, sets

    def of_sets(self, scores: Array) -> Array:
        """The statistic from the scores of sets, along the last axis."""
        if self.drop:
            return scores[..., 0] - _mean_of_defined(scores[..., 1:])
        return _mean_of_defined(scores)

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
        if self.by_class:
            most = max(1, int(self.rows[0, 2]) if len(self.rows) else 0)
            right, seen = np.moveaxis(sums.reshape(len(sums), -1, most, 2), -1, 0)
            f1 = np.divide(2 * right, seen, out=np.zeros_like(seen), where=seen > 1e-9)
            return self.of_sets(ratio(f1.sum(axis=-1), (seen > 1e-9).sum(axis=-1).astype(float)))
        return self.of_sets(self.scorer.aggregate(sums.reshape(len(sums), -1, self.rows.shape[1])))

    @property
    def id(self) -> str:
        return f"{self.scorer.name}:{self.scorer.version}:{self.drop}"


def _mean_of_defined(scores: Array) -> Array:
    defined = ~np.isnan(scores)
    return ratio(np.where(defined, scores, 0.0).sum(axis=-1), defined.sum(axis=-1).astype(float))


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
