"""`unswayed compare`: is a run worse than the baseline, by how much, and may that be chance?"""

from __future__ import annotations

from typing import Any

import click

from unswayed.cli._options import (
    ENGINE,
    MEASURE,
    format_option,
    plan_from,
    plan_option,
    plan_options,
    print_messages,
    write_besides,
)


@click.command("compare", short_help="Compare runs on the same suite with a baseline, pair by pair.")
@click.argument("baseline", metavar="BASELINE")
@click.argument("runs", metavar="RUN...", nargs=-1, required=True)
@plan_options(
    MEASURE,
    "compare.primary compare.correction compare.fail_if_worse compare.on compare.allow_missing compare.each_at_least",
)
@click.option(
    "-o", "to", type=click.Path(dir_okay=False), metavar="FILE", help="Also write the comparison as one HTML file."
)
@click.option("--junit", type=click.Path(dir_okay=False), help="Also write JUnit XML for a CI server.")
@plan_options(ENGINE)
@plan_option
@format_option
def command(
    baseline: str,
    runs: tuple[str, ...],
    plan_file: str | None,
    to: str | None,
    junit: str | None,
    format_: str,
    **given: Any,
) -> int:
    """Compare each RUN with BASELINE: differences with intervals and corrected p-values, by example.

    \b
      unswayed compare base/ new/ -o compare.html
      unswayed compare base/ new/ --fail-if-worse worst:0.02 --junit compare.xml
      unswayed compare base/ new/ --fail-if-worse keyboard/adjacent:worst:0.02 --fail-if-worse domain=home:drop:0.05
      unswayed compare base/ one/ another/ --primary worst
      unswayed compare base.eval new.eval -o compare.html               # logs of other tools, without a suite
      unswayed compare base/#gsm8k new/#gsm8k --fail-if-worse score:0.02

    Two logs of Inspect AI, lm-evaluation-harness, promptfoo, DeepEval or OpenAI Evals are compared sample by sample.
    With PATH#NAME, NAME is a task, model or provider of the log. Repeats of a sample are its draws: pass^k is the
    chance that k of them all pass, and --each-at-least is a gate on each sample.

    With --fail-if-worse, the exit code is 1 if a RUN is worse by more than the margin, or if the examples are too few
    to exclude that. With -o, unswayed writes a page with the differences, the gates and lost and gained answers, and a
    page to explore all of them. If a page can't be written, the exit code is 3, or 1 if a gate failed. The plan's
    sections [measure] and [compare] apply.
    """
    from unswayed.measure import compare
    from unswayed.report.junit import write_comparison_junit
    from unswayed.report.tables import gates_first, render
    from unswayed.report.view import write_comparison

    compared = compare(baseline, *runs, plan=plan_from(plan_file, given))
    gates = [gate for _, one in compared.lettered() for gate in one.gates] if format_ == "md" else []
    click.echo(gates_first(render(compared, format_), gates))
    print_messages(compared.remarks)

    def write_files() -> None:
        if junit:
            write_comparison_junit(junit, compared)
        if to:
            write_comparison(compared, to)
            click.echo(f"Comparison in {to}", err=True)

    return write_besides(compared.exit_code, write_files)
