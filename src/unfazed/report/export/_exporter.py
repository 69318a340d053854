"""The contract of an exporter, and what those that write a folder of plain files share."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterable
from pathlib import Path

import msgspec

from unfazed.core.errors import UsageError, option
from unfazed.core.files import partial_of, put_in_place, unwritable
from unfazed.core.ids import content_id
from unfazed.core.registry import VERSION
from unfazed.core.suite import Suite
from unfazed.core.values import Json

FACTS = "unfazed.json"  # in every folder that was exported: what it was made from


class Exporter:
    """Extend, and put in `report/export/NAME.py` or behind the entry point `unfazed.exporters`.

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
        suite, place = Suite(path), Path(to)
        _refuse_existing(place, overwrite)
        partial = partial_of(place)
        shutil.rmtree(partial, ignore_errors=True)
        try:
            with unwritable(place, "the folder"):
                partial.mkdir(parents=True)
                usage, facts = self.write(suite, partial)
                write_json(partial / FACTS, {"unfazed": VERSION, "suite": suite.id, "task": suite.task.name, **facts})
                put_in_place(partial, place)
        finally:
            shutil.rmtree(partial, ignore_errors=True)
        return usage.replace("FOLDER", str(place))


def _refuse_existing(place: Path, overwrite: bool) -> None:
    """Raises unless `place` is free, an empty folder, or an export that may be overwritten."""
    if not place.exists() or (place.is_dir() and not any(place.iterdir())):
        return
    if not (place / FACTS).is_file():
        raise UsageError(f"{place} exists and is not an export. Choose another folder with {option('o', 'to')}.")
    if not overwrite:
        raise UsageError(
            f"{place} holds another export. "
            f"Use {option('overwrite')}, or choose another folder with {option('o', 'to')}."
        )


def write_json(file: Path, value: Json) -> None:
    file.write_bytes(msgspec.json.format(msgspec.json.encode(value), indent=2) + b"\n")


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
