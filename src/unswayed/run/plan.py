"""The Plan: everything that decides a suite, a run and a verdict, as plain data.

The command line, a TOML file and Python each build one; what they leave out is filled in here and nowhere else.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Literal, TypeVar

import msgspec

from unswayed.base.chat import Turn
from unswayed.base.errors import StoredFileError, UsageError, option
from unswayed.base.values import Json
from unswayed.data import ReadOptions
from unswayed.run.workers import Engine
from unswayed.storage.untrusted_files import read_bounded
from unswayed.systems.asking import Asking
from unswayed.vary.engine import OperatorSpec

GateOn = Literal["value", "ci-lower", "ci-upper"]
Missing = Literal["leave", "wrong", "bounds"]
Weigh = Literal["examples", "variants"]
Correction = Literal["max-t", "holm", "bonferroni", "none"]
SetName = Literal["each", "random", "hard"]
Device = Literal["auto", "cpu", "cuda", "mps"]
Dtype = Literal["auto", "float32", "float16", "bfloat16"]
Part = TypeVar("Part", bound=msgspec.Struct)

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


class DataPlan(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Where examples come from. What is None is guessed from the data.

    `cluster` is a field whose examples belong together, such as the paragraph of a question: intervals then are for
    paragraphs like these.

    Example: `DataPlan(path="mine.jsonl", gold="intent")`.
    """

    path: str | None = None
    format: str | None = None
    task: str | None = None
    language: str | None = None
    inputs: tuple[str, ...] = ()
    gold: str | None = None
    id: str | None = None
    groups: tuple[str, ...] = ()
    cluster: str | None = None
    labels: tuple[str, ...] | None = None
    turn: Turn = "last-user"
    encoding: str | None = None
    sheet: str | None = None

    def kept(self) -> tuple[str, ...]:
        """The fields that a suite keeps of each example: its slices, and the cluster that it belongs to."""
        return tuple(dict.fromkeys((*self.groups, *([] if self.cluster is None else [self.cluster]))))

    def reading(self) -> ReadOptions:
        """The part of it that readers need."""
        return ReadOptions(
            format=self.format,
            task=self.task,
            inputs=self.inputs,
            gold=self.gold,
            id=self.id,
            groups=self.kept(),
            labels=self.labels,
            turn=self.turn,
            encoding=self.encoding,
            sheet=self.sheet,
        )


