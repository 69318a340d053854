"""An object with fields for a text: what an extraction, a form or a function call with JSON gives."""

from __future__ import annotations

from collections.abc import Hashable

from unswayed.base.chat import standard
from unswayed.base.ids import canonical
from unswayed.base.reply import json_within
from unswayed.base.task import Task
from unswayed.base.values import Example, Inputs, Json


class StructuredTask(Task):
    """Gold is an object, such as {"category": "lights", "room": "hall"}. An output is one, also as JSON in a text.

    Case and spaces of texts make no difference, and neither does the order of fields; 5 and 5.0 are the same.
    """

    name = "structured"
    scores = ("fields",)

    def gold_problem(self, example: Example) -> str | None:
        if isinstance(example.gold, dict) and example.gold:
            return None
        return f"gold must be an object with fields, such as {{'category': 'lights'}}, not {example.gold!r:.80}"

    def read(self, output: Json, inputs: Inputs) -> Json:
        found = object_in(output)
        return output if found is None else found

    def output_problem(self, output: Json, inputs: Inputs) -> str | None:
        if object_in(output) is not None:
            return None
        return f"an object is needed, such as {{'category': 'lights'}}, or JSON of one, not {output!r:.80}"

    def answer(self, output: Json) -> Hashable:
        return canonical(standard(object_in(output), standard_field))


def object_in(value: Json) -> dict[str, Json] | None:
    """The object in an output or a gold; None if it holds none."""
    found = json_within(value) if isinstance(value, str) else value
    return found if isinstance(found, dict) else None


def standard_field(text: str) -> str:
    """A text as fields are compared: without case and with single spaces."""
    return " ".join(text.split()).casefold()
