"""The numbers of a report, collected before any is made, so that all intervals share their draws."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from unfazed.core.values import Estimate
from unfazed.measure.intervals import Question, Settings, estimates
from unfazed.measure.measures import (
    MEASURES,
    SCORE_MEASURES,
    Column,
    Scope,
    answer_columns,
    no_column,
    scope_of,
    score_columns,
)
from unfazed.measure.results import Block
from unfazed.measure.sets import Slice, family_scopes, operator_scopes
from unfazed.measure.table import Scored, Table

# A number's place: the kind of its set (or GRID, or SCORES), the set's name (or the operator's, or the scorer's),
# and the measure (or the slice).
Place = tuple[str, str, str]
Sign = Callable[[str, str], str]
ALL, GRID, SCORES = "", "×", "scores"


class Plan:
    """Questions by place. `answer` makes all of them at once."""

    def __init__(self, table: Table) -> None:
        self.table = table
        self.questions: dict[Place, Question] = {}

    def add_blocks(self, scored: Scored | None, slices: Sequence[Slice], sign: Sign) -> None:
        """All measures of every set under the main score, and the drops of operator × slice."""
        whole = self._columns(scored, scope_of(self.table))
        self._add_block(ALL, ALL, "all", whole, sign)
        for cut in slices:
            self._add_block(cut.key, cut.value, cut.name, whole, sign, cut)
        for name, scope in family_scopes(self.table):
            self._add_block("family", name, f"family={name}", self._columns(scored, scope), sign)
        for name, scope in operator_scopes(self.table):
            columns = self._columns(scored, scope)
            self._add_block("operator", name, f"operator={name}", columns, sign)
            for cut in slices:
                signature = sign("drop", f"operator={name}&{cut.name}")
                self.questions[GRID, name, cut.name] = Question(columns["drop"], signature, cut.inside)

    def add_scores(self, scored: Scored, sign: Sign) -> None:
        """The score measures of all variants under another score."""
        for measure, column in score_columns(self.table, scored, scope_of(self.table)).items():
            self.questions[SCORES, scored.scorer.name, measure] = Question(column, sign(measure, "all"))

    def _columns(self, scored: Scored | None, scope: Scope) -> dict[str, Column]:
        answers = answer_columns(self.table, scope)
        if scored is None:
            return {measure: no_column(self.table) for measure in SCORE_MEASURES} | answers
        return score_columns(self.table, scored, scope) | answers

    def _add_block(
        self, kind: str, name: str, label: str, columns: dict[str, Column], sign: Sign, cut: Slice | None = None
    ) -> None:
        for measure in MEASURES:
            question = Question(columns[measure], sign(measure, label), cut.inside if cut else None)
            self.questions[kind, name, measure] = question

    def answer(self, settings: Settings) -> Answers:
        found = estimates(list(self.questions.values()), settings)
        return Answers(dict(zip(self.questions, found, strict=True)))


class Answers:
    """Estimates by place."""

    def __init__(self, found: dict[Place, Estimate]) -> None:
        self._found = found

    def block(self, kind: str, name: str) -> Block:
        measures = {measure: self._found[kind, name, measure] for measure in MEASURES}
        noticed = measures.pop("noticed")
        controls = noticed.n + noticed.missing > 0  # without a control there is nothing to notice
        return Block(**measures, noticed=noticed if controls else None)

    def by(self) -> dict[str, dict[str, Block]]:
        sets = dict.fromkeys((kind, name) for kind, name, _ in self._found if kind not in (ALL, GRID, SCORES))
        out: dict[str, dict[str, Block]] = {"operator": {}, "family": {}}
        for kind, name in sets:
            out.setdefault(kind, {})[name] = self.block(kind, name)
        return out

    def nested(self, kind: str) -> dict[str, dict[str, Estimate]]:
        out: dict[str, dict[str, Estimate]] = {}
        for (found, name, last), estimate in self._found.items():
            if found == kind:
                out.setdefault(name, {})[last] = estimate
        return out
