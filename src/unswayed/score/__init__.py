"""Is an output right? Scorers, one a file, that give each item its sufficient statistics."""

from __future__ import annotations

from unswayed.base.errors import UsageError
from unswayed.base.lazy_exports import lazy_exports
from unswayed.base.registry import Registry
from unswayed.score._scorer import Scorer

scorers: Registry[Scorer] = Registry("scorer", Scorer, "unswayed.score")


def scorer_named(name: str) -> Scorer:
    """The scorer of that name, or of `module:Class`; `NAME@K` is a score of rankings that counts the first K, and
    `valid@FILE` one of JSON by a schema."""
    bare, at, first = name.partition("@")
    if not at or bare not in scorers:
        return scorers.get(name)()
    cls = scorers.get(bare)
    if hasattr(cls, "takes"):
        return cls(first)  # type: ignore[call-arg]
    if not hasattr(cls, "cut"):
        raise UsageError(f"The scorer {bare} takes nothing after its name: {name!r}.")
    if not first.isdecimal() or not int(first):
        raise UsageError(f"The scorer {name!r} must end in a whole number of 1 or more, as in {bare}@10.")
    return cls(int(first))  # type: ignore[call-arg]


_names, __getattr__, __dir__ = lazy_exports(
    __name__,
    {
        "score._equivalent": "AnswerPair question_of",
        "score._scorer": (
            "Array MeanScorer Pair Stats WithInputs due_of kendall label_among label_of pearson ratio stats_here "
            "tags_of texts_of"
        ),
        "score.accuracy": "Accuracy",
        "score.match": "Comparing Match comparing_for golds_of judge_used",
    },
)
__all__ = [*_names, "Scorer", "scorer_named", "scorers"]
