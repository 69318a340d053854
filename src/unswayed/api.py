"""The instrument in one call: `check` and `carry_out` make a suite, run a system on it and measure what changed."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, nullcontext, suppress
from functools import partial
from pathlib import Path
from typing import Any

from unswayed.base.errors import MissingExtra, UsageError, option
from unswayed.base.options import OperatorSpec, options_in_plan
from unswayed.base.secrets import hide, masked_data, masked_spec
from unswayed.base.task import task_named
from unswayed.data import meaning_pairs, open_source
from unswayed.measure.gates import Verdict, check_sets, gates_of, judge
from unswayed.measure.judging import cited
from unswayed.measure.measuring import measure_run, scorers_for
from unswayed.measure.metric_check import MetricChecks, check_metric
from unswayed.measure.precision import check_stop_rules, stop_rules
from unswayed.measure.questions import check_suite
from unswayed.measure.results import Results
from unswayed.mitigate.augment import augment as augmented_examples, specs_for, table_with_copies
from unswayed.run.engine import Until, start_run
from unswayed.run.making import made_suite, suite_of
from unswayed.run.plan import MeasurePlan, Plan, PlanLike, given_options, plan_of
from unswayed.run.record import Run, refuse_other
from unswayed.run.spending import CostEstimate, Spending
from unswayed.run.workers import mapped_on
from unswayed.score import Comparing, comparing_for, scorer_named
from unswayed.storage.answers import AnswerStore
from unswayed.storage.files import as_path
from unswayed.storage.suite import Suite
from unswayed.systems import Metric
from unswayed.systems.device import using
from unswayed.systems.opening import open_system
from unswayed.systems.system import prices_of
from unswayed.systems.template import Template
from unswayed.vary.engine import make_operator

AnySystem = Any  # a function, a fitted model, a `System`, or a text


@options_in_plan(Plan, "run", "measure", "data", "vary", "engine")
def check(
    system: AnySystem, data: object, operators: str | OperatorSpec | Sequence[str | OperatorSpec] = (), *,
    input: str | Sequence[str] | None = None, gold: str | None = None, id: str | None = None,
    groups: str | Sequence[str] | None = None, task: str | None = None, language: str | None = None,
    draws: int | None = None, seed: int | None = None, scores: str | Sequence[str] | None = None,
    name: str | None = None, to: str | Path | None = None, plan: PlanLike = None,
) -> Results:  # fmt: skip
    """Makes variants of `data`, runs `system` on them, and measures what changed.

    Example: `unswayed.check(predict, df, "keyboard/adjacent", input="utterance", gold="intent", draws=3, seed=7)`.

    - `system`: a function from a list of input mappings to a list of outputs, a fitted scikit-learn model, a pipeline
      of transformers', a `System`, or a text as after `unswayed run --system`.
    - `data`, `operators`, `input` … `seed`: as in `make_suite`. `data` may also be a `Suite`.
    - `scores`: the scorers, the main one first; by default those of the task.
    - `name`: what reports and comparisons call the system.
    - `to`: the folder of the run, in which a run that was stopped resumes, and in which answers of the same system
      are reused. Without it, everything is new and in memory. If such a call is interrupted, the exception's `partial`
      is the run with what was answered.
    - `plan`: all other options: a `Plan`, the path of a TOML file, or a table such as
      `{"measure": {"level": 0.9}, "run": {"limit": 500}}`. An argument overrides the plan.
    """
    made = plan_of(plan, operators=operators or None, input=input, gold=gold, id=id, groups=groups, task=task,
                   language=language, draws=draws, seed=seed, scores=scores, name=name)  # fmt: skip
    _check_measures(made.measure)
    folder = None if to is None else as_path(to, "to")
    if folder is not None:
        refuse_other(folder)
    frame = data if hasattr(data, "iloc") and hasattr(data, "index") else None
    if not isinstance(data, Suite):
        data = made_suite(made, data, folder and folder / "suite", guess_groups=groups is None)
    elif extra := [*given_options(made.data), *given_options(made.vary)]:
        raise UsageError(f"data is a Suite, which has its variants already. Leave out {option(extra[0])}.")
    results = carry_out(made, folder, system=system, suite=data).results
    return results if frame is None else results.of_frame(frame)


def carry_out(
    plan: PlanLike, to: str | Path | None = None, *, system: AnySystem = None, suite: Suite | str | Path | None = None,
) -> Verdict:  # fmt: skip
    """Carries out a whole plan: makes its suite, runs its system, measures, and checks its gates.

    Example: `unswayed.carry_out(unswayed.read_plan("plan.toml"), "run/").results`.

    The run is in folder `to`, and the suite in `to`/suite unless the plan names one; both are kept and resumed.
    Without `to`, both are in memory. `system` and `suite` replace what the plan
    names.
    """
    run, plan = _carried_out(plan, to, system, suite)
    with using(plan.run.device, plan.run.dtype):
        return judge(run, plan)


def estimate_cost(
    plan: PlanLike, to: str | Path | None = None, *, system: AnySystem = None, suite: Suite | str | Path | None = None,
) -> CostEstimate:  # fmt: skip
    """What carrying out a plan would cost, from the requests of up to 20 examples, which are sent and kept in `to`.

    Example: `unswayed.estimate_cost(unswayed.read_plan("plan.toml"), "run/").cost`.

    `carry_out` with the same folder goes on from there.
    """
    run, _ = _carried_out(plan, to, system, suite, only_estimate=True)
    assert run.estimate is not None
    return run.estimate


def _carried_out(
    plan: PlanLike,
    to: str | Path | None,
    system: AnySystem,
    suite: Suite | str | Path | None,
    only_estimate: bool = False,
) -> tuple[Run, Plan]:
    """The run of a plan, not measured yet, and the plan as it was understood."""
    plan = plan_of(plan)
    plan = _with_judges_model(plan, plan.run.system if system is None else system)
    gates = gates_of(plan.gate)  # raises if wrong
    _check_measures(plan.measure)
    stop_rules(plan.run.stop_when)
    system = plan.run.system if system is None else system
    if system is None:
        raise UsageError(
            f"No system was given: set {option('system')} to module:function, a model's folder, or cmd:COMMAND."
        )
    folder = None if to is None else as_path(to, "to")
    if folder is not None:
        refuse_other(folder)  # before a suite is made there
    suite = plan.run.suite if suite is None else suite
    if not isinstance(suite, Suite):
        suite = suite_of(plan, folder and folder / "suite") if suite is None else Suite(suite)
    suite.verify()
    check_sets(gates, suite)
    hide((os.environ.get(name, "") for name in plan.run.secret_env), named=True)
    check_suite(suite, plan.measure.cluster, plan.measure.worst_of)
    asked, measured = plan.run, partial(measure_run, plan=plan_of(plan, {"measure": {"sanity": False}}))
    with using(asked.device, asked.dtype):
        opened = open_system(system, **asked.options)
    with nullcontext() if opened is system else closing(opened):
        prices = prices_of(asked.judge_price_in, asked.judge_price_out, "judge-")
        has_judge = plan.measure.equivalent.startswith("judge:")
        spending = Spending(asked.budget, only_estimate, measured if has_judge else None, prices)
        run = start_run(suite, opened, folder, plan, _until(plan, suite, measured), spending)
    # the plan is kept with the system that was run, if a text names it, and no secrets
    sections = {name: given_options(getattr(plan, name)) for name in ("run", "engine", "measure", "gate", "compare")}
    if opened.reference is not None:
        spec, options = opened.reference
        sections["run"] |= {"system": masked_spec(spec), "options": options}
    kept = masked_data({name: section for name, section in sections.items() if section})
    rubric = plan.measure.rubric
    run.keep_plan(dict(kept), "" if rubric is None else Template.read(rubric).text)
    return run, plan


def _with_judges_model(plan: Plan, system: AnySystem) -> Plan:
    """A judge at the system's own URL is the same model, unless another is named there."""
    url, model = plan.measure.equivalent.removeprefix("judge:"), plan.run.options.get("model")
    if not isinstance(system, str) or url == plan.measure.equivalent or "#" in url:
        return plan
    url_of_system, _, named = system.partition("#")
    model = model or named
    if not model or url != url_of_system or not url.startswith(("http://", "https://")):
        return plan
    return plan_of(plan, {"measure": {"equivalent": f"judge:{url}#{model}"}})


