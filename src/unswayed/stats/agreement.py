"""How far people agree: Krippendorff's alpha, Cohen's and Fleiss' kappa, with intervals that resample items."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from itertools import combinations
from typing import Literal

import msgspec
import numpy as np

from unswayed.base.ids import content_id
from unswayed.stats import Array, Estimate, Observations, Question, Resampling, Statistic, estimates, ratio, sign

VERSION = 2  # of these definitions; part of every signature
Level = Literal["nominal", "interval"]
Rating = Hashable
Ratings = Mapping[str, Mapping[str, Rating]]  # item → person → what they said


class RaterAgreement(msgspec.Struct, frozen=True):
    """`cohen` is the mean over pairs of people who share items; `fleiss` needs equally many answers for each item."""

    alpha: Estimate
    fleiss: float | None
    cohen: float | None
    pairs: int


def rater_agreement(ratings: Ratings, level: Level = "nominal") -> RaterAgreement:
    """Agreement on items that at least two people judged."""
    both = {item: dict(said) for item, said in ratings.items() if len(said) > 1}
    shared: dict[tuple[str, str], list[tuple[Rating, Rating]]] = {}  # by two people: what they said of the same items
    for said in both.values() if level == "nominal" else ():
        for one, other in combinations(sorted(said), 2):
            shared.setdefault((one, other), []).append((said[one], said[other]))
    kappas = [cohen_kappa([a for a, _ in pairs], [b for _, b in pairs]) for pairs in shared.values()]
    cohens = [kappa for kappa in kappas if kappa is not None]
    cohen = sum(cohens) / len(cohens) if cohens else None
    fleiss = fleiss_kappa([list(said.values()) for said in both.values()]) if level == "nominal" else None
    return RaterAgreement(krippendorff_alpha(both, level), fleiss, cohen, len(cohens))


def krippendorff_alpha(
    ratings: Ratings, level: Level = "nominal", bootstrap: int = 1000, seed: int = 0, confidence: float = 0.95
) -> Estimate:
    """Krippendorff's alpha, 1 − observed / expected disagreement. Its interval resamples items.

    It has no value if fewer than two people share an item, or if nobody ever gives another answer.
    """
    settings = Resampling(confidence, bootstrap, seed)
    answers = sorted((item, who, repr(answer)) for item, given in ratings.items() for who, answer in given.items())
    fields = {"measure": f"krippendorff:{VERSION}", "scale": level, "answers": content_id(answers)}
    units = [list(given.values()) for given in ratings.values() if len(given) > 1]
    alone = np.array([len(ratings) - len(units)], dtype=np.int64)
    # per item what alpha is made of: every value weighs 1/(m − 1) of its pairs within an item of m answers, so that an
    # item counts with m values
    rows: list[Sequence[float]] = []
    names = {name: n for n, name in enumerate(dict.fromkeys(value for unit in units for value in unit))}
    for unit in units:
        if level == "interval":
            x = np.array(unit, dtype=float)
            rows.append((2 * float(len(x) * (x @ x) - x.sum() ** 2) / (len(x) - 1), len(x), x.sum(), x @ x))
        else:
            counts = np.bincount([names[value] for value in unit], minlength=len(names))
            rows.append([float(len(unit) ** 2 - counts @ counts) / (len(unit) - 1), *counts.tolist()])
    values, statistic = np.array(rows, dtype=float), _Interval() if level == "interval" else _Nominal()
    observed = Observations(np.arange(len(units)), values, statistic, alone, (-1.0, 1.0))
    return estimates([Question(observed, sign(fields, settings))], settings)[0]


class _Nominal(Statistic):
    def __call__(self, sums: Array, n: int) -> Array:
        values = sums[:, 1:].sum(axis=1)
        expected = (values**2 - (sums[:, 1:] ** 2).sum(axis=1)) / (values - 1)
        return 1 - ratio(sums[:, 0], expected)


class _Interval(Statistic):
    def __call__(self, sums: Array, n: int) -> Array:
        observed, values, total, squares = sums.T
        expected = 2 * (values * squares - total**2) / (values - 1)
        return 1 - ratio(observed, np.where(expected > 0, expected, 0.0))


def cohen_kappa(one: Sequence[Rating], other: Sequence[Rating]) -> float | None:
    """Cohen's kappa of two people on the same items; None where chance alone would agree on all."""
    n = len(one)
    if not n:
        return None
    names = set(one) | set(other)
    observed = sum(a == b for a, b in zip(one, other, strict=True)) / n
    expected = sum(one.count(name) * other.count(name) for name in names) / n**2
    return (observed - expected) / (1 - expected) if expected < 1 else None


def fleiss_kappa(units: Sequence[Sequence[Rating]]) -> float | None:
    """Fleiss' kappa; None unless every item has equally many answers."""
    sizes = {len(unit) for unit in units}
    if len(sizes) != 1 or sizes == {1}:
        return None
    (m,) = sizes
    names = {value for unit in units for value in unit}
    counts = np.array([[list(unit).count(name) for name in names] for unit in units], dtype=float)
    observed = float((((counts**2).sum(axis=1) - m) / (m * (m - 1))).mean())
    expected = float(((counts.sum(axis=0) / counts.sum()) ** 2).sum())
    return (observed - expected) / (1 - expected) if expected < 1 else None
