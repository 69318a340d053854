"""Scores that are the mean of a number for each item."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np

from unfazed.core.task import Task
from unfazed.core.values import Json
from unfazed.score._scorer import Array, Scorer, ratio


class MeanScorer(Scorer):
    """Extend with `item`. A row is (the item's score, 1)."""

    apart = True

    def item(self, output: Json, gold: Json, task: Task) -> float:
        raise NotImplementedError

    def stats(self, outputs: Sequence[Json], golds: Sequence[Json], task: Task) -> Array:
        rows = np.ones((len(outputs), 2))
        rows[:, 0] = [self.item(output, gold, task) for output, gold in zip(outputs, golds, strict=True)]
        return rows

    def aggregate(self, sums: Array) -> Array:
        return ratio(sums[..., 0], sums[..., 1])


def label_key(self: Scorer, value: Json, task: Task) -> Hashable:
    """The `key` of scorers that look at the label alone; shared, so that a run's labels are read once."""
    return label_of(value, task)


def label_of(value: Json, task: Task) -> str | None:
    """The task's label, or None where an odd output holds something else in its place."""
    label = task.label(value)
    return label if isinstance(label, str) else None


def label_among(labels: tuple[str, ...], gold: Json, task: Task) -> str | None:
    """The gold label if it is one of these; else None, so that the item has no score and is not missing."""
    label = label_of(gold, task)
    return label if label is not None and label.casefold() in labels else None
