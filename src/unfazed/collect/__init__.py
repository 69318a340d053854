"""The web app in which people type, speak and judge: studies and their database, who gets what, pages, export."""

from __future__ import annotations

from typing import TYPE_CHECKING

from unfazed.core.lazy import door

if TYPE_CHECKING:
    from unfazed.collect.export import answers_of
    from unfazed.collect.items import write_items
    from unfazed.collect.kinds import Kind
    from unfazed.collect.study import Study, read_study, study_template

__all__ = ["Kind", "Study", "answers_of", "read_study", "study_template", "write_items"]

if not TYPE_CHECKING:
    __getattr__, __dir__ = door(
        __name__,
        {
            "unfazed.collect.export": "answers_of",
            "unfazed.collect.items": "write_items",
            "unfazed.collect.kinds": "Kind",
            "unfazed.collect.study": "Study read_study study_template",
        },
    )
