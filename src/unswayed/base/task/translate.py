"""Translation: a text in, the same in another language out."""

from __future__ import annotations

from collections.abc import Hashable

from unswayed.base.task import Task
from unswayed.base.values import Example, Inputs, Json


class TranslateTask(Task):
    """Gold is a reference or a list of references for `source`; an output is the translation's text."""

    name = "translate"
    fields = ("source",)
    varied = ("source",)
    scores = ("bleu", "sentence_bleu", "chrf")

    def fits(self, example: Example) -> bool:
        """One text called `source` with a gold that is too long for a label."""
        gold = example.gold[0] if isinstance(example.gold, list) and example.gold else example.gold
        return list(example.inputs) == ["source"] and isinstance(gold, str) and (" " in gold.strip() or len(gold) > 20)

    def gold_problem(self, example: Example) -> str | None:
        if references_of(example.gold):
            return None
        return f"gold must be a reference translation or a list of them, not {example.gold!r:.80}"

    def output_problem(self, output: Json, inputs: Inputs) -> str | None:
        return None if isinstance(output, str) else f"an output must be the translation's text, not {output!r:.80}"

    def answer(self, output: Json) -> Hashable:
        return " ".join(output.split())


def references_of(gold: Json) -> list[str]:
    """The references in a gold; none where it has another form."""
    found = [gold] if isinstance(gold, str) else gold
    return found if isinstance(found, list) and all(isinstance(text, str) for text in found) else []
