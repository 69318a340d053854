"""The Plan: everything that decides a suite, a run and a verdict, as plain data.

Each option is declared here, or in a struct that is part of a plan, and nowhere else: the command line, TOML files,
keywords in Python and the reference page are made from these declarations (`base/options.py`).
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import reduce
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from unswayed.base import errors
from unswayed.base.errors import StoredFileError, UsageError
from unswayed.base.options import (
    Asking,
    Count,
    OperatorSpec,
    Option,
    Positive,
    ReadOptions,
    Share,
    Whole,
    converted,
    doc,
    options_of,
    with_values,
)
from unswayed.base.values import Json
from unswayed.storage.untrusted_files import read_bounded

GateOn = Literal["value", "at-worst", "at-best"]
Missing = Literal["leave", "wrong", "bounds"]
Weigh = Literal["examples", "variants"]
Correction = Literal["max-t", "holm", "bonferroni", "none"]
KeepFacts = Literal["auto", "yes", "no"]
SetName = Literal["each", "random", "hard"]
Device = Literal["auto", "cpu", "cuda", "mps"]
Dtype = Literal["auto", "float32", "float16", "bfloat16"]

# The ten of the NATURE paper: what random and hard sets are made of unless something else is asked for.
NATURE = (
    "spoken/filler_begin",
    "spoken/filler_end",
    "spoken/filler_post_verb",
    "spoken/filler_pre_verb",
    "spoken/speako",
    "spoken/synonym_adjective",
    "spoken/synonym_adverb",
    "spoken/synonym_any",
    "spoken/synonym_stopword",
    "spoken/synonym_verb",
)
_SCORE_LIMIT = "[SET:]MEASURE=LIMIT, such as worst=0.60 or keyboard/adjacent:worst=0.60"
_SET_LIMIT = "[SET:]LIMIT, such as 0.1 or keyboard/adjacent:0.1"
_MARGIN = "[SET:]MEASURE:MARGIN, such as worst:0.02 or keyboard/adjacent:worst:0.02"
_GATE_ON = "Compare the value, or the worse (at-worst) or better (at-best) end of its interval, with the limit."
_NOT_WORSE = "Fail unless not worse is shown (at-worst), if the value is worse, or only if worse is shown (at-best)."
_MAY_FAIL = doc("Share of items that may fail.", shown="0")


class DataPlan(ReadOptions, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Where examples come from. What is None is guessed from the data.

    Example: `DataPlan(path="mine.jsonl", gold="intent")`.
    """

    path: Annotated[str | None, doc("The file or folder of the data.")] = None
    language: Annotated[
        str | None, doc("The language: de, pt-BR, German; mul: by row. Default: identified.", "--lang")
    ] = None
    cluster: Annotated[
        str | None,
        doc("A field whose examples belong together, such as paragraph. Kept for `run`.", metavar="FIELD", column=True),
    ] = None

    def kept_fields(self) -> tuple[str, ...]:
        """The fields that a suite keeps of each example: its slices, and the cluster that it belongs to."""
        return tuple(dict.fromkeys((*self.groups, *([] if self.cluster is None else [self.cluster]))))

    def reading(self, **changes: Any) -> ReadOptions:
        """The same for readers, which keep the cluster as they keep slices."""
        return msgspec.structs.replace(self, groups=self.kept_fields(), **changes)


