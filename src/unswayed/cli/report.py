"""`unswayed report`: one HTML file that tells what a run showed."""

from __future__ import annotations

from typing import Any

import click

from unswayed.cli._options import ENGINE, GATE, MEASURE, ONE_RUN, plan_from, plan_option, plan_options


@click.command("report", short_help="Write a run's report as one HTML file.")
@click.argument("run", metavar="RUN")
@plan_options(MEASURE, ONE_RUN, GATE, ENGINE)
@plan_option
@click.option("-o", "to", default="report.html", show_default=True, metavar="FILE", help="The HTML file to write.")
def command(run: str, to: str, plan_file: str | None, **given: Any) -> int:
    """Write what RUN showed as one HTML file that needs no network and no scripts.

    \b
      unswayed report run/ -o report.html

    The report uses the stored outputs; the system does not run again. Next to it, unswayed writes all changed answers
    as JSON lines, and as a page with filters and search (see `unswayed view`). With gates, the report shows which
    passed, and the exit code is that of `unswayed run`.
    """
    from unswayed.measure.gates import judge
    from unswayed.report.html import write_report
    from unswayed.run.record import Run

    opened = Run(run)
    plan = plan_from(plan_file, given)
    verdict = judge(opened, plan)
    write_report(opened, verdict.results, to, gates=verdict.gates, plan=plan)
    click.echo(f"Report in {to}", err=True)
    return verdict.exit_code
