"""Is an output right? Scorers, one a file, that give each item its sufficient statistics."""

from __future__ import annotations

from typing import TYPE_CHECKING

from unfazed.core.lazy import door
from unfazed.core.registry import Registry
from unfazed.score._scorer import (
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
    from unfazed.score._comparing import Comparing, comparing_for, judge_used
    from unfazed.score._equivalent import question_of
    from unfazed.score._squad import texts_of
    from unfazed.score.accuracy import Accuracy
    from unfazed.score.match import Match

__all__ = ["Accuracy", "Array", "Comparing", "Match", "MeanScorer", "Pair", "Scorer", "Stats",
    "WithInputs", "comparing_for", "due_of", "judge_used", "kendall", "label_among", "label_of", "pearson",
    "question_of", "ratio", "scorers", "stats_here", "tags_of", "texts_of"]  # fmt: skip

scorers: Registry[Scorer] = Registry("scorer", Scorer, "unfazed.score")

if not TYPE_CHECKING:
    __getattr__, __dir__ = door(__name__, __file__)
