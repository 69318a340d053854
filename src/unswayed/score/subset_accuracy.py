"""Subset accuracy: the share of examples whose set of labels is exactly the gold one."""

from __future__ import annotations

from unswayed.score._sets import LabelSetScorer


class SubsetAccuracy(LabelSetScorer):
    """1 if all labels are right and none is missing, else 0."""

    name = "subset_accuracy"

    def overlap(self, said: frozenset[str], due: frozenset[str]) -> float:
        return float(said == due)
