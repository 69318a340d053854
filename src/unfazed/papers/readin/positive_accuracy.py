"""Accuracy on positive items: of those whose gold is yes, the share that is right."""

from __future__ import annotations

from collections.abc import Hashable

from unfazed.core import Json, Task
from unfazed.score import Accuracy, label_among


class PositiveAccuracy(Accuracy):
    """The share of items with gold 1, true, yes or positive whose label is right."""

    name = "positive_accuracy"

    def gold_key(self, gold: Json, task: Task) -> Hashable:
        return label_among(("1", "true", "yes", "positive"), gold, task)
