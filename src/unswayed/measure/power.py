"""What a run of this size could have detected, and what would help most: more examples, or more draws or people."""

from __future__ import annotations

from collections.abc import Callable
from math import sqrt
from statistics import NormalDist

import msgspec

from unswayed.base.errors import NothingEvaluated, UsageError
from unswayed.measure.results import Results
from unswayed.measure.sampling import LIKE_THESE, Sampled, Sources
from unswayed.stats import t_quantile


class Design(msgspec.Struct, frozen=True, omit_defaults=True):
    """How many examples, variants of each, people, and clusters if the examples are in clusters."""

    examples: float
    draws: float
    people: float
    clusters: float | None = None

    @property
    def units(self) -> float:
        """What is drawn at random: clusters, or examples."""
        return self.examples if self.clusters is None else self.clusters

    def times(self, examples: float = 1, draws: float = 1) -> Design:
        clusters = None if self.clusters is None else self.clusters * examples
        return Design(self.examples * examples, self.draws * draws, self.people * draws, clusters)


class Detectable(msgspec.Struct, frozen=True):
    """The least of a measure that would have been told from zero: now, and with twice the examples, draws or people."""

    measure: str
    over: str
    now: float
    twice_the_examples: float
    twice_the_draws: float
    helps_most: str


class Power(msgspec.Struct, frozen=True):
    """What could have been detected, at this level and with this power. `who` are draws or people."""

    level: float
    power: float
    correlation: float
    who: str
    design: Design
    detectable: list[Detectable]

    def rows(self) -> list[dict[str, object]]:
        return [
            {
                "detectable": one.measure,
                "for": one.over,
                "now": one.now,
                "twice the examples": one.twice_the_examples,
                f"twice the {self.who}": one.twice_the_draws,
                "helps most": one.helps_most,
            }
            for one in self.detectable
        ]


def power_of(results: Results, level: float = 0.95, power: float = 0.8, correlation: float = 0.5) -> Power:
    """The least drop, difference between systems, and share of flips that a run like this one detects.

    They are detected if their interval leaves out zero. `power` is the chance of that. The variances are those of the
    run. `correlation` is that of two systems' scores of an example, for the difference of their averages. If examples
    are in clusters, more examples are more clusters of the same size.
    """
    if not 0 < level < 1 or not 0 < power < 1 or not -1 < correlation < 1:
        raise UsageError("The level and the power must lie between 0 and 1, the correlation between -1 and 1.")
    block = results.people
    if block is None or not block.measures:
        raise NothingEvaluated("The run has no example with two variants, so that its variances can't be told apart.")
    first = next(iter(block.measures.values()))
    design = Design(first.these.n, first.draws, block.n, first.clusters)
    z, tail = NormalDist().inv_cdf(power), (1 + level) / 2
    found = []
    for measure, sampled in _wanted({name: _of_units(one) for name, one in block.measures.items()}):
        two = 2 * (1 - correlation) if measure == "difference" else None
        share = measure == "flips"
        for people in (False, True) if sampled.like_these is not None else (False,):

            def least(
                design: Design,
                sampled: Sampled = sampled,
                two: float | None = two,
                share: bool = share,
                people: bool = people,
            ) -> float:
                if share and not people:
                    return _least_share(sampled, design, z, tail)
                return _least_mean(sampled, design, two, people, z, tail)

            alone = f"{results.cluster} (clusters)" if design.clusters is not None else "examples like these"
            over = LIKE_THESE if people else alone
            found.append(_detectable(measure, over, design, block.who, least))
    return Power(level, power, correlation, block.who, design, found)


def _of_units(sampled: Sampled) -> Sampled:
    """With the variances of a cluster's mean in place of an example's; chance averages out within a cluster."""
    if sampled.clusters is None or sampled.cluster_variance is None:
        return sampled
    size, parts = sampled.these.n / sampled.clusters, sampled.variance
    rest, repeats = ((value or 0.0) / size for value in (parts.rest, parts.repeats))
    people = (parts.people or 0.0) / (size if sampled.like_these is None else 1.0)  # people meet all clusters
    within = rest + repeats + (people if sampled.like_these is None else 0.0)
    between = max(sampled.cluster_variance - within / sampled.draws, 0.0)
    return msgspec.structs.replace(sampled, variance=Sources(between, people, repeats, rest))


def _wanted(measures: dict[str, Sampled]) -> list[tuple[str, Sampled]]:
    found = [(name, measures[name]) for name in ("drop", "flips") if name in measures]
    return [*found, *([("difference", measures["average"])] if "average" in measures else [])]


def _detectable(measure: str, over: str, design: Design, who: str, least: Callable[[Design], float]) -> Detectable:
    now, examples, draws = least(design), least(design.times(examples=2)), least(design.times(draws=2))
    return Detectable(measure, over, now, examples, draws, "examples" if examples <= draws else who)


def _variance(sampled: Sampled, draws: float, with_people: bool) -> float:
    """Of one example's mean over its variants."""
    parts = sampled.variance
    within = (parts.rest or 0.0) + (parts.repeats or 0.0) + ((parts.people or 0.0) if with_people else 0.0)
    return (parts.examples or 0.0) + within / draws


def _least_mean(sampled: Sampled, design: Design, two: float | None, people: bool, z: float, tail: float) -> float:
    """The least mean whose interval leaves out zero; the pseudo-examples of a difference widen it by their part.

    `two` is the variance of the difference of two systems, in those of one; None for one system's own measure.
    """
    two, pseudo = (1.0, 1.0) if two is None else (two, 0.5)
    n = design.units
    own = two * _variance(sampled, design.draws, sampled.like_these is None)
    t, normal = t_quantile(tail, max(n - 1, 1.0)), NormalDist().inv_cdf(tail)
    if not people:
        return t * sqrt(own / n + (pseudo * normal / n) ** 2) + z * sqrt(own / n)
    examples = two * (sampled.variance.examples or 0.0) / n
    rest = two * ((sampled.variance.rest or 0.0) + (sampled.variance.repeats or 0.0)) / (n * design.draws)
    others = two * (sampled.variance.people or 0.0) / design.people + rest
    wide = sqrt(examples * t**2 + others * t_quantile(tail, max(design.people - 1, 1.0)) ** 2)
    return wide + z * sqrt(examples + others)


def _least_share(sampled: Sampled, design: Design, z: float, tail: float) -> float:
    """The least share of flips whose interval leaves out zero.

    Flips that can just be told from zero are few. Their sum over examples is taken as Poisson, in steps of the size
    that the run's variance shows; the tail comes from the gamma distribution (by Wilson and Hilferty).
    """
    n, f = design.units, sampled.these.value or 0.0
    whole = _variance(sampled, design.draws, sampled.like_these is None)
    step = min(whole / (f * (1 - f)), 1.0) if 0 < f < 1 else 1.0
    t, normal = t_quantile(tail, max(n - 1, 1.0)), NormalDist().inv_cdf(tail)

    def found(total: float) -> bool:
        pseudo = normal**2 * (0.25 + (total / n - 0.5) ** 2)
        return total + normal**2 / 4 > t * sqrt(step * total * (1 - total / n) + pseudo)

    low, high = 0.0, n
    for _ in range(50):
        middle = (low + high) / 2
        low, high = (low, middle) if found(middle) else (middle, high)
    steps = (high + 0.5 / design.draws) / step  # sums go in steps of one variant
    return min(1.0, step * steps * (1 - 1 / (9 * steps) + z / (3 * sqrt(steps))) ** 3 / n)
