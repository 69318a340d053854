"""Error rate: how many characters of a text must be changed to get its version, for each character of the text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from hashlib import blake2b
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from unswayed.base.ids import canonical
from unswayed.base.values import Estimate
from unswayed.measure.gathering import estimate_of
from unswayed.stats import Array, Mean, Observations, Resampling, sign
from unswayed.storage.suite import Suite

VERSION = 2
_ENDLESS = (0.0, float("inf"))  # a version may be longer than its text
Texts = tuple[str, ...]  # what belongs together, such as the two sentences of a pair
Group = tuple[Texts, Sequence[Texts]]  # an example's texts, and those of each of its versions


class ErrorRates(NamedTuple):
    """The mean over examples of their versions' mean error rate, and of their versions' highest; 0.2 is 20%."""

    average: Estimate
    worst: Estimate


def error_rates(groups: Iterable[Group], level: float = 0.95) -> ErrorRates:
    """The error rates of examples with their versions. Texts that belong together count as one long text.

    Intervals are Student's, by example. A version of a text without characters has no error rate and is missing; an
    example without versions is left out.
    """
    Resampling(level)
    owner, rates, digest = _rates(groups)
    n = int(owner.max()) + 1 if len(owner) else 0
    known = ~np.isnan(rates)
    missing = np.bincount(owner[~known], minlength=n)
    owner, rates = owner[known], rates[known]
    counts = np.bincount(owner, minlength=n)
    examples = np.flatnonzero(counts)
    sums = np.bincount(owner, weights=rates, minlength=n)
    highest = np.zeros(n)
    np.maximum.at(highest, owner, rates)
    values = {"average": sums[examples] / counts[examples], "worst": highest[examples]}
    return ErrorRates(*(
        estimate_of(
            Observations(examples, value[:, None], Mean(), missing, _ENDLESS),
            sign({"measure": f"error_rate.{name}:{VERSION}", "texts": digest}, level=level),
            level,
        )
        for name, value in values.items()
    ))  # fmt: skip


def suite_error_rates(suite: Suite, family: str | None = None, level: float = 0.95) -> ErrorRates:
    """The error rates of a suite's variants, or of one family's, in the inputs that its task varies."""

    def groups() -> Iterable[Group]:
        for example, variants in suite.groups():
            fields = suite.task.texts(example.inputs)
            chosen = [v for v in variants if v.meaning == "same" and family in (None, v.family)]
            if chosen:
                texts = tuple(example.inputs[field] for field in fields)
                yield texts, [tuple(v.inputs.get(field, "") for field in fields) for v in chosen]

    return error_rates(groups(), level)


def distances(texts: Sequence[str], versions: Sequence[str]) -> npt.NDArray[np.int64]:
    """The Levenshtein distance of each text to its version, in characters."""
    from rapidfuzz.distance import Levenshtein
    from rapidfuzz.process import cpdist

    found: npt.NDArray[np.int64] = cpdist(texts, versions, scorer=Levenshtein.distance, dtype=np.int64)
    return found


def _rates(groups: Iterable[Group]) -> tuple[npt.NDArray[np.int64], Array, str]:
    """For each version the number of its example and its error rate, NaN without one; and a digest of all texts."""
    owners: list[int] = []
    version: list[int] = []
    texts: list[str] = []
    others: list[str] = []
    for number, (own, versions) in enumerate(groups):
        for other in versions:
            version.extend([len(owners)] * len(own))
            owners.append(number)
            texts.extend(own)
            others.extend(other)
    digest = blake2b(canonical([owners, texts, others]), digest_size=8).hexdigest()
    if not owners:
        return np.zeros(0, dtype=np.int64), np.zeros(0), digest
    edits = np.bincount(version, weights=distances(texts, others), minlength=len(owners))
    lengths = np.bincount(version, weights=[len(text) for text in texts], minlength=len(owners))
    rates = np.divide(edits, lengths, out=np.full(len(owners), np.nan), where=lengths > 0)
    return np.array(owners, dtype=np.int64), rates, digest
