"""Scores of whole sets that are not means over items, such as macro-F1, slot F1 and BLEU.

Of a mean over classes, leaving out an example changes a few classes and no other. So the numbers of all examples cost
as much as there are answers, however many classes there are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from math import comb
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from unswayed.measure.run_table import Part, RunTable, Scored
from unswayed.run.plan import Weigh
from unswayed.score import Scorer
from unswayed.stats import Array, Ints, Statistic, ratio

if TYPE_CHECKING:
    from unswayed.measure.definitions import Scope


@lru_cache(maxsize=64)
def worst_weights(most: int, k: int) -> Array:
    """In row d the chance of each of d variants, the lowest first, to be the lowest of k drawn without replacement.

    Of fewer than k variants all are drawn.
    """
    out: Array = np.zeros((most + 1, max(most, 1)))
    for d in range(1, most + 1):
        drawn = min(k, d)
        out[d, :d] = [comb(d - 1 - rank, drawn - 1) / comb(d, drawn) for rank in range(d)]
    return out


@lru_cache(maxsize=64)
def cvar_weights(most: int, k: int) -> Array:
    """In row d the weights of d variants, the lowest first, in the mean of their lowest 1/k; at least one counts."""
    out: Array = np.zeros((most + 1, max(most, 1)))
    for d in range(1, most + 1):
        size = max(d / k, 1.0)
        out[d, :d] = np.clip(size - np.arange(d), 0, 1) / size
    return out


_RARE_CLASS = 10  # answers of a class below which its F1 is biased by more than can be corrected
_PRIOR_ANSWERS = 2.0  # answers that the average of such classes counts as
_NO_WEIGHT = 1e-9  # a sum of weights that is none but for rounding


def rare_classes(table: RunTable, scorer: Scorer) -> Iterator[str]:
    """A warning if there are classes with few examples, under a score that is a mean over classes."""
    if type(scorer).classes is Scorer.classes:
        return
    counts: Counter[int] = Counter()
    for part in table.parts():
        scored = part.scored[scorer.name]
        codes = scored.clean_codes[scored.clean_codes >= 0]
        counts.update(scored.rows[codes, 1].astype(np.int64).tolist() if len(codes) else ())
    if few := sum(count < _RARE_CLASS for count in counts.values()):
        yield (
            f"{few:,} of {len(counts):,} classes have fewer than ten examples: {scorer.name} may be too low, and its "
            f"interval is wide for that."
        )


class Entries(NamedTuple):
    """What units, which are examples or clusters, give to classes of sets: the weight of right answers, and that of all
    mentions of the class, by the system or in gold; a right answer mentions its class twice."""

    unit: Ints
    set: Ints
    label: Ints
    right: Array
    seen: Array


class ClassSums(NamedTuple):
    """What all units give to the classes, by set and class."""

    right: Array
    seen: Array

    def scores(self) -> tuple[Array, Array]:
        """The sum of the classes' F1 in each set, and how many classes there are."""
        scores, there = _f1(self.right, self.seen)
        return scores.sum(axis=1), there.sum(axis=1)

    def whole(self) -> Array:
        """The mean F1 of each set."""
        return ratio(*self.scores())

    def without(self, found: Entries, units: int) -> Array:
        """The mean F1 of each set without each of some units, which are among those that were summed."""
        sets = len(self.right)
        total, classes = self.scores()
        right, seen = self.right[found.set, found.label], self.seen[found.set, found.label]
        left, still = _f1(right - found.right, seen - found.seen)
        row = found.unit * sets + found.set
        changed = _sums(row, left - _f1(right, seen)[0], units * sets).reshape(units, sets)
        gone = _sums(row, 1.0 - still, units * sets).reshape(units, sets)
        return ratio(total + changed, classes - gone)

    def raised(self) -> Array:
        """The mean F1 of each set with more of rare classes' bias removed."""
        # The share of right answers of rare classes is drawn towards their average before it is made an F1. F1 bends
        # down, so the F1 of few answers is too low on average, and that of an average is too high: the truth is
        # between the two.
        out = np.full(len(self.right), np.nan)
        for i, (r, s) in enumerate(zip(self.right, self.seen, strict=True)):
            there = s > _NO_WEIGHT
            r, touched = r[there], s[there] - r[there]
            few = touched < _RARE_CLASS
            if not len(r):
                continue
            share = r / touched
            if few.any():
                share = np.where(few, (r + _PRIOR_ANSWERS * share[few].mean()) / (touched + _PRIOR_ANSWERS), share)
            out[i] = (2 * share / (1 + share)).mean()
        return out


def class_sums(found: Entries, sets: int, most: int, counts: Array) -> ClassSums:
    """`counts` says how many units there are of each, and `most` how many classes."""
    cell, times = found.set * most + found.label, counts[found.unit]
    right, seen = (_sums(cell, values * times, sets * most) for values in (found.right, found.seen))
    return ClassSums(right.reshape(sets, most), seen.reshape(sets, most))


def _sums(place: Ints, values: Array, size: int) -> Array:
    return np.bincount(place, values, size).astype(np.float64)


def _f1(right: Array, seen: Array) -> tuple[Array, Array]:
    """The F1 of classes, and 1 for those that are there."""
    there = seen > _NO_WEIGHT
    scores: Array = np.divide(2 * right, seen, out=np.zeros_like(seen), where=there)
    return scores, there.astype(np.float64)


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
        weights = self.weights(present) * present
        at = np.flatnonzero(weights)
        weight, code = weights.ravel()[at], codes.ravel()[at]
        said, gold = (self.rows[:, i].astype(np.int64)[code] for i in (0, 1))
        wrong = said != gold
        label = np.concatenate([gold, said[wrong]])
        units, set_ = (
            np.concatenate([c, c[wrong]]) for c in (unit[at // (sets * self.width)], at // self.width % sets)
        )
        right = np.concatenate([np.where(wrong, 0.0, weight), np.zeros(int(wrong.sum()))])
        seen = np.concatenate([np.where(wrong, weight, 2 * weight), weight[wrong]])
        most, wide = int(label.max(initial=0)) + 1, int(set_.max(initial=0)) + 1
        # what `np.unique` gives with its inverse; faster, as keys come in a few runs that ascend
        keys = (units * wide + set_) * most + label
        order = np.argsort(keys, kind="stable")
        ordered = keys[order]
        new = np.append(True, ordered[1:] != ordered[:-1])[: len(keys)]
        place = np.empty(len(keys), dtype=np.int64)
        place[order] = np.cumsum(new) - 1
        keys = ordered[new]
        found = Entries(
            keys // most // wide,
            keys // most % wide,
            keys % most,
            _sums(place, right, len(keys)),
            _sums(place, seen, len(keys)),
        )
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
            return self.of_sets(ratio(*(each.sum(axis=-1) for each in _f1(right, seen))))
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
