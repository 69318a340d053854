"""`unfazed measure`: statistics of runs and of score files, computed anew without asking any system."""

from __future__ import annotations

from typing import Any

import click

from unfazed.cli._options import format_option, measure_options


@click.group("measure", short_help="Measure a finished run again, with other scores or levels.")
def command() -> None:
    """Measures, computed from what is stored. No system is asked."""


@command.command("run", short_help="Measure a run again.")
@click.argument("run", metavar="RUN")
@measure_options
@format_option
def run_command(run: str, format_: str, **given: Any) -> int:
    """Print the measures of RUN.

    \b
      unfazed measure run run/ --score macro_f1 --level 0.99
    """
    from unfazed.measure.verdict import judge
    from unfazed.report.tables import render
    from unfazed.run.plan import Plan
    from unfazed.run.record import Run

    verdict = judge(Run(run), Plan().with_("measure", given))
    click.echo(render(verdict.results, format_))
    for sentence in verdict.warnings:
        click.echo(sentence, err=True)
    return verdict.exit_code


@command.command("error-rate", short_help="How far a suite's variants are from their examples, by characters.")
@click.argument("suite", metavar="SUITE")
@click.option("--level", type=float, default=0.95, show_default=True, help="Confidence level of the intervals.")
@click.option("--bootstrap", type=click.IntRange(min=1), default=10_000, show_default=True, help="Bootstrap samples.")
@format_option
def error_rate_command(suite: str, level: float, bootstrap: int, format_: str) -> None:
    """Print the character error rates of SUITE's variants, of all and of each family.

    A variant's error rate is its Levenshtein distance from the original over the original's length. `average` is the
    mean over examples of their variants' mean, `worst` of their variants' highest; 0.2 is 20 %.
    """
    from unfazed.core.suite import Suite
    from unfazed.measure.error_rate import suite_error_rates
    from unfazed.measure.intervals import Settings
    from unfazed.report.tables import render

    opened, settings = Suite(suite), Settings(level, bootstrap)
    families = sorted({variant.family for variant in opened.variants()})
    rates = {family or "all": suite_error_rates(opened, family, settings)._asdict() for family in [None, *families]}
    if format_ == "json":
        click.echo(render(rates, format_))
    else:
        click.echo(render([{"variants": name, **found} for name, found in rates.items()], format_))