def _until(plan: Plan, suite: Suite, measured: Callable[[Run], Results]) -> Until | None:
    """The rules by which the plan's run may end early."""
    rules = stop_rules(plan.run.stop_when)
    if not rules:
        return None
    wanted = plan.measure
    comparing = comparing_for(suite, *wanted.rules)
    check_stop_rules(rules, next(iter(scorers_for(suite.task, wanted.scores, comparing)), None))

    def hold(run: Run) -> bool:
        results = measured(run)
        return all(rule.holds(results) for rule in rules)

    return Until(tuple(rule.text for rule in rules), hold)


@options_in_plan(Plan, "data", "vary", "engine")
def augment(
    data: object, operators: str | OperatorSpec | Sequence[str | OperatorSpec], *,
    input: str | Sequence[str] | None = None, gold: str | None = None, task: str | None = None,
    language: str | None = None, copies: int | None = None, people: int = 1, seed: int | None = None,
    plan: PlanLike = None,
) -> Any:  # fmt: skip
    """Training data with altered copies: below each row, up to `copies` more, each altered by one operator at random.

    Example: `unswayed.augment(df, "@typing", input="text", gold="label", copies=2, seed=7)`.

    A pandas or polars DataFrame gives one of the same columns, and a list of records gives such a list. Other data,
    such as a file, gives a list of records. Labels move with the words. An operator that changes the meaning takes part
    only if you name it, and the copy then keeps its label. A row that no operator can alter has no copy. `people` is
    how many simulated people there are, for operators such as `keyboard/typist`. The other arguments are as in
    `make_suite`.
    """
    made = plan_of(plan, operators=operators, input=input, gold=gold, task=task, language=language, draws=copies,
                   seed=seed)  # fmt: skip
    if other := sorted(given_options(made.vary).keys() - {"operators", "draws", "seed"}):
        raise UsageError(f"augment makes no use of {option(other[0])}. Leave it out.")
    data = list(data) if isinstance(data, Iterator) else data.collect() if hasattr(data, "collect") else data
    source = open_source(data, made.data.reading(), made.data.language)
    kind, examples = source.kind, list(source.examples)
    if "+" in kind.language:
        raise UsageError(f"The data has rows in {kind.language}. Split it, and augment each language by itself.")
    chosen = [make_operator(spec) for spec in specs_for(made.vary.specs(), kind.language, kind.task)]
    augmented = augmented_examples(
        examples, chosen, made.vary.seed, task=kind.task, language=kind.language, copies=made.vary.draws, people=people,
        mapped=partial(mapped_on, made.engine_in_use),
    )  # fmt: skip
    return table_with_copies(data, examples, augmented)


