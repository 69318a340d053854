"""A free answer to a question or a prompt: whatever a language model says."""

from __future__ import annotations

from collections.abc import Hashable

from unswayed.base.ids import canonical
from unswayed.base.task import Task
from unswayed.base.values import Example, Json


class Generate(Task):
    """Gold is a text, a number or a list of them, of which any is right; an output is any JSON value."""

    name = "generate"
    scores = ("match",)
    compared = ("", "contains")

    def gold_problem(self, example: Example) -> str | None:
        return free_gold_problem(example.gold)

    def answer(self, output: Json) -> Hashable:
        return " ".join(output.split()).casefold() if isinstance(output, str) else canonical(output)


def free_gold_problem(gold: Json) -> str | None:
    """Why a gold can't be compared with a free answer, if it can't."""
    golds = gold if isinstance(gold, list) else [gold]
    if golds and all(isinstance(one, str | int | float | None) for one in golds):
        return None
    return f"gold must be a text, a number or a list of them, not {gold!r:.80}"
