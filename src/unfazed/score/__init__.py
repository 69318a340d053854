"""Is an output right? Scorers, one a file, that give each item its sufficient statistics."""

from __future__ import annotations

from typing import TYPE_CHECKING

from unfazed.core.lazy import door
from unfazed.core.registry import Registry
from unfazed.score._mean import MeanScorer
from unfazed.score._scorer import Scorer

if TYPE_CHECKING:
    from unfazed.score._correlation import kendall
    from unfazed.score._mean import label_among
    from unfazed.score.accuracy import Accuracy
    from unfazed.score.exact_match import texts_of

__all__ = ["Accuracy", "MeanScorer", "Scorer", "kendall", "label_among", "scorers", "texts_of"]  # fmt: skip

scorers: Registry[Scorer] = Registry("scorer", Scorer, "unfazed.score")

if not TYPE_CHECKING:
    __getattr__, __dir__ = door(
        __name__,
        {
            "unfazed.score._correlation": "kendall",
            "unfazed.score._mean": "label_among",
            "unfazed.score.accuracy": "Accuracy",
            "unfazed.score.exact_match": "texts_of",
        },
    )
