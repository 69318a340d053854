"""The precision of a run: what it could have detected, when it may end early, whether its drop lies in a margin."""

from __future__ import annotations

import re
from collections.abc import Sequence
from math import ceil, isfinite, sqrt
from statistics import NormalDist
from typing import NamedTuple

import msgspec
import numpy as np

from unswayed.base.errors import NothingEvaluated, UnknownName, UsageError, option
from unswayed.base.values import Estimate
from unswayed.measure.definitions import MEASURES, SCORE_MEASURES
from unswayed.measure.people import LIKE_THESE, Sampled, Sources
from unswayed.measure.questions import ALL, Place, Questions
from unswayed.measure.results import Equivalence, Results, Within
from unswayed.measure.sentences import FLIPS
from unswayed.score import Scorer
from unswayed.stats import t_quantile
from unswayed.stats.intervals import anytime_level


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
    """The least of a measure that would have been found: now, and with twice the examples, draws or people.

    It is told from zero; or, if `above` is not zero, shown to be above that limit.
    """

    measure: str
    over: str
    now: float
    twice_the_examples: float
    twice_the_draws: float
    helps_most: str
    above: float = 0.0


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
                "detectable": f"{one.measure} above {one.above:g}" if one.above else one.measure,
                "for": one.over,
                "now": one.now,
                "twice the examples": one.twice_the_examples,
                f"twice the {self.who}": one.twice_the_draws,
                "helps most": one.helps_most,
            }
            for one in self.detectable
        ]


def power_of(
    results: Results, level: float = 0.95, power: float = 0.8, correlation: float = 0.5, limit: float = FLIPS[0]
) -> Power:
    """The least drop, difference between systems, and share of flips that a run like this one detects.

    A drop and a difference are detected if their interval leaves out zero, flips if it lies above `limit`: no system
    is without any, so that flips told from zero tell nothing. `power` is the chance of that. The variances are those
    of the run. `correlation` is that of two systems' scores of an example, for the difference of their averages. If
    examples are in clusters, more examples are more clusters of the same size.
    """
    if not 0 < level < 1 or not 0 < power < 1 or not -1 < correlation < 1:
        raise UsageError("The level and the power must lie between 0 and 1, the correlation between -1 and 1.")
    if not 0 < limit < 1:  # one changed answer shows that there are some
        raise UsageError(f"{option('limit')} must be a share of flips above 0 and below 1, not {limit:g}.")
    block = results.people
    if block is None or not block.measures:
        raise NothingEvaluated("The run has no example with two variants, so that its variances can't be told apart.")
    first = next(iter(block.measures.values()))
    design = Design(first.these.n, first.draws, block.n, first.clusters)
    z, tail = NormalDist().inv_cdf(power), (1 + level) / 2
    found = []
    measures = dict(block.measures)
    for name, one in block.measures.items():
        if one.clusters is None or one.cluster_variance is None:
            continue
        # the variances of a cluster's mean in place of an example's: chance averages out within a cluster
        size, parts = one.these.n / one.clusters, one.variance
        rest, repeats = ((value or 0.0) / size for value in (parts.rest, parts.repeats))
        meet_all = one.like_these is not None  # people meet all clusters
        people = (parts.people or 0.0) / (1.0 if meet_all else size)
        within = rest + repeats + (0.0 if meet_all else people)
        between = max(one.cluster_variance - within / one.draws, 0.0)
        measures[name] = msgspec.structs.replace(one, variance=Sources(between, people, repeats, rest))
    wanted: list[tuple[str, Sampled]] = [(name, measures[name]) for name in ("drop", "flips") if name in measures]
    wanted += [("difference", measures["average"])] if "average" in measures else []
    alone = f"{results.cluster} (clusters)" if design.clusters is not None else "examples like these"
    designs = design, design.times(examples=2), design.times(draws=2)
    for measure, sampled in wanted:
        two = 2 * (1 - correlation) if measure == "difference" else None
        for others in (False, True) if sampled.like_these is not None else (False,):
            if measure == "flips" and not others:
                now, examples, draws = (_least_share(sampled, each, z, tail, limit) for each in designs)
            else:
                now, examples, draws = (_least_mean(sampled, each, two, others, z, tail) for each in designs)
            above = limit if measure == "flips" else 0.0
            if above and others:
                now, examples, draws = (min(least + above, 1.0) for least in (now, examples, draws))
            over, helps = LIKE_THESE if others else alone, "examples" if examples <= draws else block.who
            found.append(Detectable(measure, over, now, examples, draws, helps, above))
    return Power(level, power, correlation, block.who, design, found)


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


def _least_share(sampled: Sampled, design: Design, z: float, tail: float, limit: float = 0.0) -> float:
    """The least share of flips whose interval lies above the limit.

    Flips that can just be told from zero are few. Their sum over examples is taken as Poisson, in steps of the size
    that the run's variance shows; the tail comes from the gamma distribution (by Wilson and Hilferty).
    """
    n, f = design.units, sampled.these.value or 0.0
    whole = _variance(sampled, design.draws, sampled.like_these is None)
    step = min(whole / (f * (1 - f)), 1.0) if 0 < f < 1 else 1.0
    t, normal = t_quantile(tail, max(n - 1, 1.0)), NormalDist().inv_cdf(tail)

    def found(total: float) -> bool:
        pseudo = normal**2 * (0.25 + (total / n - 0.5) ** 2)
        own = total + normal**2 / 4 - limit * (n + normal**2 / 2)
        return own > t * sqrt(step * total * (1 - total / n) + pseudo)

    low, high = 0.0, n
    for _ in range(50):
        middle = (low + high) / 2
        low, high = (low, middle) if found(middle) else (middle, high)
    step *= 1 - high / n  # a share's variance is smaller than Poisson's
    steps = (high + 0.5 / design.draws) / step  # sums go in steps of one variant
    return min(1.0, step * steps * (1 - 1 / (9 * steps) + z / (3 * sqrt(steps))) ** 3 / n)


