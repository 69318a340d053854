"""Texts without gold: only changes of the answer can be counted."""

from __future__ import annotations

from collections.abc import Hashable

from unswayed.base.ids import canonical
from unswayed.base.task import Task
from unswayed.base.values import Example, Json


class TextTask(Task):
    name = "text"

    def fits(self, example: Example) -> bool:
        return True

    def answer(self, output: Json) -> Hashable:
        return canonical(output)
