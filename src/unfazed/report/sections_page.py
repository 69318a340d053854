"""A study's sections as one Markdown text, one plain text, or one HTML page without scripts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from markupsafe import Markup

from unfazed.report.html import style, template
from unfazed.report.rows import Row
from unfazed.report.tables import cell, column_names, escaped, markdown, table
from unfazed.report.text import one_line


class Table(NamedTuple):
    caption: str
    rows: Sequence[Row]


class Picture(NamedTuple):
    caption: str
    svg: Markup


class Section(NamedTuple):
    """A part of a study: what it says, its tables, its pictures. Pictures are for pages only."""

    title: str
    sentences: Sequence[str] = ()
    tables: Sequence[Table] = ()
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
