from unswayed.base.registry import Registry
from unswayed.score._equivalent import AnswerPair, question_of
from unswayed.score._scorer import (
    Array as Array,
    MeanScorer as MeanScorer,
    Pair as Pair,
    Scorer as Scorer,
    Stats as Stats,
    WithInputs as WithInputs,
    due_of as due_of,
    kendall as kendall,
    label_among as label_among,
    label_of as label_of,
    pearson as pearson,
    ratio as ratio,
    stats_here as stats_here,
    tags_of as tags_of,
    texts_of,
)
from unswayed.score.accuracy import Accuracy
from unswayed.score.match import Comparing, Match, comparing_for, golds_of, judge_used

scorers: Registry[Scorer]

def scorer_named(name: str) -> Scorer: ...

__all__ = [
    "Accuracy",
    "AnswerPair",
    "Array",
    "Comparing",
    "Match",
    "MeanScorer",
    "Pair",
    "Scorer",
    "Stats",
    "WithInputs",
    "comparing_for",
    "due_of",
    "golds_of",
    "judge_used",
    "kendall",
    "label_among",
    "label_of",
    "pearson",
    "question_of",
    "ratio",
    "scorer_named",
    "scorers",
    "stats_here",
    "tags_of",
    "texts_of",
]
