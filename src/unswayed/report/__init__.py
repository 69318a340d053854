"""What people read: tables, charts, one HTML file, JUnit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from unswayed.core.lazy import door

if TYPE_CHECKING:
    from unswayed.core.text import NONE, label, number, typeset
    from unswayed.report.export import Exporter, FolderExporter
    from unswayed.report.study import (
        Given,
        Option,
        Outcome,
        Picture,
        Printed,
        Section,
        SectionTable,
        Study,
        StudyContext,
        StudyTable,
        as_markdown,
        as_page,
        as_text,
        chosen_for,
        studies,
    )
    from unswayed.report.tables import Figure, Row, columns_of, render, scaled

__all__ = ["NONE", "Exporter", "Figure", "FolderExporter", "Given", "Option", "Outcome", "Picture",
    "Printed", "Row", "Section", "SectionTable", "Study", "StudyContext", "StudyTable", "as_markdown",
    "as_page", "as_text", "chosen_for", "columns_of", "label", "number", "render", "scaled",
    "studies", "typeset"]  # fmt: skip

if not TYPE_CHECKING:
    __getattr__, __dir__ = door(__name__, __file__)
