"""What people read: tables, charts, one HTML file, JUnit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from unfazed.core.lazy import door

if TYPE_CHECKING:
    from unfazed.report.figures import NONE, number, typeset
    from unfazed.report.rows import Figure, Row
    from unfazed.report.sections_page import Picture, Section, Table, as_markdown, as_page, as_text
    from unfazed.report.study import Given, Option, Study, StudyTable, studies
    from unfazed.report.tables import columns_of, render
    from unfazed.report.text import label

__all__ = ["NONE", "Figure", "Given", "Option", "Picture", "Row", "Section", "Study", "StudyTable", "Table",
    "as_markdown", "as_page", "as_text", "columns_of", "label", "number", "render", "studies", "typeset"]  # fmt: skip

if not TYPE_CHECKING:
    __getattr__, __dir__ = door(
        __name__,
        {
            "unfazed.report.figures": "NONE number typeset",
            "unfazed.report.rows": "Figure Row",
            "unfazed.report.sections_page": "Picture Section Table as_markdown as_page as_text",
            "unfazed.report.study": "Given Option Study StudyTable studies",
            "unfazed.report.tables": "columns_of render",
            "unfazed.report.text": "label",
        },
    )
