"""Jaccard index of the labels of each example, averaged over examples."""

from __future__ import annotations

from unswayed.score._sets import LabelSetScorer


class Jaccard(LabelSetScorer):
    """The shared labels by the labels that are in either set; two empty sets have 1."""

    name = "jaccard"

    def overlap(self, said: frozenset[str], due: frozenset[str]) -> float:
        return len(said & due) / len(said | due)
