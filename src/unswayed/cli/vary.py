"""`unswayed vary`: from data to a suite of variants."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import click

from unswayed.cli._completion import operators
from unswayed.cli._options import (
    asking_options,
    data_options,
    engine_options,
    key_values,
    place_options,
    plan_option,
    secret_option,
    split_list,
    trust_option,
    with_engine,
)


@click.command("vary", short_help="Make a suite of variants of your data.")
@click.argument("data", required=False, metavar="DATA")
@click.option(
    "--with",
    "operators",
    multiple=True,
    metavar="OPERATOR",
    shell_complete=operators,
    help="An operator, a preset such as @typing, or a pattern such as keyboard/*. Repeatable.",
)
@click.option("--param", "params", multiple=True, metavar="[OPERATOR:]KEY=VALUE", help="A parameter. Repeatable.")
@click.option(
    "--set",
    "set_",
    type=click.Choice(["each", "random", "hard"]),
    help="each: variants from every operator. random: one from a random operator. hard: the one that the selector "
    "does worst on.  [default: each]",
)
@click.option("--selector", metavar="SYSTEM", help="The system that selects the hard set, as in `run --system`.")
@click.option(
    "--draws",
    type=click.IntRange(min=1),
    help="Variants per example and operator. With --set random or hard: per example.  [default: 1]",
)
@click.option("--seed", type=int, help="Random seed. The same seed gives the same variants.  [default: 0]")
@click.option(
    "--turn",
    type=click.Choice(["last-user", "first-user", "system", "all"]),
    help="For chats: the messages to vary.  [default: last-user]",
)
@click.option("--field", "fields", multiple=True, metavar="FIELD", help="An input to vary. Default: the task's.")
@click.option("--guard", metavar="DATA", help="Labelled training data. No variant gets a word that it contradicts.")
@engine_options
@asking_options
@data_options
@secret_option
@trust_option
@place_options
@plan_option
@click.option("-o", "to", required=True, metavar="SUITE", help="The folder to make, or - for JSON lines.")
@click.option("--overwrite", is_flag=True, help="Replace another suite that is there.")
def command(data: str | None, to: str, overwrite: bool, plan_file: str | None, **given: Any) -> None:
    """Make variants of DATA: a JSONL, CSV, TSV, Parquet or text file, or a folder that some reader knows.

    \b
      unswayed vary mine.jsonl --with keyboard/adjacent --with spoken/filler_end --draws 3 --seed 7 -o suite/
      unswayed vary mine.jsonl --with @typing -o suite/                    # what people do who type in the language
      unswayed vary texts.txt --with keyboard/adjacent --draws 3 -o -      # one text per line in, JSON lines out
      unswayed vary atis/test --set random --draws 10 -o random/           # one operator at random, ten times
      unswayed vary atis/test --set hard --selector model/ -o hard/        # what `model/` does worst on
      unswayed vary atis/test --with spoken/* --guard atis/train -o safe/  # no word that training labels contradict
      unswayed vary chats.jsonl --turn all --with keyboard/adjacent -o chat/  # rows of {"messages": [...]}
      unswayed vary big.jsonl --with spoken/speako --workers 8 -o suite/   # the same suite, faster

    `unswayed list operators` shows what there is; random and hard sets use NATURE's ten unless --with names others.
    Token tags and answer spans move with the words. With --guard, an operator draws again where its word contradicts
    the labels of the training data; `unswayed suite check` counts such variants. Where an operator finds nothing to
    change in an example, the example gets no variant of it; a random set then draws another operator. A simulated
    person may type a text right: that variant is kept, and counts with the clean answer.
    """
    from unswayed.base.text import counted
    from unswayed.run.making import suite_of
    from unswayed.vary.presets import in_other_languages

    plan = _plan(data, plan_file, given)
    if to == "-":
        _print(plan)
        return
    suite = suite_of(plan, to, overwrite)
    m = suite.manifest
    made = f"{counted(m.variants, 'variant')} of {counted(m.examples, 'example')}"
    click.echo(f"{made} ({m.task}, {m.language}) in {to}", err=True)
    _tell_unaltered(suite)
    _tell_unchanged(m.unchanged, m.examples)
    _tell(in_other_languages([operator["name"] for operator in m.operators], m.languages))


def _plan(data: str | None, plan_file: str | None, given: dict[str, Any]) -> Any:
    import msgspec

    from unswayed.run.plan import read_plan

    plan = with_engine(read_plan(plan_file), given)
    plan = plan.with_(
        "data",
        {
            "path": data,
            "task": given["task"],
            "language": given["lang"],
            "format": given["format_in"],
            "inputs": given["inputs"],
            "gold": given["gold"],
            "id": given["id_"],
            "groups": given["groups"],
            "cluster": given["cluster"],
            "labels": split_list(given["labels"]),
            "turn": given["turn"],
            "encoding": given["encoding"],
            "sheet": given["sheet"],
        },
    )
    varied = {name: given[name] for name in ("draws", "seed", "fields", "selector", "guard")}
    varied |= {"set": given["set_"], "options": key_values(given["options"], "--option")}
    asking = {k: given[k] for k in ("batch_size", "concurrency", "retries", "canary", "rate") if given[k] is not None}
    varied["asking"] = msgspec.structs.replace(plan.vary.asking, **asking)
    return plan.with_("vary", {**varied, "operators": operator_specs(given["operators"], given["params"])})


def operator_specs(names: tuple[str, ...], params: tuple[str, ...]) -> tuple[Any, ...]:
    """Operators, or presets, with their parameters. A parameter without an operator's name goes to all that know it."""
    from unswayed.vary.presets import with_params

    return with_params(names, key_values(params, "--param"))


def _print(plan: Any) -> None:
    import sys
    from collections import Counter

    import msgspec

    from unswayed.run.making import variants_of

    encoder = msgspec.json.Encoder()
    out = sys.stdout.buffer
    unchanged: Counter[str] = Counter()
    left_out: list[str] = []
    for variant in variants_of(plan, unchanged, left_out):
        out.write(encoder.encode(variant) + b"\n")
    out.flush()
    _tell_unchanged(unchanged, None)
    _tell(left_out)


def _tell_unaltered(suite: Any) -> None:
    from unswayed.vary import operators

    if any(operators.get(operator["name"]).unaltered for operator in suite.manifest.operators):
        from unswayed.storage.unaltered import counts

        made, unaltered = counts(suite)
        for name, same in sorted(unaltered.items()):
            click.echo(f"{name}: {same:,} of {made[name]:,} variants are unaltered", err=True)


def _tell_unchanged(unchanged: dict[str, int], examples: int | None) -> None:
    for name, count in sorted(unchanged.items()):
        of = f" of {examples:,}" if examples is not None else ""
        click.echo(f"{name}: nothing to change in {count:,}{of} examples", err=True)


def _tell(sentences: Iterable[str]) -> None:
    for sentence in sentences:
        click.echo(sentence, err=True)
