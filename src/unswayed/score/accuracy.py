"""Accuracy: the share of items whose label is the gold one."""

from __future__ import annotations

from unswayed.base.task import Task
from unswayed.base.values import Json
from unswayed.score._scorer import MeanScorer, label_key


class Accuracy(MeanScorer):
    """The share of labels that are right."""

    name = "accuracy"
    key = label_key

    def item(self, output: Json, gold: Json, task: Task) -> float:
        return float(task.label(output) == task.label(gold))
