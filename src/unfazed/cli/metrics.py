"""`unfazed metrics`: metrics that judge texts, themselves under test, and the environments that some of them need."""

from __future__ import annotations

import click

from unfazed.cli._options import format_option


@click.group("metrics", short_help="Metrics under test, and environments for those that need one.")
def command() -> None:
    """What `unfazed study dialect --metric` takes."""


@command.command("list", short_help="The metrics there are.")
@format_option
def list_command(format_: str) -> None:
    """List the metrics with what they compare a text to, and what each needs.

    \b
      unfazed metrics list
    """
    import inspect

    from unfazed.papers.dialect.metrics.environment import PACKAGES, is_ready
    from unfazed.report.tables import render
    from unfazed.systems.metrics import metrics

    rows = []
    for name in metrics.names():
        cls = metrics.get(name)
        told = ", ".join(inspect.signature(cls).parameters)
        own = name in PACKAGES
        there = "ready" if own and is_ready(name) else f"unfazed metrics install {name}"
        summary = inspect.cleandoc(cls.__doc__ or "").split("\n", 1)[0]
        rows.append({"metric": name, "what": summary, "parameters": told, "environment": there if own else ""})
    click.echo(render(rows, format_))


@command.command("install", short_help="Make the environment of a metric.")
@click.argument("name")
def install_command(name: str) -> None:
    """Make an environment for a metric whose packages clash with others'.

    It goes to the cache folder (`UNFAZED_CACHE`, or ~/.cache/unfazed) and takes about 1.2 GB. Weights are not part of
    it: name them when the metric is used.

    \b
      unfazed metrics install comet
      unfazed study dialect --data frmt/ --metric comet:model=wmt22-comet-da/checkpoints/model.ckpt
    """
    from unfazed.papers.dialect.metrics.environment import install

    place = install(name, lambda line: click.echo(line, err=True))
    click.echo(f"{name} is ready in {place}", err=True)
