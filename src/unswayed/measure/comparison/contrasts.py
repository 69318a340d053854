"""The contrasts of runs with a baseline: what each example gives to a difference, with its interval and p-value."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import pairwise
from math import isfinite

import msgspec
import numpy as np

from unswayed.measure.definitions import MEASURES, Way, answer_columns, cut, score_columns
from unswayed.measure.gates import ALL, Named, labelled
from unswayed.measure.questions import Slice, scopes_of
from unswayed.measure.run_table import Bools, Part, RunTable
from unswayed.measure.set_scores import ClassSums, Layout, SetScore, class_sums
from unswayed.measure.spill import Spill, Tally
from unswayed.score import Scorer
from unswayed.stats import (
    Array,
    Ints,
    Mean,
    MeanKind,
    Numbers,
    Observations,
    Ratio,
    mean_interval,
    mean_p,
    numbers_of,
    sign_flip_p,
)
from unswayed.stats.multiple_comparisons import JointMeans
from unswayed.stats.sign_flip import agreeing

Ends = tuple[float | None, float | None]
_BLOCK = 1024  # examples whose rows are summed together
_CELLS = 1 << 22  # numbers held at once while examples are left out one by one


class Contrast:
    """Gathered part by part. A score of whole sets needs all parts twice: `see` for its sums, then `add`.

    What an example gives to the difference is that of its two values; or, for a score of whole sets, that of its two
    pseudo-values.
    """

    def __init__(self, measure: str, set_: Named, column: Observations, spill: Spill, clustered: bool) -> None:
        self.measure, self.set = measure, set_
        self._ends = column.span
        self.span = column.span[0] - column.span[1], column.span[1] - column.span[0]
        # The unseen matters: one example far off. That of a drop lies halfway to the end of the span.
        linear = isinstance(column.statistic, (Mean, Ratio)) and column.kind != "difference"
        self.kind: MeanKind = "difference" if linear else "contrast"
        self.missing = self.n = 0
        self._statistic, self._mean = column.statistic, isinstance(column.statistic, (Mean, Ratio))
        statistic = column.statistic
        self._by_class = statistic if isinstance(statistic, SetScore) and statistic.by_class else None
        self._seen, self._kept, self.clustered = Tally(spill), Tally(spill), clustered

    @property
    def label(self) -> str:
        return labelled(self.set)

    def see(self, a: Observations, b: Observations) -> None:
        """Takes in the values of some examples, where what one gives depends on all others."""
        if not self._mean:
            self._seen.add(np.hstack([a.values, b.values]))

    @cached_property
    def _sides(self) -> list[tuple[float, Callable[[Array], Array]]]:
        """Of A and of B: the score of all examples, and what gives the score without each of some examples."""
        rows, counts = self._seen.rows()
        n, score, statistic = self._seen.n, self._by_class, self._statistic
        found: list[tuple[float, Callable[[Array], Array]]] = []
        for values in np.hsplit(rows, 2):
            if score is not None:  # a mean over classes, of which a row of sums would be too long
                entries, _, sets = score.entries(values, np.arange(len(values)))
                most = int(score.rows[0, 2]) if len(score.rows) else 1
                whole = class_sums(entries, sets, most, counts.astype(np.float64))

                def without_class(values: Array, score: SetScore = score, whole: ClassSums = whole) -> Array:
                    entries, units, _ = score.entries(values, np.arange(len(values)))
                    return score.of_sets(whole.without(entries, units))

                found.append((float(score.of_sets(whole.whole()[None])[0]), without_class))
                continue
            starts = range(0, len(values), _BLOCK)  # in blocks, as a row may be long
            parts = [counts[at : at + _BLOCK] @ statistic.columns(values[at : at + _BLOCK]) for at in starts]
            sums: Array = np.sum(parts, axis=0)[None, :]

            def without(values: Array, sums: Array = sums) -> Array:
                step = max(1, _CELLS // max(1, sums.shape[1]))
                blocks = (statistic.columns(values[at : at + step]) for at in range(0, len(values), step))
                return np.concatenate([np.zeros(0), *(statistic(sums - rows, n - 1) for rows in blocks)])

            found.append((float(statistic(sums, n)[0]), without))
        return found

    def add(self, a: Observations, b: Observations, clusters: Ints | None) -> tuple[Array, Array]:
        """Takes in some examples and returns what each gives to the difference, and with which weight."""
        self.missing += int(a.missing.sum())
        self.n += len(a.values)
        sides: list[Array] = []  # what each example gives to A, and to B
        weights: Array = a.values[:, 1] if isinstance(self._statistic, Ratio) else np.ones(len(a.values))
        for side, values in enumerate((a.values, b.values)):
            if self._mean or not len(values):
                sides.append(values[:, 0] if self._mean else np.zeros(0))
                continue
            n, (whole, leave_out) = self._seen.n, self._sides[side]
            without = leave_out(values)  # what an example gives is its pseudo-value
            sides.append(n * whole - (n - 1) * np.where(np.isnan(without), whole, without))
        own = [] if clusters is None else [clusters.astype(np.float64)]
        self._kept.add(np.column_stack([*own, *sides, weights]))
        return sides[1] - sides[0], weights

    @cached_property
    def numbers(self) -> Numbers:
        """What all examples or clusters give to the difference, B minus A."""
        rows, counts = self._kept.rows()
        given, weights = rows[:, -2] - rows[:, -3], rows[:, -1]
        if self.clustered:
            found = numbers_of(given / np.maximum(weights, 1), counts * weights, rows[:, 0].astype(np.int64))
            return replace(found, composite=self.n > found.units)
        if isinstance(self._statistic, Ratio):
            return Numbers(given, weights, counts.astype(np.float64))
        return Numbers(given, np.ones(len(given)), counts.astype(np.float64))

    @cached_property
    def values(self) -> tuple[float | None, float | None]:
        """The measure of A and of B."""
        if not self.n:
            return None, None
        if self._mean:
            rows, counts = self._kept.rows()
            a, b = (float(counts @ rows[:, side]) / float(counts @ rows[:, -1]) for side in (-3, -2))
        else:
            a, b = (whole for whole, _ in self._sides)
        return (a, b) if isfinite(a + b) else (None, None)

    @property
    def difference(self) -> float | None:
        a, b = self.values
        return None if a is None or b is None else b - a

    @property
    def exchangeable(self) -> bool:
        """May the two runs be exchanged in an example, if they are alike? Not in pseudo-values of a set's score."""
        return self._mean

    def interval(self, level: float) -> Ends:
        """It excludes zero exactly where the test rejects at this level."""
        if self.difference is None or self.p is None:
            return None, None
        low, high = mean_interval(self.numbers, self.span, level, self.kind)
        before = self.values[0]
        if before is not None and low is not None and high is not None:  # B can be no further off than its own span
            low, high = max(low, self._ends[0] - before), min(high, self._ends[1] - before)
        if self.exchangeable:
            return agreeing((low, high), self.difference, self.p, level)
        value = self.difference
        return (None if low is None else min(low, value)), (None if high is None else max(high, value))

    @cached_property
    def p(self) -> float | None:
        """That of the sign-flip test; of a set's score, 1 - the highest level at which the interval excludes zero."""
        difference = self.difference
        if difference is None:
            return None
        if self.exchangeable:
            return sign_flip_p(self.numbers.total, self.numbers.counts)
        same = difference * self.numbers.value > 0
        return mean_p(self.numbers, self.span, self.kind) if same else 1.0


