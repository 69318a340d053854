"""Measuring a run: all measures, overall and by operator, family and slice, from its stored outputs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import isnan
from typing import NamedTuple, Protocol

from unfazed.core.estimate import Resampling
from unfazed.core.suite import Suite
from unfazed.core.task import Task
from unfazed.core.values import Example, Json, Output, Variant
from unfazed.measure.pair_scores import PairCodes
from unfazed.measure.questions import ALL, GRID, SCORES, Questions, Signer, slices_of
from unfazed.measure.results import Results
from unfazed.measure.run_table import RunItem, answer_of, read_table
from unfazed.measure.spill import Spill
from unfazed.measure.validity import Validity
from unfazed.run.scoring import scored_by
from unfazed.run.workers import Engine
from unfazed.score import Scorer, scorers


class Runlike(Protocol):
    """What is needed of a run."""

    @property
    def suite(self) -> Suite: ...
    @property
    def system(self) -> str: ...
    @property
    def identity(self) -> str: ...
    def items(self) -> Iterator[RunItem]:
        """In the order of the suite."""


def measure_run(
    run: Runlike,
    scores: Sequence[str] | None = None,
    level: float = 0.95,
    bootstrap: int = 10_000,
    seed: int = 0,
    groups: list[str] | None = None,
    engine: Engine | None = None,
) -> Results:
    """All measures of a run. The first of `scores` is the main one; by default they are the task's.

    `groups` are the slices to cut, all by default. Raises NothingEvaluated if there is no output to measure.
    """
    settings = Resampling(level, bootstrap, seed)
    suite = run.suite
    used = scorers_for(suite.task, scores)
    spill = Spill()
    validity = Validity(suite.task, suite.manifest.labels, suite.manifest.unchanged, spill)
    with scored_by(engine or Engine()) as stats:
        table = read_table(validity.watch(run.items()), suite.task, PairCodes(used, suite.task, stats), spill)
    validity.check(table)
    slices, warnings = slices_of(table, groups)
    main = used[0] if used else None
    runs = [(table, run.identity)]
    signs = {scorer: Signer(runs, scorer, suite.signed, settings).sign for scorer in (main, *used[1:])}
    found = Questions(table, slices, signs).answer(settings)
    whole = found.block(ALL, ALL)
    return Results(
        score=main.name if main else "none",
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
    return [scorers.get(name)() for name in dict.fromkeys(names or task.scores)]


class Flip(NamedTuple):
    """A variant whose answer differs from the clean one; whether each was right is None where no score can say."""

    example: Example
    variant: Variant
    clean: Output
    varied: Output
    right_before: bool | None
    right_after: bool | None


def flips(run: Runlike, score: str | None = None) -> Iterator[Flip]:
    """Every changed answer of a run, controls included, in the order of the suite; `score` is the task's main one."""
    task = run.suite.task
    scorer = next(iter(scorers_for(task, [score] if score else None)), None)
    for example, clean, varied in run.items():
        before = answer_of(task, clean)
        for variant, output in varied if before is not None else ():
            after = answer_of(task, output)
            if after is not None and after != before:
                right_before = _right(scorer, clean.value, example.gold, task)
                right_after = _right(scorer, output.value, variant.gold, task)
                yield Flip(example, variant, clean, output, right_before, right_after)


def _right(scorer: Scorer | None, output: Json, gold: Json, task: Task) -> bool | None:
    """Does the output have the full score?"""
    if scorer is None or gold is None or scorer.key(output, task) is None or scorer.gold_key(gold, task) is None:
        return None
    score = float(scorer.aggregate(scorer.stats([output], [gold], task))[0])
    return None if isnan(score) else score >= scorer.bounds[1]
