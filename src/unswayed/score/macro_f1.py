"""Macro-F1: the mean over classes of each class's F1, so that rare classes weigh as much as common ones."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from unswayed.base.task import Task
from unswayed.base.values import Json
from unswayed.score._scorer import Array, Scorer, label_key, ratio


class MacroF1(Scorer):
    """A row is, for each class, (right, predicted, in gold). A class that a set does not have does not count there.

    An unreadable answer is scored as the empty label: a class by itself, of which none is right.
    """

    name = "macro_f1"
    version = 2
    linear = False
    key = label_key

    def classes(self, outputs: Sequence[Json], golds: Sequence[Json], task: Task) -> Array:
        predicted = [str(task.label(output)) for output in outputs]
        true = [str(task.label(gold)) for gold in golds]
        place = {label: float(i) for i, label in enumerate(sorted({*predicted, *true}))}
        said, gold = ([place[label] for label in labels] for labels in (predicted, true))
        return np.column_stack([said, gold, np.full(len(said), float(len(place)))])

    def stats(self, outputs: Sequence[Json], golds: Sequence[Json], task: Task) -> Array:
        classes = self.classes(outputs, golds, task)
        said, gold = (3 * classes[:, i].astype(np.intp) for i in (0, 1))
        rows = np.zeros((len(classes), 3 * int(classes[:, 2].max(initial=0))))
        items = np.arange(len(classes))
        rows[items, said] = said == gold
        rows[items, said + 1] = 1
        rows[items, gold + 2] = 1
        return rows

    def aggregate(self, sums: Array) -> Array:
        right, predicted, gold = sums[..., 0::3], sums[..., 1::3], sums[..., 2::3]
        seen = predicted + gold
        f1 = np.divide(2 * right, seen, out=np.zeros_like(right), where=seen > 0)
        return ratio(f1.sum(-1), (seen > 0).sum(-1).astype(float))
