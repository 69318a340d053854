"""Options that several commands share, and the way their values become parts of a Plan."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

import click
import msgspec

from unswayed.base.errors import UnswayedError
from unswayed.base.ids import decode
from unswayed.base.options import options_of
from unswayed.cli._completion import operators, readers, scorers, systems, tasks
from unswayed.run.plan import Plan, plan_of, using as using_engine

F = TypeVar("F", bound=Callable[..., Any])

FORMATS = ("table", "json", "jsonl", "md")


def _trust(context: click.Context, parameter: click.Parameter, hashes: tuple[str, ...]) -> None:
    if not hashes:
        return
    from unswayed.systems.model_folder import trust_weights

    context.with_resource(trust_weights(hashes))  # until the command ends, in its workers too


trust_option = click.option(
    "--trust-weights",
    multiple=True,
    metavar="SHA256",
    expose_value=False,
    callback=_trust,
    help="Open pickled weights that have this SHA-256. They can run code. Repeatable.",
)


def _hide(context: click.Context, parameter: click.Parameter, texts: tuple[str, ...]) -> None:
    if texts:
        from unswayed.base.secrets import hide

        hide(texts, named=True)


secret_option = click.option(
    "--secret",
    multiple=True,
    metavar="TEXT",
    expose_value=False,
    callback=_hide,
    help="A text to mask in all that is kept and printed, such as a key in a command. Repeatable.",
)

study_file = click.argument("study_file", metavar="STUDY", type=click.Path(dir_okay=False))
level_option = click.option(
    "--level", type=float, default=0.95, show_default=True, help="Confidence level of the intervals."
)
bootstrap_option = click.option(
    "--bootstrap", type=click.IntRange(min=1), default=10_000, show_default=True, help="Bootstrap samples."
)
fields_option = click.option(
    "--input", "fields", multiple=True, metavar="FIELD", help="A field that holds a text. Repeatable."
)
seed_option = click.option("--seed", type=int, default=0, show_default=True, help="Random seed.")
items_option = click.option(
    "-o", "to", required=True, metavar="ITEMS", help="The JSON-lines file to write; the key file goes next to it."
)
stream_option = click.option(
    "-o", "to", required=True, metavar="FILE", help="The file to write, or - for standard output."
)
suite_option = click.option("-o", "to", required=True, metavar="SUITE", help="The folder to make.")
overwrite_option = click.option("--overwrite", is_flag=True, help="Replace another suite that is there.")
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
_COMPLETED = {  # the options whose values a shell can complete
    "data.task": tasks, "data.format": readers, "vary.operators": operators, "vary.selector": systems,
    "run.system": systems, "measure.scores": scorers,
}  # fmt: skip
DATA = (
    "data.task data.language data.format data.encoding data.sheet data.input data.gold data.id data.groups "
    "data.cluster data.labels"
)
ASKING = "batch_size concurrency rate retries canary"
ENGINE = "engine.name engine.workers"
MEASURE = (
    "measure.scores measure.extract measure.equivalent measure.rubric measure.level measure.cluster measure.worst_of "
    "measure.weigh measure.bootstrap measure.seed measure.missing measure.groups measure.sanity"
)
ONE_RUN = "measure.within measure.reference measure.agreement"
GATE = "gate.fail_under gate.max_drop gate.max_flips gate.on gate.allow_missing"
DEVICE = "run.device run.dtype"


def plan_options(*paths: str) -> Callable[[F], F]:
    """Options of a plan, such as `measure.level`, as a decorator; help shows them in this order."""
    return together(*(plan_click_option(path) for path in " ".join(paths).split()))


def plan_click_option(path: str, name: str = "", **more: Any) -> Callable[[F], F]:
    """One option as click has it, with the parameter `name`; its value is checked by the plan."""
    option = options_of(Plan)[tuple(path.split("."))]
    usual = option.default is None or isinstance(option.default, (bool, tuple, dict)) or option.default == ""
    shown = option.more.get("shown") or ("" if usual else str(option.default))
    kinds = {"int": int, "float": float, "choice": click.Choice(option.choices)}
    several = option.kind == "dict" or (option.kind == "list" and not option.more.get("commas"))
    flag: dict[str, Any] = {"flag_value": not option.default} if option.kind == "bool" else {"multiple": several}
    return click.option(
        option.flag,
        name or path.replace(".", "__"),
        default=None,
        type=kinds.get(option.kind),
        metavar=option.more["metavar"] or None,
        shell_complete=_COMPLETED.get(path),
        help=option.help + (f"  [default: {shown}]" if shown else ""),
        **flag,
        **more,
    )


def plan_from(
    plan_file: str | None, given: Mapping[str, Any], more: Mapping[str, Mapping[str, Any]] | None = None
) -> Plan:
    """The plan in a file with what options say, and `more` of what they say by section.

    Until the command ends, every step of it uses the plan's engine.
    """
    plan, values = plan_of(plan_file), {section: dict(options) for section, options in (more or {}).items()}
    for name, value in given.items():
        section, *inner = name.split("__")
        if inner and value not in (None, ()) and inner[-1] not in values.get(section, {}):
            if inner == ["options"]:
                value = {**getattr(plan, section).options, **key_values(value, "--option")}
            part = values.setdefault(section, {})
            for above in inner[:-1]:
                part = part.setdefault(above, {})
            part[inner[-1]] = value
    plan = plan_of(plan, values)
    click.get_current_context().with_resource(using_engine(plan.engine))
    return plan


def together(*options: Callable[[F], F]) -> Callable[[F], F]:
    """Several options as one decorator, in the order in which help should show them."""

    def decorate(function: F) -> F:
        for option in reversed(options):
            function = option(function)
        return function

    return decorate


def _placing(context: click.Context, parameter: click.Parameter, value: str | None) -> None:
    from unswayed.systems.device import using

    context.with_resource(using(**{str(parameter.name).rpartition("__")[2]: value}))  # until the command ends


# for commands that have no plan: until they end, models run there, in their workers too
train_device_option = plan_click_option("run.device", expose_value=False, callback=_placing)
place_options = together(train_device_option, plan_click_option("run.dtype", expose_value=False, callback=_placing))


def print_messages(sentences: Iterable[str]) -> None:
    """Prints messages, one per line, on standard error."""
    for sentence in sentences:
        click.echo(sentence, err=True)


def write_besides(code: int, write: Callable[[], object]) -> int:
    """Writes files besides the results that were printed, and returns the exit code: that of the results, or 3 if only
    a file could not be written. A failed gate stays a failed gate."""
    from unswayed.base.secrets import masked
    from unswayed.base.text import visible

    try:
        write()
    except (UnswayedError, OSError) as error:
        click.echo(f"unswayed: {visible(masked(str(error)))}", err=True)
        return code or UnswayedError.exit_code
    return code


def print_values(format_: str, *values: Any) -> None:
    """Prints values in the format of `--format`."""
    from unswayed.report.tables import render

    click.echo("\n\n".join(render(value, format_) for value in values))


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
