"""Equivalence: whether the drop is shown to lie within a margin, by two one-sided tests (TOST)."""

from __future__ import annotations

from math import ceil
from statistics import NormalDist

import numpy as np

from unfazed.core.errors import UsageError, option
from unfazed.core.values import Estimate
from unfazed.measure.questions import ALL, Questions
from unfazed.measure.results import Equivalence, Within

_POWER = 0.8


def check_margin(within: float | None) -> None:
    """Raises if a margin is not a number above zero."""
    if within is not None and not 0 < within < float("inf"):
        raise UsageError(f"{option('within')} must be a number above 0, such as 0.02, not {within}.")


def within_margin(questions: Questions, operators: list[str], margin: float, level: float) -> Within:
    """Of all variants, and of each operator: their tests are corrected for one another (Bonferroni).

    A test of level alpha on either side is an interval of level 1 - 2 alpha that lies inside the margins.
    """
    alpha = 1 - level
    whole = _shown(questions, ("", ALL, "drop"), margin, alpha)
    each = {name: _shown(questions, ("operator", name, "drop"), margin, alpha / len(operators)) for name in operators}
    return Within(margin=margin, whole=whole, operators=each)


def _shown(questions: Questions, at: tuple[str, str, str], margin: float, alpha: float) -> Equivalence:
    drop = questions.at_level(at, 1 - 2 * alpha)
    if drop.value is None or drop.low is None or drop.high is None:
        return Equivalence(low=None, high=None, shown=False, outside=False, needed=None)
    shown, outside = -margin < drop.low and drop.high < margin, drop.low > margin or drop.high < -margin
    needed = None if shown or outside else _needed(questions, at, drop, margin, alpha)
    return Equivalence(low=drop.low, high=drop.high, shown=shown, outside=outside, needed=needed)


def _needed(questions: Questions, at: tuple[str, str, str], drop: Estimate, margin: float, alpha: float) -> int | None:
    """About how many examples would show it in four of five studies, if the drop is what was measured."""
    numbers = questions.units(at)[1]
    room = margin - abs(drop.value or 0.0)
    if room <= 0 or numbers.units < 2:
        return None
    values = numbers.total / np.maximum(numbers.weight, 1e-12)
    spread = max(float(np.std(values, ddof=1)), 1 / numbers.units)
    normal = NormalDist()
    wanted = (normal.inv_cdf(1 - alpha) + normal.inv_cdf(_POWER)) * spread / room
    return max(ceil(wanted**2), drop.n + 1)
