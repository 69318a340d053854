"""`unswayed augment`: training data with altered copies of its examples."""

from __future__ import annotations

from typing import Any

import click

from unswayed.cli._options import DATA, ENGINE, key_values, plan_from, plan_options, seed_option


@click.command("augment", short_help="Add altered copies to training data, labels kept.")
@click.argument("data", metavar="DATA")
@click.option("--with", "names", multiple=True, metavar="NAME", help="A strategy or an operator. Repeatable.")
@click.option("--param", "params", multiple=True, metavar="[OPERATOR:]KEY=VALUE", help="A parameter. Repeatable.")
@click.option("--masked-lm", metavar="FOLDER", help="A Hugging Face model for the strategy `context`.")
@click.option("--copies", type=click.IntRange(min=1), default=1, show_default=True, help="Copies of each example.")
@click.option("--people", type=click.IntRange(min=1), default=1, show_default=True, help="Simulated people who vary.")
@seed_option
@plan_options(DATA, ENGINE)
@click.option(
    "-o",
    "to",
    required=True,
    metavar="FILE",
    help="The file: .jsonl, .csv, .tsv, .parquet, .json, .conll for tagged tokens, or - for standard output.",
)
def command(data: str, names: tuple[str, ...], params: tuple[str, ...], to: str, **given: Any) -> None:
    """Write the examples of DATA, each followed by a copy that one strategy altered, drawn at random.

    \b
      unswayed augment atis/train -o augmented.jsonl
      unswayed train slu augmented.jsonl --dev atis/valid -o model/
      unswayed augment train.csv --with @typing -o noisy.csv     # any operators, any task
      unswayed augment ner.conll --with keyboard/adjacent -o more.conll

    Strategies: keyboard, misspelling and synonym, which are used unless --with names others; and antonym, tfidf and
    context, which may change the meaning. tfidf and context learn from DATA itself; with --masked-lm, `context` asks a
    language model. Labels move with the words. A copy always keeps its label, also if an operator that you named
    changes the meaning. A copy's groups say what was done to it.
    """
    from collections import Counter
    from functools import partial

    from unswayed.data import read_examples, task_and_language
    from unswayed.mitigate.augment import BY, NOTE, augment, specs_for, write_examples
    from unswayed.papers.nature.strategies import MEANING_KEPT, STRATEGIES, strategies
    from unswayed.run.workers import mapped_on
    from unswayed.vary.presets import with_params

    plan = plan_from(None, given)
    options = plan.data.reading()
    kind = task_and_language(data, options, plan.data.language)
    if "+" in kind.language:
        raise click.UsageError(f"{data} has rows in {kind.language}. Split it, and augment each language by itself.")
    named = [name for name in names if name in STRATEGIES]
    others = [name for name in names if name not in STRATEGIES]
    chosen = specs_for(with_params(others, key_values(params, "--param")), kind.language, kind.task)
    if not names:
        named = [*MEANING_KEPT, *(["context"] if given["masked_lm"] else [])]
    operators = strategies([*named, *chosen], lambda: read_examples(data, options), given["masked_lm"])
    none: Counter[str] = Counter()
    examples = augment(
        read_examples(data, options),
        operators,
        given["seed"],
        task=kind.task,
        language=kind.language,
        copies=given["copies"],
        people=given["people"],
        unchanged=none,
        mapped=partial(mapped_on, plan.engine),
    )
    counts = write_examples(examples, to, plan.data.gold, (BY, NOTE))
    click.echo(f"{counts.pop(''):,} examples and {counts.total():,} altered copies in {to}", err=True)
    for name, count in sorted(counts.items()):
        click.echo(f"  {count:,} by {name}", err=True)
    if none.total():
        click.echo(f"Nothing could be altered in {none.total():,} examples.", err=True)
