"""`unswayed list`: what there is of each kind, with a line on each."""

from __future__ import annotations

import sys
from importlib import import_module

import click

from unswayed.cli._options import format_option, print_values

REGISTRIES = {
    "operators": "unswayed.vary",
    "scorers": "unswayed.score",
    "readers": "unswayed.data",
    "systems": "unswayed.systems",
    "metrics": "unswayed.systems.metrics",
    "tasks": "unswayed.base.task",
    "exporters": "unswayed.report.export",
    "studies": "unswayed.report.study",
}


@click.command("list", short_help="List operators, scorers, readers, systems, metrics and more.")
@click.argument("kind", type=click.Choice([*REGISTRIES, "corpora", "layouts"]))
@click.option("--lang", help="For operators: only those for this language, with examples in it.")
@click.option("--task", help="For operators: only those that keep the labels of this task.")
@format_option
def command(kind: str, format_: str, lang: str | None, task: str | None) -> None:
    """List everything of one KIND, built in or from plug-ins, with what each does.

    \b
      unswayed list operators
      unswayed list operators --lang de --task slu
      unswayed list corpora --format json
    """
    if kind == "operators":
        from unswayed.base.language import language_tag
        from unswayed.report.operator_list import operators_view
        from unswayed.vary.catalogue import catalogue

        entries = catalogue(None if lang is None else language_tag(lang), task)
        click.echo(operators_view(entries, format_, lang is None), color=True)
        return
    if lang is not None or task is not None:
        raise click.UsageError(f"--lang and --task are for `unswayed list operators`, not for {kind}.")
    rows: list[dict[str, str]] = []
    if kind == "corpora":
        from unswayed.data import corpora

        for c in corpora():
            how = f"unswayed data pull {c.name}"
            rows.append({"name": c.name, "what": c.description, "licence": c.licence, "from": c.homepage, "get": how})
    elif kind == "layouts":
        from unswayed.vary.keyboard.layouts import languages_of, layout, layout_names

        for board in map(layout, layout_names()):
            known = ", ".join(languages_of(board.name))
            rows.append({"name": board.name, "what": board.title, "languages": known, "source": board.source})
    else:
        registry = getattr(import_module(REGISTRIES[kind]), kind)
        for name in registry.names():
            cls = registry.get(name)
            text = cls.__doc__ or sys.modules[cls.__module__].__doc__ or ""
            rows.append({"name": name, "what": text.strip().split("\n", 1)[0]})
    print_values(format_, rows)