_RULE = re.compile(r"\s*([\w-]+)\s*(?:±|\+-|\+/-)\s*(\S+)\s*")


class StopRule(NamedTuple):
    """Holds once the interval of a measure is no wider than `within` on each side, on average."""

    measure: str
    within: float
    text: str

    def holds(self, results: Results) -> bool:
        width = self.reached(results)
        return width is not None and width <= self.within

    def reached(self, results: Results) -> float | None:
        """Half of the interval's width."""
        found: Estimate | None = getattr(results.whole, self.measure)
        if found is None or found.low is None or found.high is None:
            return None
        return (found.high - found.low) / 2


def stop_rules(texts: Sequence[str]) -> list[StopRule]:
    """The rules that texts such as `drop±0.02` and `flips+-0.01` spell; raises what is wrong with them."""
    rules = []
    for text in texts:
        match = _RULE.fullmatch(text)
        try:
            within = float(match[2]) if match else float("nan")
        except ValueError:
            within = float("nan")
        if match is None or not isfinite(within) or within <= 0:
            raise UsageError(
                f"{option('stop-when')} takes a measure and a width, such as drop±0.02 or drop+-0.02, not {text!r:.60}."
            )
        if match[1] not in MEASURES:
            raise UnknownName("measure to stop on", match[1], MEASURES)
        rules.append(StopRule(match[1], within, text))
    return rules


def check_stop_rules(rules: Sequence[StopRule], main: Scorer | None) -> None:
    """Raises if a rule is for a score of a whole set, which is not a mean over examples."""
    for rule in rules:
        if rule.measure in SCORE_MEASURES and main is None:
            raise UsageError(f"{rule.text} can't be reached: the task has no score. Use flips or consistency.")
        if rule.measure in SCORE_MEASURES and main is not None and not main.linear:
            raise UsageError(
                f"{option('stop-when')} {rule.text} needs a mean over examples, and {main.name} is a score of the "
                f"whole set. Use flips or consistency, or another main score with {option('score', 'scores')}."
            )


def not_reached(results: Results, rules: Sequence[str]) -> list[str]:
    """What is said of rules that did not hold when there was nothing left to ask."""
    said = []
    for rule in stop_rules(rules):
        width = rule.reached(results)
        if width is not None and width > rule.within:
            said.append(f"{rule.text} was not reached: the interval of {rule.measure} is ±{width:.3g}.")
    return said


_POWER = 0.8


def within_margin(
    questions: Questions, operators: list[str], margin: float, level: float, anytime: bool = False,
    filled: Sequence[Questions] = (),
) -> Within:  # fmt: skip
    """Of all variants, and of each operator: their tests are corrected for one another (Bonferroni).

    It is shown if the interval of level 1 - alpha lies inside the margins. Two tests of level alpha allow for one of
    level 1 - 2 alpha, but that claims too much where losses are rare: 7% for 5%. `anytime` is for a run that stops
    when the drop is known well enough. What is missing may be as in any of `filled`.
    """
    alpha = 1 - level

    def shown(at: Place, alpha: float) -> Equivalence:
        n = questions.at_level(at, level).n
        wanted = anytime_level(n, 1 - alpha) if anytime and n else 1 - alpha
        drops = [one.at_level(at, wanted) for one in (questions, *filled)]
        lows, highs = [d.low for d in drops if d.low is not None], [d.high for d in drops if d.high is not None]
        if drops[0].value is None or len(lows) < len(drops) or len(highs) < len(drops):
            return Equivalence(low=None, high=None, shown=False, outside=False, needed=None)
        low, high = min(lows), max(highs)
        inside, outside = -margin < low and high < margin, low > margin or high < -margin
        needed = None if inside or outside or filled else _needed(questions, at, drops[0], margin, alpha)
        return Equivalence(low=low, high=high, shown=inside, outside=outside, needed=needed)

    each = {name: shown(("operator", name, "drop"), alpha / len(operators)) for name in operators}
    return Within(margin=margin, whole=shown(("", ALL, "drop"), alpha), operators=each)


def _needed(questions: Questions, at: Place, drop: Estimate, margin: float, alpha: float) -> int | None:
    """About how many examples would show it in four of five studies, if the drop is what was measured."""
    numbers = questions.units(at)[1]
    room = margin - abs(drop.value or 0.0)
    if room <= 0 or numbers.units < 2:
        return None
    values = numbers.total / np.maximum(numbers.weight, 1e-12)
    spread = float(np.std(values, ddof=1))
    z, power = NormalDist().inv_cdf(1 - alpha / 2), NormalDist().inv_cdf(_POWER)
    units = float(numbers.units)
    while z * sqrt(spread**2 / units + (z / units) ** 2) + power * spread / sqrt(units) > room:
        units *= 1.02  # the second term is what the pseudo-examples of a difference add
    return max(ceil(drop.n * units / numbers.units), drop.n + 1)