Place = tuple[str, Named]  # a measure and a set
_Parts = tuple[tuple[Part, Part], ...]  # of the baseline and of another run, for each other run
_ROWS = 2048  # examples that are laid side by side at once


class GatheredContrasts:
    """`contrasts` has those of each run with the baseline, by place, and `answers` its lost and gained answers.

    `clusters` is the cluster of each example, where examples are drawn together.
    """

    def __init__(
        self, pairs: Sequence[tuple[Shared, Shared]], scorer: Scorer | None, slices: Sequence[Slice], way: Way,
        clusters: Ints | None,
    ) -> None:  # fmt: skip
        self._scorer, self._slices, self._way, self._clusters = scorer, slices, way, clusters
        self._spill = pairs[0][0].spill
        self._layouts: dict[tuple[int, Named], Layout] = {}
        self.contrasts: list[dict[Place, Contrast]] = [{} for _ in pairs]
        self.answers = [Tallied() for _ in pairs]
        self._column: dict[Contrast, int] = {}
        self._together = JointMeans(0)
        if scorer is not None and not scorer.linear:
            for parts in _parts(pairs):
                for run, (part, _) in enumerate(parts):
                    for kind, name, scope in scopes_of(part):
                        layout = self._layouts.setdefault((run, (kind, name)), Layout())
                        layout.see(part, part.scored[scorer.name], scope)
            for parts in _parts(pairs):
                for contrast, one, other in self._columns(parts):
                    contrast.see(one, other)
        for parts in _parts(pairs):
            first = parts[0][0]
            own = None if clusters is None else clusters[first.first : first.first + first.size]
            given: list[tuple[Ints, Array, Array]] = []
            for contrast, one, other in self._columns(parts):
                if contrast not in self._column:
                    self._column[contrast] = len(self._column)
                    self._together = JointMeans(len(self._column))
                taken = contrast.add(one, other, None if own is None else own[one.examples])
                given.append((one.examples, *taken))
            for at in range(0, first.size, _ROWS):
                size = min(_ROWS, first.size - at)
                numbers, weights = np.zeros((2, size, len(given)))
                for column, (examples, values, weight) in enumerate(given):
                    here = slice(*np.searchsorted(examples, [at, at + size]))
                    numbers[examples[here] - at, column] = values[here]
                    weights[examples[here] - at, column] = weight[here]
                self._together.add(numbers, weights, None if own is None else own[at : at + size])
            if scorer is not None:
                for tallied, (part, of_other) in zip(self.answers, parts, strict=True):
                    tallied.add(part, of_other, scorer)

    def correlation(self, contrasts: Sequence[Contrast]) -> Array:
        """How the differences vary together."""
        chosen = [self._column[contrast] for contrast in contrasts]
        return self._together.correlation(chosen)

    def _columns(self, parts: _Parts) -> Iterator[tuple[Contrast, Observations, Observations]]:
        """Each contrast, in the same order for every part, with the two runs' observations."""
        for run, both in enumerate(parts):
            for kind, name_, scope in scopes_of(both[0]):
                set_: Named = (kind, name_)
                layout = self._layouts.get((run, set_)) or Layout()
                measured = []
                for part in both:
                    columns = answer_columns(part, scope, self._way)
                    if (scorer := self._scorer) is not None:
                        columns = score_columns(part, part.scored[scorer.name], scope, layout, self._way) | columns
                    measured.append(columns)
                one, other = measured
                cuts: list[tuple[Named, Bools | None]] = [(set_, None)]
                if set_ == ALL:
                    cuts += [((own.key, own.value), own.inside(both[0])) for own in self._slices]
                for name, inside in cuts:
                    for measure in (m for m in MEASURES if m in one):
                        a, b = cut(one[measure], inside), cut(other[measure], inside)
                        found = self.contrasts[run]
                        if (measure, name) not in found:
                            found[measure, name] = Contrast(measure, name, a, self._spill, self._clusters is not None)
                        yield found[measure, name], a, b


