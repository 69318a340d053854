"""A number for one text or several: similarity, quality, a rating."""

from __future__ import annotations

from collections.abc import Hashable
from math import isfinite

from unswayed.base.task import Task
from unswayed.base.values import Example, Inputs, Json


class ScoreTask(Task):
    """Gold and outputs are numbers. An output may also be a number as a text, or an object that has it as `score`."""

    name = "score"
    scores = ("correlation",)
    compared = ("", "within@0.05")
    own_rule = True
    has_wrong = False  # no number is as bad as an answer that is not there

    def gold_problem(self, example: Example) -> str | None:
        if example.gold is None or number_of(example.gold) is not None:
            return None
        return f"gold must be a number, not {example.gold!r:.80}"

    def read(self, output: Json, inputs: Inputs) -> Json:
        found = number_of(output)
        return output if found is None else found

    def output_problem(self, output: Json, inputs: Inputs) -> str | None:
        return None if number_of(output) is not None else f"an output must be a number, not {output!r:.80}"

    def answer(self, output: Json) -> Hashable:
        return number_of(output)


def number_of(value: Json) -> float | None:
    """The number in a gold or an output; None if it is none."""
    if isinstance(value, dict):
        value = value.get("score")
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        return None
    try:
        found = float(value)
    except (ValueError, OverflowError):
        return None
    return found if isfinite(found) else None
