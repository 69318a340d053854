"""Match: the share of answers that are the same as the gold, in the part and by the rule that are declared."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np

from unswayed.base.task import Task
from unswayed.base.values import Json
from unswayed.score._comparing import Comparing
from unswayed.score._scorer import Array, MeanScorer, WithInputs


class Match(MeanScorer):
    """Gold is a text, a number or a list of them, of which any is right. Without a rule, `contains` is used."""

    name = "match"

    def __init__(self, comparing: Comparing | None = None) -> None:
        self._comparing = comparing
        if comparing is not None:
            self.name = f"match({comparing.name})"  # type: ignore[misc]
            self.sees_inputs = comparing.sees_inputs  # type: ignore[misc]

    @property
    def decides(self) -> str | None:
        return self._comparing.decides if self._comparing else ""

    def _comparing_for(self, task: Task) -> Comparing:
        if self._comparing is None:
            extract, equivalent = task.compared
            self._comparing = Comparing(task, extract, equivalent or "contains")
        return self._comparing

    def key(self, value: Json, task: Task) -> Hashable:
        return None if value is None else self._comparing_for(task).key(value)

    def gold_key(self, gold: Json, task: Task) -> Hashable:
        golds = gold if isinstance(gold, list) else [gold]
        rule = self._comparing_for(task)
        return tuple(rule.key(one) for one in golds if one is not None and rule.part(one) is not None) or None

    def item(self, output: Json, gold: Json, task: Task) -> float:
        return float(self.stats([output], [gold], task)[0, 0])

    def stats(self, outputs: Sequence[Json], golds: Sequence[Json], task: Task) -> Array:
        rule, rows = self._comparing_for(task), np.ones((len(outputs), 2))
        pairs, owners = [], []
        for at, (output, due) in enumerate(zip(outputs, golds, strict=True)):
            gold, inputs = (due.gold, due.inputs) if isinstance(due, WithInputs) else (due, {})
            found = rule.right(output, gold, inputs)
            rows[at, 0] = float(found is True)
            if not isinstance(found, bool):
                pairs += found
                owners += [at] * len(found)
        for at, same in zip(owners, rule.same(pairs), strict=True):
            # right if the same as any gold; not known if some verdict is missing and none says so
            rows[at, 0] = 1.0 if same or rows[at, 0] == 1.0 else np.nan if same is None else rows[at, 0]
        return rows
