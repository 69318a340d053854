"""The contracts of the scores of label sets and of rankings."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import ClassVar

from unswayed.base.task import Task
from unswayed.base.task.multilabel import label_set
from unswayed.base.task.retrieve import grades_of, ranked_ids
from unswayed.base.values import Json
from unswayed.score._scorer import MeanScorer


class LabelSetScorer(MeanScorer):
    """Extend with `overlap`. Golds and outputs are lists of labels, in any order."""

    def overlap(self, said: frozenset[str], due: frozenset[str]) -> float:
        """The score of a set of labels against the gold one; at least one of the two has a label."""
        raise NotImplementedError

    def key(self, value: Json, task: Task) -> Hashable:
        found = label_set(value)
        return None if found is None else tuple(sorted(found))

    def item(self, output: Json, gold: Json, task: Task) -> float:
        said, due = label_set(output), label_set(gold)
        if said is None or due is None:
            return 0.0
        return self.overlap(said, due) if said or due else 1.0


class RankingScorer(MeanScorer):
    """Extend with `measure`. `NAME@K` counts the first K documents, and the bare name all of them.

    A gold is a list of relevant ids, or an object from id to grade. A query without relevant documents has no score.
    """

    by_operator = True

    cut: ClassVar[bool] = True

    def __init__(self, first: int | None = None) -> None:
        self.first = first
        if first is not None:
            self.name = f"{type(self).name}@{first}"  # type: ignore[misc]

    def measure(self, ranking: Sequence[str], grades: Mapping[str, float]) -> float:
        """The score of a ranking, which is cut already, by the grades of the relevant documents."""
        raise NotImplementedError

    def key(self, value: Json, task: Task) -> Hashable:
        found = ranked_ids(value)
        return None if found is None else tuple(found)

    def gold_key(self, gold: Json, task: Task) -> Hashable:
        return tuple(sorted((grades_of(gold) or {}).items())) or None

    def item(self, output: Json, gold: Json, task: Task) -> float:
        ranking, grades = ranked_ids(output), grades_of(gold)
        return self.measure((ranking or [])[: self.first], grades) if grades else 0.0
