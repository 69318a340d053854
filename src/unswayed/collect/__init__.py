"""The web app in which people type, speak and judge: studies and their database, who gets what, pages, export."""

from __future__ import annotations

from typing import TYPE_CHECKING

from unswayed.core.lazy import door

if TYPE_CHECKING:
    from unswayed.collect.export import answers_of
    from unswayed.collect.items import key_file, write_items
    from unswayed.collect.kinds import Kind
    from unswayed.collect.kinds.labels import Slot
    from unswayed.collect.study import PeopleStudy, read_study, study_template

__all__ = ["Kind", "PeopleStudy", "Slot", "answers_of", "key_file", "read_study", "study_template", "write_items"]

if not TYPE_CHECKING:
    __getattr__, __dir__ = door(__name__, __file__)