class VaryPlan(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How examples are varied, and which variants are kept.

    Example: `VaryPlan(operators=("keyboard/adjacent",), draws=3, seed=7)`.

    `set` is `each`, all variants; `random`, one operator at random for each; or `hard`, the one on which `selector`,
    a system with its `options`, does worst. `asking` changes the speed and nothing else. `guard` is the path of
    labelled training data: no variant gets a word that its labels contradict.
    """

    operators: tuple[str | OperatorSpec, ...] = ()
    set: SetName = "each"
    draws: int = 1
    seed: int = 0
    fields: tuple[str, ...] = ()
    guard: str | None = None
    selector: str | None = None
    options: dict[str, Json] = {}
    asking: Asking = Asking()

    def specs(self) -> tuple[OperatorSpec, ...]:
        names = self.operators or (() if self.set == "each" else NATURE)
        return tuple(OperatorSpec(o) if isinstance(o, str) else o for o in names)


class SystemPlan(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What is under test and how it is asked.

    Example: `SystemPlan(system="my_module:predict", suite="suite/")`.

    `limit` is how many examples are asked, chosen at random. `fresh` uses no stored answers. `stop_when` ends the run
    early, when the intervals of measures are narrow enough, such as `drop±0.02`. `repeats` is how many more times each
    clean input is asked. `budget` is what the run may cost, its judge included; it needs `price_in` and `price_out`
    among the options. `judge_price_in` and `judge_price_out` are a judge's prices, if they are others.
    `device` is where models run that run here, and `dtype` their number format: by default the fastest device, float32.
    `secret_env` are environment variables whose values are masked in all that is kept. A plan must not hold secrets.
    """

    system: str | None = None
    options: dict[str, Json] = {}
    secret_env: tuple[str, ...] = ()
    suite: str | None = None
    asking: Asking = Asking()
    limit: int | None = None
    fresh: bool = False
    stop_when: tuple[str, ...] = ()
    repeats: int = 0
    budget: float | None = None
    judge_price_in: float | None = None
    judge_price_out: float | None = None
    device: Device | None = None
    dtype: Dtype | None = None


class MeasurePlan(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What is measured; no scores means those of the task. `sanity` looks for signs of a broken set-up.

    `missing` says how outputs that failed count: `leave` leaves them out and gives bounds, `wrong` counts them as
    wrong, `bounds` widens intervals to what they could have been, and gates take the unfavourable end.

    Example: `MeasurePlan(scores=("accuracy",), level=0.9, cluster="paragraph")`.

    `extract` and `equivalent` say which part of an answer is compared, with gold and with the clean answer, and when
    two are the same; empty, the suite or the task decides. `rubric` is the file of a judge's prompt,
    and `agreement` the file that `unswayed measure judge -o` wrote of how far this judge agrees with people.
    `cluster` is the field whose values say which examples belong together, so that intervals draw these together.
    `weigh` says whether every example weighs the same, or every variant. `worst_of` is the number of variants that the
    worst is of; by default three, or as many as there are. `within` is a margin that the drop is tested to lie in.
    """

    scores: tuple[str, ...] = ()
    extract: str = ""
    equivalent: str = ""
    rubric: str | None = None
    agreement: str | None = None
    level: float = 0.95
    bootstrap: int = 10_000
    seed: int = 0
    sanity: bool = True
    missing: Missing = "leave"
    cluster: str | None = None
    weigh: Weigh = "examples"
    worst_of: int | None = None
    within: float | None = None


class GatePlan(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What the result must hold. `allow_missing` is the share of items that may end without an output.

    Example: `GatePlan(fail_under={"worst": 0.6, "keyboard/adjacent:worst": 0.5}, on="ci-lower")`.

    Keys of `fail_under` are a measure, or a set, a colon and a measure. `max_drop` and `max_flips` are one limit for
    all variants, or limits by set: `{"all": 0.1, "domain=home": 0.2}`. A set is an operator, a family, or slice=value;
    a * in its name stands for anything.
    """

    fail_under: dict[str, float] = {}
    max_drop: float | dict[str, float] | None = None
    max_flips: float | dict[str, float] | None = None
    on: GateOn = "value"
    allow_missing: float = 0.0


class ComparePlan(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How runs are compared with a baseline, and how much worse they may be.

    Example: `ComparePlan(primary="worst", fail_if_worse={"worst": 0.02, "domain=home:drop": 0.05})`.
    """

    primary: str | None = None
    correction: Correction = "max-t"
    fail_if_worse: dict[str, float] = {}
    on: GateOn = "ci-lower"
    allow_missing: float = 0.0


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

    def with_(self, section: str, values: Mapping[str, object]) -> Plan:
        """The plan with the given values of one section; None and empty ones leave what is there."""
        given = {k: v for k, v in values.items() if v is not None and v != () and v != {}}
        if not given:
            return self
        return msgspec.structs.replace(self, **{section: msgspec.structs.replace(getattr(self, section), **given)})


def kept(plan: msgspec.Struct) -> dict[str, Json]:
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


def listed(values: Any) -> tuple[Any, ...]:
    """Several values as they are, and one as a list of it."""
    if values is None:
        return ()
    single = isinstance(values, (str, OperatorSpec, Mapping, type)) or not isinstance(values, Iterable)
    return (values,) if single else tuple(values)


_MUST_BE = {
    **dict.fromkeys(("draws", "seed", "bootstrap", "limit", "repeats", "worst_of"), "a whole number"),
    "fresh": "true or false",
    **dict.fromkeys(("input", "groups", "fields", "labels", "scores", "stop_when"), "a text or a list of texts"),
    "operators": "an operator's name, an OperatorSpec, or a list of them",
    "set": "each, random or hard",
    "turn": "last-user, first-user, system or all",
    "weigh": "examples or variants",
    "level": "a number between 0 and 1",
    **dict.fromkeys(("budget", "judge_price_in", "judge_price_out"), "a number"),
    "correction": "max-t, holm, bonferroni or none",
    "on": "value, ci-lower or ci-upper",
    "allow_missing": "a number",
    "asking": "an Asking",
    "engine": "an Engine",
    "sanity": "True or False",
    "missing": "leave, wrong or bounds",
    "within": "a number above 0",
    "device": "auto, cpu, cuda or mps",
    "dtype": "auto, float32, float16 or bfloat16",
}


def from_arguments(part: type[Part], /, **values: Any) -> Part:
    """A part of a plan, or a whole one, from the arguments of a function; raises where one is of the wrong type."""
    values = {name: _builtin(value) for name, value in values.items()}
    try:
        return msgspec.convert(values, part)
    except msgspec.ValidationError as error:
        name = str(error).partition("`$.")[2].strip("`").partition("[")[0].partition(".")[0]
        argument = "input" if name == "inputs" else name
        raise UsageError(
            f"{option(argument)} must be {_MUST_BE.get(argument, 'a text')}, not {values.get(name)!r:.80}."
        ) from None


def _builtin(value: Any) -> Any:
    """A number or a text of numpy's as Python's own."""
    if isinstance(value, tuple):
        return tuple(map(_builtin, value))
    return value.item() if type(value).__module__ == "numpy" and hasattr(value, "item") else value


def read_plan(path: str | Path | None) -> Plan:
    """The plan in a TOML file, or the default one where there is no file.

    Example: `unswayed.read_plan("plan.toml")`.
    """
    if path is None:
        return Plan()
    try:
        return msgspec.convert(tomllib.loads(read_bounded(Path(path)).decode()), Plan)
    except FileNotFoundError as error:
        raise UsageError(f"There is no plan {path}.") from error
    except (OSError, StoredFileError, ValueError, RecursionError) as error:  # also a number too long, brackets too deep
        raise UsageError(f"{path}: the plan can't be read: {error}.") from error
