"""How bad a result is for users, in three grades: minor, moderate or serious.

Users notice answers that change, whether or not the score moves, so changed answers come first and the drop second.
"""

from __future__ import annotations

from typing import NamedTuple

from unswayed.base.values import Estimate
from unswayed.measure.results import Results

GRADES = ("minor", "moderate", "serious")
FLIPS = (0.02, 0.10)  # from here on moderate, and serious: shares of answers that change
DROP = (0.01, 0.05)  # the same for the drop, in parts of the greatest score
REWORDED = ("translate",)  # tasks whose answers may change in wording alone: the drop decides
_TO_100 = ("bleu", "chrf", "sentence_bleu")


class Severity(NamedTuple):
    """The grades at both ends of the intervals; they differ if there are too few examples to tell."""

    low: str
    high: str
    beyond_chance: bool = False  # against the system's own disagreement

    def __str__(self) -> str:
        said = self.low if self.low == self.high else f"{self.low} to {self.high}"
        return f"{said} beyond chance" if self.beyond_chance else said

    @property
    def sure(self) -> bool:
        return self.low == self.high


def severity(results: Results) -> Severity | None:
    """The grade of a run, or None if the set-up is broken or nothing could be compared."""
    repeats = results.repeats
    own = repeats is not None and not repeats.steady and repeats.flips.value is not None
    flips = repeats.flips if own and repeats else results.flip_rate
    drop = repeats.drop if own and repeats and repeats.drop is not None else results.drop
    top = 100.0 if results.score in _TO_100 else 1.0
    held = [(drop, tuple(top * limit for limit in DROP))] + ([] if by_drop(results) else [(flips, FLIPS)])
    known = [(estimate, limits) for estimate, limits in held if estimate.value is not None]
    if results.sanity or not known:
        return None
    low, high = (max(_grade(_end(e, end), limits) for e, limits in known) for end in (0, 1))
    return Severity(GRADES[low], GRADES[high], own)


def by_drop(results: Results) -> bool:
    """Does the drop alone decide, since answers that change may be worded otherwise and no rule compares them?"""
    return results.task in REWORDED and not results.compared.get("equivalent")


def _end(estimate: Estimate, end: int) -> float:
    """The lower or the upper end of what is known: of the interval, and of the bounds where outputs are missing."""
    assert estimate.value is not None
    ends = [estimate.value, (estimate.low, estimate.high)[end], (estimate.bounds or (None, None))[end]]
    return (min, max)[end](value for value in ends if value is not None)


def _grade(value: float, limits: tuple[float, ...]) -> int:
    return sum(value >= limit for limit in limits)
