"""`unswayed list`: what there is of each kind, with a line on each."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Any

import click

from unswayed.cli._options import format_option

_REGISTRIES = {
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
@click.argument("kind", type=click.Choice([*_REGISTRIES, "corpora", "layouts"]))
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
    from unswayed.report.tables import render

    if kind == "operators":
        click.echo(_operators(lang, task, format_), color=True)
        return
    if lang is not None or task is not None:
        raise click.UsageError(f"--lang and --task are for `unswayed list operators`, not for {kind}.")
    others = {"corpora": _corpora, "layouts": _layouts}
    rows = others[kind]() if kind in others else _things(getattr(import_module(_REGISTRIES[kind]), kind))
    click.echo(render(rows, format_))


def _things(registry: Any) -> list[dict[str, Any]]:
    rows = []
    for name in registry.names():
        cls = registry.get(name)
        text = cls.__doc__ or sys.modules[cls.__module__].__doc__ or ""
        rows.append({"name": name, "what": text.strip().split("\n", 1)[0]})
    return rows


def _operators(lang: str | None, task: str | None, format_: str) -> str:
    from unswayed.base.language import language_tag
    from unswayed.report.listings import operators_view
    from unswayed.vary.presets import catalogue

    return operators_view(catalogue(None if lang is None else language_tag(lang), task), format_, lang is None)


def _corpora() -> list[dict[str, Any]]:
    from unswayed.data import corpora

    return [{"name": c.name, "what": c.description, "licence": c.licence} for c in corpora()]


def _layouts() -> list[dict[str, Any]]:
    from unswayed.vary.keyboard.layouts import languages_of, layout, layout_names

    boards = [layout(name) for name in layout_names()]
    return [
        {"name": b.name, "what": b.title, "languages": ", ".join(languages_of(b.name)), "source": b.source}
        for b in boards
    ]
