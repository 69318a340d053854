"""Suites and runs in the forms of other tools, one file a tool; the file's name is the tool's Python package."""

from __future__ import annotations

import inspect
from pathlib import Path

from unswayed.base.errors import UsageError, nearest
from unswayed.base.registry import Registry
from unswayed.base.values import Json
from unswayed.report.export._exporter import Exporter, FolderExporter

exporters: Registry[Exporter] = Registry("exporter", Exporter, "unswayed.report.export")

__all__ = ["Exporter", "FolderExporter", "export", "exporters"]


def export(path: str | Path, tool: str, to: str | Path | None = None, overwrite: bool = False, **options: Json) -> str:
    """Brings the suite or run in folder `path` to a tool; returns a sentence that tells what was done.

    `to` is the folder to make, or where the tool's server is; `options` are the exporter's own.
    """
    cls = exporters.get(tool)
    known = inspect.signature(cls).parameters
    unknown = next((option for option in options if option not in known), None)
    if unknown is not None:
        near = nearest(unknown, known)
        hint = f"Did you mean {near!r}?" if near else f"It has: {', '.join(known) or 'none'}."
        raise UsageError(f"The exporter {tool} has no option {unknown!r}. {hint}")
    return cls(**options).export(str(path), None if to is None else str(to), overwrite)
