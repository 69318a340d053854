"""What a study is: named tables, each a function from the data to what the paper prints; and its page."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

from markupsafe import Markup

from unfazed.core.errors import UnknownName
from unfazed.core.registry import Registry
from unfazed.core.text import one_line
from unfazed.core.values import Json
from unfazed.report.html import style, template
from unfazed.report.tables import Row, cell, column_names, escaped, markdown, table

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


class SectionTable(NamedTuple):
    caption: str
    rows: Sequence[Row]


class Picture(NamedTuple):
    caption: str
    svg: Markup


class Section(NamedTuple):
    """A part of a study: what it says, its tables, its pictures. Pictures are for pages only."""

    title: str
    sentences: Sequence[str] = ()
    tables: Sequence[SectionTable] = ()
    pictures: Sequence[Picture] = ()


def as_markdown(title: str, sections: Sequence[Section]) -> str:
    parts = [f"# {escaped(title)}"]
    for section in sections:
        parts += [f"## {escaped(section.title)}", *map(escaped, section.sentences)]
        for caption, rows in section.tables:
            parts += [f"**{escaped(caption)}**", markdown(rows)]
    return "\n\n".join(part for part in parts if part) + "\n"


def as_text(sections: Sequence[Section], width: int | None = None) -> str:
    parts = []
    for section in sections:
        parts += [one_line(section.title).upper(), *map(one_line, section.sentences)]
        for caption, rows in section.tables:
            parts += [one_line(caption), table(rows, width)]
    return "\n\n".join(part for part in parts if part)


def as_page(title: str, sections: Sequence[Section]) -> str:
    """The page's text; every string of a section is escaped by the template."""
    return template("study.html.jinja").render(
        css=style(),
        title=title,
        sections=[
            {
                "title": section.title,
                "sentences": section.sentences,
                "pictures": section.pictures,
                "tables": [
                    {
                        "caption": caption,
                        "heads": column_names(rows),
                        "rows": [[cell(row.get(head)) for head in column_names(rows)] for row in rows],
                    }
                    for caption, rows in section.tables
                ],
            }
            for section in sections
        ],
    )
