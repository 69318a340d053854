"""The web app in which people type, speak and judge: studies and their database, who gets what, pages, export."""

from __future__ import annotations

from typing import TYPE_CHECKING

from unfazed.core.lazy import door

if TYPE_CHECKING:
    from unfazed.collect.export import answers_of
    from unfazed.collect.items import key_file, write_items
    from unfazed.collect.kinds import Kind
    from unfazed.collect.kinds.labels import Slot
    from unfazed.collect.study import PeopleStudy, read_study, study_template

__all__ = ["Kind", "PeopleStudy", "Slot", "answers_of", "key_file", "read_study", "study_template", "write_items"]

if not TYPE_CHECKING:
    __getattr__, __dir__ = door(__name__, __file__)
