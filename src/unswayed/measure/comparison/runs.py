"""Comparing runs on the same suite: is a new one worse than the baseline, by how much, and may that be chance?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
from msgspec.structs import replace

from unswayed.base.errors import NothingEvaluated, UnknownName, UsageError, option
from unswayed.base.options import options_in_plan
from unswayed.base.values import Estimate
from unswayed.data.logs import Log, open_log
from unswayed.measure.comparison.contrasts import Contrast, GatheredContrasts, Place, Shared, ends_of
from unswayed.measure.comparison.logs import compare_logs
from unswayed.measure.comparison.outcome import (
    Comparison,
    NotWorse,
    Tested,
    check_margin,
    difference_of,
    letter,
    margins_of,
    tested_together,
)
from unswayed.measure.definitions import MEASURES, way_of
from unswayed.measure.gates import ALL, sets_named, spelled, split_measure
from unswayed.measure.measuring import Runlike, blocks_of, decisive, run_of, scorers_for
from unswayed.measure.questions import check_cluster, clusters_of, signer_of, slices_of, with_cluster
from unswayed.measure.results import Results
from unswayed.measure.run_table import PairCodes
from unswayed.measure.spill import Spill
from unswayed.measure.stored import KeptScores
from unswayed.measure.table_reader import read_table
from unswayed.measure.validity import Sanity, as_wrong
from unswayed.run.block import Block
from unswayed.run.plan import ComparePlan, MeasurePlan, Plan, PlanLike, plan_of
from unswayed.run.record import NOT_ASKED, Run
from unswayed.score import Comparing, comparing_for, scorers

AnyRun = Runlike | Results | str | Path
_PRIMARY = ("average", "flips")  # without gold there is no average


@options_in_plan(Plan, "compare", "measure", "engine")
def compare(
    a: AnyRun, b: AnyRun, *more: AnyRun, scores: str | Sequence[str] | None = None, primary: str | None = None,
    fail_if_worse: Mapping[str, float] | str | Sequence[str] | None = None, plan: PlanLike = None,
) -> Comparison:  # fmt: skip
    """B minus A for each measure, overall and by operator, family and slice, on what both answered.

    Example: `unswayed.compare(before, after, fail_if_worse={"worst": 0.02}).passed`.

    - `a`, the baseline, and `b`: runs on the same suite, paths of their folders, or results, whose main score,
      `cluster` and `worst_of` are then the defaults. Each of `more` is compared with `a` as well: `others` has these
      comparisons. Or two logs of other tools, which need no suite: see docs/integrations.md.
    - `scores`: the score to compare by; by default the task's.
    - `primary`: the measure that is tested by itself, "average" by default, or "flips" without gold; all other
      differences are tested together and corrected for that.
    - `fail_if_worse`: from a measure, or a set, a colon and a measure, to how much worse it may be.
    - `plan`: all other options, in the sections `measure` and `compare`. `bootstrap` is the number of random draws
      behind max-t. An argument overrides the plan.
    """
    made = plan_of(plan, scores=scores, primary=primary, fail_if_worse=fail_if_worse)
    logs = [open_log(one) if isinstance(one, (str, Path)) else None for one in (a, b, *more)]
    if any(logs):
        for one in (one for one, log in zip((a, b, *more), logs, strict=True) if log is None):
            if isinstance(one, (str, Path)) and not (Path(one) / "run.json").exists():
                Log(one)  # which says what is wrong with it
        if not all(logs) or more:
            read = [str(one) for one, log in zip((a, b, *more), logs, strict=True) if log is not None]
            raise UsageError(
                f"{', '.join(read)}: read as {'logs' if len(read) > 1 else 'a log'}. A log is compared with one other "
                f"log, and a run's folder with runs' folders. Give two logs, or folders of runs."
            )
        return compare_logs(logs[0], logs[1], made.measure, made.compare)  # type: ignore[arg-type]
    if made.compare.each_at_least is not None:
        raise UsageError(f"{option('each-at-least', 'compare.each_at_least')} is for logs. Give two logs.")
    return _Baseline([a, b, *more], made.measure, made.compare).result()


class _Watched:
    """A run whose blocks are watched as they are read."""

    def __init__(self, run: Runlike, comparing: Comparing) -> None:
        self.run, self.failed, self.items, self._comparing = run, 0, 0, comparing
        self.sanity = Sanity(run.suite.task, run.suite.manifest.labels, comparing)

    def read(self, *others: Runlike) -> Iterator[Block]:
        for block in self.sanity.watch(blocks_of(self.run, *others)):
            lost = [not (o.ok or o.unreadable or o.error == NOT_ASKED.error) for o in block.outputs]
            outputs = np.append(block.clean_out, block.out)
            self.items += len(outputs)
            self.failed += int(np.array(lost)[outputs].sum())
            yield block


class _Baseline:
    """Runs, the first of which is the baseline, read and ready to be compared."""

    def __init__(self, given: Sequence[AnyRun], plan: MeasurePlan, asked: ComparePlan) -> None:
        if plan.missing == "bounds":
            raise UsageError(f"Runs are compared with {option('missing')} leave or wrong; bounds is for one run.")
        self._asked, self._margins = asked, margins_of(asked.fail_if_worse)
        runs = [_opened(run) for run in given]
        refuse_other_suite(runs)
        self._plan = plan = with_cluster(_as_measured(plan, given), runs[0].suite)
        self._suite, folder = runs[0].suite, runs[-1].path if isinstance(runs[-1], Run) else None
        with comparing_for(self._suite, *plan.rules).cache_in_run(folder) as comparing:
            mains = {one.score for one in given if isinstance(one, Results) and one.score in scorers}
            if len(mains) > 1 and not plan.scores:
                raise UsageError(
                    f"The results have different main scores ({', '.join(sorted(mains))}). Choose one: "
                    f"{option('scores')}."
                )
            used = scorers_for(self._suite.task, plan.scores or list(mains), comparing)[:1]
            self._scorer = used[0] if used else None
            self._runs = [_Watched(run, comparing) for run in runs]
            task = self._suite.task
            with KeptScores(runs) as kept:
                pairs, spill = PairCodes(used, task, kept), Spill()  # one for all: a class is the same column in each
                every = (watched.read(*runs) for watched in self._runs)
                counted = map(as_wrong, every) if plan.missing == "wrong" else every
                tables = [read_table(blocks, task, pairs, spill, comparing) for blocks in counted]
            self._compared = {"compared": comparing.name} if comparing.name else {}
        check_cluster(tables[0].values, plan.cluster)
        self._way = way_of(tables[0].most_tries, plan.weigh, plan.worst_of)
        slices, self._warnings = slices_of(tables[0], plan.groups, plan.cluster)
        ends = ends_of(tables)
        self._pairs = [(Shared(tables[0], table, ends), Shared(table, tables[0], ends)) for table in tables[1:]]
        clusters = clusters_of(tables[0], plan.cluster)
        self._found = GatheredContrasts(self._pairs, self._scorer, slices, self._way, clusters)
        # the places that are shown and tested: one operator is all there is, and a family of one is its operator
        operators, families = set(tables[0].operators), set(tables[0].families)
        made = {kind[1:4:2] for kind in tables[0].kinds}  # operators with their families
        large = {family for family in families if sum(family == own for _, own in made) > 1}
        shown = {"operator": operators if len(operators) > 1 else (), "family": large if len(families) > 1 else ()}
        self._listed = [
            (measure, (kind, name))
            for measure, (kind, name) in self._found.contrasts[0]
            if kind not in shown or (name in shown[kind] and measure != "clean")
        ]
        if not any(found[place].n for found in self._found.contrasts for place in self._listed):
            raise NothingEvaluated("The runs have no example with variants that both answered. Finish both runs.")

    def result(self) -> Comparison:
        contrasts = self._found.contrasts
        known: dict[str, dict[str, None]] = {"operator": {}, "family": {}}
        for _, (kind, name) in contrasts[0]:
            if kind:
                known.setdefault(kind, {})[name] = None
        # the measure and the set that are tested by themselves
        if self._asked.primary is None:
            first = next((measure, ALL) for measure in _PRIMARY if (measure, ALL) in contrasts[0])
        else:
            set_, measure = split_measure(self._asked.primary)
            if measure not in MEASURES:
                raise UnknownName("measure", measure, MEASURES)
            sets = sets_named(set_, known)
            first = measure, sets[0]
            if len(sets) > 1 or first not in contrasts[0]:
                raise UsageError(
                    f"{option('primary')} must be one measure that can be compared, not {self._asked.primary!r}."
                )
        # the primary differences of all runs are one family of tests, and all other differences another
        rest = [each[place] for each in contrasts for place in self._listed if place != first]
        rest = [contrast for contrast in rest if contrast.n or contrast.missing]
        how = self._found.correlation, self._plan, self._asked.correction
        tested = tested_together([each[first] for each in contrasts], *how, primary=True)
        tested |= tested_together(rest, *how, primary=False)
        wanted = [(margin, set_) for margin in self._margins for set_ in sets_named(margin.set, known)]
        for margin, named in wanted:
            if (margin.measure, named) not in contrasts[0]:
                raise UsageError(f"{margin.measure} can't be compared: the data has no gold, so nothing can be scored.")
        compared = []
        for place, each in enumerate(contrasts):
            gates = [
                check_margin(margin.margin, each[margin.measure, named], self._plan.level, self._asked.on)
                for margin, named in wanted
            ]
            compared.append(self._comparison(place, first, tested, gates))
        return replace(compared[0], others=compared[1:]).of_runs(self._runs[0].run, self._runs[1].run, self._plan)

    def _comparison(
        self, place: int, first: Place, tested: Mapping[Contrast, Tested], gates: list[NotWorse]
    ) -> Comparison:
        plan, correction = self._plan, self._asked.correction
        a, b = self._runs[0], self._runs[place + 1]
        names = _names_of(a.run, b.run)
        primary = first[0] if first[1] == ALL else f"{spelled(first[1])}:{first[0]}"
        how = {
            **decisive(plan, self._way),
            **self._compared,
            "draws": plan.bootstrap,
            "seed": plan.seed,
            "primary": primary,
        }
        runs = [(table, watched.run.identity) for table, watched in zip(self._pairs[place], (a, b), strict=True)]
        sign = signer_of(runs, self._scorer, self._suite.signed, **how, difference="b-a", correction=correction)
        rank = {"": 0, "operator": 1, "family": 2}  # all variants first, then operators, families and slices
        contrasts = [c for c in self._found.contrasts[place].values() if c in tested]
        contrasts.sort(key=lambda contrast: rank.get(contrast.set[0], 3))
        differences = [difference_of(c, tested[c], plan.level, sign(c.measure, c.label)) for c in contrasts]
        shown = sorted((d for d in differences if d.shown), key=lambda d: (not d.primary, d.p))
        clean = self._found.contrasts[place].get(("clean", ALL))
        warnings = []
        if samples := [sample for one in self._runs if (sample := getattr(one.run, "sample", None)) is not None]:
            both, of = int(np.logical_and.reduce([sample.chosen for sample in samples]).sum()), samples[0].of
            warnings = [f"Compared on {both:,} of {of:,} examples, a random sample: those that all runs asked."]
        return Comparison(
            score=self._scorer.name if self._scorer else "none",
            task=self._suite.task.name,
            suite=self._suite.id,
            a=names[0],
            b=names[1],
            correction=correction,
            level=plan.level,
            differences=differences,
            primary=primary,
            changes=[d.sentence for d in shown],
            answers=self._found.answers[place].answers(),
            gates=gates,
            sanity=[*self._signs(a, 0, "A", clean), *self._signs(b, 1, letter(place + 1), clean)],
            failed={"a": a.failed, "b": b.failed},
            incomplete=bool(gates) and any(self._too_many(watched) for watched in (a, b)),
            identical=self._identical(place + 1),
            warnings=[*warnings, *self._missing("A", a), *self._missing(letter(place + 1), b), *self._warnings],
        ).of_runs(a.run, b.run, plan)

    def _identical(self, place: int) -> bool:
        """Are all answers the same? They are read only if no score and no flip differs."""
        contrasts = self._found.contrasts[place - 1].values()
        if any(contrast.difference for contrast in contrasts):
            return False
        a, b = (
            (
                (output.value, output.error)
                for _, clean, varied in run.items()
                for output in (clean, *(o for _, o in varied))
            )
            for run in (self._runs[0].run, self._runs[place].run)
        )
        return all(one == other for one, other in zip(a, b, strict=False))

    def _too_many(self, watched: _Watched) -> bool:
        return self._plan.missing == "leave" and watched.failed > self._asked.allow_missing * watched.items

    def _missing(self, name: str, watched: _Watched) -> list[str]:
        if not watched.failed:
            return []
        count = "are left out of both runs" if self._plan.missing == "leave" else "count as wrong"
        accept = (
            f" {option('allow-missing', 'compare.allow_missing')} accepts a share of them."
            if self._too_many(watched)
            else ""
        )
        return [f"{name}: {watched.failed:,} of {watched.items:,} items failed, and {count}.{accept}"]

    def _signs(self, watched: _Watched, side: int, name: str, clean: Contrast | None) -> list[str]:
        """Signs that a run's set-up is broken, so that comparing means nothing."""
        value, n = (None, 0) if clean is None else (clean.values[side], clean.n)
        floor = self._scorer.bounds[0] if self._scorer else 0.0
        signs = (
            watched.sanity.signs(Estimate(value, None, None, n, 0, ""), floor, watched.run.system)
            if self._plan.sanity
            else []
        )
        return [f"{name}: {sign}" for sign in signs]


