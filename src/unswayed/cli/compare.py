"""`unswayed compare`: is a run worse than the baseline, by how much, and may that be chance?"""

from __future__ import annotations

from typing import Any

import click

from unswayed.cli._options import (
    MEASURES,
    engine_options,
    format_option,
    measure_options,
    plan_option,
    show_with_gates,
    with_engine,
)


@click.command("compare", short_help="Compare runs on the same suite with a baseline, pair by pair.")
@click.argument("baseline", metavar="BASELINE")
@click.argument("runs", metavar="RUN...", nargs=-1, required=True)
@measure_options
@click.option("--primary", metavar="[SET:]MEASURE", help="Measure tested by itself.  [default: average]")
@click.option(
    "--correction",
    type=click.Choice(["max-t", "holm", "bonferroni", "none"]),
    help="Correction of all other p-values for the number of comparisons.  [default: max-t]",
)
@click.option(
    "--fail-if-worse",
    multiple=True,
    metavar="[SET:]MEASURE:MARGIN",
    help="Fail if RUN may be worse by more than MARGIN. SET is as in run --fail-under. Repeatable.",
)
@click.option(
    "--gate-on",
    type=click.Choice(["value", "ci-lower", "ci-upper"]),
    help="Fail unless not worse is shown (ci-lower), if the value is worse, or only if worse is shown (ci-upper)."
    "  [default: ci-lower]",
)
@click.option("--allow-missing", type=click.FloatRange(0, 1), help="Share of items that may fail.  [default: 0]")
@click.option(
    "-o", "to", type=click.Path(dir_okay=False), metavar="FILE", help="Also write the comparison as one HTML file."
)
@click.option("--junit", type=click.Path(dir_okay=False), help="Also write JUnit XML for a CI server.")
@engine_options
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

    With --fail-if-worse, the exit code is 1 if a RUN is worse by more than the margin, or if the examples are too few
    to exclude that. With -o, unswayed writes a page with the differences, the gates and lost and gained answers, and a
    page to explore all of them. The plan's sections [measure] and [compare] apply.
    """
    from unswayed.measure.comparison.outcome import margin_limits
    from unswayed.measure.comparison.runs import compare_by
    from unswayed.report.compare_page import write_comparison
    from unswayed.report.junit import write_comparison_junit
    from unswayed.report.tables import render
    from unswayed.run.plan import read_plan

    plan = with_engine(read_plan(plan_file), given).with_("measure", {name: given.get(name) for name in MEASURES})
    asked = {name: given[name] for name in ("primary", "correction", "allow_missing")}
    limits = margin_limits(given["fail_if_worse"])
    plan = plan.with_("compare", {**asked, "on": given["gate_on"], "fail_if_worse": limits})
    compared = compare_by(plan, baseline, *runs)
    gates = [gate for _, one in compared.lettered() for gate in one.gates]
    show_with_gates(render(compared, format_), gates if format_ == "md" else [], format_)
    for sentence in compared.remarks:
        click.echo(sentence, err=True)
    if junit:
        write_comparison_junit(junit, compared)
    if to:
        write_comparison(compared, to)
        click.echo(f"Comparison in {to}", err=True)
    return compared.exit_code
