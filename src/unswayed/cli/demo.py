"""`unswayed demo`: the whole way from data to report, on data that ships with the package."""

from __future__ import annotations

from pathlib import Path

import click

from unswayed.cli._options import format_option, print_values

OPERATORS = ("keyboard/adjacent", "spoken/filler_begin", "spoken/filler_end")


@click.command("demo", short_help="Train and test a small model on a bundled sample.")
@click.option("-o", "to", default="demo", show_default=True, metavar="FOLDER", help="Where to put everything.")
@format_option
def command(to: str, format_: str) -> int:
    """Train the embedded model on a shipped sample of requests to a home assistant, vary the test half, run, report.

    \b
      unswayed demo

    Needs no network and no extra. What it makes stays in FOLDER to look at: suite, model, run and report.html.
    """
    from unswayed.api import carry_out
    from unswayed.data import ReadOptions, read_examples, sample_path
    from unswayed.report.html import write_report
    from unswayed.run.plan import DataPlan, Plan, SystemPlan, VaryPlan
    from unswayed.run.record import Run
    from unswayed.systems.baselines.intent import Intent

    folder = Path(to)
    examples = read_examples(sample_path("home_train"), ReadOptions())
    Intent.train(examples, "slu").save(folder / "model", overwrite=True)
    plan = Plan(
        data=DataPlan(path=str(sample_path("home_test")), language="en"),
        vary=VaryPlan(operators=OPERATORS, draws=3, seed=7),
        run=SystemPlan(system=str(folder / "model")),
    )
    verdict = carry_out(plan, folder / "run")
    print_values(format_, verdict.results)
    write_report(Run(folder / "run"), verdict.results, folder / "report.html")
    click.echo(f"\nReport in {folder / 'report.html'}", err=True)
    return verdict.exit_code