def _parts(pairs: Sequence[tuple[Shared, Shared]]) -> Iterator[_Parts]:
    return zip(*(zip(one.parts(), other.parts(), strict=True) for one, other in pairs), strict=True)


class AnswerCounts(msgspec.Struct, frozen=True, kw_only=True):
    """How many answers of two runs are right or wrong: `lost` were right in A and are wrong in B."""

    lost: int
    gained: int
    right: int
    wrong: int


class Tallied:
    """Counts lost and gained answers part by part: of clean inputs, of variants, and of each operator's."""

    def __init__(self) -> None:
        self._counts: dict[str, Counter[str]] = {}

    def add(self, a: Part, b: Part, scorer: Scorer) -> None:
        best = scorer.bounds[1]
        one, other = a.scored[scorer.name], b.scored[scorer.name]
        self._count("clean", one.clean, other.clean, best)
        same = ~a.changed
        self._count("variants", one.varied[same], other.varied[same], best)
        for code, name in enumerate(a.operators):
            chosen: Bools = same & (a.operator == code)
            self._count(f"operator={name}", one.varied[chosen], other.varied[chosen], best)

    def _count(self, name: str, a: Array, b: Array, best: float) -> None:
        known = ~np.isnan(a) & ~np.isnan(b)
        before, after = a[known] >= best, b[known] >= best
        self._counts.setdefault(name, Counter()).update(
            lost=int((before & ~after).sum()),
            gained=int((~before & after).sum()),
            right=int((before & after).sum()),
            wrong=int((~before & ~after).sum()),
        )

    def answers(self) -> dict[str, AnswerCounts]:
        return {name: AnswerCounts(**counts) for name, counts in self._counts.items() if counts.total()}


