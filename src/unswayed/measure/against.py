"""The contrasts of runs with a baseline, for each measure of each set, and how they vary together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from unswayed.measure.answers import Tallied
from unswayed.measure.contrasts import Contrast
from unswayed.measure.definitions import MEASURES, Scope, Way, answer_columns, scope_of, score_columns
from unswayed.measure.questions import Slice, family_scopes, operator_scopes
from unswayed.measure.run_table import Bools, Part
from unswayed.measure.set_scores import Layout
from unswayed.measure.sets import ALL, Named
from unswayed.measure.shared import Shared
from unswayed.score import Scorer
from unswayed.stats import Array, Ints, Observations
from unswayed.stats.simultaneous import Together

Place = tuple[str, Named]  # a measure and a set
_Parts = tuple[tuple[Part, Part], ...]  # of the baseline and of another run, for each other run
_ROWS = 2048  # examples that are laid side by side at once


@dataclass(frozen=True)
class Clusters:
    """The field whose values are clusters, and how many there are."""

    field: str
    count: int

    def codes(self, part: Part) -> Ints:
        """The cluster of each example; an example of none stands for itself."""
        known = part.groups[self.field]
        codes: Ints = np.where(known >= 0, known, self.count + part.first + np.arange(part.size))
        return codes


class Gathered:
    """`contrasts` has those of each run with the baseline, by place, and `answers` its lost and gained answers."""

    def __init__(
        self, pairs: Sequence[tuple[Shared, Shared]], scorer: Scorer | None, slices: Sequence[Slice], way: Way,
        clusters: Clusters | None,
    ) -> None:  # fmt: skip
        self._scorer, self._slices, self._way, self._clusters = scorer, slices, way, clusters
        self._spill = pairs[0][0].spill
        self._layouts: dict[tuple[int, Named], Layout] = {}
        self.contrasts: list[dict[Place, Contrast]] = [{} for _ in pairs]
        self.answers = [Tallied() for _ in pairs]
        self._column: dict[Contrast, int] = {}
        self._together = Together(0)
        if scorer is not None and not scorer.linear:
            for parts in _parts(pairs):
                self._lay_out(parts, scorer)
            for parts in _parts(pairs):
                for contrast, one, other in self._columns(parts):
                    contrast.see(one, other)
        for parts in _parts(pairs):
            self._add(parts)

    def correlation(self, contrasts: Sequence[Contrast]) -> Array:
        """How the differences vary together."""
        chosen = [self._column[contrast] for contrast in contrasts]
        return self._together.correlation(chosen)

    def _lay_out(self, parts: _Parts, scorer: Scorer) -> None:
        for run, (part, _) in enumerate(parts):
            for set_, scope in _scopes(part):
                layout = self._layouts.setdefault((run, set_), Layout())
                layout.see(part, part.scored[scorer.name], scope)

    def _add(self, parts: _Parts) -> None:
        first = parts[0][0]
        clusters = None if self._clusters is None else self._clusters.codes(first)
        given: list[tuple[Ints, Array, Array]] = []
        for contrast, one, other in self._columns(parts):
            if contrast not in self._column:
                self._column[contrast] = len(self._column)
                self._together = Together(len(self._column))
            given.append(
                (one.examples, *contrast.add(one, other, None if clusters is None else clusters[one.examples]))
            )
        for at in range(0, first.size, _ROWS):
            size = min(_ROWS, first.size - at)
            numbers, weights = np.zeros((2, size, len(given)))
            for column, (examples, values, weight) in enumerate(given):
                here = slice(*np.searchsorted(examples, [at, at + size]))
                numbers[examples[here] - at, column] = values[here]
                weights[examples[here] - at, column] = weight[here]
            self._together.add(numbers, weights, None if clusters is None else clusters[at : at + size])
        for tallied, (one_part, other_part) in zip(self.answers, parts, strict=True):
            if self._scorer is not None:
                tallied.add(one_part, other_part, self._scorer)

    def _columns(self, parts: _Parts) -> Iterator[tuple[Contrast, Observations, Observations]]:
        """Each contrast, in the same order for every part, with the two runs' observations."""
        for run, both in enumerate(parts):
            for set_, scope in _scopes(both[0]):
                layout = self._layouts.get((run, set_)) or Layout()
                one, other = (self._measured(part, scope, layout) for part in both)
                cuts: list[tuple[Named, Bools | None]] = [(set_, None)]
                if set_ == ALL:
                    cuts += [((cut.key, cut.value), cut.inside(both[0])) for cut in self._slices]
                for name, inside in cuts:
                    for measure in (m for m in MEASURES if m in one):
                        a, b = _cut(one[measure], inside), _cut(other[measure], inside)
                        yield self._contrast(run, measure, name, a), a, b

    def _measured(self, part: Part, scope: Scope, layout: Layout) -> dict[str, Observations]:
        scores = {}
        if self._scorer is not None:
            scores = score_columns(part, part.scored[self._scorer.name], scope, layout, self._way)
        return scores | answer_columns(part, scope, self._way)

    def _contrast(self, run: int, measure: str, set_: Named, column: Observations) -> Contrast:
        found = self.contrasts[run]
        if (measure, set_) not in found:
            found[measure, set_] = Contrast(measure, set_, column, self._spill, self._clusters is not None)
        return found[measure, set_]


def _parts(pairs: Sequence[tuple[Shared, Shared]]) -> Iterator[_Parts]:
    return zip(*(zip(one.parts(), other.parts(), strict=True) for one, other in pairs), strict=True)


def _scopes(part: Part) -> Iterator[tuple[Named, Scope]]:
    yield ALL, scope_of(part)
    for name, scope in family_scopes(part):
        yield ("family", name), scope
    for name, scope in operator_scopes(part):
        yield ("operator", name), scope


def _cut(column: Observations, inside: Bools | None) -> Observations:
    if inside is None:
        return column
    chosen = inside[column.examples]
    return replace(
        column, examples=column.examples[chosen], values=column.values[chosen], missing=column.missing[inside]
    )
