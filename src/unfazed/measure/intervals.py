"""Estimates from columns: the value, its percentile bootstrap interval by example, and the signature of both."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite

import numpy as np

from unfazed.core.errors import UsageError
from unfazed.core.values import Estimate
from unfazed.measure.measures import Column
from unfazed.measure.resample import Sample, bootstrap, sample_of
from unfazed.measure.statistics import Array
from unfazed.measure.table import Bools

_NO_WIDTH = 1e-12


@dataclass(frozen=True)
class Settings:
    """How intervals are made: their level, the number of bootstrap samples, and the seed of these."""

    level: float = 0.95
    bootstrap: int = 10_000
    seed: int = 0

    def __post_init__(self) -> None:
        if not 0 < self.level < 1:
            raise UsageError(f"The level of intervals must lie between 0 and 1, not {self.level}.")
        if self.bootstrap < 1:
            raise UsageError(f"The number of bootstrap samples must be at least 1, not {self.bootstrap}.")
        if self.seed < 0:
            raise UsageError(f"The seed must not be negative, as {self.seed} is.")


@dataclass(frozen=True)
class Question:
    """One number that is wanted: a column, the slice of examples to take from it, and the signature to give it."""

    column: Column
    signature: str
    inside: Bools | None = None

    def sample(self) -> Sample | None:
        """What is resampled, or None if the slice holds nothing that was measured."""
        values = self.column.values
        if self.inside is not None:
            values = values[self.inside[self.column.examples]]
        return sample_of(values, self.column.statistic) if len(values) else None

    @property
    def missing(self) -> int:
        missing = self.column.missing
        return int(missing.sum() if self.inside is None else missing[self.inside].sum())


def estimates(questions: Sequence[Question], settings: Settings) -> list[Estimate]:
    """An estimate for each question; costly draws are shared among them."""
    samples = [question.sample() for question in questions]
    drawn = iter(bootstrap([s for s in samples if s is not None], settings.bootstrap, settings.seed))
    return [
        _estimate(question, sample, next(drawn) if sample is not None else None, settings)
        for question, sample in zip(questions, samples, strict=True)
    ]


def _estimate(question: Question, sample: Sample | None, drawn: Array | None, settings: Settings) -> Estimate:
    value = None if sample is None else sample.value
    if sample is None or drawn is None or value is None or not isfinite(value):
        return Estimate(None, None, None, 0, question.missing, question.signature)
    low, high = interval(value, drawn, sample.n, question.column.span, settings.level)
    return Estimate(value, low, high, sample.n, question.missing, question.signature)


def interval(
    value: float, drawn: Array, n: int, span: tuple[float, float], level: float
) -> tuple[float | None, float | None]:
    """The percentile interval; or, where all resamples agree, the exact bound of `certain_interval`."""
    drawn = drawn[~np.isnan(drawn)]
    if not len(drawn):
        return None, None
    if np.ptp(drawn) <= _NO_WIDTH:
        return certain_interval(value, n, span, level)
    low, high = np.quantile(drawn, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


def certain_interval(
    value: float, n: int, span: tuple[float, float], level: float
) -> tuple[float | None, float | None]:
    """The interval when all n examples give the same value, which the bootstrap would call certain.

    By Clopper and Pearson at least p = ((1 - level) / 2) ** (1 / n) of all examples then give that value; the others
    may lie anywhere in the span. For 0 or 1 in a span of 0 to 1 this is their exact interval.
    """
    share = ((1 - level) / 2) ** (1 / n)
    low, high = (share * value + (1 - share) * end for end in span)
    return (low if isfinite(low) else None), (high if isfinite(high) else None)
