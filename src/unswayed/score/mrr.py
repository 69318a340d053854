"""Mean reciprocal rank: one divided by the place of the first relevant document."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from unswayed.score._sets import RankingScorer


class Mrr(RankingScorer):
    """`mrr@10` is 0 if no relevant document is among the first ten."""

    name = "mrr"

    def measure(self, ranking: Sequence[str], grades: Mapping[str, float]) -> float:
        return next((1 / place for place, id in enumerate(ranking, 1) if id in grades), 0.0)
