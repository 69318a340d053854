"""Intent accuracy: the share of utterances whose intent is right, whatever their slots."""

from __future__ import annotations

from unswayed.base.task import Task
from unswayed.base.values import Json
from unswayed.score._scorer import MeanScorer, label_key


class IntentAccuracy(MeanScorer):
    name = "intent_accuracy"
    key = label_key

    def item(self, output: Json, gold: Json, task: Task) -> float:
        return float(task.label(output) == task.label(gold))
