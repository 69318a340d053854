"""`unswayed suite`: suites to and from JSON lines, and a look at one."""

from __future__ import annotations

import click

from unswayed.cli._options import (
    format_option,
    overwrite_option,
    print_messages,
    print_values,
    stream_option,
    suite_option,
)


@click.group("suite", short_help="Show, check, export or import a suite.")
def command() -> None:
    """Look at suites, and move them to and from JSON lines."""


@command.command("show", short_help="Show the contents of a suite.")
@click.argument("suite", metavar="SUITE")
@click.option(
    "--variants", "most", type=click.IntRange(min=0), default=3, show_default=True, metavar="N",
    help="Variants to show of each operator or person.",
)  # fmt: skip
@format_option
def show(suite: str, most: int, format_: str) -> None:
    """Print what is in SUITE, after checking that its files are whole: who made how much of it, and some variants.

    \b
      unswayed suite show suite/
      unswayed suite show suite/ --variants 10
      unswayed suite show suite/ --format json

    A variant has what was taken out as [-old-] and what was put in as {+new+}.
    """
    from unswayed.report.listings import suite_view
    from unswayed.storage.suite import Suite

    click.echo(suite_view(Suite(suite), format_, most), color=True)


@command.command("check", short_help="Check that the labels of the variants hold.")
@click.argument("suite", metavar="SUITE")
@click.option("--guard", metavar="DATA", help="Labelled training data to check the words of variants against.")
@format_option
def check(suite: str, guard: str | None, format_: str) -> None:
    """Check the labels of the variants in SUITE, by operator. The exit code is 1 if one does not hold.

    \b
      unswayed suite check suite/
      unswayed suite check suite/ --guard atis/train

    It counts variants whose gold does not fit the text (misfit), which lost or gained a labelled value (lost), in
    which a labelled value has other words (reworded), and which have a word that the labels of the training data
    contradict (contradicted). Whether people find the labels right, only people can say: see `unswayed survey`.
    """
    import msgspec

    from unswayed.base.errors import GateFailed
    from unswayed.data import ReadOptions
    from unswayed.run.suite_checks import check_labels, learnt_guard
    from unswayed.storage.suite import Suite

    made = Suite(suite)
    found = check_labels(made, (guard and learnt_guard(guard, ReadOptions(task=made.manifest.task))) or None)
    rows, is_data = msgspec.to_builtins(found), format_ in ("json", "jsonl")
    shown = rows if is_data else [{key: value for key, value in row.items() if key != "shown"} for row in rows]
    print_values(format_, shown)
    print_messages(f"{row['source']}: {line}" for row in rows if not is_data for line in row["shown"])
    if any(one.fails for one in found):
        raise GateFailed("Some labels do not hold.")


@command.command("export", short_help="Write a suite as JSON lines.")
@click.argument("suite", metavar="SUITE")
@stream_option
def export(suite: str, to: str) -> None:
    """Write SUITE as JSON lines: its manifest, then each example followed by its variants.

    \b
      unswayed suite export suite/ -o suite.jsonl
    """
    from unswayed.storage.suite import Suite
    from unswayed.storage.suite_jsonl import export_suite

    count = export_suite(Suite(suite), to)
    click.echo(f"{count:,} lines", err=True)


@command.command("import", short_help="Make a suite from JSON lines, or from a corpus with people's versions.")
@click.argument("data", metavar="DATA")
@suite_option
@click.option("--task", help="The task. Guessed from the data.")
@click.option("--lang", help="The language. Guessed from the data.")
@click.option("--format-in", metavar="READER", help="The reader of a corpus. Guessed from its name.")
@click.option(
    "--variant",
    "versions",
    multiple=True,
    metavar="NAME[=FILE]",
    help="Another version of DATA, in a column of it or in a file. Repeatable.",
)
@click.option("--input", "inputs", multiple=True, metavar="FIELD", help="With --variant: a field that holds a text.")
@click.option("--gold", metavar="FIELD", help="With --variant: the field that holds the right answer.")
@overwrite_option
def import_(data: str, to: str, task: str | None, lang: str | None, format_in: str | None, overwrite: bool,
            versions: tuple[str, ...], inputs: tuple[str, ...], gold: str | None) -> None:  # fmt: skip
    """Make a suite from variants that people made.

    \b
      unswayed suite import mine.jsonl -o suite/            # as `suite export` writes it
      unswayed suite import readin/afqmc_keyboard -o suite/ # a corpus that has people's versions
      unswayed suite import noiseqa.jsonl --variant keyboard --variant asr -o suite/       # columns
      unswayed suite import xquad.json --variant keyboard=xquad_keyboard.json -o suite/    # parallel files

    In JSON lines, lines with `example_id` are variants, others are examples; `person` is who made a text (`source`, if
    not a person), `role` what such people are called, and `draw` tells their versions apart. What a line leaves out
    is as usual: an example's row is its place, a variant's gold is its example's. Without `inputs`, a text is not
    published: answers are then found by id, in `run --system logged:LOG`.

    \b
      {"id": "1", "inputs": {"text": "where is my parcel"}, "gold": "delivery"}
      {"example_id": "1", "person": "anna", "role": "speaker", "inputs": {"text": "were is it"}}
    """
    from pathlib import Path

    from unswayed.base.text import counted
    from unswayed.data import ReadOptions, import_corpus, import_rows, import_versions

    if (inputs or gold) and not versions:
        raise click.UsageError("--input and --gold go with --variant.")
    if versions:
        options = ReadOptions(format=format_in, task=task, input=inputs, gold=gold)
        suite = import_versions(data, versions, to, options, lang, overwrite)
    elif format_in or Path(data).is_dir():
        suite = import_corpus(data, to, ReadOptions(format=format_in, task=task), lang, overwrite)
    else:
        suite = import_rows(data, to, task, lang, overwrite)
    m = suite.manifest
    click.echo(f"{counted(m.variants, 'variant')} of {counted(m.examples, 'example')} in {to}", err=True)
