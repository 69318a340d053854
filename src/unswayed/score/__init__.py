"""Is an output right? Scorers, one a file, that give each item its sufficient statistics."""

from __future__ import annotations

from typing import TYPE_CHECKING

from unswayed.core.lazy import door
from unswayed.core.registry import Registry
from unswayed.score._scorer import (
    Array,
    MeanScorer,
    Pair,
    Scorer,
    Stats,
    WithInputs,
    due_of,
    kendall,
    label_among,
    label_of,
    pearson,
    ratio,
    stats_here,
    tags_of,
)

if TYPE_CHECKING:
    from unswayed.score._comparing import Comparing, comparing_for, judge_used
    from unswayed.score._equivalent import question_of
    from unswayed.score._squad import texts_of
    from unswayed.score.accuracy import Accuracy
    from unswayed.score.match import Match

__all__ = ["Accuracy", "Array", "Comparing", "Match", "MeanScorer", "Pair", "Scorer", "Stats",
    "WithInputs", "comparing_for", "due_of", "judge_used", "kendall", "label_among", "label_of", "pearson",
    "question_of", "ratio", "scorers", "stats_here", "tags_of", "texts_of"]  # fmt: skip

scorers: Registry[Scorer] = Registry("scorer", Scorer, "unswayed.score")

if not TYPE_CHECKING:
    __getattr__, __dir__ = door(__name__, __file__)
