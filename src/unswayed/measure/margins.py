"""Gates of a comparison: on a measure, a new run may be at most so much worse than the baseline (non-inferiority)."""

from __future__ import annotations

from typing import Literal

import msgspec
import numpy as np

from unswayed.base.errors import UnknownName, UsageError, option
from unswayed.measure.compared import NotWorse
from unswayed.measure.contrasts import Contrast
from unswayed.measure.definitions import MEASURES
from unswayed.measure.gates import AT_LEAST, Limits, limits_of
from unswayed.measure.sets import ALL, spelled, split_measure
from unswayed.run.plan import GateOn
from unswayed.stats import Numbers, mean_interval

_USAGE = "[SET:]MEASURE:MARGIN, such as worst:0.02 or keyboard/adjacent:worst:0.02"
_ROUNDING = 1e-12
_MOST_EXAMPLES = 1 << 24


class Margin(msgspec.Struct, frozen=True):
    """How much worse a measure may be, over all variants or over the sets that `set` names."""

    measure: str
    margin: float
    set: str = "all"


def margin_limits(given: Limits) -> dict[str, float]:
    """From `[SET:]MEASURE` to margin."""
    return limits_of(given, ":=", _USAGE)


def margins_of(given: Limits) -> list[Margin]:
    """The margins in texts as at the command line, or in a mapping from `[SET:]MEASURE` to margin."""
    found = []
    for name, margin in margin_limits(given).items():
        set_, measure = split_measure(name)
        if measure not in MEASURES:
            raise UnknownName("measure to compare", measure, MEASURES)
        if margin < 0:
            raise UsageError(f"The margin of {name!r} must not be negative, as {margin:g} is. Write {_USAGE}.")
        found.append(Margin(measure, margin, set_ or "all"))
    return found


def check_margin(margin: float, contrast: Contrast, level: float, on: GateOn) -> NotWorse:
    """Holds a difference against its margin.

    `on` says which figure: "ci-lower", the end of the interval where B is worst, passes only what is shown to be not
    worse; "ci-upper", the other end, fails only what is shown to be worse; "value" is the difference itself.
    """
    sign = 1 if contrast.measure in AT_LEAST else -1
    low, high = contrast.interval(level, contrast.to_margin)
    value = contrast.difference
    ends = {"value": value, "ci-lower": low if sign > 0 else high, "ci-upper": high if sign > 0 else low}
    bound = ends[on]
    what = contrast.measure if contrast.set == ALL else f"{contrast.measure} on {spelled(contrast.set)}"
    name = contrast.measure if contrast.set == ALL else f"{spelled(contrast.set)}:{contrast.measure}"

    def worse(end: float | None) -> bool:
        """Is it worse by more than the margin? What is not known may be."""
        return end is None or -sign * end > margin + _ROUNDING

    passed = not worse(bound)
    status: Literal["passed", "worse", "unclear"] = "passed"
    if not passed:
        status = "worse" if ends["ci-upper"] is not None and worse(ends["ci-upper"]) else "unclear"
    sentence = _sentence(what, margin, contrast, level, status, on)
    return NotWorse(
        name=name, measure=contrast.measure, set=contrast.label, margin=margin, difference=value, low=low, high=high,
        bound=bound, status=status, passed=passed, sentence=sentence,
    )  # fmt: skip


def _sentence(what: str, margin: float, contrast: Contrast, level: float, status: str, on: GateOn) -> str:
    ends = contrast.interval(level, contrast.to_margin)
    if contrast.difference is None:
        return f"{what}: there is nothing to compare, so the margin of {margin:g} does not hold: failed."
    figures = f"difference {contrast.difference:.3f}"
    if ends[0] is not None and ends[1] is not None:
        figures += f", {ends[0]:.3f} to {ends[1]:.3f}"
    if status == "passed":
        return f"{what}: B is not worse than A by more than {margin:g} ({figures}): passed."
    if status == "worse":
        return f"{what}: B is worse than A by more than {margin:g} ({figures}): failed."
    if on == "value":
        return f"{what}: B is worse than A by more than {margin:g}, but that may be chance ({figures}): failed."
    return (
        f"{what}: it is unclear whether B is worse than A by more than {margin:g} ({figures}): failed."
        f"{_needed(margin, contrast, level)} {option('gate-on')} ci-upper fails only what is shown to be worse."
    )


def _needed(margin: float, contrast: Contrast, level: float) -> str:
    """How many examples it takes at least, if these are too few even for equal answers."""
    enough = 1
    while not _shows(enough, margin, contrast, level) and enough < _MOST_EXAMPLES:
        enough *= 2
    least = enough // 2
    while enough - least > 1:
        middle = (least + enough) // 2
        least, enough = (least, middle) if _shows(middle, margin, contrast, level) else (middle, enough)
    if enough <= contrast.numbers.units or enough >= _MOST_EXAMPLES:
        return ""
    units = "clusters" if contrast.clustered else "examples"
    return f" At least {enough:,} {units} are needed to show it, even with equal answers."


def _shows(n: int, margin: float, contrast: Contrast, level: float) -> bool:
    same = Numbers(np.zeros(1), np.ones(1), np.full(1, float(n)))
    low, _ = mean_interval(same, contrast.span, level, contrast.to_margin)
    return low is not None and -low <= margin
