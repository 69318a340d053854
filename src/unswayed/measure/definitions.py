"""What each measure is: the numbers that it takes from each example, the statistic of their sums, and its estimate."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import isfinite
from typing import NamedTuple

import numpy as np

from unswayed.base.errors import UsageError, option
from unswayed.base.values import Estimate
from unswayed.measure.run_table import Bools, Part, RunTable, Scored
from unswayed.measure.set_scores import Layout, Pick, SetScore, class_sums, cvar_weights, worst_weights
from unswayed.measure.spill import Kept, Spill, Tally
from unswayed.measure.table_reader import MISSING
from unswayed.run.block import AS_IT_WAS
from unswayed.run.plan import Weigh
from unswayed.stats import (
    Array,
    Ints,
    Mean,
    MeanKind,
    Numbers,
    Observations,
    Ratio,
    Statistic,
    mean_interval,
    mean_p,
    pseudo_of,
    sign_flip_interval,
    summed,
)

VERSION = 5  # of these definitions; part of every signature
SCORE_MEASURES = ("clean", "average", "worst", "cvar", "drop")
ANSWER_MEASURES = ("flips", "consistency", "noticed")
MEASURES = SCORE_MEASURES + ANSWER_MEASURES
BESIDE = ("change", "gained")  # second measures of changed answers, where the rule that compares them has one
ALTERED = "altered"  # says what the variants are, not what the system does: no gate, no comparison
WORST_OF = 3  # variants among which the worst is looked for, unless something else is asked for


@dataclass(frozen=True)
class Way:
    """How examples are weighed, and of how many variants the worst is."""

    weigh: Weigh = "examples"
    worst_of: int = WORST_OF


def way_of(most: int, weigh: Weigh = "examples", worst_of: int | None = None) -> Way:
    """The way that was asked for; by default the worst of three, or of as many as some example has at `most`."""
    most = max(1, most)
    if worst_of is None:
        return Way(weigh, min(WORST_OF, most))
    if worst_of < 1:
        raise UsageError(f"{option('worst-of')} must be a whole number of 1 or more, not {worst_of}.")
    if worst_of > most:
        raise UsageError(
            f"{option('worst-of')} is {worst_of}, but no example has more than {most} distinct variants. Make the "
            f"suite with more {option('draws')} or more operators, or use {option('worst-of')} {most} or less."
        )
    return Way(weigh, worst_of)


def tries_of(table: RunTable) -> dict[str, float]:
    """For each operator, how many distinct variants it made of each example that it varied, on average."""
    made, varied = dict.fromkeys(table.operators, 0), dict.fromkeys(table.operators, 0)
    for part in table.parts():
        for code, name in enumerate(part.operators):
            variants = np.flatnonzero((part.operator == code) & ~part.changed)
            made[name] += len(distinct(part, variants))
            varied[name] += len(np.unique(part.example[variants]))
    return {name: made[name] / varied[name] for name in made if varied[name]}


def distinct(part: Part, variants: Ints) -> Ints:
    """The variants without those whose inputs an earlier one of the same example has."""
    if not part.repeated:
        return variants
    width = int(part.text.max()) + 1
    _, first = np.unique(part.example[variants] * width + part.text[variants], return_index=True)
    kept: Ints = variants[np.sort(first)]
    return kept


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


def cut(column: Observations, inside: Bools | None) -> Observations:
    """The column of the examples inside a slice; all of it without one."""
    if inside is None:
        return column
    chosen = inside[column.examples]
    return replace(
        column, examples=column.examples[chosen], values=column.values[chosen], missing=column.missing[inside]
    )


def answer_columns(part: Part, scope: Scope, way: Way) -> dict[str, Observations]:
    """Flips, consistency, noticed and those in `BESIDE`: they compare answers with the clean answer."""

    def changes(variants: Ints, whole: bool = False) -> Observations:
        example, flip = part.example[variants], part.flip[variants]
        missing = np.bincount(example[flip == MISSING], minlength=part.size)
        return _share_column(part.size, example[flip >= 0], example[flip == 1], missing, way, whole)

    found = {
        "flips": changes(scope.same),
        "consistency": changes(scope.same, whole=True),
        "noticed": changes(scope.changed),
    }
    for name, values in part.beside.items():
        known = scope.same[~np.isnan(values[scope.same])]
        example, lost = part.example[known], part.example[scope.same][part.flip[scope.same] == MISSING]
        counts = np.bincount(example, minlength=part.size)
        varied = np.flatnonzero(counts)
        mean = np.bincount(example, weights=values[known], minlength=part.size)[varied] / counts[varied]
        column, statistic = _weighed(mean, counts[varied], way)
        span = (0.0, 1.0) if name == "gained" else (0.0, np.inf)
        found[name] = Observations(varied, column, statistic, np.bincount(lost, minlength=part.size), span)
    return found


def altered_column(part: Part, scope: Scope, way: Way) -> Observations:
    """The share of an example's variants of the same meaning whose inputs differ from its own."""
    example, differ = part.example[scope.same], part.text[scope.same] != AS_IT_WAS
    return _share_column(part.size, example, example[differ], np.zeros(part.size, dtype=np.int64), way)


