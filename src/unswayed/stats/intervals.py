"""Estimates from observations: the value, its percentile bootstrap interval by example, and the signature of both.

A run that may stop at any time needs a confidence sequence: an interval that holds whenever one stops looking. It is
the normal mixture of Robbins with the variance estimated, as Waudby-Smith and others do: the interval for n given
beforehand, at a higher level that depends on n alone (`anytime_level`). Its pseudo-examples grow with the level, so
that it also holds where few numbers differ from the others.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from math import erf, isfinite, log, sqrt
from typing import Any

import numpy as np
import numpy.typing as npt

from unswayed.base.errors import UsageError
from unswayed.base.ids import content_id
from unswayed.base.registry import VERSION
from unswayed.base.values import Estimate
from unswayed.stats.resample import Array, Observations, bootstrap, sample_of
from unswayed.stats.significance import t_quantile

_NO_WIDTH = 1e-12
_MEAN_VERSION = 1  # of the definition of `mean_of`; part of its signature


@dataclass(frozen=True)
class Resampling:
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
    """The number that some observations give, and the signature to give it."""

    observed: Observations
    signature: str


def estimates(questions: Sequence[Question], settings: Resampling) -> list[Estimate]:
    """An estimate for each question; costly draws are shared among them."""
    columns = [question.observed for question in questions]
    samples = [sample_of(one.values, one.statistic) if len(one.values) else None for one in columns]
    drawn = iter(bootstrap([s for s in samples if s is not None], settings.bootstrap, settings.seed))
    found = []
    for question, sample in zip(questions, samples, strict=True):
        missing = int(question.observed.missing.sum())
        resamples = None if sample is None else next(drawn)
        if sample is None or resamples is None or not isfinite(value := sample.value):
            found.append(Estimate(None, None, None, 0, missing, question.signature))
            continue
        low, high = interval(value, resamples, sample.n, question.observed.span, settings.level)
        found.append(Estimate(value, low, high, sample.n, missing, question.signature))
    return found


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


def mean_of(found: Sequence[Estimate]) -> Estimate:
    """The mean of independent estimates. One that could not be measured leaves it without a value.

    The interval recovers each estimate's variance from its own limits, on either side by itself (MOVER; Zou and
    Donner, 2008), so that it needs no symmetry and no new draws.
    """
    n, missing = sum(e.n for e in found), sum(e.missing for e in found)
    signature = sign({"measure": f"mean:{_MEAN_VERSION}", "of": content_id([e.signature for e in found])})
    return Estimate(*_mover(found, None), n, missing, signature)


def _mover(found: Sequence[Estimate], level: float | None) -> tuple[float | None, float | None, float | None]:
    """The mean and its interval: of independent estimates or, with a level, of trainings on the same examples."""
    k, values = len(found), [e.value for e in found if e.value is not None]
    if not k or len(values) < k:
        return None, None, None
    mean, spread = sum(values) / k, 0.0
    if level is not None:
        spread = t_quantile(0.5 + level / 2, k - 1) * sqrt(sum((v - mean) ** 2 for v in values) / (k - 1) / k)
    # how far each value lies above the lower end of its interval, and below the upper one
    below = [e.value - e.low for e in found if e.value is not None and e.low is not None]
    above = [e.high - e.value for e in found if e.value is not None and e.high is not None]
    low, high = (
        None
        if len(off) < k
        else sqrt(sum(d * d for d in off)) / k
        if level is None
        else sqrt((sum(off) / k) ** 2 + spread**2)
        for off in (below, above)
    )
    return mean, low if low is None else mean - low, high if high is None else mean + high


def over_trainings(
    found: Sequence[Estimate], level: float = 0.95, within: tuple[float, float] | None = None
) -> Estimate:
    """The mean of one measure of several trainings of a model, on the same examples; a single one stays as it is.

    `within` are the least and the greatest that the measure can be, such as 0 and 1 for a share.

    Each estimate's interval covers other examples. The spread between trainings, with Student's t for their number, is
    added to its mean width, squared on either side by itself (MOVER): examples and trainings vary independently.
    """
    if len(found) == 1:
        return found[0]
    k, n, missing = len(found), max((e.n for e in found), default=0), max((e.missing for e in found), default=0)
    first = found[0].signature if found else ""
    signature = f"{first}|trainings={k}:{content_id([e.signature for e in found])}:{_MEAN_VERSION}"
    mean, low, high = _mover(found, level)
    if mean is None:
        return Estimate(None, None, None, n, missing, signature)
    if within is not None:
        low, high = low and max(low, within[0]), high and min(high, within[1])
    return Estimate(mean, low, high, n, missing, signature, over="examples and trainings like these")


def sign(fields: Mapping[str, object], settings: Resampling | None = None, **more: object) -> str:
    """`name=value` joined by bars: the fields, how intervals are made, `more`, and the version of unswayed."""
    how = {} if settings is None else {"level": settings.level, "bootstrap": settings.bootstrap, "seed": settings.seed}
    pairs = {**fields, **how, **more, "unswayed": VERSION}
    fields_of = []
    for name, value in pairs.items():
        escaped = str(value).replace("%", "%25").replace("|", "%7C")  # a bar ends a field
        fields_of.append(f"{name}=" + "".join(c if c.isprintable() else f"%{ord(c):02X}" for c in escaped))
    return "|".join(fields_of)


def digest(*arrays: npt.NDArray[Any]) -> str:
    """An id of the numbers in some arrays, for a signature."""
    h = blake2b(digest_size=8)
    for array in arrays:
        h.update(repr((array.dtype.str, array.shape)).encode())
        h.update(np.ascontiguousarray(array).tobytes())
    return h.hexdigest()


_TIGHTEST = 1000.0  # examples at which the sequence is about as narrow as it can be
_MIXTURE = 8.0 / _TIGHTEST  # the mixture's variance in units of one example's
_HIGHEST = 1 - 1e-15  # beyond it no quantile can be told from infinity


def anytime_deviate(n: int, level: float = 0.95) -> float:
    """How many standard errors wide, on each side, an interval of n examples is that holds at all n at once."""
    spread = _MIXTURE * n
    return sqrt(2 * (1 + 1 / spread) * log(sqrt(spread + 1) / (1 - level)))


def anytime_level(n: int, level: float = 0.95) -> float:
    """The level at which intervals of n examples given beforehand are as wide."""
    return min(erf(anytime_deviate(n, level) / sqrt(2)), _HIGHEST)
