"""Differences between runs: which are tested together, what that gives, and what each says in plain words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite

from unswayed.base.text import number
from unswayed.measure.against import Gathered
from unswayed.measure.compared import Difference, title
from unswayed.measure.contrasts import Contrast
from unswayed.measure.sets import ALL, spelled
from unswayed.run.plan import MeasurePlan
from unswayed.stats import correct
from unswayed.stats.simultaneous import corrected_together, largest, level_together

TEST = "paired t"
_ROUNDING = 1e-9


@dataclass(frozen=True)
class Tested:
    """A difference's corrected p-value, and the level of its interval."""

    p: float | None
    level: float
    primary: bool


def tested_together(
    contrasts: Sequence[Contrast], found: Gathered, plan: MeasurePlan, correction: str, primary: bool
) -> dict[Contrast, Tested]:
    """One family of tests. A difference that is not known is in it, but not tested."""
    known = [contrast for contrast in contrasts if contrast.p is not None]
    p_values = [contrast.p for contrast in known if contrast.p is not None]
    level, width = plan.level, len(known)
    if correction == "max-t":
        drawn = largest(found.correlation(known), plan.bootstrap, plan.seed) if width > 1 else None
        corrected = p_values if drawn is None else corrected_together(p_values, drawn)
        level = level if drawn is None else level_together(level, drawn, width)
    else:
        corrected = [p for p in correct(p_values, correction) if p is not None]
        level = level if correction == "none" else 1 - (1 - level) / max(width, 1)
    p_of = dict(zip(known, corrected, strict=True))
    return {contrast: Tested(p_of.get(contrast), level, primary) for contrast in contrasts}


def difference_of(contrast: Contrast, tested: Tested, level: float, signature: str) -> Difference:
    """A difference with its sentence; `level` is the one that was asked for."""
    a, b = contrast.values
    low, high = contrast.interval(tested.level)
    shown = tested.p is not None and tested.p <= 1 - level + _ROUNDING
    return Difference(
        measure=contrast.measure, set=contrast.label, a=a, b=b, difference=contrast.difference, low=low, high=high,
        p=contrast.p, p_corrected=tested.p, test=TEST if tested.p is not None else "none", n=contrast.n,
        missing=contrast.missing, sentence=_sentence(contrast, (low, high), tested.p, shown), signature=signature,
        primary=tested.primary, shown=shown,
    )  # fmt: skip


def _sentence(contrast: Contrast, ends: tuple[float | None, float | None], p: float | None, shown: bool) -> str:
    """`Worst falls by 4.1 points [2.6, 5.6] on keyboard/adjacent, from 0.853 to 0.812 (p < 0.001).`"""
    where = "" if contrast.set == ALL else f" on {spelled(contrast.set)}"
    what, difference = title(contrast.measure), contrast.difference
    a, b = contrast.values
    if difference is None or p is None or a is None or b is None:
        return f"{what} can't be compared{where}: there is no example that both runs answered."
    turn = -1 if difference < 0 else 1
    scale, unit, digits = _unit(contrast, abs(difference))
    low, high = sorted(turn * end * scale if end is not None else float("nan") for end in ends)
    span = f" [{_figure(low, digits)}, {_figure(high, digits)}]" if isfinite(low + high) else ""
    if difference == 0:
        return f"{what} stays at {number(a)}{where}{span and f'; it may differ by {_figure(high, digits)}{unit}'}."
    moves = "rises" if difference > 0 else "falls"
    chance = f"p {'< 0.001' if p < 0.001 else f'= {p:.3f}'}"
    by = f"{_figure(abs(difference) * scale, digits)}{unit}{span}"
    said = f"{what} {moves} by {by}{where}, from {number(a)} to {number(b)}"
    return f"{said} ({chance})." if shown else f"{said}, but that may be chance ({chance})."


def _unit(contrast: Contrast, difference: float) -> tuple[float, str, int]:
    """The scale, the unit and the decimals: measures from 0 to 1 change by points of a hundred."""
    if contrast.span[1] - contrast.span[0] > 4:  # that of a drop's difference, where scores go from 0 to 1
        return 1.0, "", 3
    return 100.0, " points", 2 if 0 < difference < 0.001 else 1


def _figure(value: float, digits: int) -> str:
    text = f"{value:.{digits}f}"
    return text.lstrip("-") if float(text) == 0 else text
