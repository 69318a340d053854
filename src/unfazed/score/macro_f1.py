"""Macro-F1: the mean over classes of each class's F1, so that rare classes weigh as much as common ones."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from unfazed.core.task import Task
from unfazed.core.values import Json
from unfazed.score._scorer import Array, Scorer, label_key, ratio


class MacroF1(Scorer):
    """A row is, for each class, (right, predicted, in gold). A class that a set does not have does not count there.

    An empty label, as which an unreadable answer is scored, is not a class unless some gold has it.
    """

    name = "macro_f1"
    version = 2
    linear = False
    key = label_key

    def stats(self, outputs: Sequence[Json], golds: Sequence[Json], task: Task) -> Array:
        predicted = [str(task.label(output)) for output in outputs]
        true = [str(task.label(gold)) for gold in golds]
        classes = {*predicted, *true} - ({""} - {*true})
        place = {label: 3 * i for i, label in enumerate(sorted(classes))}
        rows = np.zeros((len(outputs), 3 * len(place)))
        items = np.arange(len(outputs))
        said = np.array([place.get(label, -1) for label in predicted], dtype=np.intp)
        gold = np.array([place[label] for label in true], dtype=np.intp)
        some = said >= 0
        rows[items[some], said[some]] = (said == gold)[some]
        rows[items[some], said[some] + 1] = 1
        rows[items, gold + 2] = 1
        return rows

    def aggregate(self, sums: Array) -> Array:
        right, predicted, gold = sums[..., 0::3], sums[..., 1::3], sums[..., 2::3]
        seen = predicted + gold
        f1 = np.divide(2 * right, seen, out=np.zeros_like(right), where=seen > 0)
        return ratio(f1.sum(-1), (seen > 0).sum(-1).astype(float))
