"""Which operators and slices may be named: those whose drop is above the rest's by a test of all of them together."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial

import numpy as np

from unswayed.measure.questions import GRID, Questions
from unswayed.measure.results import Block, Named, Naming
from unswayed.stats import Array, Ints, Numbers
from unswayed.stats.multiple_comparisons import SetComparisons, compare_groups, compare_paired_sets

VERSION = 3  # of these tests; decides whether stored results are used again
_PAIRED = ("operator", "family")  # sets of variants of the same examples
_UNNAMED = ("family",)  # shown, but not named: an operator says more
Units = tuple[Ints, Numbers]


def naming(
    questions: Questions, sets: Mapping[str, Mapping[str, Block]], span: float, level: float, seed: int
) -> Naming:
    """All sets' drops with simultaneous intervals, shrunk together, and tested against the rest of their kind.

    `span` is how far apart two scores can be. p-values are corrected for all sets of a kind, and for the kinds.
    """
    known = {kind: [name for name, block in blocks.items() if block.drop.value is not None]
             for kind, blocks in sets.items()}  # fmt: skip
    kinds = {kind: names for kind, names in known.items() if len(names) > 1}
    tests = max(1, len(kinds.keys() - {*_UNNAMED}))
    found: dict[str, dict[str, Named]] = {}
    for kind, names in kinds.items():
        told = _told(kind, names, partial(_units, questions, kind), span, level, seed)
        alpha = 1 - level
        most = told.most(alpha / tests)
        found[kind] = {}
        for j, name in enumerate(names):
            drop = questions.at_level((kind, name, "drop"), told.together)
            p = min(1.0, float(told.p[j]) * tests)
            above = p <= alpha and told.value[j] > told.rest[j] and drop.low is not None and drop.low > 0
            found[kind][name] = Named(
                drop=drop.value,
                low=drop.low,
                high=drop.high,
                shrunk=_number(told.shrunk[j]),
                rest=_number(told.rest[j]),
                p=p,
                hurt="" if not above or kind in _UNNAMED else "most" if j == most else "more",
            )
    # the cells of the grid whose drop is surely not zero, if all of them are looked at together (Bonferroni)
    cells = [at for at in questions.places() if at[0] == GRID]
    sure: dict[str, list[str]] = {}
    for at in cells:
        drop = questions.at_level(at, 1 - (1 - level) / len(cells))
        if drop.low is not None and drop.high is not None and not drop.low <= 0 <= drop.high:
            sure.setdefault(at[1], []).append(at[2])
    return Naming(sets=found, grid=sure)


def _number(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None


def _units(questions: Questions, kind: str, name: str) -> Units:
    return questions.units((kind, name, "drop"))


def _told(
    kind: str, names: Sequence[str], units_of: Callable[[str], Units], span: float, level: float, seed: int
) -> SetComparisons:
    shared = _shared(names, units_of)
    if shared is not None:
        return compare_paired_sets(*shared, span, level, seed)
    units = [units_of(name) for name in names]
    ids, place = np.unique(np.concatenate([found for found, _ in units]), return_inverse=True)
    ends = np.cumsum([len(found) for found, _ in units])
    places = np.split(place, ends[:-1])
    if kind not in _PAIRED and len(place) == len(ids):
        code = np.repeat(np.arange(len(units)), [len(found) for found, _ in units])
        total = np.concatenate([numbers.total for _, numbers in units])
        weight = np.concatenate([numbers.weight for _, numbers in units])
        order = np.argsort(place, kind="stable")  # in the order of the data, whatever the sets are called
        return compare_groups(total[order], weight[order], code[order], len(units), span, level, seed)
    totals, weights = np.zeros((len(ids), len(units))), np.zeros((len(ids), len(units)))
    for j, (at, (_, numbers)) in enumerate(zip(places, units, strict=True)):
        totals[at, j], weights[at, j] = numbers.total, numbers.weight
    return compare_paired_sets(totals, weights, span, level, seed)


def _shared(names: Sequence[str], units_of: Callable[[str], Units]) -> tuple[Array, Array] | None:
    """Totals and weights, a column for each set, where all sets have the same units in ascending order; else None.

    So it is with operators that varied every example. One set's units are held at a time: there may be millions.
    """
    first = units_of(names[0])[0]
    if not len(first) or (first[1:] <= first[:-1]).any():
        return None
    totals, weights = np.zeros((len(first), len(names))), np.zeros((len(first), len(names)))
    for j, name in enumerate(names):
        found, numbers = units_of(name)
        if not np.array_equal(found, first):
            return None
        totals[:, j], weights[:, j] = numbers.total, numbers.weight
        del found, numbers  # before the next set's are read
    return totals, weights
