"""Prediction-powered inference (PPI++): what people would say on average, from many verdicts and few labels.

The judge's verdicts give the mean, and its errors on what people labelled correct it. The verdicts weigh as much as
they help (power tuning), down to nothing for a judge that does not follow people.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil, sqrt
from statistics import NormalDist
from typing import Literal

import numpy as np
import numpy.typing as npt

from unswayed.base.errors import UsageError
from unswayed.base.values import Estimate
from unswayed.stats.intervals import digest, sign
from unswayed.stats.means import mean_interval, numbers_of
from unswayed.stats.resample import Array, Ints
from unswayed.stats.significance import t_p_value

VERSION = 2  # of this definition; part of every signature
MIN_LABELS = 10  # fewer show next to nothing of how a judge errs
_WORTH = 0.8  # doubling the labels is worth it while the interval's width falls to this part of it
_SAVES = 1.05  # times as many labels as were asked for, from which on a judge is of use
Moves = Mapping[str, float]  # by cluster: by how much it moves a mean, so that means of the same clusters can be joined


@dataclass(frozen=True)
class MeanPart:
    """A mean with its interval, and what each cluster of examples adds to its error."""

    value: float
    low: float
    high: float
    moves: Moves

    def times(self, factor: float) -> MeanPart:
        low, high = sorted((factor * self.low, factor * self.high))
        return MeanPart(factor * self.value, low, high, {name: factor * move for name, move in self.moves.items()})


def joined(parts: Sequence[MeanPart]) -> MeanPart:
    """The sum of means of the same clusters.

    Each part's variance is recovered from its own limits, on either side by itself, and their correlation from the
    clusters that they share (MOVER; Zou, 2008).
    """
    names = list(dict.fromkeys(name for part in parts for name in part.moves))
    moves = np.array([[part.moves.get(name, 0.0) for name in names] for part in parts])
    products = moves @ moves.T
    errors = np.sqrt(np.diag(products))
    scale = np.where(errors > 0, 1 / np.where(errors > 0, errors, 1.0), 0.0)
    correlation = products * np.outer(scale, scale)
    np.fill_diagonal(correlation, 1.0)
    value = sum(part.value for part in parts)
    below = np.array([part.value - part.low for part in parts])
    above = np.array([part.high - part.value for part in parts])
    low, high = (sqrt(max(float(off @ correlation @ off), 0.0)) for off in (below, above))
    return MeanPart(value, value - low, value + high, dict(zip(names, moves.sum(axis=0).tolist(), strict=True)))


@dataclass(frozen=True)
class PredictionPowered:
    """The mean that people would give, beside the judge's own and that of the labels alone.

    `tuning` is the weight of the judge's verdicts, from 0 to 1, `se` the standard error, and `worth` how many labels
    alone would be as precise. `correlated` is the p-value of a correlation of verdicts and labels. `parts` join the
    corrected mean and that of the labels with others of the same clusters, as `difference` does.
    """

    corrected: Estimate
    judge: Estimate
    people: Estimate
    se: float
    tuning: float
    labels: int
    verdicts: int
    worth: float
    correlated: float
    parts: Mapping[str, MeanPart]

    @property
    def judge_helps(self) -> bool:
        """Does the judge save at least a twentieth of the labels, beyond what chance would?"""
        return self.worth > _SAVES * self.labels and self.correlated <= 0.05

    def difference(self, other: PredictionPowered) -> Estimate:
        """This mean minus another one of the same clusters, such as that of another run of the same examples."""
        found = joined([self.parts["corrected"], other.parts["corrected"].times(-1.0)])
        moves = digest(np.array([found.value, found.low, found.high, *found.moves.values()]))
        signature = sign({"measure": f"prediction_powered.difference:{VERSION}", "of": moves})
        return Estimate(found.value, found.low, found.high, self.labels + other.labels, 0, signature)


def prediction_powered(
    verdicts: npt.ArrayLike, verdicts_of_labelled: npt.ArrayLike, labels: npt.ArrayLike, *,
    clusters: Sequence[str] | None = None, clusters_of_labelled: Sequence[str] | None = None,
    weights: npt.ArrayLike | None = None, weights_of_labelled: npt.ArrayLike | None = None,
    span: tuple[float, float] = (0.0, 1.0), level: float = 0.95, interval: Literal["student", "normal"] = "student",
) -> PredictionPowered:  # fmt: skip
    """The mean of the labels that all items would have, from a judge's verdicts on them and labels for some.

    `verdicts` are the judge's on items without a label. The labelled items must be chosen at random. All numbers lie
    in `span`: shares from 0 to 1, or from -1 to 1 if each number is a difference between two runs. `clusters` name what
    stands and falls together, such as the example of an answer; labelled and other items may share them.

    The mean and its standard error are those of the PyPI package `ppi-python`, and so is the interval "normal". The
    interval "student" also holds for few labels and rare errors: it has Student's t and pseudo-examples.

    Example: `prediction_powered([1, 1, 0, ...], [1, 0, ...], [1, 1, ...]).corrected`.
    """
    other, known, said = (np.asarray(x, dtype=np.float64).ravel() for x in (verdicts, verdicts_of_labelled, labels))
    n, rest = len(said), len(other)
    if len(known) != n:
        raise UsageError(f"There are {n:,} labels and {len(known):,} verdicts on what they are of: give one for each.")
    if n < 2:
        raise UsageError(f"There are {n} labels: at least 2 are needed to see how the judge errs.")
    if not 0 < level < 1:
        raise UsageError(f"The level must lie between 0 and 1, not {level}.")
    everything = np.concatenate([other, known, said])
    if not np.isfinite(everything).all() or everything.min() < span[0] or everything.max() > span[1]:
        raise UsageError(f"Verdicts and labels must be numbers from {span[0]:g} to {span[1]:g}.")
    if (clusters is None) != (clusters_of_labelled is None):
        raise UsageError("Name the clusters of labelled and of other items, or of neither.")
    names = [f"item {i}" for i in range(rest + n)]
    if clusters is not None and clusters_of_labelled is not None:
        names = [*map(str, clusters), *map(str, clusters_of_labelled)]
        if (len(clusters), len(clusters_of_labelled)) != (rest, n):
            raise UsageError("Name one cluster for each item.")
    units, code = np.unique(np.array(names, dtype=object).astype(str), return_inverse=True)
    of_other, of_known = code[:rest].astype(np.int64), code[rest:].astype(np.int64)
    weigh_other = np.ones(rest) if weights is None else np.asarray(weights, dtype=np.float64).ravel()
    weigh_known = np.ones(n) if weights_of_labelled is None else np.asarray(weights_of_labelled, dtype=float).ravel()

    def moves(values: Array, weight: Array, of: Ints) -> Array:
        """By how much each cluster moves the mean of these values."""
        off = weight * (values - np.average(values, weights=weight)) / weight.sum()
        return np.bincount(of, weights=off, minlength=len(units)).astype(np.float64)

    tuning, correlated = 0.0, 1.0
    if n > 2 and np.ptp(known) > 0 and np.ptp(said) > 0:
        follows = float(np.corrcoef(known, said)[0, 1])
        t = follows * sqrt((n - 2) / (1 - follows**2)) if follows**2 < 1 else float("inf")
        correlated = t_p_value(t, n - 2)
    if rest and np.ptp(np.concatenate([other, known])) > 0:
        # Clusters that have labelled and other items make the two means alike, which `by_other` allows for.
        by_other, by_known = moves(other, weigh_other, of_other), moves(known, weigh_known, of_known)
        by_said, apart = moves(said, weigh_known, of_known), by_other - by_known
        variance = float(apart @ apart)
        if clusters is None and weights is None:  # as in ppi-python: one variance of all verdicts
            variance = float(np.var(np.concatenate([other, known]), ddof=1)) * (1 / n + 1 / rest)
        helps = float(by_said @ by_known) - float(by_said @ by_other)
        tuning = min(max(helps / variance, 0.0), 1.0) if variance > 0 else 0.0

    def part(values: Array, weight: Array, of: Ints, span: tuple[float, float], errors: bool) -> MeanPart:
        own = moves(values, weight, of)
        mean = float(np.average(values, weights=weight))
        if interval == "normal":
            wide = NormalDist().inv_cdf((1 + level) / 2) * float(np.sqrt(own @ own))
            ends: tuple[float | None, float | None] = mean - wide, mean + wide
        else:
            kind: Literal["difference", "share"] = "difference" if errors else "share"
            ends = mean_interval(numbers_of(values, weight, of), span, level, kind)
        low, high = (mean if end is None else end for end in ends)
        return MeanPart(mean, low, high, dict(zip(units.tolist(), own.tolist(), strict=True)))

    wrong = part(said - tuning * known, weigh_known, of_known, (span[0] - tuning * span[1], span[1] - tuning * span[0]),
                 tuning > 0)  # fmt: skip
    whole = wrong
    if tuning > 0:
        judged = part(tuning * other, weigh_other, of_other, (tuning * span[0], tuning * span[1]), False)
        whole = joined([wrong, judged])
    own = np.array(list(whole.moves.values()))
    people = part(said, weigh_known, of_known, span, False)
    both = np.concatenate([other, known]), np.concatenate([weigh_other, weigh_known])
    alone = part(both[0], both[1], np.concatenate([of_other, of_known]), span, False)
    if interval == "student":
        whole = MeanPart(whole.value, max(whole.low, span[0]), min(whole.high, span[1]), whole.moves)
    se, of_people = float(np.sqrt(own @ own)), np.array(list(people.moves.values()))
    # as many labels as there are items are the most that verdicts can stand for
    worth = min(n * float(of_people @ of_people) / se**2, float(n + rest)) if se > 0 else float(n)
    signature = sign({"measure": f"prediction_powered:{VERSION}", "verdicts": digest(other, known), "labels":
                      digest(said), "clusters": digest(code), "level": level, "interval": interval})  # fmt: skip
    corrected, judge, labelled = (
        Estimate(min(max(one.value, span[0]), span[1]) if interval == "student" else one.value, one.low, one.high,
                 count, 0, f"{signature}|of={name}")
        for one, count, name in ((whole, n, "corrected"), (alone, n + rest, "judge"), (people, n, "people"))
    )  # fmt: skip
    return PredictionPowered(corrected, judge, labelled, se, tuning, n, rest, worth, correlated,
                             {"corrected": whole, "people": people})  # fmt: skip


@dataclass(frozen=True)
class LabelPlan:
    """How precise a judge's verdicts become with this many labels; half widths of the interval."""

    labels: int
    alone: float
    half_widths: dict[str, float]  # by how well the judge agrees with people, as Cohen's kappa


