"""What each measure is: the numbers that it takes from each example, and the statistic of their sums."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unfazed.core.estimate import Array, Ints, Mean, Observations, Ratio, Statistic, ratio
from unfazed.measure.run_table import MISSING, Bools, Part, Scored
from unfazed.score import Scorer

VERSION = 1  # of these definitions; part of every signature
SCORE_MEASURES = ("clean", "average", "worst", "drop")
ANSWER_MEASURES = ("flips", "consistency", "noticed")
MEASURES = SCORE_MEASURES + ANSWER_MEASURES


@dataclass(frozen=True)
class SetScore(Statistic):
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


def _mean_of_defined(scores: Array) -> Array:
    defined = ~np.isnan(scores)
    return ratio(np.where(defined, scores, 0.0).sum(axis=1), defined.sum(axis=1).astype(float))


@dataclass(frozen=True)
class Scope:
    """A set of variants, by place in the part, and the examples that its clean score is over."""

    same: Ints
    changed: Ints
    clean: Bools


def scope_of(part: Part, chosen: Bools | None = None) -> Scope:
    """All variants and examples; or the chosen variants and the examples that they vary."""
    clean = np.ones(part.size, dtype=bool)
    if chosen is None:
        return Scope(np.flatnonzero(~part.changed), np.flatnonzero(part.changed), clean)
    clean[:] = False
    clean[part.example[chosen]] = True
    return Scope(np.flatnonzero(chosen & ~part.changed), np.flatnonzero(chosen & part.changed), clean)


class Layout:
    """How the codes of an example's variants are laid out: draw by draw, in as many columns as the fullest draw needs.

    It is found by `see` before any is laid out, as all examples have the same.
    """

    def __init__(self) -> None:
        self.draws: Ints = np.zeros(0, dtype=np.int64)
        self.width = 1

    def see(self, part: Part, scored: Scored, scope: Scope) -> None:
        if scored.scorer.linear:
            return
        variants = scope.same[scored.known[scope.same]]
        if len(variants):
            self.draws = np.union1d(self.draws, part.draw[variants])
            *_, rank = self._ranked(part, scored, variants)
            self.width = max(self.width, int(rank.max()) + 1)

    def codes(self, part: Part, scored: Scored, variants: Ints) -> Array:
        """For each varied example a row; -1 where a draw has fewer variants."""
        examples, draws = len(np.unique(part.example[variants])), max(len(self.draws), 1)
        out = np.full((examples * draws, self.width), -1.0)
        if len(variants):
            order, cell, rank = self._ranked(part, scored, variants)
            out[cell, rank] = scored.codes[variants][order]
        return out.reshape(examples, draws * self.width)

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


def no_column(part: Part) -> Observations:
    """The column of a measure that nothing can be said of, such as a score without a scorer."""
    nothing = np.zeros(0, dtype=np.int64)
    return Observations(nothing, np.zeros((0, 1)), Mean(), np.zeros(part.size, dtype=np.int64))


def answer_columns(part: Part, scope: Scope) -> dict[str, Observations]:
    """Flips, consistency and noticed: they compare answers with the clean answer and need no gold."""
    flips = _changes(part, scope.same)
    kept = (flips.values[:, :1] == 0).astype(float)
    return {
        "flips": flips,
        "consistency": Observations(flips.examples, kept, Mean(), flips.missing),
        "noticed": _changes(part, scope.changed),
    }


def _changes(part: Part, variants: Ints) -> Observations:
    """Changed answers over compared answers."""
    n = part.size
    example, flip = part.example[variants], part.flip[variants]
    known = flip >= 0
    compared = np.bincount(example[known], minlength=n)
    changed = np.bincount(example[flip == 1], minlength=n)
    examples = np.flatnonzero(compared)
    values = np.column_stack([changed, compared])[examples].astype(float)
    return Observations(examples, values, Ratio(), np.bincount(example[flip == MISSING], minlength=n))


def score_columns(part: Part, scored: Scored, scope: Scope, layout: Layout) -> dict[str, Observations]:
    """Clean, average, worst and drop under one scorer."""
    n = part.size
    lost = ~scored.known & scored.due
    clean_missing = (~scored.clean_known & scored.clean_due & scope.clean).astype(np.int64)
    missing = np.bincount(part.example[scope.same][lost[scope.same]], minlength=n)
    varied = np.bincount(part.example[scope.same], minlength=n) > 0
    linear = scored.scorer.linear
    columns = _mean_columns(part, scored, scope) if linear else _corpus_columns(part, scored, scope, layout)
    gaps = {"clean": clean_missing, "average": missing, "worst": missing, "drop": missing + clean_missing * varied}
    low, high = scored.scorer.bounds
    spans = dict.fromkeys(SCORE_MEASURES, (low, high)) | {"drop": (low - high, high - low)}
    return {
        name: Observations(examples, values, statistic, gaps[name], spans[name])
        for name, (examples, values, statistic) in columns.items()
    }


_Parts = dict[str, tuple[Ints, Array, Statistic]]


def _mean_columns(part: Part, scored: Scored, scope: Scope) -> _Parts:
    n = part.size
    clean_of = np.flatnonzero(scored.clean_known & scope.clean)
    variants = scope.same[scored.known[scope.same]]
    example, scores = part.example[variants], scored.varied[variants]
    varied, starts = np.unique(example, return_index=True)
    average, worst = np.zeros(n), np.zeros(n)
    if len(varied):
        counts = np.bincount(example, minlength=n)[varied]
        average[varied] = np.bincount(example, weights=scores, minlength=n)[varied] / counts
        worst[varied] = np.minimum.reduceat(scores, starts)
    both = varied[scored.clean_known[varied]]
    mean = Mean()
    return {
        "clean": (clean_of, scored.clean[clean_of, None], mean),
        "average": (varied, average[varied, None], mean),
        "worst": (varied, worst[varied, None], mean),
        "drop": (both, (scored.clean - average)[both, None], mean),
    }


def _corpus_columns(part: Part, scored: Scored, scope: Scope, layout: Layout) -> _Parts:
    clean_of = np.flatnonzero(scored.clean_known & scope.clean)
    variants = scope.same[scored.known[scope.same]]
    codes, width = layout.codes(part, scored, variants), layout.width
    varied = np.unique(part.example[variants])
    worst = np.full(part.size, -1)
    score = np.where(np.isnan(scored.varied), np.inf, scored.varied)[variants]
    order = np.lexsort((np.arange(len(variants)), score, part.example[variants]))[::-1]
    worst[part.example[variants][order]] = scored.codes[variants][order]  # the lowest comes last, and stays
    has_clean = scored.clean_known[varied]
    both = varied[has_clean]
    first = np.full((len(both), width), -1)
    first[:, 0] = scored.clean_codes[both]
    one = SetScore(scored.scorer, scored.rows, 1)
    return {
        "clean": (clean_of, scored.clean_codes[clean_of, None].astype(float), one),
        "average": (varied, codes, SetScore(scored.scorer, scored.rows, width)),
        "worst": (varied, worst[varied, None].astype(float), one),
        "drop": (both, np.hstack([first, codes[has_clean]]), SetScore(scored.scorer, scored.rows, width, drop=True)),
    }
