"""What people read: tables, charts, one HTML file, JUnit."""

from __future__ import annotations

from unswayed.base.lazy_exports import lazy_exports

__all__, __getattr__, __dir__ = lazy_exports(
    __name__,
    {
        "base.text": "NONE label number typeset",
        "report.export": "Exporter FolderExporter",
        "report.study": (
            "Given Option Outcome Picture Printed Section SectionTable Study StudyContext StudyTable "
            "as_markdown as_page as_text chosen_for studies"
        ),
        "report.tables": "Figure Row render scaled",
        "report.terminal": "columns_of",
    },
)
