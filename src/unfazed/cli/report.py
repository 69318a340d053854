"""`unfazed report`: one HTML file that tells what a run showed."""

from __future__ import annotations

from typing import Any

import click

from unfazed.cli._options import measure_options


@click.command("report", short_help="Write a run's report as one HTML file.")
@click.argument("run", metavar="RUN")
@measure_options
@click.option("-o", "to", default="report.html", show_default=True, metavar="FILE", help="The HTML file to write.")
def command(run: str, to: str, **given: Any) -> None:
    """Write what RUN showed as one HTML file that needs no network and no scripts.

    \b
      unfazed report run/ -o report.html

    The system is not asked again. All changed answers are written as JSON lines beside the report.
    """
    from unfazed.measure.measuring import measure_run
    from unfazed.report.html import write_report
    from unfazed.run.plan import Plan
    from unfazed.run.record import Run

    opened = Run(run)
    plan = Plan().with_("measure", given).measure
    write_report(opened, measure_run(opened, plan.scores, plan.level, plan.bootstrap, plan.seed), to)
    click.echo(f"Report in {to}", err=True)
