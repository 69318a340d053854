"""`unfazed compare`: which of two systems is sturdier, and whether that may be chance."""

from __future__ import annotations

from typing import Any

import click

from unfazed.cli._options import format_option, measure_options


@click.command("compare", short_help="Compare two runs on the same suite, pair by pair.")
@click.argument("run_a", metavar="RUN_A")
@click.argument("run_b", metavar="RUN_B")
@measure_options
@click.option(
    "--correction",
    type=click.Choice(["holm", "bonferroni", "none"]),
    default="holm",
    show_default=True,
    help="How p-values are corrected for the number of comparisons.",
)
@format_option
def command(run_a: str, run_b: str, correction: str, format_: str, **given: Any) -> None:
    """Compare RUN_B with RUN_A: differences with intervals and corrected p-values, resampled by example.

    \b
      unfazed compare run-before/ run-after/
    """
    from unfazed.measure.comparison import compare
    from unfazed.report.tables import render
    from unfazed.run.plan import Plan
    from unfazed.run.record import Run

    plan = Plan().with_("measure", given).measure
    compared = compare(
        Run(run_a),
        Run(run_b),
        scores=plan.scores,
        level=plan.level,
        bootstrap=plan.bootstrap,
        seed=plan.seed,
        correction=correction,
    )
    click.echo(render(compared, format_))
