"""Options that several commands share, and the way their values become parts of a Plan."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import click
import msgspec

from unswayed.base.ids import decode
from unswayed.cli._completion import readers, scorers, tasks

if TYPE_CHECKING:
    from unswayed.measure.comparison.outcome import NotWorse
    from unswayed.measure.gates import GateResult
    from unswayed.run.plan import Plan

F = TypeVar("F", bound=Callable[..., Any])

# options that are fields of a MeasurePlan
MEASURES = (
    "scores", "extract", "equivalent", "rubric", "agreement", "level", "bootstrap", "seed", "sanity", "missing",
    "cluster", "weigh", "worst_of", "within",
)  # fmt: skip
DEVICES = ("auto", "cpu", "cuda", "mps")
DTYPES = ("auto", "float32", "float16", "bfloat16")
FORMATS = ("table", "json", "jsonl", "md")


def _trust(context: click.Context, parameter: click.Parameter, hashes: tuple[str, ...]) -> tuple[str, ...]:
    from unswayed.systems.model_folder import trust_weights

    context.with_resource(trust_weights(hashes))  # until the command ends, in its workers too
    return hashes


trust_option = click.option(
    "--trust-weights",
    multiple=True,
    metavar="SHA256",
    expose_value=False,
    callback=_trust,
    help="Open pickled weights that have this SHA-256. They can run code. Repeatable.",
)


def _hide(context: click.Context, parameter: click.Parameter, texts: tuple[str, ...]) -> tuple[str, ...]:
    from unswayed.base.secrets import hide

    hide(texts, named=True)
    return texts


secret_option = click.option(
    "--secret",
    multiple=True,
    metavar="TEXT",
    expose_value=False,
    callback=_hide,
    help="A text to mask in all that is kept and printed, such as a key in a command. Repeatable.",
)

study_file = click.argument("study_file", metavar="STUDY", type=click.Path(dir_okay=False))
format_option = click.option(
    "--format",
    "format_",
    type=click.Choice(FORMATS),
    default="table",
    show_default=True,
    help="How to print the result.",
)
plan_option = click.option(
    "--plan", "plan_file", type=click.Path(dir_okay=False), help="A TOML plan. Options override the plan."
)


def together(*options: Callable[[F], F]) -> Callable[[F], F]:
    """Several options as one decorator, in the order in which help should show them."""

    def decorate(function: F) -> F:
        for option in reversed(options):
            function = option(function)
        return function

    return decorate


encoding_option = click.option(
    "--encoding", metavar="NAME", help="A file's encoding, such as GBK. Default: UTF-8, else detected."
)

data_options = together(
    click.option("--task", shell_complete=tasks, help="The task: text, classify, slu, qa, … Guessed from the data."),
    click.option("--lang", help="The language: de, pt-BR, German; mul: by row. Default: identified."),
    click.option(
        "--format-in", shell_complete=readers, metavar="READER", help="The data's format. Guessed from its name."
    ),
    encoding_option,
    click.option("--sheet", metavar="NAME", help="The sheet of a workbook. Default: the only one."),
    click.option("--input", "inputs", multiple=True, metavar="FIELD", help="A field that holds a text. Repeatable."),
    click.option("--gold", metavar="FIELD", help="The field that holds the right answer."),
    click.option(
        "--id", "id_", metavar="FIELD", help="The field that holds an id. Without one, ids come from content."
    ),
    click.option("--group", "groups", multiple=True, metavar="FIELD", help="A field to slice results by. Repeatable."),
    click.option(
        "--cluster", metavar="FIELD", help="A field whose examples belong together, such as paragraph. Kept for `run`."
    ),
    click.option("--labels", metavar="A,B,…", help="Allowed labels. Any other label is an error."),
)

# of commands that measure one run
one_run_options = together(
    click.option("--within", type=float, help="Test if the drop lies within this margin, such as 0.02."),
    click.option(
        "--agreement", metavar="FILE", help="For the report: how far the judge agrees with people (`measure judge -o`)."
    ),
)

measure_options = together(
    click.option(
        "--score",
        "scores",
        multiple=True,
        shell_complete=scorers,
        help="A scorer, the main one first. Default: the task's.",
    ),
    click.option(
        "--extract",
        metavar="PART",
        help="The part of an answer to compare: number, choice, json[.PATH], regex:…, last-line, after:…, none.",
    ),
    click.option(
        "--equivalent",
        metavar="RULE",
        help="When two answers are the same: exact, contains, rouge-l[@0.7], embedding:FOLDER[@0.85], nli:FOLDER, "
        "judge:SYSTEM or module:function.",
    ),
    click.option(
        "--rubric", metavar="FILE", help="The prompt of judge:SYSTEM, with {question}, {reference} and {answer}."
    ),
    click.option("--level", type=float, help="Confidence level of the intervals.  [default: 0.95]"),
    click.option(
        "--cluster",
        metavar="FIELD",
        help="Intervals for clusters of examples with the same FIELD, such as paragraph. Default: the suite's.",
    ),
    click.option(
        "--worst-of",
        type=click.IntRange(min=1),
        metavar="K",
        help="`worst` is the lowest score to expect of K variants.  [default: 3, or as many as there are]",
    ),
    click.option(
        "--weigh",
        type=click.Choice(["examples", "variants"]),
        help="What weighs the same in every measure.  [default: examples]",
    ),
    click.option(
        "--bootstrap",
        type=click.IntRange(min=1),
        help="Bootstrap samples, where numbers are compared with each other.  [default: 10000]",
    ),
    click.option("--seed", type=int, help="Seed of the bootstrap.  [default: 0]"),
    click.option(
        "--missing",
        type=click.Choice(["leave", "wrong", "bounds"]),
        help="Failed outputs: leave out, with bounds; count as wrong; or gate on the bounds.  [default: leave]",
    ),
    click.option(
        "--no-sanity",
        "sanity",
        flag_value=False,
        default=None,
        help="Measure and gate even if the set-up looks broken, for example a system that always answers the same.",
    ),
)

gate_options = together(
    click.option(
        "--fail-under",
        multiple=True,
        metavar="[SET:]MEASURE=LIMIT",
        help="Fail if a measure is below. SET is an operator, a family or slice=value; * is each. Repeatable.",
    ),
    click.option(
        "--max-drop",
        multiple=True,
        metavar="[SET:]LIMIT",
        help="Fail if the drop from clean to average is above this. Repeatable.",
    ),
    click.option(
        "--max-flips",
        multiple=True,
        metavar="[SET:]LIMIT",
        help="Fail if the share of changed answers is above this. Repeatable.",
    ),
    click.option(
        "--gate-on",
        type=click.Choice(["value", "ci-lower", "ci-upper"]),
        help="Compare the value, or the worse (ci-lower) or better (ci-upper) end of its interval, with the limit.",
    ),
    click.option("--allow-missing", type=click.FloatRange(0, 1), help="Share of items that may fail.  [default: 0]"),
)

asking_options = together(
    click.option("--batch-size", type=click.IntRange(min=1), help="Inputs per call. Default: depends on the system."),
    click.option(
        "--concurrency", type=click.IntRange(min=1), help="Calls at the same time. Default: depends on the system."
    ),
    click.option(
        "--rate",
        type=float,
        metavar="N",
        help="Send at most N requests a second. Default: as many as the server takes.",
    ),
    click.option("--retries", type=click.IntRange(min=0), help="Retries for a failed item.  [default: 2; URLs: 6]"),
    click.option(
        "--canary",
        type=click.IntRange(min=0),
        metavar="N",
        help="Stored answers to check again before any is reused; 0: none.  [default: 1%, between 8 and 200]",
    ),
    click.option(
        "--option", "options", multiple=True, metavar="KEY=VALUE", help="An option of the system. Repeatable."
    ),
)

_device = (
    "--device",
    click.Choice(DEVICES),
    "Device for models that run on this machine.  [default: auto, the fastest]",
)
_dtype = ("--dtype", click.Choice(DTYPES), "Number format of these models.  [default: auto, float32]")
device_options = together(*(click.option(name, type=kind, help=text) for name, kind, text in (_device, _dtype)))


def _placing(context: click.Context, parameter: click.Parameter, value: str | None) -> str | None:
    from unswayed.systems.device import using

    context.with_resource(using(**{str(parameter.name): value}))  # until the command ends, in its workers too
    return value


# for commands that have no plan
place_options = together(
    *(click.option(name, type=kind, help=text, expose_value=False, callback=_placing)
      for name, kind, text in (_device, _dtype))
)  # fmt: skip
train_device_option = click.option(
    "--device", type=click.Choice(DEVICES), help="Where to train.  [default: auto, the fastest]",
    expose_value=False, callback=_placing,
)  # fmt: skip

engine_options = together(
    click.option(
        "--engine",
        metavar="ENGINE",
        help="local, ray, ray:ADDRESS or ray://HOST:PORT; changes only the speed.  [default: local]",
    ),
    click.option(
        "--workers", type=click.IntRange(min=1), help="Worker processes.  [default: 1; Ray: one for each CPU]"
    ),
)


def with_engine(plan: Plan, given: dict[str, Any]) -> Plan:
    """The plan with what engine options say; until the command ends, every step of it uses that engine."""
    from unswayed.run.workers import using

    plan = plan.with_("engine", {"name": given["engine"], "workers": given["workers"]})
    click.get_current_context().with_resource(using(plan.engine))
    return plan


def with_judging(plan: Plan, given: dict[str, Any]) -> Plan:
    """The plan with what measure and gate options say."""
    from unswayed.measure.gates import score_limits, set_limits

    plan = plan.with_("measure", {name: given[name] for name in MEASURES})
    gates = {
        "fail_under": score_limits(given["fail_under"]),
        "max_drop": set_limits(given["max_drop"]),
        "max_flips": set_limits(given["max_flips"]),
    }
    return plan.with_("gate", {**gates, "on": given["gate_on"], "allow_missing": given["allow_missing"]})


def key_values(pairs: tuple[str, ...], option: str) -> dict[str, Any]:
    """`KEY=VALUE` options as a mapping. A value that is JSON (a number, true, a list) is read as such."""
    values: dict[str, Any] = {}
    for pair in pairs:
        key, equals, text = pair.partition("=")
        if not equals or not key:
            raise click.UsageError(f"{option} takes KEY=VALUE, not {pair!r}.")
        try:
            values[key] = decode(text)
        except msgspec.DecodeError:
            values[key] = text
    return values


def split_list(text: str | None) -> tuple[str, ...] | None:
    return tuple(part.strip() for part in text.split(",") if part.strip()) if text else None


def show_with_gates(rendered: str, gates: Sequence[GateResult] | Sequence[NotWorse], format_: str) -> None:
    """Prints the text and what each gate found: in Markdown before it, otherwise as messages after it."""
    from unswayed.report.tables import gates_first

    click.echo(gates_first(rendered, gates) if format_ == "md" else rendered)
    for gate in gates if format_ != "md" else ():
        click.echo(gate.sentence, err=True)
