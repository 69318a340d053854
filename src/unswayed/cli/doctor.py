"""`unswayed doctor`: what is installed, what is not, and the line that installs it."""

from __future__ import annotations

import platform
import re
import shutil
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path
from typing import Any

import click

from unswayed.cli._options import format_option

_EXTRA = re.compile(r"""extra\s*==\s*['"]([\w-]+)['"]""")
_NAME = re.compile(r"[\w.-]+")


@click.command("doctor", short_help="Check the installation; show what is missing and how to get it.")
@format_option
def command(format_: str) -> int:
    """Check what is installed here. Exits with 3 if something that every command needs is missing.

    \b
      unswayed doctor
    """
    from unswayed.report.tables import render

    rows = [*_base(), *_devices(), *_dependencies(), *_input_methods(), *_plug_ins()]
    click.echo(render(rows, format_))
    return 3 if any(row["state"] == "broken" for row in rows) else 0


def _base() -> list[dict[str, str]]:
    from unswayed.base.registry import VERSION
    from unswayed.data import cache_folder

    cache = cache_folder()
    there = next(p for p in (cache, *cache.parents) if p.exists())
    free = shutil.disk_usage(there).free / 2**30
    return [
        _row("unswayed", "ok", f"{VERSION} in {Path(__file__).parents[1]}"),
        _row("python", "ok", f"{platform.python_version()} on {platform.system()} {platform.machine()}"),
        _row("cache", "ok", f"{cache} ({free:,.0f} GiB free)"),
    ]


def _devices() -> list[dict[str, str]]:
    """Where models can run; torch is loaded for it where it is installed."""
    from importlib.util import find_spec

    from unswayed.systems.device import found

    if find_spec("torch") is None:
        return [_row("devices", "ok", "cpu (without PyTorch; models need pip install 'unswayed[hf]')")]
    kinds = found()
    return [_row("devices", "ok", f"{', '.join(kinds)}; --device auto uses {kinds[0]}")]


def _dependencies() -> list[dict[str, str]]:
    """What the package needs, and what each extra adds, from its own metadata."""
    rows: list[dict[str, str]] = []
    missing: dict[str, list[str]] = {}
    for requirement in requires("unswayed") or []:
        found = _NAME.match(requirement)
        name = found.group() if found else requirement
        extra = _EXTRA.search(requirement)
        try:
            state, more = "ok", version(name)
        except PackageNotFoundError:
            if extra:
                missing.setdefault(extra.group(1), []).append(name)
                continue
            state, more = "broken", "pip install --force-reinstall unswayed"
        if not extra:
            rows.append(_row(name, state, more))
    for extra_name in sorted(_extras() - {"all", "dev"}):
        lacks = missing.get(extra_name, [])
        line = f"lacks {', '.join(lacks)}: pip install 'unswayed[{extra_name}]'" if lacks else "installed"
        rows.append(_row(f"extra {extra_name}", "absent" if lacks else "ok", line))
    return rows


def _extras() -> set[str]:
    from importlib.metadata import metadata

    return set(metadata("unswayed").get_all("Provides-Extra") or [])


def _input_methods() -> list[dict[str, str]]:
    """The pinyin engines that `keyboard/pinyin` can type with."""
    from unswayed.vary.keyboard.ime import ENGINES, install_line, lacking

    return [
        _row(
            f"input method {name}",
            "absent" if lacking(name) else "ok",
            install_line(name) if lacking(name) else "found",
        )
        for name in ENGINES
    ]


def _plug_ins() -> list[dict[str, str]]:
    """Everything registered is loaded, so that a broken plug-in shows here first."""
    from unswayed.base.errors import UnswayedError
    from unswayed.base.registry import Registry
    from unswayed.base.task import tasks
    from unswayed.data import readers
    from unswayed.report.export import exporters
    from unswayed.report.study import studies
    from unswayed.score import scorers
    from unswayed.systems import systems
    from unswayed.systems.metrics import metrics
    from unswayed.vary import operators

    rows = []
    registries: list[Registry[Any]] = [operators, scorers, readers, systems, metrics, tasks, exporters, studies]
    for registry in registries:
        shown = registry.group.rpartition(".")[2]
        broken = []
        try:
            names = registry.names()
        except UnswayedError as error:
            rows.append(_row(shown, "broken", str(error)))
            continue
        for name in names:
            try:
                registry.get(name)
            except UnswayedError as error:
                broken.append(f"{name}: {error}")
        state = "broken" if broken else "ok"
        rows.append(_row(shown, state, "; ".join(broken) or f"{len(names)} found"))
    return rows


def _row(what: str, state: str, more: str) -> dict[str, str]:
    return {"what": what, "state": state, "more": more}