def _share_column(n: int, of: Ints, hits: Ints, missing: Ints, way: Way, whole: bool = False) -> Observations:
    """Of the examples of some variants, the share of these that are hits; or, for the `whole`, whether none is."""
    made = np.bincount(of, minlength=n)
    examples = np.flatnonzero(made)
    counts, hit = made[examples], np.bincount(hits, minlength=n)[examples]
    column, statistic = _weighed((hit == 0).astype(np.float64) if whole else hit / counts, counts, way)
    return Observations(examples, column, statistic, missing)


def _weighed(values: Array, counts: Array | Ints, way: Way) -> tuple[Array, Statistic]:
    """The examples' values, all of one weight; or each with the weight of its variants."""
    if way.weigh == "examples":
        return values[:, None], Mean()
    return np.column_stack([values * counts, counts]).astype(np.float64), Ratio()


def score_columns(part: Part, scored: Scored, scope: Scope, layout: Layout, way: Way) -> dict[str, Observations]:
    """Clean, average, worst, cvar and drop under one scorer."""
    n = part.size
    lost = ~scored.known & scored.due
    clean_missing = (~scored.clean_known & scored.clean_due & scope.clean).astype(np.int64)
    missing = np.bincount(part.example[scope.same][lost[scope.same]], minlength=n)
    varied = np.bincount(part.example[scope.same], minlength=n) > 0
    linear = scored.scorer.linear
    columns = _mean_columns(part, scored, scope, way) if linear else _corpus_columns(part, scored, scope, layout, way)
    gaps = dict.fromkeys(SCORE_MEASURES, missing)
    gaps |= {"clean": clean_missing, "drop": missing + clean_missing * varied}
    low, high = scored.scorer.bounds
    found = {}
    for name, (examples, values, statistic) in columns.items():
        found[name] = Observations(examples, values, statistic, gaps[name], (low, high))
    span, unit = (low - high, high - low), single_unit(scored)
    found["drop"] = replace(found["drop"], span=span, kind="difference", unit=unit)
    return found


def single_unit(scored: Scored) -> float | None:
    """The difference that one clean answer makes, if each is right or wrong; None for scores between them."""
    low, high = scored.scorer.bounds
    known = scored.clean[scored.clean_known]
    return high - low if ((known <= low) | (known >= high)).all() else None


_Parts = Mapping[str, tuple[Ints, Array, Statistic]]


def _mean_columns(part: Part, scored: Scored, scope: Scope, way: Way) -> _Parts:
    n = part.size
    variants = scope.same[scored.known[scope.same]]
    example = part.example[variants]
    counts = np.bincount(example, minlength=n)
    varied = np.flatnonzero(counts)
    average = np.zeros(n)
    average[varied] = np.bincount(example, weights=scored.varied[variants], minlength=n)[varied] / counts[varied]
    # of each example the expected lowest score of k of its distinct variants, and the mean of the lowest 1/k of them
    tries = distinct(part, variants)
    tried, scores = part.example[tries], scored.varied[tries]
    order = np.lexsort((scores, tried))
    tried, scores = tried[order], scores[order]
    many = np.bincount(tried, minlength=n)
    rank, count, most = np.arange(len(tried)) - (np.cumsum(many) - many)[tried], many[tried], int(many.max(initial=1))
    tables = worst_weights(most, way.worst_of), cvar_weights(most, way.worst_of)
    worst, cvar = (np.bincount(tried, table[count, rank] * scores, n).astype(np.float64) for table in tables)
    both = varied[scored.clean_known[varied]]
    clean_of = np.flatnonzero(scored.clean_known & scope.clean)
    weights = counts if len(varied) else np.ones(n)  # without any variant there is still a clean score
    found = {
        "clean": (clean_of, scored.clean),
        "average": (varied, average),
        "worst": (varied, worst),
        "cvar": (varied, cvar),
        "drop": (both, scored.clean - average),
    }
    return {
        name: (examples, *_weighed(values[examples], weights[examples], way))
        for name, (examples, values) in found.items()
    }


