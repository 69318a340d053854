"""Measuring a run: all measures, overall and by operator, family and slice, from its stored outputs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Protocol

import msgspec
import numpy as np

from unswayed.base.errors import NothingEvaluated, UsageError, option
from unswayed.base.options import options_in_plan
from unswayed.base.task import Task
from unswayed.base.values import Json
from unswayed.measure.against import compare_with_reference
from unswayed.measure.combinations import measure_combinations
from unswayed.measure.definitions import Way, tries_of, way_of
from unswayed.measure.judging import cited
from unswayed.measure.naming import naming
from unswayed.measure.people import measure_people, person_of
from unswayed.measure.precision import stop_rules, within_margin
from unswayed.measure.questions import (
    ALL,
    GRID,
    SCORES,
    SCORES_BY,
    Questions,
    check_cluster,
    clusters_of,
    signer_of,
    slices_of,
    with_cluster,
)
from unswayed.measure.repeats import Serving, measure_repeats, measure_wavering, summed_up
from unswayed.measure.results import Results
from unswayed.measure.run_table import Bools, PairCodes
from unswayed.measure.set_scores import rare_classes
from unswayed.measure.spill import Spill
from unswayed.measure.spread import PromptNotes, measure_spread
from unswayed.measure.stored import KeptScores, Revisions, decided_by, find, keep
from unswayed.measure.stored_blocks import stored_blocks
from unswayed.measure.table_reader import joined_outputs, read_table
from unswayed.measure.validity import FILLS, Sanity, Validity, as_wrong
from unswayed.run.block import Answered, Block, in_blocks
from unswayed.run.plan import Engine, MeasurePlan, Plan, PlanLike, plan_of
from unswayed.run.record import Run
from unswayed.score import Comparing, Match, Scorer, comparing_for, scorer_named
from unswayed.storage.answers import Place
from unswayed.storage.suite import Suite


class Runlike(Protocol):
    """What is needed of a run."""

    @property
    def suite(self) -> Suite: ...
    @property
    def system(self) -> str: ...
    @property
    def identity(self) -> str: ...
    def items(self) -> Iterator[Answered]:
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


@options_in_plan(Plan, "measure", "engine")
def measure_run(run: Runlike | str | Path, plan: PlanLike = None) -> Results:
    """All measures of a run, which is a `Run` or the path of its folder.

    Example: `unswayed.measure_run("run/", {"measure": {"scores": ["macro_f1"], "level": 0.9}}).worst`.

    Results are stored with the run and used again until its outputs, the scores or the settings change. Raises
    NothingEvaluated if there is no output to measure.
    """
    made = plan_of(plan)
    engine, measured, run = made.engine_in_use, made.measure, run_of(run)
    measured = with_cluster(measured, run.suite)
    if not run.suite.task.has_wrong and measured.missing != "leave":
        raise UsageError(
            f"{option('missing')} {measured.missing} needs a score that a wrong answer has, and the task "
            f"{run.suite.task.name} has none. Leave it out."
        )
    with comparing_for(run.suite, *measured.rules).cache_in_run(place_of(run)) as comparing:
        used = scorers_for(run.suite.task, measured.scores, comparing)
        # behind them those of each kind of gold, such as each type of entity
        divided = [scorer for scorer in used if type(scorer).parts is not Scorer.parts]
        for scorer in divided:
            used += scorer.parts((example.gold for example in run.suite.examples()), run.suite.task)
        judged = cited(measured.agreement, comparing)
        revisions = Revisions(run.path) if measured.stored and isinstance(run, Run) and run.path is not None else None
        decided = decided_by(run, used, measured, comparing, revisions)
        results = find(run, decided) if decided is not None and isinstance(run, Run) else None
        if results is None:
            results = _measured(run, used, engine, comparing, measured)
            if revisions is not None:
                revisions.note()
            if decided is not None and isinstance(run, Run):
                keep(run, decided, results)
    sanity_found = results.sanity if measured.sanity else []
    return msgspec.structs.replace(results, sanity=sanity_found, agreement=judged).of_run(run)


def place_of(run: Runlike) -> Place | None:
    return run.place if isinstance(run, Run) else None


def items_of(run: Runlike, *others: Runlike, items: Iterator[Answered] | None = None) -> Iterator[Answered]:
    """The items of a run that are measured: those of its sample, and of the samples of the runs that it is compared
    with. `items` are others of the same examples."""
    items, chosen = run.items() if items is None else items, _chosen(run, *others)
    if chosen is None:
        return items
    return (item for item, due in zip(items, chosen.tolist(), strict=True) if due)


def _chosen(*runs: Runlike) -> Bools | None:
    """Which examples of the suite are measured; None for all."""
    samples = [sample for one in runs if (sample := getattr(one, "sample", None)) is not None]
    return np.logical_and.reduce([sample.chosen for sample in samples]) if samples else None


def blocks_of(run: Runlike, *others: Runlike) -> Iterator[Block]:
    """The same items in blocks, without the seconds and the tokens of answers."""
    if not isinstance(run, Run):
        yield from joined_outputs(in_blocks(items_of(run, *others)))
        return
    chosen, first = _chosen(run, *others), 0
    for block in stored_blocks(run):
        due = None if chosen is None else chosen[first : first + len(block.rows)]
        first += len(block.rows)
        if due is None or due.any():
            yield block if due is None or due.all() else block.only(due)


def _measured(run: Runlike, used: Sequence[Scorer], engine: Engine, comparing: Comparing, plan: MeasurePlan) -> Results:
    suite = run.suite
    if (sample := getattr(run, "sample", None)) is not None and not sample.examples:
        raise NothingEvaluated(
            "The run was stopped before its first examples had all of their outputs. Rerun the same command."
        )
    spill = Spill()
    validity = Validity(suite.task, suite.manifest.labels, suite.manifest.unchanged, spill, comparing)
    sanity = Sanity(suite.task, suite.manifest.labels, comparing)
    with KeptScores([run] if plan.stored else [], engine) as kept:
        pairs, notes = PairCodes(used, suite.task, kept), PromptNotes()
        serving = Serving(plan.level) if isinstance(run, Run) and "requests" in run.used() else None
        read = blocks_of(run)
        if serving is not None:
            read = joined_outputs(in_blocks(serving.watch(items_of(run))))
        blocks, person = sanity.watch(validity.watch(read)), person_of(suite.manifest.people)
        blocks = as_wrong(blocks) if plan.missing == "wrong" else blocks
        table = read_table(notes.watch(blocks), suite.task, pairs, spill, comparing, person=person)
        validity.check(table)
        check_cluster(table.values, plan.cluster)
        way = way_of(table.most_tries, plan.weigh, plan.worst_of)
        slices, warnings = slices_of(table, plan.groups, plan.cluster)
        warnings += [said for scorer in used for said in rare_classes(table, scorer)]
        main = used[0] if used else None
        runs, how = [(table, run.identity)], decisive(plan, way)
        how |= {"compared": comparing.name} if comparing.name else {}
        signs = {scorer: signer_of(runs, scorer, suite.signed, **how) for scorer in (main, *used[1:])}
        questions = Questions(table, slices, signs, way, plan.cluster)
        rules = stop_rules(run.manifest.stop_when) if isinstance(run, Run) else []
        early = {rule.measure for rule in rules}
        found = questions.answer(plan.level, early)
        span = main.bounds[1] - main.bounds[0] if main else 1.0
        apart = naming(questions, found.by(), span, plan.level, plan.seed)
        own, against = getattr(suite.manifest, "reference", "") or "", None
        if (plan.reference or own) and main is not None:
            against = compare_with_reference(
                questions, found.by()["operator"], plan.reference or own, own, span, main.linear, signs[main],
                plan.level, plan.seed,
            )  # fmt: skip
        combined = measure_combinations(questions, found.by()["operator"], span, plan.level)
        ends: list[Questions] = []
        if validity.counts["failed"] and plan.missing != "wrong" and suite.task.has_wrong:
            filled = [
                read_table(blocks_of(run), suite.task, PairCodes(used, suite.task, kept), spill, comparing, fill)
                for fill in FILLS
            ]
            ends = [Questions(table, slices, signs, way, plan.cluster) for table in filled]
            found = found.bounded([end.answer(plan.level, early) for end in ends], widen=plan.missing == "bounds")
        within = None
        if plan.within is not None:
            bounds = ends if plan.missing == "bounds" else []
            operators, anytime = list(found.by()["operator"]), "drop" in early
            within = within_margin(questions, operators, plan.within, plan.level, anytime, bounds)
        again = None
        if isinstance(run, Run) and run.manifest.repeats:
            pairs, items = PairCodes(used[:1], suite.task, kept), items_of(run, items=run.repeated())
            items = items if serving is None else serving.watch(items, repeats=True)
            read = joined_outputs(in_blocks(items))
            repeated = read_table(read, suite.task, pairs, spill, comparing)
            again = summed_up(repeated, run.manifest.repeats, main)
        clusters = clusters_of(table, plan.cluster)
        waverings = list[int]()
        if isinstance(run, Run) and run.manifest.asked_twice:
            for example, clean, [(_, output)] in comparing.watch(run.repeated()):
                flip = comparing.flip(example.row, comparing.answer(clean), comparing.answer(output))
                waverings += [flip] if flip >= 0 else []
        signs_of_trouble = sanity.signs(found.block(ALL, ALL).clean, main.bounds[0] if main else 0.0, run.system)
        warnings += sanity.findings
        people = measure_people(table, main, again, plan.level, signs[main], clusters, plan.cluster)
        signature = signs[main]("flips", "all")
        repeats = None if again is None else measure_repeats(again, table, main, plan.level, signature, clusters)
        spread = measure_spread(table, main, notes, plan.level, plan.seed, signs[main])
        whole = msgspec.structs.asdict(found.block(ALL, ALL))
        wavering = measure_wavering(waverings, whole["flips"], table, plan.level) if waverings else None
    return Results(
        sanity=signs_of_trouble,
        score=main.name if main else "none",
        task=suite.task.name,
        suite=suite.id,
        system=run.system,
        flip_rate=whole.pop("flips"),
        **whole,
        sets=found.by(),
        grid=found.nested(GRID),
        scores=found.nested(SCORES),
        scores_by=found.nested(SCORES_BY) or msgspec.UNSET,
        worst_of=way.worst_of,
        tries=tries_of(table),
        weigh=way.weigh,
        cluster=plan.cluster,
        validity=validity.report([*warnings, *comparing.warnings()], plan.missing) | _sample(run),
        naming=apart,
        against=against or msgspec.UNSET,
        roles=getattr(suite.manifest, "roles", msgspec.UNSET),
        within=within,
        combined=combined,
        compared=_compared(plan, comparing),
        repeats=repeats,
        wavering=wavering,
        spread=spread,
        people=people,
        requests=None if serving is None else serving.report(signature),
    )


def _compared(plan: MeasurePlan, comparing: Comparing) -> dict[str, str]:
    """What was compared, as results state it and as `flips` takes it; empty where the task alone decides."""
    stated = {"score": plan.scores[0] if plan.scores else "", "extract": comparing.extract}
    stated |= {"equivalent": comparing.equivalent, "rubric": comparing.rubric, "rubric_file": plan.rubric or ""}
    return {name: text for name, text in stated.items() if text}


def _sample(run: Runlike) -> dict[str, Json]:
    """Which share of the suite was measured, where that is not all of it."""
    sample = getattr(run, "sample", None)
    if sample is None:
        return {}
    shown = {"examples": sample.examples, "of": sample.of, "why": sample.why, "sentence": sample.sentence}
    return {"sample": shown}


def decisive(plan: MeasurePlan, way: Way) -> dict[str, object]:
    """What decides a number besides its outputs, for its signature."""
    more = {} if plan.cluster is None else {"cluster": plan.cluster}
    more |= {"missing": plan.missing} if plan.missing != "leave" else {}
    return {"level": plan.level, "weigh": way.weigh, "worst_of": way.worst_of, **more}


def scorers_for(task: Task, names: Sequence[str] | None, comparing: Comparing | None = None) -> list[Scorer]:
    """The named scorers, or the task's own, each once; where what is compared was declared, that is the score."""
    comparing = comparing if comparing is not None and comparing.name else None
    chosen = names or (("match",) if comparing is not None and comparing.matches else task.scores)
    if not names and comparing is not None and comparing.beside == "gained":  # the K of flips is that of the scores
        first = comparing.equivalent.partition("@")[2]
        chosen = [f"{name.partition('@')[0]}@{first}" if "@" in name else name for name in chosen]
    whole = next((name for name in chosen if name != "match"), None) if comparing and comparing.extract else None
    if whole is not None and type(task).output_problem is not Task.output_problem:
        raise UsageError(
            f"The score {whole} reads whole answers, so it can't be used with {option('extract')} on the task "
            f"{task.name}. Leave it out: the score is then the share of right answers."
        )
    return [Match(comparing) if name == "match" else scorer_named(name) for name in dict.fromkeys(chosen)]
