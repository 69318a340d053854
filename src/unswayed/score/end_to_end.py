"""End to end: the share of utterances whose intent and every tag are right."""

from __future__ import annotations

from collections.abc import Hashable

from unswayed.base.task import Task
from unswayed.base.values import Json
from unswayed.score._scorer import MeanScorer, label_of, tags_of


class EndToEnd(MeanScorer):
    name = "end_to_end"

    def key(self, value: Json, task: Task) -> Hashable:
        intent, tags = label_of(value, task), tags_of(value)
        return None if intent is None or tags is None else (intent, tags)

    def item(self, output: Json, gold: Json, task: Task) -> float:
        return float(self.key(output, task) == self.key(gold, task))
