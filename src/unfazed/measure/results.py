"""The shape of what is measured, which is also the shape of `--format json`."""

from __future__ import annotations

import msgspec

from unfazed.core.values import Estimate, Json


class Block(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The measures of one set of variants: all, one operator's, one family's or one slice's.

    `noticed` is for controls, whose meaning changed: the share of them after which the answer did differ.
    """

    clean: Estimate
    average: Estimate
    worst: Estimate
    drop: Estimate
    flips: Estimate
    consistency: Estimate
    noticed: Estimate | None = None


class Results(msgspec.Struct, frozen=True, kw_only=True):
    """All measures of a run under its main score, then the score measures under its other scores.

    `by` goes from "operator", "family" or a slice's name to its values to their blocks; `grid` from operator
    to "slice=value" to the drop there. `validity` says what was in the data: counts, failures, warnings.
    """

    score: str
    task: str
    suite: str
    system: str
    clean: Estimate
    average: Estimate
    worst: Estimate
    drop: Estimate
    flips: Estimate
    consistency: Estimate
    noticed: Estimate | None
    by: dict[str, dict[str, Block]]
    grid: dict[str, dict[str, Estimate]]
    scores: dict[str, dict[str, Estimate]]
    validity: dict[str, Json]


class Difference(msgspec.Struct, frozen=True, kw_only=True):
    """One measure of B less that of A over the examples that both answered; `p_corrected` is for all comparisons made.

    `test` is how p was found: `mcnemar` (exact) or `randomisation`.
    """

    measure: str
    set: str
    a: float | None
    b: float | None
    difference: float | None
    low: float | None
    high: float | None
    p: float | None
    p_corrected: float | None
    test: str
    n: int
    missing: int
    sentence: str
    signature: str


class Comparison(msgspec.Struct, frozen=True, kw_only=True):
    """Two runs on one suite, pair by pair. `a` and `b` are the systems' names."""

    score: str
    task: str
    suite: str
    a: str
    b: str
    correction: str
    level: float
    differences: list[Difference]
