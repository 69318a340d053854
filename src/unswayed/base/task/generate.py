"""A free answer to a question or a prompt: whatever a language model says."""

from __future__ import annotations

from collections.abc import Hashable

from unswayed.base.ids import canonical
from unswayed.base.task import Task
from unswayed.base.values import Example, Json


class GenerateTask(Task):
    """Gold is a text, a number or a list of them, of which any is right; an output is any JSON value."""

    name = "generate"
    scores = ("match",)
    compared = ("", "contains")

    def gold_problem(self, example: Example) -> str | None:
        golds = example.gold if isinstance(example.gold, list) else [example.gold]
        if golds and all(isinstance(gold, str | int | float | None) for gold in golds):
            return None
        return f"gold must be a text, a number or a list of them, not {example.gold!r:.80}"

    def answer(self, output: Json) -> Hashable:
        return " ".join(output.split()).casefold() if isinstance(output, str) else canonical(output)