def _corpus_columns(part: Part, scored: Scored, scope: Scope, layout: Layout, way: Way) -> _Parts:
    variants = scope.same[scored.known[scope.same]]
    codes = layout.codes(part, scored, variants)
    ranked = layout.ranked(part, scored, distinct(part, variants))
    varied = np.unique(part.example[variants])
    clean_of = np.flatnonzero(scored.clean_known & scope.clean)
    has_clean = scored.clean_known[varied]
    both = varied[has_clean]
    counts = np.bincount(part.example[variants], minlength=part.size)
    if way.weigh == "examples" or not len(varied):
        counts = np.minimum(counts, 1) if len(varied) else np.ones(part.size, dtype=np.int64)
        counts[clean_of] = 1

    def score(pick: Pick, width: int, drop: bool = False) -> SetScore:
        return SetScore(scored.scorer, scored.rows, width, drop, pick, way.weigh, way.worst_of)

    first = np.full((len(both), layout.width), -1)
    first[:, 0] = scored.clean_codes[both]
    return {
        "clean": (clean_of, layout.repeated(scored.clean_codes[clean_of], counts[clean_of]), score("all", layout.most)),
        "average": (varied, codes, score("all", layout.width)),
        "worst": (varied, ranked, score("worst", layout.most)),
        "cvar": (varied, ranked, score("cvar", layout.most)),
        "drop": (both, np.hstack([first, codes[has_clean]]), score("all", layout.width, drop=True)),
    }


KEPT = ("drop",)  # measures whose numbers are kept by example, for what compares several sets


class GatheredMeasure:
    """One number that is wanted, gathered part by part: by example, or by cluster if `over` names what clusters are."""

    def __init__(self, column: Observations, signature: str, spill: Spill, over: str | None, keep: bool) -> None:
        self.span, self.statistic, self.kind, self.signature = column.span, column.statistic, column.kind, signature
        self._unit = column.unit
        self.missing = self.n = 0
        self._over, self._spill, self._keep = over, spill, keep
        statistic = column.statistic
        self._by_class = statistic if isinstance(statistic, SetScore) and statistic.by_class else None
        self._tally = Tally(spill)
        self._cluster_sums: dict[int, Array] = {}
        self._kept: list[tuple[Kept, Kept]] = []  # the numbers of examples or clusters, and their values

    def add(self, column: Observations, inside: Bools | None, first: int, clusters: Ints | None) -> None:
        column = cut(column, inside)
        examples, values = column.examples, column.values
        self.missing += int(column.missing.sum())
        self.n += len(values)
        self._unit = column.unit and self._unit
        if clusters is None:
            self._tally.add(values)
            if self._keep:
                self._kept.append((self._spill.put(examples + first), self._spill.put(values)))
        elif self._by_class is not None:
            self._kept.append((self._spill.put(clusters[examples]), self._spill.put(values)))
        else:
            codes, sums = clusters[examples], self._cluster_sums
            rows = summed(_columns(self.statistic, values), codes)
            for cluster, row in zip(np.unique(codes).tolist(), rows, strict=True):
                sums[cluster] = sums[cluster] + row if cluster in sums else row

    def estimate(self, level: float) -> Estimate:
        over = "examples like these" if self._over is None else self._over
        found = None
        if self.n and self._over is not None:
            found = self._cluster_units()[1]
        elif self.n:
            rows, counts = self._tally.rows()
            found = self._found_of(rows, counts.astype(np.float64))
        if found is None or not isfinite(found.value):
            return Estimate(None, None, None, 0, self.missing, self.signature, over=over)
        low, high, p = found.interval(self.span, level, self.kind, self._unit)
        return Estimate(found.value, low, high, self.n, self.missing, self.signature, over=over, p=p)

    def _cluster_units(self) -> tuple[Ints, _Found]:
        """The numbers of the clusters, in ascending order, and what they give."""
        if self._by_class is not None:
            codes, values = (self._spill.joined([pair[i] for pair in self._kept]) for i in (0, 1))
            clusters, unit = np.unique(codes, return_inverse=True)
            found = class_found(self._by_class, values, unit, np.ones(len(clusters)))
            return clusters, found._replace(numbers=replace(found.numbers, composite=self.n > len(clusters)))
        clusters = np.array(sorted(self._cluster_sums), dtype=np.int64)
        rows = np.array([self._cluster_sums[cluster] for cluster in clusters.tolist()])
        found = _found(self.statistic, rows, np.ones(len(rows)))
        return clusters, found._replace(numbers=replace(found.numbers, composite=self.n > len(clusters)))

    def units(self) -> tuple[Ints, Numbers]:
        """The number of each example, or cluster, in the data, and what it gives: its total and its weight."""
        if self._over is not None:
            clusters, found = self._cluster_units()
            return clusters, found.numbers
        if not self._kept:
            return np.zeros(0, dtype=np.int64), Numbers(np.zeros(0), np.zeros(0), np.zeros(0))
        units = self._spill.joined([examples for examples, _ in self._kept])
        return units, self._found_of(self._spill.joined([values for _, values in self._kept])).numbers

    def _found_of(self, values: Array, counts: Array | None = None) -> _Found:
        """What the values of examples give, of which there are `counts`, or one each."""
        counts = np.ones(len(values)) if counts is None else counts
        if self._by_class is not None:
            return class_found(self._by_class, values, np.arange(len(values)), counts)
        values = _columns(self.statistic, values)  # in place of the others: there may be millions
        return _found(self.statistic, values, counts)


