"""What a study is: named tables, each a function from the data to what the paper prints."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

from unfazed.core.errors import UnknownName
from unfazed.core.registry import Registry
from unfazed.core.values import Json

Given = Mapping[str, Any]  # what the study's own options were given
StudyTable = Callable[[Path, Given], Json]


class Option(NamedTuple):
    """An option that a study adds to its command: `--NAME VALUE`, or `--NAME` alone for a flag."""

    name: str
    help: str
    default: str | int | float | None = None
    multiple: bool = False
    short: str | None = None
    kind: type[str | int | float] | None = None  # what the value is, where no default says so
    flag: bool = False


class Study:
    """Extend, and register with the entry point `unfazed.studies`. The docstring is the command's help."""

    tables: ClassVar[Mapping[str, StudyTable]]
    options: ClassVar[tuple[Option, ...]] = ()

    def run(self, data: Path, only: Sequence[str] = (), given: Given | None = None) -> dict[str, Json]:
        """The chosen tables by name; all of them where none is named."""
        self.check(only)
        chosen = only or list(self.tables)
        return {name: table(data, given or {}) for name, table in self.tables.items() if name in chosen}

    def check(self, only: Sequence[str]) -> None:
        """Raises where a table is asked for that there is not."""
        for name in only:
            if name not in self.tables:
                raise UnknownName("table in this study", name, self.tables)

    def text(self, found: Mapping[str, Json], format_: str) -> str | None:
        """What was found as text for people; None leaves it to the command, which sets an entry a row."""
        return None


studies: Registry[Study] = Registry("study", Study)
studies.group = "unfazed.studies"
