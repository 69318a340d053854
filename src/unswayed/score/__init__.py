"""Is an output right? Scorers, one a file, that give each item its sufficient statistics."""

from __future__ import annotations

from unswayed.base.lazy_exports import lazy_exports
from unswayed.base.registry import Registry
from unswayed.score._scorer import Scorer

scorers: Registry[Scorer] = Registry("scorer", Scorer, "unswayed.score")

_names, __getattr__, __dir__ = lazy_exports(
    __name__,
    {
        "score._equivalent": "question_of",
        "score._scorer": (
            "Array MeanScorer Pair Stats WithInputs due_of kendall label_among label_of pearson ratio stats_here "
            "tags_of texts_of"
        ),
        "score.accuracy": "Accuracy",
        "score.match": "Comparing Match comparing_for judge_used",
    },
)
__all__ = [*_names, "Scorer", "scorers"]