def estimate_of(column: Observations, signature: str, level: float) -> Estimate:
    """The estimate that observations give whose examples are all there."""
    n, missing, statistic = len(column.values), int(column.missing.sum()), column.statistic
    if not n:
        return Estimate(None, None, None, 0, missing, signature)
    found = _found(statistic, _columns(statistic, column.values), np.ones(n))
    low, high, p = found.interval(column.span, level, column.kind, column.unit)
    return Estimate(found.value, low, high, n, missing, signature, p=p)


def _columns(statistic: Statistic, values: Array) -> Array:
    """What is summed: for a mean the numbers and how many there are."""
    if isinstance(statistic, Mean):
        return np.column_stack([values[:, 0], np.ones(len(values))])
    return statistic.columns(values)


class _Found(NamedTuple):
    """A statistic, the numbers whose mean it is but for its bias, and the value with more of that bias removed."""

    value: float
    numbers: Numbers
    raised: float | None = None
    plain: bool = False

    def interval(
        self, span: tuple[float, float], level: float, kind: MeanKind, unit: float | None = None
    ) -> tuple[float | None, float | None, float | None]:
        """The interval and, of a difference, its p-value. They agree: one excludes zero where the other is small.

        Examples whose conditions may be exchanged are tested by sign flips. Pseudo-values may not, and of a biased
        statistic the interval reaches from below the value as it is to above the corrected ones.
        """
        numbers, value = self.numbers, self.value
        low, high = mean_interval(numbers, span, level, kind)
        if self.plain:
            if kind != "difference":
                return low, high, None
            return sign_flip_interval(numbers, (low, high), level, unit)
        if low is None or high is None:
            return low, high, None
        corrected = numbers.value
        low = max(span[0], min(value, low + min(0.0, value - corrected)))
        high = min(span[1], max(value, high + max(0.0, (self.raised or corrected) - corrected)))
        if kind != "difference":
            return low, high, None
        near = min(value, corrected) if value > 0 else max(value, corrected)
        return low, high, mean_p(numbers, span, kind, near) if near * value > 0 else 1.0


def _found(statistic: Statistic, rows: Array, counts: Array) -> _Found:
    """The statistic, and the numbers whose mean it is; of a set's score they are pseudo-values."""
    if isinstance(statistic, (Mean, Ratio)):
        numbers = Numbers(rows[:, 0], rows[:, 1], counts)
        return _Found(numbers.value, numbers, plain=True)
    n = int(counts.sum())
    value = float(statistic(counts[None, :] @ rows, n)[0])
    return _Found(value, Numbers(pseudo_of(rows, counts, statistic), np.ones(len(rows)), counts))


def class_found(statistic: SetScore, values: Array, unit: Ints, counts: Array) -> _Found:
    """The same of a score that is a mean over classes; `counts` says how many there are of each unit."""
    entries, units, sets = statistic.entries(values, unit)
    sums, n = class_sums(entries, sets, int(entries.label.max(initial=0)) + 1, counts), int(counts.sum())
    value = float(statistic.of_sets(sums.whole()[None])[0])
    without = statistic.of_sets(sums.without(entries, units))
    pseudo = n * value - (n - 1) * np.where(np.isnan(without), value, without)
    raised = None if statistic.drop else float(statistic.of_sets(sums.raised()[None])[0])
    return _Found(value, Numbers(pseudo, np.ones(units), counts), raised)
