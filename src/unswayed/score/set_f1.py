"""F1 of the labels of each example, averaged over examples, as scikit-learn's `f1_score(average="samples")`."""

from __future__ import annotations

from unswayed.score._sets import LabelSetScorer


class SetF1(LabelSetScorer):
    """Twice the shared labels by all labels of both sets; two empty sets have 1."""

    name = "set_f1"

    def overlap(self, said: frozenset[str], due: frozenset[str]) -> float:
        return 2 * len(said & due) / (len(said) + len(due))
