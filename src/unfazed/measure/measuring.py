"""Measuring a run: all measures, overall and by operator, family and slice, from its stored outputs."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from itertools import islice
from math import isnan
from pathlib import Path
from typing import NamedTuple, Protocol

import msgspec
import numpy as np

from unfazed.core.errors import UsageError
from unfazed.core.estimate import Resampling
from unfazed.core.suite import Suite
from unfazed.core.task import Task
from unfazed.core.values import Example, Json, Output, Variant
from unfazed.measure.pair_scores import PairCodes
from unfazed.measure.questions import ALL, GRID, SCORES, Questions, Signer, slices_of
from unfazed.measure.results import Results
from unfazed.measure.run_table import RunItem, answer_of, read_table
from unfazed.measure.sanity import Sanity
from unfazed.measure.spill import Spill
from unfazed.measure.stored import KeptScores, decided_by, find, keep
from unfazed.measure.validity import Validity
from unfazed.run.plan import MeasurePlan, from_arguments, listed
from unfazed.run.record import Run
from unfazed.run.scoring import scored_by
from unfazed.run.workers import Engine
from unfazed.score import Scorer, Stats, scorers

_FLIPS_A_BLOCK = 500  # changed answers that are scored together


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


def run_of(run: Runlike | Results | str | Path) -> Runlike:
    """A run, the run in a folder, or the run that results are of."""
    if isinstance(run, (str, Path)):
        return Run(run)
    if isinstance(run, Results):
        return run.run
    if not hasattr(run, "items") or not hasattr(run, "suite"):
        raise UsageError(f"A run is expected, or the path of its folder, not {type(run).__name__}.")
    return run


def measure_run(
    run: Runlike | str | Path, scores: str | Sequence[str] | None = None, level: float = 0.95, bootstrap: int = 10_000,
    seed: int = 0, groups: str | Sequence[str] | None = None, engine: Engine | None = None, stored: bool = True,
    sanity: bool = True,
) -> Results:  # fmt: skip
    """All measures of a run, which is a `Run` or the path of its folder.

    Example: `unfazed.measure_run("run/").worst`.

    The first of `scores` is the main one; by default they are the task's. `groups` are the slices to cut, all by
    default. Results are stored with the run and used again until its outputs, the scores or the settings change;
    `stored=False` measures anew and stores nothing. `sanity=False` looks for no signs of a broken set-up. Raises
    NothingEvaluated if there is no output to measure.
    """
    plan = from_arguments(
        MeasurePlan, scores=listed(scores), level=level, bootstrap=bootstrap, seed=seed, sanity=sanity
    )
    settings = Resampling(plan.level, plan.bootstrap, plan.seed)
    run = run_of(run)
    used = scorers_for(run.suite.task, plan.scores)
    groups = None if groups is None else list(listed(groups))
    decided = decided_by(run, used, settings, groups) if stored else None
    results = find(run, decided) if decided is not None and isinstance(run, Run) else None
    if results is None:
        results = _measured(run, used, settings, groups, engine, stored)
        if decided is not None and isinstance(run, Run):
            keep(run, decided, results)
    return (results if plan.sanity else msgspec.structs.replace(results, sanity=[])).of_run(run)


def _measured(
    run: Runlike, used: Sequence[Scorer], settings: Resampling, groups: list[str] | None, engine: Engine | None,
    stored: bool,
) -> Results:  # fmt: skip
    suite = run.suite
    spill = Spill()
    validity = Validity(suite.task, suite.manifest.labels, suite.manifest.unchanged, spill)
    sanity = Sanity(suite.task, suite.manifest.labels)
    with scored_by(engine or Engine()) as stats, KeptScores([run] if stored else [], stats) as kept:
        table = read_table(
            sanity.watch(validity.watch(run.items())), suite.task, PairCodes(used, suite.task, kept), spill
        )
        validity.check(table)
        slices, warnings = slices_of(table, groups)
        main = used[0] if used else None
        runs = [(table, run.identity)]
        signs = {scorer: Signer(runs, scorer, suite.signed, settings).sign for scorer in (main, *used[1:])}
        found = Questions(table, slices, signs).answer(settings)
    whole = msgspec.structs.asdict(found.block(ALL, ALL))
    return Results(
        sanity=sanity.signs(whole["clean"], main.bounds[0] if main else 0.0),
        score=main.name if main else "none",
        task=suite.task.name,
        suite=suite.id,
        system=run.system,
        flip_rate=whole.pop("flips"),
        **whole,
        sets=found.by(),
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
    changed = _changed(run.items(), task)
    with KeptScores([run]) as kept:
        right = _Right(scorer, task, kept)
        while block := list(islice(changed, _FLIPS_A_BLOCK)):
            right.see([(c.value, e.gold) for e, _, c, _ in block] + [(o.value, v.gold) for _, v, _, o in block])
            for example, variant, clean, output in block:
                before, after = right(clean.value, example.gold), right(output.value, variant.gold)
                yield Flip(example, variant, clean, output, before, after)


def _changed(items: Iterator[RunItem], task: Task) -> Iterator[tuple[Example, Variant, Output, Output]]:
    for example, clean, varied in items:
        before = answer_of(task, clean)
        for variant, output in varied if before is not None else ():
            after = answer_of(task, output)
            if after is not None and after != before:
                yield example, variant, clean, output


class _Right:
    """Does an output have the full score? Told for the pairs of output and gold that were seen together."""

    def __init__(self, scorer: Scorer | None, task: Task, stats: Stats) -> None:
        self._scorer, self._task, self._stats = scorer, task, stats
        self._known: dict[Hashable, bool | None] = {}

    def see(self, pairs: Sequence[tuple[Json, Json]]) -> None:
        self._known = {}
        if self._scorer is None:
            return
        new = {key: pair for pair in pairs if (key := self._key(*pair)) is not None}
        if self._scorer.apart:
            rows = self._stats(self._scorer, list(new.values()), self._task) if new else np.zeros((0, 1))
            scores = self._scorer.aggregate(rows).tolist()
        else:  # an answer's row would depend on the others of its block
            alone = (self._scorer.stats([output], [gold], self._task) for output, gold in new.values())
            scores = [float(self._scorer.aggregate(row)[0]) for row in alone]
        best = self._scorer.bounds[1]
        self._known = {key: None if isnan(s) else s >= best for key, s in zip(new, scores, strict=True)}

    def __call__(self, output: Json, gold: Json) -> bool | None:
        key = self._key(output, gold)
        return None if key is None else self._known.get(key)

    def _key(self, output: Json, gold: Json) -> Hashable | None:
        if self._scorer is None or gold is None:
            return None
        said, true = self._scorer.key(output, self._task), self._scorer.gold_key(gold, self._task)
        return None if said is None or true is None else (said, true)
