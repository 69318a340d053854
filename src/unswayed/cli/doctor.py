"""`unswayed doctor`: what is installed, what is not, and the line that installs it."""

from __future__ import annotations

import platform
import re
import shutil
from importlib import import_module
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path
from typing import Any

import click

from unswayed.base.errors import MissingExtra, UnswayedError
from unswayed.base.project import DISTRIBUTION, extra_requirements, install_line
from unswayed.base.registry import VERSION, Registry
from unswayed.cli._options import format_option, print_values
from unswayed.cli.list import REGISTRIES


@click.command("doctor", short_help="Check the installation; show what is missing and how to get it.")
@format_option
def command(format_: str) -> int:
    """Check what is installed here. Exits with 3 if something that every command needs is missing.

    \b
      unswayed doctor
    """
    from importlib.util import find_spec

    from unswayed.data import cache_folder
    from unswayed.systems.device import found
    from unswayed.vary.keyboard.ime import engines, install_line as engine_install_line, missing_file

    cache = cache_folder()
    there = next(p for p in (cache, *cache.parents) if p.exists())
    free = shutil.disk_usage(there).free / 2**30
    devices = f"cpu (without PyTorch; models need: {install_line('hf')})"
    if find_spec("torch") is not None:
        kinds = found()
        devices = f"{', '.join(kinds)}; --device auto uses {kinds[0]}"
    rows = [
        _row("unswayed", "ok", f"{VERSION} in {Path(__file__).parents[1]}"),
        _row("python", "ok", f"{platform.python_version()} on {platform.system()} {platform.machine()}"),
        _row("cache", "ok", f"{cache} ({free:,.0f} GiB free)"),
        _row("devices", "ok", devices),
        *_dependencies(),
    ]
    for name in engines.names():  # that `keyboard/pinyin` can type with
        missing = missing_file(name)
        line = engine_install_line(name) if missing else "found"
        rows.append(_row(f"input method {name}", "absent" if missing else "ok", line))
    rows += _plug_ins()
    print_values(format_, rows)
    return 3 if any(row["state"] == "broken" for row in rows) else 0


def _dependencies() -> list[dict[str, str]]:
    """What the package needs, and what each extra adds, from its own metadata."""
    rows: list[dict[str, str]] = []
    for requirement in requires(DISTRIBUTION) or []:
        if "extra ==" not in requirement:
            name, lacks = _package(requirement), _lacking([requirement])
            line = f"pip install '{requirement}'" if lacks else version(name)
            rows.append(_row(name, "broken" if lacks else "ok", line))
    for extra, wanted in sorted(extra_requirements().items()):
        if extra not in ("all", "dev"):
            lacks = _lacking(wanted)
            line = f"lacks {', '.join(lacks)}: {install_line(extra)}" if lacks else "installed"
            rows.append(_row(f"extra {extra}", "absent" if lacks else "ok", line))
    return rows


def _package(requirement: str) -> str:
    """`torch` of `torch==2.13.0`."""
    found = re.match(r"[\w.-]+", requirement)
    return found[0] if found else requirement


def _lacking(requirements: list[str]) -> list[str]:
    """The packages among them that are not installed."""
    lacks = []
    for name in map(_package, requirements):
        try:
            version(name)
        except PackageNotFoundError:
            lacks.append(name)
    return lacks


def _plug_ins() -> list[dict[str, str]]:
    """Everything registered is loaded, so that a broken plug-in shows here first."""
    rows = []
    for kind, module in REGISTRIES.items():
        registry: Registry[Any] = getattr(import_module(module), kind)
        broken, lacking, names = [], list[str](), list[str]()
        try:
            names = registry.names()
        except UnswayedError as error:
            broken.append(str(error))
        for name in names:
            try:
                registry.get(name)
            except MissingExtra:
                lacking.append(name)
            except UnswayedError as error:
                broken.append(f"{name}: {error}")
        shown = registry.group.rpartition(".")[2]
        found = f"{len(names)} found" + (f"; {', '.join(lacking)} need an extra that is absent" if lacking else "")
        rows.append(_row(shown, "broken" if broken else "ok", "; ".join(broken) or found))
    return rows


def _row(what: str, state: str, more: str) -> dict[str, str]:
    return {"what": what, "state": state, "more": more}
