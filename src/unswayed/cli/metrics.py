"""`unswayed metrics`: metrics that judge texts, themselves under test, and the environments that some of them need."""

from __future__ import annotations

from typing import Any

import click

from unswayed.cli._options import format_option, level_option, plan_click_option, print_values

_BESIDE = ("bleu", "chrf", "yisi1")


@click.group("metrics", short_help="Metrics under test, and environments for those that need one.")
def command() -> None:
    """Test a metric of your own, and list the metrics there are.

    \b
      unswayed metrics check my_module:score --pairs mine.tsv
    """


@command.command("check", short_help="Test whether a metric is robust to a dialect.")
@click.argument("metric", metavar="METRIC")
@click.option(
    "--pairs", required=True, type=click.Path(exists=True, dir_okay=False), metavar="FILE",
    help="TSV or CSV with the columns reference, dialect and changed, and source if the metric needs it.",
)  # fmt: skip
@plan_click_option("data.encoding", "encoding")
@click.option("--dialect", default="the dialect", show_default=True, help="Name of the dialect in the answer.")
@click.option(
    "--beside", multiple=True, metavar="METRIC",
    help="Metrics to compare with. Repeatable.  [default: bleu, chrf and yisi1, if installed]",
)  # fmt: skip
@click.option("--ties", type=click.Choice(["loss", "half", "drop"]), default="loss", show_default=True,
              help="What a tie counts as.")  # fmt: skip
@click.option("--fail-under", type=click.FloatRange(0, 1), metavar="SHARE",
              help="Fail if the dialect's share of wins may be below SHARE.")  # fmt: skip
@level_option
@click.option("-o", "to", metavar="FOLDER", help="Keep scores here, so that nothing is scored twice.")
@format_option
def check_command(metric: str, pairs: str, encoding: str | None, beside: tuple[str, ...], fail_under: float | None,
                  to: str | None, format_: str, **given: Any) -> int:  # fmt: skip
    """Test whether METRIC scores the same meaning in a dialect above a changed meaning.

    \b
      unswayed metrics check my_module:score --pairs mine.tsv
      unswayed metrics check my_module:score --pairs mine.tsv --dialect "Portuguese of Portugal" --fail-under 0.5

    METRIC is a name of `unswayed metrics list`, module:function, cmd:COMMAND or a URL. A metric is robust if the
    dialect scores above the change of meaning in more than half of the segments, also at the lower end of the
    interval. The table compares METRIC with other metrics on the same rows.
    """
    from pathlib import Path

    from unswayed.base.errors import GateFailed, MissingExtra
    from unswayed.data import read_meaning_pairs
    from unswayed.measure.metric_check import check_metric, metric_rows
    from unswayed.storage import AnswerStore
    from unswayed.systems import Metric, open_system

    rows = read_meaning_pairs(Path(pairs), encoding)
    others = [name for name in dict.fromkeys(beside or _BESIDE) if name != metric]
    with AnswerStore.in_memory() if to is None else AnswerStore.writer(Path(to)) as store:
        found = [check_metric(metric, open_system(metric, Metric), rows, store=store, **given)]
        for name in others:
            try:
                found.append(check_metric(name, open_system(name, Metric), rows, store=store, **given))
            except MissingExtra as error:
                if beside:
                    raise
                click.echo(f"Not compared with {name}. {error}", err=True)
    if format_ in ("json", "jsonl"):
        print_values("json", {one.metric: one for one in found})
    else:
        click.echo(f"{found[0].sentence}\n")
        print_values(format_, metric_rows(found))
    if found[0].identical:
        click.echo(f"{found[0].identical:,} references are also one of their candidates, which any metric scores as "
                   "perfect. Use texts that differ from the reference.", err=True)  # fmt: skip
    low = found[0].success.share.low
    if fail_under is None or (low is not None and low >= fail_under):
        return 0
    click.echo(f"Gate failed: the lower end of the share is {low or 0:.3f}; the limit is {fail_under:g}.", err=True)
    return GateFailed.exit_code


@command.command("list", short_help="The metrics there are.")
@format_option
def list_command(format_: str) -> None:
    """List the metrics with what they compare a text to, and what each needs.

    \b
      unswayed metrics list
    """
    import inspect

    from unswayed.papers.dialect.metrics.environment import PACKAGES, is_ready
    from unswayed.systems.metrics import metrics

    rows = []
    for name in metrics.names():
        cls = metrics.get(name)
        told = ", ".join(inspect.signature(cls).parameters)
        own = name in PACKAGES
        there = "ready" if own and is_ready(name) else f"unswayed metrics install {name}"
        summary = inspect.cleandoc(cls.__doc__ or "").split("\n", 1)[0]
        rows.append({"metric": name, "what": summary, "parameters": told, "environment": there if own else ""})
    print_values(format_, rows)


@command.command("install", short_help="Make the environment of a metric.")
@click.argument("name")
def install_command(name: str) -> None:
    """Make an environment for a metric whose packages clash with others'.

    It goes to the cache folder (`UNSWAYED_CACHE`, or ~/.cache/unswayed) and takes about 1.2 GB. Weights are not part of
    it: name them when the metric is used.

    \b
      unswayed metrics install comet
      unswayed study dialect --data frmt/ --metric comet:model=wmt22-comet-da/checkpoints/model.ckpt
    """
    from unswayed.papers.dialect.metrics.environment import install

    place = install(name, lambda line: click.echo(line, err=True))
    click.echo(f"{name} is ready in {place}", err=True)
