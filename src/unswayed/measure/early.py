"""Rules by which a run may end early, such as drop±0.02."""

from __future__ import annotations

import re
from collections.abc import Sequence
from math import isfinite
from typing import NamedTuple

from unswayed.base.errors import UnknownName, UsageError, option
from unswayed.base.values import Estimate
from unswayed.measure.definitions import MEASURES, SCORE_MEASURES
from unswayed.measure.results import Results
from unswayed.score import Scorer

_RULE = re.compile(r"\s*([\w-]+)\s*(?:±|\+-|\+/-)\s*(\S+)\s*")


class StopRule(NamedTuple):
    """Holds once the interval of a measure is no wider than `within` on each side, on average."""

    measure: str
    within: float
    text: str

    def holds(self, results: Results) -> bool:
        width = self.reached(results)
        return width is not None and width <= self.within

    def reached(self, results: Results) -> float | None:
        """Half of the interval's width."""
        found: Estimate | None = getattr(results.whole, self.measure)
        if found is None or found.low is None or found.high is None:
            return None
        return (found.high - found.low) / 2


def stop_rules(texts: Sequence[str]) -> list[StopRule]:
    """The rules that texts such as `drop±0.02` and `flips+-0.01` spell; raises what is wrong with them."""
    return [_rule(text) for text in texts]


def _rule(text: str) -> StopRule:
    match = _RULE.fullmatch(text)
    try:
        within = float(match[2]) if match else float("nan")
    except ValueError:
        within = float("nan")
    if match is None or not isfinite(within) or within <= 0:
        raise UsageError(
            f"{option('stop-when')} takes a measure and a width, such as drop±0.02 or drop+-0.02, not {text!r:.60}."
        )
    if match[1] not in MEASURES:
        raise UnknownName("measure to stop on", match[1], MEASURES)
    return StopRule(match[1], within, text)


def check_stop_rules(rules: Sequence[StopRule], main: Scorer | None) -> None:
    """Raises if a rule is for a score of a whole set, which is not a mean over examples."""
    for rule in rules:
        if rule.measure in SCORE_MEASURES and main is None:
            raise UsageError(f"{rule.text} can't be reached: the task has no score. Use flips or consistency.")
        if rule.measure in SCORE_MEASURES and main is not None and not main.linear:
            raise UsageError(
                f"{option('stop-when')} {rule.text} needs a mean over examples, and {main.name} is a score of the "
                f"whole set. Use flips or consistency, or another main score with {option('score', 'scores')}."
            )


def not_reached(results: Results, rules: Sequence[str]) -> list[str]:
    """What is said of rules that did not hold when there was nothing left to ask."""
    said = []
    for rule in stop_rules(rules):
        width = rule.reached(results)
        if width is not None and width > rule.within:
            said.append(f"{rule.text} was not reached: the interval of {rule.measure} is ±{width:.3g}.")
    return said
