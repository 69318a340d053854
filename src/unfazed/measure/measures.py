"""What each measure is: the numbers that it takes from each example, and the statistic of their sums."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unfazed.measure.statistics import Array, Corpus, Mean, Ratio, Statistic
from unfazed.measure.table import Bools, Ints, Scored, Table

VERSION = 1  # of these definitions; part of every signature
SCORE_MEASURES = ("clean", "average", "worst", "drop")
ANSWER_MEASURES = ("flips", "consistency", "noticed")
MEASURES = SCORE_MEASURES + ANSWER_MEASURES


@dataclass(frozen=True)
class Column:
    """One measure over one set of variants, before any slice is cut from it.

    `values` has a row for each of `examples`, the ones it rests on; `missing` counts, for every example, the items
    without an output that should have counted. `span` is the least and the greatest that the measure can be.
    """

    examples: Ints
    values: Array
    statistic: Statistic
    missing: Ints
    span: tuple[float, float] = (0.0, 1.0)


@dataclass(frozen=True)
class Scope:
    """A set of variants, by place in the table, and the examples that its clean score is over."""

    same: Ints
    changed: Ints
    clean: Bools


def scope_of(table: Table, chosen: Bools | None = None) -> Scope:
    """All variants and examples; or the chosen variants and the examples that they vary."""
    clean = np.ones(len(table.ids), dtype=bool)
    if chosen is None:
        return Scope(np.flatnonzero(~table.changed), np.flatnonzero(table.changed), clean)
    clean[:] = False
    clean[table.example[chosen]] = True
    return Scope(np.flatnonzero(chosen & ~table.changed), np.flatnonzero(chosen & table.changed), clean)


def no_column(table: Table) -> Column:
    """The column of a measure that nothing can be said of, such as a score without a scorer."""
    nothing = np.zeros(0, dtype=np.int64)
    return Column(nothing, np.zeros((0, 1)), Mean(), np.zeros(len(table.ids), dtype=np.int64))


def answer_columns(table: Table, scope: Scope) -> dict[str, Column]:
    """Flips, consistency and noticed: they compare answers with the clean answer and need no gold."""
    flips = _changes(table, scope.same)
    kept = (flips.values[:, :1] == 0).astype(float)
    return {
        "flips": flips,
        "consistency": Column(flips.examples, kept, Mean(), flips.missing),
        "noticed": _changes(table, scope.changed),
    }


def _changes(table: Table, variants: Ints) -> Column:
    """Changed answers over compared answers."""
    n = len(table.ids)
    example, flip = table.example[variants], table.flip[variants]
    known = flip >= 0
    compared = np.bincount(example[known], minlength=n)
    changed = np.bincount(example[flip == 1], minlength=n)
    examples = np.flatnonzero(compared)
    values = np.column_stack([changed, compared])[examples].astype(float)
    return Column(examples, values, Ratio(), np.bincount(example[~known], minlength=n))


def score_columns(table: Table, scored: Scored, scope: Scope) -> dict[str, Column]:
    """Clean, average, worst and drop under one scorer."""
    n = len(table.ids)
    lost = ~scored.known & scored.due
    clean_missing = (~scored.clean_known & scored.clean_due & scope.clean).astype(np.int64)
    missing = np.bincount(table.example[scope.same][lost[scope.same]], minlength=n)
    varied = np.bincount(table.example[scope.same], minlength=n) > 0
    make = _mean_columns if scored.scorer.linear else _corpus_columns
    columns = make(table, scored, scope)
    gaps = {
        "clean": clean_missing,
        "average": missing,
        "worst": missing,
        "drop": missing + clean_missing * varied,
    }
    low, high = scored.scorer.bounds
    spans = dict.fromkeys(SCORE_MEASURES, (low, high)) | {"drop": (low - high, high - low)}
    return {
        name: Column(examples, values, statistic, gaps[name], spans[name])
        for name, (examples, values, statistic) in columns.items()
    }


_Parts = dict[str, tuple[Ints, Array, Statistic]]


def _mean_columns(table: Table, scored: Scored, scope: Scope) -> _Parts:
    n = len(table.ids)
    clean_of = np.flatnonzero(scored.clean_known & scope.clean)
    variants = scope.same[scored.known[scope.same]]
    example, scores = table.example[variants], scored.varied[variants]
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


def _corpus_columns(table: Table, scored: Scored, scope: Scope) -> _Parts:
    clean_of = np.flatnonzero(scored.clean_known & scope.clean)
    variants = scope.same[scored.known[scope.same]]
    codes, width = _codes_by_draw(table, scored, variants)
    varied = np.unique(table.example[variants])
    worst = np.full(len(table.ids), -1)
    score = np.where(np.isnan(scored.varied), np.inf, scored.varied)[variants]
    order = np.lexsort((np.arange(len(variants)), score, table.example[variants]))[::-1]
    worst[table.example[variants][order]] = scored.codes[variants][order]  # the lowest comes last, and stays
    has_clean = scored.clean_known[varied]
    both = varied[has_clean]
    first = np.full((len(both), width), -1)
    first[:, 0] = scored.clean_codes[both]
    one = Corpus(scored.scorer, scored.rows, 1)
    return {
        "clean": (clean_of, scored.clean_codes[clean_of, None].astype(float), one),
        "average": (varied, codes, Corpus(scored.scorer, scored.rows, width)),
        "worst": (varied, worst[varied, None].astype(float), one),
        "drop": (
            both,
            np.hstack([first, codes[has_clean]]),
            Corpus(scored.scorer, scored.rows, width, drop=True),
        ),
    }


def _codes_by_draw(table: Table, scored: Scored, variants: Ints) -> tuple[Array, int]:
    """For each varied example the codes of its variants, draw by draw, in as many columns as the fullest draw needs."""
    if not len(variants):
        return np.zeros((0, 1)), 1
    draws, draw = np.unique(table.draw[variants], return_inverse=True)
    examples, example = np.unique(table.example[variants], return_inverse=True)
    codes = scored.codes[variants]
    order = np.lexsort((codes, draw, example))  # which operator comes first must not make rows distinct
    cell = (example * len(draws) + draw)[order]
    new = np.append(True, cell[1:] != cell[:-1])
    starts = np.flatnonzero(new)
    rank = np.arange(len(cell)) - np.repeat(starts, np.diff(np.append(starts, len(cell))))
    width = int(rank.max()) + 1
    out = np.full((len(examples) * len(draws), width), -1.0)
    out[cell, rank] = codes[order]
    return out.reshape(len(examples), -1), width
