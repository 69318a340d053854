"""Is an output right? Scorers, one a file, that give each item its sufficient statistics."""

from unfazed.core.registry import Registry
from unfazed.score._mean import MeanScorer
from unfazed.score._scorer import Scorer

__all__ = ["MeanScorer", "Scorer", "scorers"]

scorers: Registry[Scorer] = Registry("scorer", Scorer, "unfazed.score")

__all__ = ["Scorer", "scorers"]
