"""Measuring a run: all measures, overall and by operator, family and slice, from its stored outputs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol

from unfazed.core.suite import Suite
from unfazed.core.task import Task
from unfazed.measure.intervals import Settings
from unfazed.measure.planning import ALL, GRID, SCORES, Plan
from unfazed.measure.results import Results
from unfazed.measure.sets import slices_of
from unfazed.measure.signature import Signer
from unfazed.measure.table import Item, PairCodes, Scored, TableReader
from unfazed.measure.validity import Validity
from unfazed.score import scorers
from unfazed.score._scorer import Scorer


class Runlike(Protocol):
    """What is needed of a run."""

    @property
    def suite(self) -> Suite: ...
    @property
    def system(self) -> str: ...
    @property
    def identity(self) -> str: ...
    def items(self) -> Iterator[Item]: ...


def measure_run(
    run: Runlike,
    scores: Sequence[str] | None = None,
    level: float = 0.95,
    bootstrap: int = 10_000,
    seed: int = 0,
    groups: list[str] | None = None,
) -> Results:
    """All measures of a run. The first of `scores` is the main one; by default they are the task's.

    `groups` are the slices to cut, all by default. Raises NothingEvaluated if there is no output to measure.
    """
    settings = Settings(level, bootstrap, seed)
    suite = run.suite
    used = scorers_for(suite.task, scores)
    validity = Validity(suite.task, suite.manifest.labels, suite.manifest.unchanged)
    reader = TableReader(suite.task, PairCodes(used, suite.task))
    for item in validity.watch(run.items()):
        reader.add(*item)
    table = reader.table(used)
    validity.check(table)
    slices, warnings = slices_of(table, groups)
    plan = Plan(table)
    ordered: list[Scored | None] = [table.scored[scorer.name] for scorer in used]
    for place, scored in enumerate(ordered or [None]):
        sign = Signer(table, scored, suite.id, run.identity, settings).sign
        if place == 0:
            plan.add_blocks(scored, slices, sign)
        elif scored is not None:
            plan.add_scores(scored, sign)
    found = plan.answer(settings)
    whole = found.block(ALL, ALL)
    return Results(
        score=used[0].name if used else "none",
        task=suite.task.name,
        suite=suite.id,
        system=run.system,
        clean=whole.clean,
        average=whole.average,
        worst=whole.worst,
        drop=whole.drop,
        flips=whole.flips,
        consistency=whole.consistency,
        noticed=whole.noticed,
        by=found.by(),
        grid=found.nested(GRID),
        scores=found.nested(SCORES),
        validity=validity.report(warnings),
    )


def scorers_for(task: Task, names: Sequence[str] | None) -> list[Scorer]:
    """The named scorers, or the task's own, each once."""
    return [scorers.get(name)() for name in dict.fromkeys(task.scores if names is None else names)]
