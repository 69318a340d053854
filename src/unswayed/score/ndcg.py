"""Normalised discounted cumulative gain, as trec_eval computes it: a document's gain is its grade."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import log2

from unswayed.score._sets import RankingScorer


class Ndcg(RankingScorer):
    """The gains of a ranking, each divided by log2(place + 1), by those of the best ranking that there is."""

    name = "ndcg"

    def measure(self, ranking: Sequence[str], grades: Mapping[str, float]) -> float:
        best = sorted(grades.values(), reverse=True)[: self.first]
        return min(1.0, _discounted(grades.get(id, 0.0) for id in ranking) / _discounted(best))


def _discounted(gains: Iterable[float]) -> float:
    return sum(gain / log2(place + 1) for place, gain in enumerate(gains, 1))
