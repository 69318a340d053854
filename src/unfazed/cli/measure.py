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
