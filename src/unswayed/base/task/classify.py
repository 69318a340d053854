"""One label for one text or several: sentiment, intent, paraphrase, entailment."""

from __future__ import annotations

from collections.abc import Hashable

from unswayed.base.chat import CHAT
from unswayed.base.task import Task
from unswayed.base.values import Example, Inputs, Json

_Label = (str, int)  # True and False are whole numbers to Python; a tuple is checked in a third of a union's time


class ClassifyTask(Task):
    name = "classify"
    scores = ("accuracy", "macro_f1")

    def fits(self, example: Example) -> bool:
        return isinstance(example.gold, _Label) and CHAT not in example.inputs

    def gold_problem(self, example: Example) -> str | None:
        if isinstance(example.gold, _Label):
            return None
        return f"gold must be one label (a text or a whole number), not {example.gold!r}"

    def output_problem(self, output: Json, inputs: Inputs) -> str | None:
        if self.label(output) is None:
            return f"a label (a text or a whole number) or {{'label': …}} is needed, not {output!r:.80}"
        return None

    def answer(self, output: Json) -> Hashable:
        return self.label(output)

    def label(self, value: Json) -> str | None:
        """Labels compare as text, so that gold "1" and an output 1 are the same."""
        if type(value) is str:  # the most common first: every output is read here several times
            return value
        if type(value) is int:
            return str(value)
        if isinstance(value, dict):
            value = value.get("label")
        if isinstance(value, bool):
            return "true" if value else "false"
        return str(value) if isinstance(value, (str, int)) else None
