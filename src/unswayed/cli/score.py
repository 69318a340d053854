"""`unswayed score`: a file of outputs against a file of gold."""

from __future__ import annotations

from typing import Any

import click

from unswayed.cli._options import ENGINE, bootstrap_option, format_option, plan_from, plan_options, print_values

_MEASURES = ("precision", "recall", "f1")


@click.command("score", short_help="Score a file of outputs against a file of gold, line by line.")
@click.argument("name", metavar="SCORER")
@click.option("--gold", required=True, metavar="FILE", help="The right answers, one per line.")
@click.option("--pred", required=True, metavar="FILE", help="The outputs, one per line.")
@click.option("--source", metavar="FILE", help="For correction: the texts as they were written, one per line.")
@click.option("--tables", metavar="FILE", help="For sql: Spider's tables.json.")
@click.option(
    "--rule",
    type=click.Choice(["current", "first"]),
    default="current",
    show_default=True,
    help="For sql: how FROM is compared, always or, as the script's first version did, only where gold joins tables.",
)
@click.option("--level", type=float, default=0.95, show_default=True, help="Confidence level of the interval.")
@bootstrap_option
@plan_options(ENGINE)
@format_option
def command(name: str, gold: str, pred: str, level: float, bootstrap: int, format_: str, **given: Any) -> None:
    """Print the score of the outputs in --pred under SCORER, with its interval.

    \b
      unswayed score bleu --gold reference.txt --pred output.txt
      unswayed score macro_f1 --gold labels.txt --pred predicted.txt --format json
      unswayed score sql --gold gold.txt --pred pred.txt --tables tables.json --format json
      unswayed score correction --source noisy.txt --gold clean.txt --pred corrected.txt

    Files have a text or a label a line; `.jsonl` files a JSON value a line. For `sql`, Spider's exact set match, a line
    of gold is SQL, a tab and the database. For `correction`, source and gold may be SIGHAN's files.
    `unswayed list scorers` shows what else there is.
    """
    import msgspec

    from unswayed.measure.files import score_files
    from unswayed.stats import Resampling

    plan_from(None, given)
    settings = Resampling(level, bootstrap)
    rows: list[dict[str, object]] | None = None  # for people, where there is more than a number
    if name == "sql":
        from unswayed.papers.readin.spider_scores import score_sql_files

        if given["tables"] is None:
            raise click.UsageError("sql needs the schemas: --tables tables.json.")
        found = msgspec.to_builtins(score_sql_files(gold, pred, given["tables"], given["rule"], settings))
        rows = [{"queries": "all", **{key: found[key] for key in ("n", "exact", "low", "high")}}]
        rows += [{"queries": level, **one} for level, one in found["hardness"].items()]
    elif name == "correction":
        from unswayed.papers.readin.correction import score_correction_files

        if given["source"] is None:
            raise click.UsageError("correction needs the texts as they were written: --source noisy.txt.")
        scores = score_correction_files(given["source"], gold, pred, settings)
        found = msgspec.to_builtins(scores)
        rows = [
            {"level": level, "of": kind, **{m: getattr(getattr(getattr(scores, level), kind), m) for m in _MEASURES}}
            for level in ("character", "sentence")
            for kind in ("detection", "correction")
        ]
    else:
        found = {"score": name} | msgspec.to_builtins(score_files(name, gold, pred, settings))
    print_values(format_, found if rows is None or "json" in format_ else rows)
