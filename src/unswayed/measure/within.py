"""Equivalence: whether the drop is shown to lie within a margin, by two one-sided tests (TOST)."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, sqrt
from statistics import NormalDist

import numpy as np

from unswayed.base.errors import UsageError, option
from unswayed.base.values import Estimate
from unswayed.measure.questions import ALL, Place, Questions
from unswayed.measure.results import Equivalence, Within
from unswayed.stats.anytime import anytime_level

_POWER = 0.8


def check_margin(within: float | None) -> None:
    """Raises if a margin is not a number above zero."""
    if within is not None and not 0 < within < float("inf"):
        raise UsageError(f"{option('within')} must be a number above 0, such as 0.02, not {within}.")


def within_margin(
    questions: Questions, operators: list[str], margin: float, level: float, anytime: bool = False,
    filled: Sequence[Questions] = (),
) -> Within:  # fmt: skip
    """Of all variants, and of each operator: their tests are corrected for one another (Bonferroni).

    It is shown if the interval of level 1 - alpha lies inside the margins. Two tests of level alpha allow for one of
    level 1 - 2 alpha, but that claims too much where losses are rare: 7% for 5%. `anytime` is for a run that stops
    when the drop is known well enough. What is missing may be as in any of `filled`.
    """
    alpha = 1 - level

    def shown(at: Place, alpha: float) -> Equivalence:
        n = questions.at_level(at, level).n
        wanted = anytime_level(n, 1 - alpha) if anytime and n else 1 - alpha
        return _shown(questions, at, margin, alpha, [one.at_level(at, wanted) for one in (questions, *filled)])

    each = {name: shown(("operator", name, "drop"), alpha / len(operators)) for name in operators}
    return Within(margin=margin, whole=shown(("", ALL, "drop"), alpha), operators=each)


def _shown(questions: Questions, at: Place, margin: float, alpha: float, drops: Sequence[Estimate]) -> Equivalence:
    lows, highs = [d.low for d in drops if d.low is not None], [d.high for d in drops if d.high is not None]
    if drops[0].value is None or len(lows) < len(drops) or len(highs) < len(drops):
        return Equivalence(low=None, high=None, shown=False, outside=False, needed=None)
    low, high = min(lows), max(highs)
    shown, outside = -margin < low and high < margin, low > margin or high < -margin
    needed = None if shown or outside or len(drops) > 1 else _needed(questions, at, drops[0], margin, alpha)
    return Equivalence(low=low, high=high, shown=shown, outside=outside, needed=needed)


def _needed(questions: Questions, at: Place, drop: Estimate, margin: float, alpha: float) -> int | None:
    """About how many examples would show it in four of five studies, if the drop is what was measured."""
    numbers = questions.units(at)[1]
    room = margin - abs(drop.value or 0.0)
    if room <= 0 or numbers.units < 2:
        return None
    values = numbers.total / np.maximum(numbers.weight, 1e-12)
    spread = float(np.std(values, ddof=1))
    z, power = NormalDist().inv_cdf(1 - alpha / 2), NormalDist().inv_cdf(_POWER)
    units = float(numbers.units)
    while z * sqrt(spread**2 / units + (z / units) ** 2) + power * spread / sqrt(units) > room:
        units *= 1.02  # the second term is what the pseudo-examples of a difference add
    return max(ceil(drop.n * units / numbers.units), drop.n + 1)
