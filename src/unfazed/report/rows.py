"""Results and comparisons as sentences and rows, which `tables` sets as text and `html` as a page."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import msgspec

from unfazed.measure.results import Block, Comparison, Results
from unfazed.report.figures import NONE, number
from unfazed.report.text import label
from unfazed.report.verdict import plain, verdict

MEASURES = ("clean", "average", "worst", "drop", "flips", "consistency", "noticed")

Row = Mapping[str, Any]


class Figure(str):
    """A number that is spelled already; set flush right, as numbers are."""


class Shown(NamedTuple):
    """What is to be set: sentences, then tables."""

    sentences: list[str]
    tables: list[list[Row]]


def shown(value: Any) -> Shown:
    """Results, a comparison, a mapping or rows, for people."""
    if isinstance(value, Results):
        return Shown([plain(verdict(value))], [overall_rows(value), result_rows(value)[1:]])
    if isinstance(value, Comparison):
        return Shown(comparison_sentences(value), [comparison_rows(value)])
    if isinstance(value, Mapping):
        return Shown([], [[{"name": key, "value": entry} for key, entry in value.items()]])
    return Shown([], [list(value)])


def records(value: Any) -> list[Any]:
    """The same for programs: one record a line of JSON lines."""
    if isinstance(value, Results):
        return list(result_rows(value))
    if isinstance(value, Comparison):
        return list(value.differences)
    return [value] if isinstance(value, (Mapping, msgspec.Struct)) else list(value)


def overall_rows(results: Results) -> list[Row]:
    """One row for each measure of all variants."""
    found = [(measure, getattr(results, measure)) for measure in MEASURES]
    return [
        {"measure": measure, results.score: estimate, "examples": estimate.n, "missing": estimate.missing}
        for measure, estimate in found
        if estimate is not None
    ]


def result_rows(results: Results) -> list[Row]:
    """One row for all variants, then one for each operator, family, slice value and other score."""
    rows = [_measures("all", "", results)]
    for by, blocks in results.by.items():
        rows += [_measures(by, name, block) for name, block in blocks.items()]
    rows += [{"by": "score", "name": score, **estimates} for score, estimates in results.scores.items()]
    return rows


def _measures(by: str, name: str, block: Block | Results) -> Row:
    found = {measure: getattr(block, measure) for measure in MEASURES}
    return {"by": by, "name": name, **{k: v for k, v in found.items() if v is not None}}


def comparison_rows(comparison: Comparison) -> list[Row]:
    """One row for each difference, B less A."""
    return [
        {
            "set": d.set,
            "measure": d.measure,
            "A": d.a,
            "B": d.b,
            "B - A": Figure(_span(d.difference, d.low, d.high)),
            "p": Figure(chance(d.p_corrected)),
            "n": d.n,
        }
        for d in comparison.differences
    ]


def comparison_sentences(comparison: Comparison) -> list[str]:
    """Which is A and which B, and what each difference over all variants means."""
    how = "not corrected" if comparison.correction == "none" else f"corrected ({comparison.correction})"
    which = f"A is {label(comparison.a)}, B is {label(comparison.b)}; {label(comparison.score)}, p-values {how}."
    overall = [d for d in comparison.differences if d.set in ("", "all")]
    return [which, *(d.sentence for d in overall or comparison.differences)]


def chance(p: float | None) -> str:
    """A p-value; one too small for three decimals is said to be below them, since none is zero."""
    if p is None:
        return NONE
    return "<0.001" if p < 0.001 else number(p)


def _span(value: float | None, low: float | None, high: float | None) -> str:
    if value is None or low is None or high is None:
        return number(value)
    return f"{number(value)} [{number(low)}, {number(high)}]"
