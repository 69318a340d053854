"""Recall: the share of the relevant documents that are among the first K of a ranking."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from unswayed.score._sets import RankingScorer


class Recall(RankingScorer):
    """`recall@10` looks at the first ten. All relevant documents count the same, whatever their grades."""

    name = "recall"

    def measure(self, ranking: Sequence[str], grades: Mapping[str, float]) -> float:
        return sum(id in grades for id in ranking) / len(grades)