class Shared:
    """A table in which items that the other lacks are missing; what was due stays due, so they are counted.

    `ends` are where parts end: those of different tables may differ, as a run's outputs decide how many fit.
    """

    def __init__(self, mine: RunTable, other: RunTable, ends: Sequence[int]) -> None:
        self.task, self.operators, self.families, self.spill = mine.task, mine.operators, mine.families, mine.spill
        self._tables, self._ends = (mine, other), ends

    def parts(self) -> Iterator[Part]:
        for mine, other in zip(*(_parts_until(table, self._ends) for table in self._tables), strict=True):
            scored = {}
            for name, s in mine.scored.items():
                clean_lost, lost = ~other.scored[name].clean_known, ~other.scored[name].known
                clean, varied = np.where(clean_lost, np.nan, s.clean), np.where(lost, np.nan, s.varied)
                scored[name] = replace(s, clean=clean, varied=varied)
                if not s.scorer.linear:
                    clean_codes, codes = np.where(clean_lost, -1, s.clean_codes), np.where(lost, -1, s.codes)
                    scored[name] = replace(scored[name], clean_codes=clean_codes, codes=codes)
            flip = np.where(other.flip < 0, np.minimum(mine.flip, other.flip), mine.flip)
            yield replace(mine, flip=flip, scored=scored)


def ends_of(tables: Iterable[RunTable]) -> list[int]:
    """Where a part of any of the tables ends."""
    sizes = [[stored["clean_ok"].shape[0] for stored in table.stored] for table in tables]
    return sorted({int(end) for column in sizes for end in np.cumsum(column)})


def _parts_until(table: RunTable, ends: Sequence[int]) -> Iterator[Part]:
    """The parts of a table, cut where a part of another table ends; variants go with their examples."""
    columns = ("operator", "family", "draw", "changed", "text", "ok", "flip")
    for part in table.parts():
        inside = [end - part.first for end in ends if part.first < end < part.first + part.size]
        for start, stop in pairwise([0, *inside, part.size]) if inside else ():
            own, varied = slice(start, stop), slice(*np.searchsorted(part.example, [start, stop]).tolist())
            scored = {}
            for name, s in part.scored.items():
                clean = {column: getattr(s, column)[own] for column in ("clean", "clean_due", "clean_codes")}
                others = {column: getattr(s, column)[varied] for column in ("varied", "due", "codes")}
                scored[name] = replace(s, **clean, **others)
            yield replace(
                part,
                first=part.first + start,
                size=stop - start,
                clean_ok=part.clean_ok[own],
                groups={key: codes[own] for key, codes in part.groups.items()},
                example=part.example[varied] - start,
                scored=scored,
                beside={name: values[varied] for name, values in part.beside.items()},
                **{name: getattr(part, name)[varied] for name in columns},
            )
        if not inside:
            yield part