class VaryPlan(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How examples are varied, and which variants are kept.

    Example: `VaryPlan(operators=("keyboard/adjacent",), draws=3, seed=7)`.
    """

    operators: Annotated[
        tuple[str | OperatorSpec, ...],
        doc("An operator, a preset such as @typing, or a pattern such as keyboard/*. Repeatable.", "--with", "OPERATOR",
            expects="an operator's name, an OperatorSpec, or a list of them"),
    ] = ()  # fmt: skip
    set: Annotated[
        SetName,
        doc("each: variants from every operator. random: one from a random operator. hard: the one that the selector "
            "does worst on."),
    ] = "each"  # fmt: skip
    draws: Annotated[Count, doc("Variants per example and operator. With --set random or hard: per example.")] = 1
    seed: Annotated[int, doc("Random seed. The same seed gives the same variants.", shown="0")] = 0
    fields: Annotated[
        tuple[str, ...], doc("An input to vary. Repeatable. Default: the task's.", "--field", "FIELD")
    ] = ()
    keep_facts: Annotated[
        KeepFacts,
        doc("Leave out slips that turn a number, date, unit, negation or name into another. auto: where the right "
            "answer depends on it."),
    ] = "auto"  # fmt: skip
    guard: Annotated[
        str | None, doc("Labelled training data. No variant gets a word that it contradicts.", metavar="DATA")
    ] = None
    selector: Annotated[
        str | None, doc("The system that selects the hard set, as in `run --system`.", metavar="SYSTEM")
    ] = None
    options: Annotated[dict[str, Json], doc("An option of the selector. Repeatable.", "--option", "KEY=VALUE")] = {}
    asking: Asking = Asking()

    def specs(self) -> tuple[OperatorSpec, ...]:
        names = self.operators or (() if self.set == "each" else NATURE)
        return tuple(OperatorSpec(o) if isinstance(o, str) else o for o in names)


class SystemPlan(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What is under test and how it is asked. A plan must not hold secrets.

    Example: `SystemPlan(system="my_module:predict", suite="suite/")`.
    """

    system: Annotated[
        str | None,
        doc("module:function, a model's folder (also after hf:, onnx:, spacy:), sklearn:FILE, cmd:COMMAND, or a URL.",
            metavar="SYSTEM"),
    ] = None  # fmt: skip
    options: Annotated[dict[str, Json], doc("An option of the system. Repeatable.", "--option", "KEY=VALUE")] = {}
    name: Annotated[str | None, doc("What reports and comparisons call the system. Default: a name made from it.")] = (
        None
    )
    suite: Annotated[str | None, doc("The suite's folder. Default: made from [data] and [vary].")] = None
    asking: Asking = Asking()
    limit: Annotated[Count | None, doc("Run on N examples, chosen at random.", metavar="N")] = None
    fresh: Annotated[bool, doc("Use no stored answers: ask everything again, and keep the old ones aside.")] = False
    stop_when: Annotated[
        tuple[str, ...],
        doc("End early, when the interval of a measure is this narrow, as in drop±0.02 or drop+-0.02. Repeatable.",
            metavar="MEASURE±WIDTH"),
    ] = ()  # fmt: skip
    repeats: Annotated[
        Whole,
        doc("Run each clean input K more times, to separate flips from the system's own changes.", metavar="K"),
    ] = 0
    budget: Annotated[
        Positive | None,
        doc("Stop when the run has cost this much, judges included. A greater budget resumes it.", metavar="MONEY"),
    ] = None
    judge_price_in: Annotated[float | None, doc("Cost of a million tokens that the judge reads, if it differs.")] = None
    judge_price_out: Annotated[float | None, doc("Cost of a million tokens that the judge writes, if it differs.")] = (
        None
    )
    device: Annotated[Device | None, doc("Device for models that run on this machine.", shown="auto, the fastest")] = (
        None
    )
    dtype: Annotated[Dtype | None, doc("Number format of these models.", shown="auto, float32")] = None
    secret_env: Annotated[
        tuple[str, ...], doc("An environment variable whose value is masked in all that is kept.")
    ] = ()


class MeasurePlan(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What is measured.

    Example: `MeasurePlan(scores=("accuracy",), level=0.9, cluster="paragraph")`.
    """

    scores: Annotated[
        tuple[str, ...], doc("A scorer, the main one first. Repeatable. Default: the task's.", "--score")
    ] = ()
    extract: Annotated[
        str,
        doc("The part of an answer to compare: number, choice, json[.PATH], regex:…, last-line, after:…, none.",
            metavar="PART"),
    ] = ""  # fmt: skip
    equivalent: Annotated[
        str,
        doc("When two answers are the same: exact, contains, rouge-l[@0.7], embedding:FOLDER[@0.85], nli:FOLDER, "
            "judge:SYSTEM or module:function; scores: within@0.05; rankings: found@10.", metavar="RULE"),
    ] = ""  # fmt: skip
    rubric: Annotated[
        str | None,
        doc("The prompt of judge:SYSTEM, with {question}, {reference} and {answer}.", metavar="FILE"),
    ] = None
    agreement: Annotated[
        str | None, doc("What `measure judge -o` wrote: how far this judge agrees with people.", metavar="FILE")
    ] = None
    level: Annotated[Annotated[float, Meta(gt=0, lt=1)], doc("Confidence level of the intervals.")] = 0.95
    cluster: Annotated[
        str | None,
        doc("Intervals for clusters of examples with the same FIELD, such as paragraph. Default: the suite's.",
            metavar="FIELD", column=True),
    ] = None  # fmt: skip
    worst_of: Annotated[
        Count | None,
        doc("`worst` is the lowest score to expect of K variants.", metavar="K", shown="3, or as many as there are"),
    ] = None
    weigh: Annotated[Weigh, doc("What weighs the same in every measure.")] = "examples"
    bootstrap: Annotated[Count, doc("Random draws behind p-values that are corrected together (max-t).")] = 10_000
    seed: Annotated[int, doc("Seed of these draws.", shown="0")] = 0
    missing: Annotated[
        Missing, doc("Failed outputs: leave out, with bounds; count as wrong; or gate on the bounds.")
    ] = "leave"
    sanity: Annotated[
        bool,
        doc("Measure and gate even if the set-up looks broken, for example a system that always answers the same."),
    ] = True
    within: Annotated[
        Positive | None, doc("Test whether the drop lies within ±MARGIN, such as 0.02.", metavar="MARGIN")
    ] = None
    reference: Annotated[
        str | None,
        doc("Test each person or operator against this one, or against clean, corrected for their number.",
            metavar="NAME", shown="the suite's, if it has one"),
    ] = None  # fmt: skip
    groups: Annotated[
        tuple[str, ...] | None,
        doc("A slice to cut results by. Repeatable. Default: all.", "--slice", "FIELD", column=True),
    ] = None
    stored: Annotated[bool, doc("Measure anew, and store no results with the run.")] = True

    @property
    def rules(self) -> tuple[str, str, str | None]:
        """The part, the rule and the rubric by which answers are compared; a main score `recall@5` has flips@5 too."""
        name, at, first = self.scores[0].partition("@") if self.scores else ("", "", "")
        ranked = at and name in ("recall", "mrr", "ndcg") and not self.equivalent
        return self.extract, f"found@{first}" if ranked else self.equivalent, self.rubric


class GatePlan(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What the result must hold. A SET is an operator, a family or slice=value; a * in it stands for anything.

    Example: `GatePlan(fail_under={"worst": 0.6, "keyboard/adjacent:worst": 0.5}, on="at-worst")`.
    """

    fail_under: Annotated[
        dict[str, float],
        doc("Fail if a measure is below. SET is an operator, a family or slice=value; * is each. Repeatable.",
            metavar="[SET:]MEASURE=LIMIT", pairs="=", expects=_SCORE_LIMIT),
    ] = {}  # fmt: skip
    max_drop: Annotated[
        float | dict[str, float] | None,
        doc("Fail if the drop from clean to average is above this. Repeatable.", metavar="[SET:]LIMIT", pairs=":",
            expects=_SET_LIMIT),
    ] = None  # fmt: skip
    max_flips: Annotated[
        float | dict[str, float] | None,
        doc("Fail if the share of changed answers is above this. Repeatable.", metavar="[SET:]LIMIT", pairs=":",
            expects=_SET_LIMIT),
    ] = None  # fmt: skip
    on: Annotated[GateOn, doc(_GATE_ON, "--gate-on")] = "value"
    allow_missing: Annotated[Share, _MAY_FAIL] = 0.0


class ComparePlan(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How runs are compared with a baseline, and how much worse they may be.

    Example: `ComparePlan(primary="worst", fail_if_worse={"worst": 0.02, "domain=home:drop": 0.05})`.
    """

    primary: Annotated[
        str | None,
        doc("Measure tested by itself.", metavar="[SET:]MEASURE", shown="average, or flips without gold"),
    ] = None
    correction: Annotated[Correction, doc("Correction of all other p-values for the number of comparisons.")] = "max-t"
    fail_if_worse: Annotated[
        dict[str, float],
        doc("Fail if RUN may be worse by more than MARGIN. SET is as in run --fail-under. Repeatable.",
            metavar="[SET:]MEASURE:MARGIN", pairs=":=", expects=_MARGIN),
    ] = {}  # fmt: skip
    on: Annotated[GateOn, doc(_NOT_WORSE, "--gate-on")] = "at-worst"
    allow_missing: Annotated[Share, _MAY_FAIL] = 0.0
    each_at_least: Annotated[
        Share | None,
        doc("For logs: fail if any sample of RUN passes less than this share of its repeats.", metavar="SHARE"),
    ] = None


_LIMIT_MARGIN, _LEAST_MARGIN = 0.02, 0.005


class Engine(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How work is done, which changes the speed and nothing else.

    Example: `unswayed.Engine(workers=8)`.

    `ray` is started on this machine or found by RAY_ADDRESS; `ray:ADDRESS` is for a machine of the cluster, as in
    `ray:auto`, and `ray://HOST:PORT` for one outside it.
    """

    name: Annotated[
        str,
        doc("local, ray, ray:ADDRESS or ray://HOST:PORT; changes only the speed.", "--engine", "ENGINE"),
    ] = "local"
    workers: Annotated[Count | None, doc("Worker processes.", shown="1; Ray: one for each CPU")] = None
    gpus: Annotated[float, doc("GPUs that each worker on Ray has for itself; as many workers as that allows.")] = 0.0

    def __post_init__(self) -> None:
        kind, colon, _ = self.name.partition(":")
        if kind not in ("local", "ray") or (kind == "local" and colon):
            raise UsageError(f"There is no engine {self.name!r}. Use local, ray, ray:ADDRESS or ray://HOST:PORT.")
        if self.gpus < 0 or (self.gpus and kind == "local"):
            raise UsageError('gpus must be 0 or more, and only Ray assigns them: use name = "ray".')

    @property
    def here(self) -> bool:
        """Is all work done in this process?"""
        return self.name == "local" and (self.workers or 1) == 1


_in_use: ContextVar[Engine] = ContextVar("engine", default=Engine())  # noqa: B039 - frozen


def in_use() -> Engine:
    """The engine of every step that is given none: this process, unless another was chosen."""
    return _in_use.get()


@contextmanager
def using(engine: Engine) -> Iterator[None]:
    """While this is open, every step that is given no engine of its own is done on this one.

    Example: `with using(Engine(workers=4)): study.run(data)`.
    """
    token = _in_use.set(engine)
    try:
        yield
    finally:
        _in_use.reset(token)


class Plan(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Everything that decides a suite, a run and a verdict. The same plan gives the same suite, to the byte.

    Example: `unswayed.carry_out(unswayed.Plan(data=DataPlan(path="mine.jsonl"), …), "run/")`.
    """

    data: DataPlan = DataPlan()
    vary: VaryPlan = VaryPlan()
    run: SystemPlan = SystemPlan()
    measure: MeasurePlan = MeasurePlan()
    gate: GatePlan = GatePlan()
    compare: ComparePlan = ComparePlan()
    engine: Engine = Engine()

    @property
    def margin(self) -> float | None:
        """The smallest difference that a gate of this plan notices; None without a gate."""
        gate, found = self.gate, list(self.compare.fail_if_worse.values())
        for limits in (gate.max_drop, gate.max_flips):
            found += [] if limits is None else limits.values() if isinstance(limits, dict) else [limits]
        found += [_LIMIT_MARGIN] if gate.fail_under else []  # how far a score is from its limit, nobody knows yet
        found += [] if self.measure.within is None else [self.measure.within]
        return min((max(margin, _LEAST_MARGIN) for margin in found), default=None)

    @property
    def engine_in_use(self) -> Engine:
        """The plan's engine, or the one that was chosen for all that is done now."""
        return in_use() if self.engine == Engine() else self.engine


PlanLike = Plan | str | Path | Mapping[str, Any] | None  # a plan, its file, or its options by section

# The arguments that calls in Python have for options of a plan. All other options are given in `plan`.
KEYWORDS = {
    **{name: ("data", name) for name in ("input", "gold", "id", "groups", "task", "language")},
    **{name: ("vary", name) for name in ("operators", "draws", "seed")},
    "scores": ("measure", "scores"),
    "name": ("run", "name"),
    **{name: ("compare", name) for name in ("primary", "fail_if_worse")},
}
_arguments = {options_of(Plan)[path].flag for path in KEYWORDS.values()}
_arguments |= {"--path", "--suite", "--system", "--selector", "--cluster"}
for _option in reversed(options_of(Plan).values()):
    if _option.path[0] == "data":
        continue  # readers are given these by themselves, too
    errors.in_plan[".".join(_option.path)] = _option.as_plan("…")
    if _option.flag not in _arguments:
        errors.in_plan[_option.flag.lstrip("-")] = _option.as_plan("…")


def plan_of(plan: PlanLike = None, values: Mapping[str, Mapping[str, Any]] | None = None, **keywords: Any) -> Plan:
    """A plan, or that in a TOML file, or from a table of sections; with what the caller gave besides.

    `values` are options by section, as at the command line; `keywords` those of Python. They override the plan; None
    stands for what was not given.
    """
    if isinstance(plan, (str, Path)):
        path = Path(plan)
        try:
            table = tomllib.loads(read_bounded(path).decode())
            made = with_values(Plan(), table, lambda option: ".".join(option.path))
        except FileNotFoundError as error:
            raise UsageError(f"There is no plan {path}.") from error
        except UsageError as error:
            raise UsageError(f"{path}: {error}") from error
        except (OSError, StoredFileError, ValueError, RecursionError) as error:  # also too long a number, too deep ones
            raise UsageError(f"{path}: the plan can't be read: {error}.") from error
    elif plan is None or isinstance(plan, Mapping):
        made = with_values(Plan(), plan or {}, lambda option: option.as_plan("…"))
    elif isinstance(plan, Plan):
        made = plan
        for place, declared in options_of(Plan).items():  # its values may be of any type
            if (value := reduce(getattr, place, plan)) != declared.default:
                converted(value, declared, lambda option: option.as_plan("…"))
    else:
        raise UsageError(
            f"plan must be a Plan, the path of a TOML file, or a table such as {{'measure': {{'level': 0.9}}}}, "
            f"not {plan!r:.80}."
        )
    given: dict[str, dict[str, Any]] = {section: dict(options) for section, options in (values or {}).items()}
    for name, value in keywords.items():
        section, option = KEYWORDS[name]
        given.setdefault(section, {})[option] = value
    return with_values(made, given, spelled)


def spelled(option: Option) -> str:
    """How the caller spells an option: as a flag, as an argument, or in a plan."""
    keyword = next((name for name, path in KEYWORDS.items() if path == option.path), None)
    return errors.option(option.flag.lstrip("-"), keyword or ".".join(option.path))


def read_plan(path: str | Path | None) -> Plan:
    """The plan in a TOML file, or the default one where there is no file.

    Example: `unswayed.read_plan("plan.toml")`.
    """
    return plan_of(path)


def given_options(plan: msgspec.Struct) -> dict[str, Json]:
    """The fields of a plan, or of a part of one, that are not as they are by default."""
    made, usual = (msgspec.json.decode(msgspec.json.encode(part)) for part in (plan, type(plan)()))
    return _other(made, usual)


def _other(made: Mapping[str, Json], usual: Mapping[str, Json]) -> dict[str, Json]:
    found = {}
    for name, value in made.items():
        before = usual.get(name)
        if isinstance(value, dict) and isinstance(before, dict) and before:
            value, before = _other(value, before), {}
        if value != before:
            found[name] = value
    return found
