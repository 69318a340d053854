"""Scores that are means over classes, such as macro-F1: leaving out an example changes a few classes and no other.

So the numbers of all examples cost as much as there are answers, however many classes there are.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from unswayed.measure.run_table import RunTable
from unswayed.score import Scorer
from unswayed.stats import Array, Ints

_FEW = 10  # answers of a class below which its F1 is biased by more than can be corrected
_PRIOR = 2.0  # answers that the average of such classes counts as
_NONE = 1e-9  # a sum of weights that is none but for rounding


def rare_classes(table: RunTable, scorer: Scorer) -> Iterator[str]:
    """A warning if there are classes with few examples, under a score that is a mean over classes."""
    if type(scorer).classes is Scorer.classes:
        return
    counts: Counter[int] = Counter()
    for part in table.parts():
        scored = part.scored[scorer.name]
        codes = scored.clean_codes[scored.clean_codes >= 0]
        counts.update(scored.rows[codes, 1].astype(np.int64).tolist() if len(codes) else ())
    if few := sum(count < _FEW for count in counts.values()):
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


def entries_of(codes: Ints, classes: Array, weights: Array, unit: Ints) -> Entries:
    """Of items by example, set and place: each one's code in the rows of `Scorer.classes`, and its weight, zero for
    none."""
    _, many, width = weights.shape
    at = np.flatnonzero(weights)
    weight, code = weights.ravel()[at], codes.ravel()[at]
    said, gold = (classes[:, i].astype(np.int64)[code] for i in (0, 1))
    wrong = said != gold
    label = np.concatenate([gold, said[wrong]])
    units, sets = (np.concatenate([c, c[wrong]]) for c in (unit[at // (many * width)], at // width % many))
    right = np.concatenate([np.where(wrong, 0.0, weight), np.zeros(int(wrong.sum()))])
    seen = np.concatenate([np.where(wrong, weight, 2 * weight), weight[wrong]])
    most, wide = int(label.max(initial=0)) + 1, int(sets.max(initial=0)) + 1
    keys, place_of = _numbered((units * wide + sets) * most + label)
    return Entries(
        keys // most // wide,
        keys // most % wide,
        keys % most,
        _sums(place_of, right, len(keys)),
        _sums(place_of, seen, len(keys)),
    )


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
        total, classes = self.scores()
        with np.errstate(invalid="ignore", divide="ignore"):
            found: Array = total / classes
        return found

    def without(self, found: Entries, units: int) -> Array:
        """The mean F1 of each set without each of some units, which are among those that were summed."""
        sets = len(self.right)
        total, classes = self.scores()
        right, seen = self.right[found.set, found.label], self.seen[found.set, found.label]
        left, still = _f1(right - found.right, seen - found.seen)
        row = found.unit * sets + found.set
        changed = _sums(row, left - _f1(right, seen)[0], units * sets).reshape(units, sets)
        gone = _sums(row, 1.0 - still, units * sets).reshape(units, sets)
        with np.errstate(invalid="ignore", divide="ignore"):
            rest: Array = np.where(classes > gone, (total + changed) / (classes - gone), np.nan)
        return rest


def class_sums(found: Entries, sets: int, most: int, counts: Array) -> ClassSums:
    """`counts` says how many units there are of each, and `most` how many classes."""
    cell, times = found.set * most + found.label, counts[found.unit]
    right, seen = (_sums(cell, values * times, sets * most) for values in (found.right, found.seen))
    return ClassSums(right.reshape(sets, most), seen.reshape(sets, most))


class ClassNumbers(NamedTuple):
    """The scores of sets, those without each unit, and the scores with more of rare classes' bias removed."""

    whole: Array
    without: Array
    raised: Array


def f1_numbers(found: Entries, units: int, sets: int, counts: Array) -> ClassNumbers:
    """Mean F1 over the classes of each set; `counts` says how many units there are of each."""
    sums = class_sums(found, sets, int(found.label.max(initial=0)) + 1, counts)
    return ClassNumbers(sums.whole(), sums.without(found, units), _raised(sums.right, sums.seen))


def _numbered(keys: Ints) -> tuple[Ints, Ints]:
    """What `np.unique` gives with its inverse; faster, as keys come in a few runs that ascend."""
    order = np.argsort(keys, kind="stable")
    ordered = keys[order]
    new = np.append(True, ordered[1:] != ordered[:-1])[: len(keys)]
    place = np.empty(len(keys), dtype=np.int64)
    place[order] = np.cumsum(new) - 1
    return ordered[new], place


def _sums(place: Ints, values: Array, size: int) -> Array:
    return np.bincount(place, values, size).astype(np.float64)


def _f1(right: Array, seen: Array) -> tuple[Array, Array]:
    """The F1 of classes, and 1 for those that are there."""
    there = seen > _NONE
    scores: Array = np.divide(2 * right, seen, out=np.zeros_like(seen), where=there)
    return scores, there.astype(np.float64)


def _raised(right: Array, seen: Array) -> Array:
    """The mean F1 with the share of right answers of rare classes drawn towards their average before it is made an F1.

    F1 bends down, so the F1 of few answers is too low on average, and that of an average is too high: the truth is
    between the two.
    """
    out = np.full(len(right), np.nan)
    for i, (r, s) in enumerate(zip(right, seen, strict=True)):
        there = s > _NONE
        r, touched = r[there], s[there] - r[there]
        few = touched < _FEW
        if not len(r):
            continue
        share = r / touched
        if few.any():
            share = np.where(few, (r + _PRIOR * share[few].mean()) / (touched + _PRIOR), share)
        out[i] = (2 * share / (1 + share)).mean()
    return out
