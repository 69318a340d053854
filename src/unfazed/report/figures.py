"""Numbers as people read them: one spelling for a value, an interval, a share, and for what is missing."""

from __future__ import annotations

from unfazed.core.values import Estimate

NONE = "–"  # nothing was measured, which is not zero


def number(value: float | None, digits: int = 3) -> str:
    """`0.812`; scores on another scale than 0 to 1 get fewer decimals; no negative zero."""
    if value is None:
        return NONE
    digits = max(0, digits - 1) if abs(value) >= 10 else digits
    text = f"{value:.{digits}f}"
    return text.lstrip("-") if float(text) == 0 else text


def interval(estimate: Estimate, digits: int = 3) -> str:
    """`0.790 to 0.833`, or nothing where there is no interval."""
    if estimate.low is None or estimate.high is None:
        return ""
    return typeset(f"{number(estimate.low, digits)} to {number(estimate.high, digits)}")


def figure(estimate: Estimate | None) -> str:
    """`0.812 [0.790, 0.833]`, for terminals and files."""
    if estimate is None or estimate.value is None:
        return NONE
    if estimate.low is None or estimate.high is None:
        return number(estimate.value)
    return f"{number(estimate.value)} [{number(estimate.low)}, {number(estimate.high)}]"


def percent(value: float | None) -> str:
    """A share as `12 %`; one that is small but not zero is `under 1 %`."""
    if value is None:
        return NONE
    if 0 < value < 0.01:
        return "under 1 %"
    return f"{100 * value:.0f} %"


def typeset(text: str) -> str:
    """Numbers with a true minus sign, for pages."""
    return text.replace("-", "−")


def includes_zero(estimate: Estimate) -> bool:
    """Could the true difference be none? An estimate without an interval could."""
    if estimate.low is None or estimate.high is None:
        return True
    return estimate.low <= 0 <= estimate.high


def title(score: str) -> str:
    """A score's name as a heading starts: `macro_f1` is `Macro f1`."""
    words = score.replace("_", " ").replace("/", " ").strip()
    return words[:1].upper() + words[1:]
