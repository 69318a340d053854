"""Slot F1 as conlleval counts it: a slot is right if its type and both its ends are."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np

from unswayed.base.edits import slots_of
from unswayed.base.task import Task
from unswayed.base.values import Json
from unswayed.score._scorer import Array, Scorer, ratio, tags_of

Span = tuple[str, int, int]  # a type, and the places where it begins and ends


class SlotF1(Scorer):
    """A row is (slots right, slots predicted, slots in gold). Not defined where there are no slots at all."""

    name = "slot_f1"
    linear = False
    apart = True

    def key(self, value: Json, task: Task) -> Hashable:
        return tags_of(value)

    def span_sets(self, output: Json, gold: Json) -> tuple[set[Span], set[Span]]:
        """The slots of an output and of its gold."""
        return set(slots_of(tags_of(output) or ())), set(slots_of(tags_of(gold) or ()))

    def stats(self, outputs: Sequence[Json], golds: Sequence[Json], task: Task) -> Array:
        rows = np.zeros((len(outputs), 3))
        for i, (output, gold) in enumerate(zip(outputs, golds, strict=True)):
            predicted, true = self.span_sets(output, gold)
            rows[i] = len(predicted & true), len(predicted), len(true)
        return rows

    def aggregate(self, sums: Array) -> Array:
        return ratio(2 * sums[..., 0], sums[..., 1] + sums[..., 2])
