"""Several labels for a text, in any order: topics, tags, symptoms."""

from __future__ import annotations

from collections.abc import Hashable
from contextlib import suppress

import msgspec

from unswayed.base.task import Task
from unswayed.base.values import Example, Inputs, Json

_HOLDERS = ("labels", "label", "tags")


class MultilabelTask(Task):
    """Gold is a list of labels, which may be empty. An output is such a list, or an object that has it as `labels`.

    Order makes no difference, and a label that comes twice counts once. JSON in a text is read too.
    """

    name = "multilabel"
    scores = ("subset_accuracy", "set_f1", "jaccard")
    own_rule = True

    def gold_problem(self, example: Example) -> str | None:
        gold = example.gold
        if not isinstance(gold, list) or label_set(gold) is None:
            return f"gold must be a list of labels, such as ['phone', 'complaint'], not {gold!r:.80}"
        return None

    def read(self, output: Json, inputs: Inputs) -> Json:
        found = label_set(output)
        return output if found is None else sorted(found)

    def output_problem(self, output: Json, inputs: Inputs) -> str | None:
        if label_set(output) is not None:
            return None
        what = "a list of the labels' names"
        return f"{what} is needed, such as ['phone', 'complaint'], not {output!r:.80}"

    def answer(self, output: Json) -> Hashable:
        return label_set(output)

    def nothing(self, gold: Json) -> Json:
        return ["\N{REPLACEMENT CHARACTER}"]  # no label at all may be the right answer

    def right(self, gold: Json) -> Json:
        return gold


def label_set(value: Json) -> frozenset[str] | None:
    """The labels in a gold or an output, as texts; None if it has another form.

    A row of an indicator matrix, such as [0, 1, 1, 0], is none: it would be read as the labels 0 and 1.
    """
    if isinstance(value, str):
        with suppress(msgspec.MsgspecError, UnicodeError):
            value = msgspec.json.decode(value)
    if isinstance(value, dict):
        value = next((value[name] for name in _HOLDERS if isinstance(value.get(name), list)), None)
    if not isinstance(value, list):
        return None
    kinds = {type(label) for label in value}
    if not kinds <= {str, int}:
        return None
    if int in kinds and len(value) > 1 and set(value) <= {0, 1}:
        return None
    return frozenset(map(str, value))
