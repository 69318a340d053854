"""`unswayed vary`: from data to a suite of variants."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import click

from unswayed.cli._options import (
    ASKING,
    DATA,
    ENGINE,
    key_values,
    place_options,
    plan_from,
    plan_option,
    plan_options,
    secret_option,
    trust_option,
)
from unswayed.run.plan import Plan


@click.command("vary", short_help="Make a suite of variants of your data.")
@click.argument("data", required=False, metavar="DATA")
@plan_options("vary.operators")
@click.option("--param", "params", multiple=True, metavar="[OPERATOR:]KEY=VALUE", help="A parameter. Repeatable.")
@plan_options("vary.set vary.selector vary.options vary.draws vary.seed data.turn vary.fields vary.guard", ENGINE)
@plan_options(*(f"vary.asking.{name}" for name in ASKING.split()), DATA)
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


def _plan(data: str | None, plan_file: str | None, given: dict[str, Any]) -> Plan:
    specs = operator_specs(given["vary__operators"], given["params"])
    return plan_from(plan_file, given, {"data": {"path": data}, "vary": {"operators": specs or None}})


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
        from unswayed.run.suite_checks import count_unaltered

        made, unaltered = count_unaltered(suite)
        for name, same in sorted(unaltered.items()):
            click.echo(f"{name}: {same:,} of {made[name]:,} variants are unaltered", err=True)


def _tell_unchanged(unchanged: dict[str, int], examples: int | None) -> None:
    for name, count in sorted(unchanged.items()):
        of = f" of {examples:,}" if examples is not None else ""
        click.echo(f"{name}: nothing to change in {count:,}{of} examples", err=True)


def _tell(sentences: Iterable[str]) -> None:
    for sentence in sentences:
        click.echo(sentence, err=True)
