"""Accuracy on negative items: of those whose gold is no, the share that is right."""

from __future__ import annotations

from collections.abc import Hashable

from unfazed.core import Json, Task
from unfazed.score import Accuracy, label_among


class NegativeAccuracy(Accuracy):
    """The share of items with gold 0, false, no or negative whose label is right."""

    name = "negative_accuracy"

    def gold_key(self, gold: Json, task: Task) -> Hashable:
        return label_among(("0", "false", "no", "negative"), gold, task)