def _opened(given: AnyRun) -> Runlike:
    """A run, that in a folder, or that of results, also of saved ones."""
    if isinstance(given, (str, Path)) and Path(given).is_file():
        results = Results.load(given)
        if "_run" not in results.__dict__:
            raise UsageError(
                f"{given} has results without their run. Comparing takes the answers: use the folder of the run."
            )
        return results.run
    return run_of(given)


def _as_measured(plan: MeasurePlan, given: Sequence[AnyRun]) -> MeasurePlan:
    """The plan with the clusters and the k of `worst` that all results were measured with, if it names none itself."""
    results = [one for one in given if isinstance(one, Results)]
    for name in ("cluster", "worst_of"):
        found = {getattr(one, name) for one in results}
        if getattr(plan, name) is None and len(found) == 1 and len(results) == len(given):
            plan = replace(plan, **{name: found.pop()})
    return plan


def refuse_other_suite(runs: Sequence[Runlike]) -> None:
    """Raises if a run is of another suite than the first, and says what differs."""
    first = runs[0].suite
    for run in runs[1:]:
        if run.suite.id != first.id:
            # in what two suites differ, in words; nothing if their manifests do not say
            one, other = first.manifest, run.suite.manifest
            differs = []
            for name in ("task", "language", "seed", "draws", "examples", "variants"):
                values = getattr(one, name, None), getattr(other, name, None)
                if values[0] != values[1]:
                    differs.append(f"{name} ({values[0]} and {values[1]})")
            operators = [[str(o.get("name")) for o in getattr(m, "operators", ())] for m in (one, other)]
            for mine, others, whose in ((operators[0], operators[1], "first"), (operators[1], operators[0], "other")):
                if only := sorted(set(mine) - set(others)):
                    differs.append(f"operators (only the {whose} has {', '.join(only)})")
            stored = [getattr(m, "hashes", {}).items() for m in (one, other)]
            hashes = [{name: h for name, h in each if "example" in name} for each in stored]
            if hashes[0] != hashes[1]:
                differs.append("the data")
            why = f" They differ in {', '.join(differs)}." if differs else ""
            raise UsageError(
                f"The runs are of different suites ({first.id} and {run.suite.id}), so they can't be compared pair by "
                f"pair.{why} Run both systems on the same suite."
            )


def _names_of(a: Runlike, b: Runlike) -> tuple[str, str]:
    """The systems' names; runs of the same system are told apart by their folders."""
    folders = [getattr(run, "path", None) for run in (a, b)]
    if a.system != b.system or None in folders or folders[0] == folders[1]:
        return a.system, b.system
    one, other = (Path(str(folder)) for folder in folders)
    return f"{a.system} ({one.name})", f"{b.system} ({other.name})"