class metrics:
    """Metrics under test.

    Example: `unswayed.metrics.check(score, df).failing()`.
    """

    @staticmethod
    def check(
        metric: AnySystem, data: object, *, beside: Sequence[str] = ("bleu", "chrf", "yisi1"),
        dialect: str = "the dialect", level: float = 0.95,
    ) -> MetricChecks:  # fmt: skip
        """Does a metric score the same meaning in a dialect above a changed meaning?

        - `metric`: a function from a list of dictionaries to a list of scores, a `Metric`, or a text as after
          `unswayed metrics check`.
        - `data`: a DataFrame or records with the columns reference, dialect and changed (and source), or a file.
        - `beside`: metrics to compare with on the same rows; those that are not installed are left out.
        """
        pairs = meaning_pairs(data)
        name = metric if isinstance(metric, str) else getattr(metric, "__name__", "metric")
        with AnswerStore.in_memory() as store:
            found = [check_metric(name, open_system(metric, Metric), pairs, dialect, level=level, store=store)]
            for other in beside:
                with suppress(MissingExtra):
                    opened = open_system(other, Metric)
                    found.append(check_metric(other, opened, pairs, dialect, level=level, store=store))
        return MetricChecks(pairs, found, level)


def _check_measures(measure: MeasurePlan) -> None:
    """Raises what is wrong with the measures before anything is asked."""
    for name in measure.scores:
        scorer_named(name)
    comparing = Comparing(task_named("text"), measure.extract, measure.equivalent, measure.rubric)
    cited(measure.agreement, comparing)
