"""p-values corrected for the number of comparisons made."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from unfazed.core.errors import UnknownName


def bonferroni(p_values: Sequence[float]) -> list[float]:
    """Each p-value times their number, at most 1."""
    return [min(1.0, p * len(p_values)) for p in p_values]


def holm(p_values: Sequence[float]) -> list[float]:
    """Holm's step-down: the smallest times m, the next times m - 1, …, never below the one before it.

    It holds the same promise as Bonferroni's and is never larger.
    """
    corrected = [0.0] * len(p_values)
    highest = 0.0
    for done, place in enumerate(sorted(range(len(p_values)), key=lambda i: p_values[i])):
        highest = max(highest, min(1.0, p_values[place] * (len(p_values) - done)))
        corrected[place] = highest
    return corrected


CORRECTIONS: dict[str, Callable[[Sequence[float]], list[float]]] = {
    "holm": holm,
    "bonferroni": bonferroni,
    "none": list,
}


def correct(p_values: Sequence[float | None], method: str = "holm") -> list[float | None]:
    """The corrected p-values; where nothing was tested (None), nothing is corrected and nothing counted."""
    if method not in CORRECTIONS:
        raise UnknownName("correction", method, CORRECTIONS)
    corrected = iter(CORRECTIONS[method]([p for p in p_values if p is not None]))
    return [None if p is None else next(corrected) for p in p_values]
