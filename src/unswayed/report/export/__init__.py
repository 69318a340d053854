"""Suites and runs in the forms of other tools, one file a tool; the file's name is the tool's Python package.

Here are the contract of an exporter, and what those that write a folder of plain files share.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable
from importlib.resources import files
from pathlib import Path

import msgspec

from unswayed.base.errors import UsageError, nearest, option
from unswayed.base.ids import content_id, decode
from unswayed.base.registry import VERSION, Registry
from unswayed.base.values import Json
from unswayed.storage.files import free, growing_folder, refuse_foreign, unwritable
from unswayed.storage.suite import Suite

__all__ = ["Exporter", "FolderExporter", "export", "exporters"]

_FACTS_FILE = "unswayed.json"  # in every folder that was exported: what it was made from


class _Facts(msgspec.Struct):
    """What is needed of them to know an export, and all that belongs to it."""

    unswayed: str
    suite: str
    files: list[str]


class Exporter:
    """Extend, and put in `report/export/NAME.py` or behind the entry point `unswayed.exporters`.

    What `__init__` takes are its options.
    """

    def export(self, path: str, to: str | None, overwrite: bool) -> str:
        """Brings what is in folder `path` to `to`; returns a sentence that tells what was done."""
        raise NotImplementedError


class FolderExporter(Exporter):
    """A suite as a folder of plain files. The folder appears only when it is complete."""

    def write(self, suite: Suite, folder: Path) -> tuple[str, dict[str, Json]]:
        """Writes the files; returns how they are used, and facts for those who read them."""
        raise NotImplementedError

    def export(self, path: str, to: str | None, overwrite: bool) -> str:
        if to is None:
            raise UsageError(f"Name the folder to make with {option('o', 'to')}.")
        suite, place, other = Suite(path), Path(to), f"another folder with {option('o', 'to')}."

        def refuse() -> None:
            """Raises unless the place is free, an empty folder, or an export that may be overwritten."""
            if free(place):
                return
            try:
                known = decode((place / _FACTS_FILE).read_bytes(), _Facts).files
            except (OSError, msgspec.MsgspecError, UnicodeDecodeError) as error:
                raise UsageError(f"{place} exists and is not an export. Choose {other}") from error
            if not overwrite:
                raise UsageError(f"{place} holds another export. Use {option('overwrite')}, or choose {other}")
            refuse_foreign(place, "an export", known)

        with growing_folder(place, "the folder", refuse) as new, unwritable(place, "the folder"):
            usage, facts = self.write(suite, new)
            facts |= {"unswayed": VERSION, "suite": suite.id, "task": suite.task.name}
            names = sorted(f.relative_to(new).as_posix() for f in new.rglob("*") if f.is_file())
            write_json(new / _FACTS_FILE, {**facts, "files": [*names, _FACTS_FILE]})
        return usage.replace("FOLDER", str(place))


def write_json(file: Path, value: Json) -> None:
    file.write_bytes(msgspec.json.format(msgspec.json.encode(value), indent=2) + b"\n")


def write_lines(file: Path, values: Iterable[object]) -> None:
    """Each value as a line of JSON, as they come."""
    encode = msgspec.json.Encoder().encode
    with file.open("wb") as out:
        out.writelines(encode(value) + b"\n" for value in values)


def copy_code(name: str, to: Path) -> None:
    """Copies fixed code that the other tool runs beside the data."""
    to.write_bytes((files("unswayed.report.export") / "_beside" / name).read_bytes())


def safe_names(names: Iterable[str], unsafe: str, longest: int = 100) -> dict[str, str]:
    """For each name one without the characters that `unsafe`, a pattern, matches; no two are alike.

    What the tool would not tell apart, or what had to be cut, gets an id of the whole name at its end.
    """
    found: dict[str, str] = {}
    taken: set[str] = set()
    for name in names:
        plain = re.sub(unsafe, "_", name)
        lost = re.sub("[_/]", "", plain) != re.sub("[_/]", "", name) or len(plain) > longest or not plain
        if lost or plain.casefold() in taken:
            plain = f"{plain[: longest - 9]}_{content_id(name, 4)}"
        taken.add(plain.casefold())
        found[name] = plain
    return found


exporters: Registry[Exporter] = Registry("exporter", Exporter, "unswayed.report.export")


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
