"""`unswayed vary`: from data to a suite of variants."""

from __future__ import annotations

from typing import Any

import click

from unswayed.cli._options import (
    ASKING,
    DATA,
    ENGINE,
    key_values,
    overwrite_option,
    place_options,
    plan_from,
    plan_option,
    plan_options,
    print_messages,
    secret_option,
    trust_option,
)
from unswayed.run.plan import Plan


@click.command("vary", short_help="Make a suite of variants of your data.")
@click.argument("data", required=False, metavar="DATA")
@plan_options("vary.operators")
@click.option("--param", "params", multiple=True, metavar="[OPERATOR:]KEY=VALUE", help="A parameter. Repeatable.")
@plan_options(
    "vary.set vary.selector vary.options vary.draws vary.seed data.turn vary.fields vary.keep_facts vary.guard", ENGINE
)
@plan_options(*(f"vary.asking.{name}" for name in ASKING.split()), DATA)
@secret_option
@trust_option
@place_options
@plan_option
@click.option("-o", "to", required=True, metavar="SUITE", help="The folder to make, or - for JSON lines.")
@overwrite_option
def command(data: str | None, to: str, overwrite: bool, plan_file: str | None, **given: Any) -> None:
    """Make variants of DATA: a JSONL, CSV, TSV, Parquet or text file, or a folder that some reader knows.

    \b
      unswayed vary mine.jsonl --with keyboard/adjacent --with spoken/filler_end --draws 3 --seed 7 -o suite/
      unswayed vary mine.jsonl --with @typing -o suite/                    # what people do who type in the language
      unswayed vary texts.txt --with keyboard/adjacent --draws 3 -o -      # one text per line in, JSON lines out
      unswayed vary atis/test --set random --draws 10 -o random/           # one operator at random, ten times
      unswayed vary atis/test --set hard --selector model/ -o hard/        # what `model/` does worst on
      unswayed vary atis/test --with spoken/* --guard atis/train -o safe/  # no word that training labels contradict
      unswayed vary chats.jsonl --turn users --with keyboard/typist -o chat/  # rows of {"messages": [...]}
      unswayed vary big.jsonl --with spoken/speako --workers 8 -o suite/   # the same suite, faster

    `unswayed list operators` shows what there is; random and hard sets use NATURE's ten unless --with names others.
    Token tags and answer spans move with the words. With --guard, an operator draws again where its word contradicts
    the labels of the training data; `unswayed suite check` counts such variants. Where an operator finds nothing to
    change in an example, the example gets no variant of it; a random set then draws another operator. A simulated
    person may type a text right: that variant is kept, and counts with the clean answer.
    """
    import sys
    from collections import Counter

    import msgspec

    from unswayed.base.text import counted
    from unswayed.run.making import suite_of, variants_of
    from unswayed.run.suite_checks import count_unaltered
    from unswayed.vary import operators
    from unswayed.vary.facts import left_out_sentences
    from unswayed.vary.presets import in_other_languages

    plan = _plan(data, plan_file, given)
    if to == "-":
        encoder, out, of = msgspec.json.Encoder(), sys.stdout.buffer, ""
        unchanged, notes = Counter[str](), list[str]()
        for variant in variants_of(plan, unchanged, notes):
            out.write(encoder.encode(variant) + b"\n")
        out.flush()
    else:
        suite = suite_of(plan, to, overwrite)
        m = suite.manifest
        unchanged, of = Counter(m.unchanged), f" of {m.examples:,}"
        made = f"{counted(m.variants, 'variant')} of {counted(m.examples, 'example')}"
        print_messages([f"{made} ({m.task}, {m.language}) in {to}"])
        for name, (texts, there) in m.distinct.items() if not m.set else ():
            if all(part.distinct for part in operators.parts(name)):  # others repeat by chance, as people do
                print_messages([f"{name}: {texts:,} different texts in {there:,} variants, and no others were found"])
        if any(operators.get(operator["name"]).unaltered for operator in m.operators):
            many, unaltered = count_unaltered(suite)
            print_messages(
                f"{name}: {n:,} of {many[name]:,} variants are unaltered" for name, n in sorted(unaltered.items())
            )
        notes = left_out_sentences(m.left_out)
        notes += in_other_languages([operator["name"] for operator in m.operators], m.languages)
    print_messages(f"{name}: nothing to change in {count:,}{of} examples" for name, count in sorted(unchanged.items()))
    print_messages(notes)


def _plan(data: str | None, plan_file: str | None, given: dict[str, Any]) -> Plan:
    from unswayed.vary.presets import with_params

    # a parameter without an operator's name goes to all that know it
    specs = with_params(given["vary__operators"], key_values(given["params"], "--param"))
    return plan_from(plan_file, given, {"data": {"path": data}, "vary": {"operators": specs or None}})