def labels_worth_asking(
    verdicts: npt.ArrayLike, kappas: Sequence[float], clusters: Sequence[str] | None = None, level: float = 0.95,
    labels: Sequence[int] = (25, 50, 100, 200, 400, 800),
) -> tuple[list[LabelPlan], list[int]]:  # fmt: skip
    """What labels would buy for verdicts like these, before anybody is asked; and how many are worth asking for.

    The judge may agree with people as closely as any of `kappas`, and is taken to say yes as often as they do. Labels
    are worth asking for while twice as many narrow the interval by a fifth or more.
    """
    seen = np.asarray(verdicts, dtype=np.float64).ravel()
    total, mean = len(seen), float(seen.mean()) if len(seen) else 0.5
    if total < 2:
        raise UsageError("A plan for labels needs at least two verdicts.")
    if any(not 0 <= kappa < 1 for kappa in kappas):
        raise UsageError("The agreement of the judge with people (kappa) must be at least 0 and below 1.")
    spread = max(mean * (1 - mean), 1 / (total + 2))  # of one label; never none, since a judge may overlook all errors
    code = np.arange(total) if clusters is None else np.unique(np.array(clusters, dtype=str), return_inverse=True)[1]
    by_cluster = np.bincount(code, weights=seen - mean) / total
    floor = max(float(by_cluster @ by_cluster), spread / total)  # the variance if everything had a label
    z = NormalDist().inv_cdf((1 + level) / 2)

    def half(n: int, kappa: float) -> float:
        return z * sqrt(floor + spread * (1 - kappa**2) * (1 / n - 1 / total))

    rows = [
        LabelPlan(n, half(n, 0.0), {f"{kappa:g}": half(n, kappa) for kappa in kappas}) for n in labels if n <= total
    ]
    worth = []
    for kappa in kappas:
        own = spread * (1 - kappa**2)
        fixed = max(floor - own / total, 1e-12)
        # variance fixed + own / n; of twice as many labels, fixed + own / 2n
        most = ceil(own * (_WORTH**2 - 0.5) / (fixed * (1 - _WORTH**2)))
        worth.append(min(max(most, MIN_LABELS), total))
    return rows, worth
