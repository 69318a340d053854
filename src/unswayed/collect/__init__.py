"""The web app in which people type, speak and judge: studies and their database, who gets what, pages, export."""

from __future__ import annotations

from unswayed.base.lazy_exports import lazy_exports

__all__, __getattr__, __dir__ = lazy_exports(
    __name__,
    {
        "collect.export": "answers_of",
        "collect.items": "key_file write_items",
        "collect.kinds": "TaskKind",
        "collect.kinds.labels": "Slot",
        "collect.study": "PeopleStudy read_study study_template",
    },
)
