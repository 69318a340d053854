"""How far people agree: Krippendorff's alpha, Cohen's and Fleiss' kappa, with intervals over items."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from itertools import combinations
from math import isfinite
from statistics import NormalDist
from typing import Literal

import msgspec
import numpy as np

from unswayed.base.ids import content_id
from unswayed.stats import (
    Array,
    Estimate,
    Numbers,
    Resampling,
    Statistic,
    heavy_tails,
    interval,
    pseudo_of,
    ratio,
    sample_of,
    sign,
    t_quantile,
)

VERSION = 3  # of these definitions; part of every signature
Level = Literal["nominal", "interval"]
Rating = Hashable
_DRAWN = 1 << 21  # random numbers held at once
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
    """Krippendorff's alpha, 1 − observed / expected disagreement.

    Its interval is a Bayesian bootstrap of items with pseudo-items: one on which all agree and half a one on which
    nobody does. Without them, 20 items with a rare answer gave intervals that cover 66% to 75%, since resamples without
    that answer have no alpha, and those without an error look certain; a jackknife with Student's t covers no more.

    It has no value if fewer than two people share an item, or if nobody ever gives another answer.
    """
    settings = Resampling(confidence, bootstrap, seed)
    answers = sorted((item, who, repr(answer)) for item, given in ratings.items() for who, answer in given.items())
    fields = {"measure": f"krippendorff:{VERSION}", "scale": level, "answers": content_id(answers)}
    signature = sign(fields, settings)
    units = [list(given.values()) for given in ratings.values() if len(given) > 1]
    alone = len(ratings) - len(units)
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
    statistic, n = _Interval() if level == "interval" else _Nominal(), len(units)
    sample = sample_of(np.array(rows, dtype=float), statistic) if rows else None
    if sample is None or not isfinite(value := sample.value):
        return Estimate(None, None, None, 0, alone, signature)
    many = sum(map(len, units)) / n  # answers of an item
    if level == "interval":
        seen = [float(np.quantile([x for unit in units for x in unit], q)) for q in (0.0, 1.0)]
        middle, squares = sum(seen) / 2, sum(x * x for x in seen) / 2
        spread = 2 * float(np.var(np.concatenate([np.array(unit, dtype=float) for unit in units])))
        pseudo = [[0.0, many, many * x, many * x * x] for x in seen]
        pseudo.append([many * spread, many, many * middle, many * squares])
    else:
        pseudo = [[0.0, *(many * (other == one) for other in range(len(names)))] for one in range(len(names))]
        pseudo.append([many, *[many / len(names)] * len(names)])
    weights = np.array([*sample.counts.tolist(), *[1 / (len(pseudo) - 1)] * (len(pseudo) - 1), 0.5])
    table, rng = np.vstack([sample.rows, np.array(pseudo)]), np.random.Generator(np.random.PCG64(seed))
    drawn: list[Array] = []
    step = max(1, _DRAWN // len(weights))
    for at in range(0, bootstrap, step):
        shares = rng.gamma(weights, size=(min(step, bootstrap - at), len(weights)))
        drawn.append(statistic(n * shares / shares.sum(axis=1, keepdims=True) @ table, n))
    wide = confidence
    if level == "interval" and n > 2:
        # a few items far from the others make up most of the variance: as many degrees of freedom as that leaves
        values = pseudo_of(sample.rows, sample.counts.astype(np.float64), statistic)
        freedom = min(n - 1.0, heavy_tails(Numbers(values, np.ones(len(values)), sample.counts.astype(np.float64))))
        wide = 2 * NormalDist().cdf(t_quantile((1 + confidence) / 2, freedom)) - 1
    low, high = interval(value, np.concatenate(drawn), n, (-1.0, 1.0), wide)
    # few items lie near the pseudo-items: the interval never leaves out the value itself
    if low is not None and high is not None:
        low, high = max(min(low, value), -1.0), min(max(high, value), 1.0)
    return Estimate(value, low, high, n, alone, signature)


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
