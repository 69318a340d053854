"""People as a sample: intervals for these people and for people like these, and where the differences come from."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import exp, isfinite, log, sqrt
from typing import NamedTuple

import msgspec
import numpy as np

from unswayed.base.values import Estimate
from unswayed.measure.definitions import single_unit
from unswayed.measure.repeats import Again
from unswayed.measure.run_table import Bools, Part, RunTable
from unswayed.measure.spill import Kept, Spill, Tally
from unswayed.measure.table_reader import PersonOf
from unswayed.run.block import AS_IT_WAS, Kind
from unswayed.score import Scorer
from unswayed.stats import Array, Ints, Numbers, mean_interval, numbers_of, sign_flip_interval, t_quantile

THESE, LIKE_THESE = "these people", "people like these"


class Sources(msgspec.Struct, frozen=True, omit_defaults=True):
    """The variance of one variant's number, by where it comes from. `people` are draws if draws are no people.

    None for what can't be known: people if there is but one, repeats if nothing was asked again.
    """

    examples: float | None
    people: float | None
    repeats: float | None
    rest: float | None

    def shares(self) -> dict[str, float]:
        """Each part of the whole variance, from 0 to 1; empty if nothing varies."""
        parts = {name: getattr(self, name) for name in ("examples", "people", "repeats", "rest")}
        known = {name: max(value, 0.0) for name, value in parts.items() if value is not None}
        whole = sum(known.values())
        return {name: value / whole for name, value in known.items()} if whole else {}


class Sampled(msgspec.Struct, frozen=True, omit_defaults=True):
    """One measure of the variants that people made: for these people, and for people like these if there are two."""

    these: Estimate
    like_these: Estimate | None
    variance: Sources
    draws: float  # variants of an example, on average
    by: dict[str, float] = {}
    clusters: int | None = None
    cluster_variance: float | None = None  # of a cluster's mean, if examples are in clusters


class PeopleBlock(msgspec.Struct, frozen=True, omit_defaults=True):
    """The people, or draws, who varied the examples, and the measures over them, by name: average, drop, flips.

    `families` has the same for the people of each family, where there are several.
    """

    who: str
    n: int
    measures: dict[str, Sampled]
    families: dict[str, dict[str, Sampled]] = {}

    def rows(self) -> list[dict[str, object]]:
        """A row for each measure: both intervals, and where its variance comes from; none for draws."""
        return [
            {
                "measure": name,
                THESE: found.these,
                LIKE_THESE: found.like_these,
                **{f"variance: {part}": f"{share:.0%}" for part, share in found.variance.shares().items()},
            }
            for name, found in self.measures.items()
            if self.who == "people"
        ]

    def sentences(self) -> list[str]:
        """What generalises to whom."""
        if self.who != "people":
            return []
        found = next((self.measures[m] for m in ("average", "flips") if m in self.measures), None)
        if found is None or found.these.low is None or found.these.value is None:
            return []
        name = "average" if "average" in self.measures else "flips"
        said = f"{self.n} people: {name} {_shown(found.these)} for these people"
        if found.like_these is None:
            return [f"{said}. One person can't show how people differ."]
        wide = "; two people show little of how people differ" if self.n == 2 else ""
        return [f"{said}, {_shown(found.like_these)} for people like these{wide}."]


def _shown(e: Estimate) -> str:
    return f"{e.value:.3f} ({e.low:.3f} to {e.high:.3f})"


class Cells(NamedTuple):
    """One number for each variant: its example, the person who made it, the stratum of that person, the value.

    `cluster` is the cluster of its example, where examples are drawn together.
    """

    example: Ints
    person: Ints
    stratum: Ints
    value: Array
    cluster: Ints | None = None


@dataclass(frozen=True)
class Components:
    """The variance of one variant's number, and what the design makes of it in the mean over examples.

    The mean's variance is examples / n + people * people_share + rest * rest_share. A component may come out below
    zero, as any estimate may; `people` does so untouched, since the sum would be too large otherwise.
    """

    value: float
    n: int
    units: int  # examples, or clusters of them
    examples: float
    people: float
    rest: float
    people_share: float
    rest_share: float
    people_df: float

    @property
    def of_people(self) -> float:
        """The part of the mean's variance that other people would change."""
        return max(self.people * self.people_share + self.rest * self.rest_share, 0.0)

    def interval(self, level: float, span: tuple[float, float], share: bool) -> tuple[float, float]:
        """The mean's interval for other examples and other people; a share's is made on the scale of log odds.

        Examples and people each widen it by their own t. Satterthwaite's single t is too narrow for three people.
        """
        tail = (1 + level) / 2
        examples = max(self.examples, 0.0) / self.n * t_quantile(tail, max(self.units - 1.0, 1.0)) ** 2
        wide = sqrt(examples + self.of_people * t_quantile(tail, max(self.people_df, 0.5)) ** 2)
        place = (self.value - span[0]) / (span[1] - span[0]) if share else 0.0
        if not 0 < place < 1:
            return max(self.value - wide, span[0]), min(self.value + wide, span[1])
        odds, wide = log(place / (1 - place)), wide / ((span[1] - span[0]) * place * (1 - place))
        low, high = (span[0] + (span[1] - span[0]) / (1 + exp(-x)) for x in (odds - wide, odds + wide))
        return low, high


def components(cells: Cells) -> Components | None:
    """The components of some cells; None if a stratum has but one person, or there is but one example."""
    _, example = np.unique(cells.example, return_inverse=True)
    _, person = np.unique(cells.person, return_inverse=True)
    _, stratum = np.unique(cells.stratum, return_inverse=True)
    n, y = int(example.max(initial=-1)) + 1, cells.value
    if n < 2:
        return None
    weight = 1 / (n * np.bincount(example))[example]
    value = float(weight @ y)
    _, unit = np.unique(cells.example if cells.cluster is None else cells.cluster, return_inverse=True)
    units = int(unit.max()) + 1
    by_unit = np.bincount(unit, weights=weight * (y - value))
    between = float((by_unit**2).sum()) * units / max(units - 1, 1)
    people = rest = people_share = rest_share = lost = freedom = 0.0
    for s in range(int(stratum.max()) + 1):
        inside = stratum == s
        found = _crossed_variances(example[inside], person[inside], y[inside])
        if found is None:
            return None
        w = weight[inside]
        by_person = np.bincount(person[inside], weights=w)
        share, cells_share = float(by_person @ by_person), float(w @ w)
        people += found[0] * share
        rest += found[1] * cells_share
        people_share += share
        rest_share += cells_share
        lost += found[0] * (cells_share - share / n) + found[1] * cells_share
        part = max(found[0] * share + found[1] * cells_share, 0.0)
        freedom += part**2 / max(float(by_person.sum()) ** 2 / share - 1, 1e-9)
    of_people = max(people + rest, 0.0)
    return Components(
        value=value,
        n=n,
        units=units,
        examples=n * (between - lost),
        people=people / people_share,
        rest=rest / rest_share,
        people_share=people_share,
        rest_share=rest_share,
        people_df=of_people**2 / freedom if freedom else 1.0,
    )


def _crossed_variances(example: Ints, person: Ints, y: Array) -> tuple[float, float] | None:
    """The variances of people and of the rest within one stratum; None with one person.

    Sums of squares within examples, within people and in all have these expectations, with e examples, p people and
    N cells: (N - e)(P + R), (N - p)(E + R) and (N - 1)R + (N - Σmᵢ²/N)E + (N - Σnⱼ²/N)P.
    """
    _, example = np.unique(example, return_inverse=True)
    _, person = np.unique(person, return_inverse=True)
    m, k, cells = np.bincount(example), np.bincount(person), len(y)
    if len(k) < 2:
        return None
    inside = _within(example, m, y)
    if cells == len(m):  # one person an example: what is not the people's is the examples'
        within_people = _within(person, k, y) / max(cells - len(k), 1)
        total = float(((y - y.mean()) ** 2).sum())
        return (total - (cells - 1) * within_people) / (cells - float(k @ k) / cells), 0.0
    matrix = np.array(
        [
            [0.0, cells - len(m), cells - len(m)],
            [cells - len(k), 0.0, cells - len(k)],
            [cells - float(m @ m) / cells, cells - float(k @ k) / cells, cells - 1.0],
        ]
    )
    sums = np.array([inside, _within(person, k, y), float(((y - y.mean()) ** 2).sum())])
    _, people, rest = np.linalg.lstsq(matrix, sums, rcond=None)[0].tolist()
    if rest < 0:
        people, rest = people + rest, 0.0
    return people, rest


def _within(code: Ints, counts: Ints, y: Array) -> float:
    means = np.bincount(code, weights=y) / counts
    return float(((y - means[code]) ** 2).sum())


class ByExample:
    """Takes the parts of a run twice: `add` all of them, then `add_squares`, which needs the means of all.

    `strata` is how many operators, or families, the variants are of; examples are compared within theirs.
    """

    def __init__(self, spill: Spill, strata: int, clusters: Ints | None = None) -> None:
        self._spill, self._clusters = spill, clusters
        self._means, self._squares = Tally(spill), Tally(spill)
        self._clustered: list[tuple[Kept, Kept]] = []
        self._total, self._many = np.zeros(strata), np.zeros(strata, dtype=np.int64)
        self._first = self._most = self._altered = 0

    def add(self, size: int, example: Ints, stratum: Ints, values: Array, altered: Bools) -> None:
        """The variants of the next `size` examples; `altered` tells which are not as the example was."""
        many = np.bincount(example, minlength=size)
        there = np.flatnonzero(many)
        means = np.bincount(example, weights=values, minlength=size)[there] / many[there]
        self._means.add(np.column_stack([means, many[there]]))
        if self._clusters is not None:
            own = self._clusters[self._first + there]
            self._clustered.append((self._spill.put(means), self._spill.put(own)))
        np.add.at(self._total, stratum, values)
        np.add.at(self._many, stratum, 1)
        self._first += size
        self._most = max(self._most, int(many.max(initial=0)))
        self._altered += int(altered.sum())

    def add_squares(self, size: int, example: Ints, stratum: Ints, values: Array) -> None:
        """The same variants again."""
        centred = values - (self._total / np.maximum(self._many, 1))[stratum]
        many = np.bincount(example, minlength=size)
        middle = np.bincount(example, weights=centred, minlength=size) / np.maximum(many, 1)
        squares = np.bincount(example, weights=(centred - middle[example]) ** 2, minlength=size).astype(np.float64)
        self._squares.add(squares[many > 0, None])

    @property
    def several_each(self) -> bool:
        """Is there more than one example, and one with more than one number?"""
        return self._means.n > 1 and self._most > 1

    def sampled(self, measure: str, span: tuple[float, float], unit: float | None, asked: _Asked) -> Sampled:
        """The measure with draws that have nothing in common from one example to the next."""
        rows, counts = self._means.rows()
        examples, variants = self._means.n, int(self._many.sum())
        mean = float(counts @ rows[:, 0]) / examples
        units, many, varies = Numbers(rows[:, 0], np.ones(len(rows)), counts.astype(np.float64)), None, None
        if self._clusters is not None:  # the variance of a cluster's mean, large clusters counting for more
            means, clusters = (self._spill.joined([pair[i] for pair in self._clustered]) for i in (0, 1))
            units = numbers_of(means, clusters=clusters)
            rest, many = units.total - units.value * units.weight, units.units
            varies = float(rest @ rest) / max(units.units - 1, 1) / float(units.weight.mean()) ** 2
        low, high, p = *mean_interval(units, span, asked.level, "share" if span[0] >= 0 else "difference"), None
        if span[0] < 0:
            low, high, p = sign_flip_interval(units, (low, high), asked.level, unit)
        these = Estimate(mean, low, high, examples, 0, asked.sign(measure, asked.name), over=asked.over, p=p)
        between = float(counts @ (rows[:, 0] - mean) ** 2) / (examples - 1)
        sources = Sources(between, None, None, None)
        if freedom := variants - examples:
            squares, often = self._squares.rows()
            within, own = float(often @ squares[:, 0]) / freedom, self.own_variance(measure, asked.again)
            noise = None if own is None else min(own, within)
            between = max(between - within * float(counts @ (1 / rows[:, 1])) / examples, 0.0)
            sources = Sources(between, within - (noise or 0.0), noise, None)
        return Sampled(these, None, sources, variants / examples, {}, many, varies)

    def own_variance(self, measure: str, again: Again | None) -> float | None:
        """The variance of one answer's number when the same text is asked again; of unaltered ones it is none."""
        if again is None:
            return None
        found = None
        if measure != "flips":
            known = again.variance[~np.isnan(again.variance)]
            found = float(known.mean()) if len(known) else None
        elif (several := again.compared > 1).any():
            share, k = again.changed[several] / again.compared[several], again.compared[several]
            found = float((share * (1 - share) * k / (k - 1)).mean())
        return None if found is None else found * (self._altered / int(self._many.sum()))


def person_of(people: Mapping[str, str]) -> PersonOf | None:
    """What names the person who made a variant, as a suite's manifest has it; None if no draw is a person."""
    if not people:
        return None

    def name(kind: Kind, note: str) -> str | None:
        by = people.get(kind.source, people.get("*"))
        if by == "draw":
            return f"{kind.source} {kind.draw + 1}"
        return kind.source if by == "source" else note or None if by == "note" else None

    return name


Numbered = Callable[[Part], Array]
# by measure: each variant's number, NaN if none; its span; and the `unit` of differences, as observations have it
_Wanted = Mapping[str, tuple[Numbered, tuple[float, float], float | None]]


class _Asked(NamedTuple):
    """What all estimates have in common."""

    again: Again | None
    level: float
    sign: Callable[[str, str], str]
    clusters: Ints | None
    over: str
    name: str  # of whom they are, in signatures


def measure_people(
    table: RunTable, scorer: Scorer | None, again: Again | None, level: float, sign: Callable[[str, str], str],
    clusters: Ints | None = None, cluster: str | None = None,
) -> PeopleBlock | None:  # fmt: skip
    """The block of a run; None if nothing was varied twice, so that there is nothing to compare."""
    wanted: dict[str, tuple[Numbered, tuple[float, float], float | None]] = {}
    if scorer is not None and scorer.linear:
        name, (low, high) = scorer.name, scorer.bounds

        def drop(part: Part) -> Array:
            return part.scored[name].clean[part.example] - part.scored[name].varied

        units = [single_unit(part.scored[name]) for part in table.parts()]
        wanted = {
            "average": (lambda part: part.scored[name].varied, (low, high), None),
            "drop": (drop, (low - high, high - low), None if None in units else high - low),
        }
    wanted["flips"] = (lambda part: np.where(part.flip >= 0, part.flip, np.nan).astype(np.float64)), (0.0, 1.0), None
    if table.people:
        return _of_people(table, wanted, _Asked(again, level, sign, clusters, THESE, THESE))
    over = "examples like these" if cluster is None else f"{cluster} (clusters)"
    return _of_draws(table, wanted, _Asked(again, level, sign, clusters, over, "draws"))


def _of_people(table: RunTable, wanted: _Wanted, asked: _Asked) -> PeopleBlock | None:
    found: dict[str, Sampled] = {}
    families: dict[str, dict[str, Sampled]] = {}
    n = 0
    for measure, (value, span, unit) in wanted.items():
        columns: list[tuple[Ints, Ints, Ints, Array, Bools]] = []  # of people's variants that have a number
        for part in table.parts():
            number = value(part)
            kept = ~part.changed & ~np.isnan(number) & (part.person >= 0)
            numbered = part.example[kept] + part.first, part.person[kept], part.family[kept], number[kept]
            columns.append((*numbered, part.text[kept] != AS_IT_WAS))
        example, person, stratum, values, altered = map(np.concatenate, zip(*columns, strict=True))
        if len(np.unique(example)) < 2:
            continue
        n = max(n, len(np.unique(person)))
        strata = np.unique(stratum).tolist()
        for code in (None, *(strata if len(strata) > 1 else ())):
            inside = slice(None) if code is None else stratum == code
            clusters = None if asked.clusters is None else asked.clusters[example[inside]]
            cells = Cells(example[inside], person[inside], stratum[inside], values[inside], clusters)
            # people are the same from one example to the next
            summed = ByExample(table.spill, len(table.families), asked.clusters)
            summed.add(table.examples, cells.example, cells.stratum, cells.value, altered[inside])
            summed.add_squares(table.examples, cells.example, cells.stratum, cells.value)
            many = np.bincount(cells.person, minlength=len(table.people))
            total = np.bincount(cells.person, weights=cells.value, minlength=len(table.people))
            means = {name: float(total[i] / many[i]) for i, name in enumerate(table.people) if many[i]}
            sampled = msgspec.structs.replace(summed.sampled(measure, span, unit, asked), by=means)
            crossed, like, these = components(cells), None, sampled.these
            sources = msgspec.structs.replace(sampled.variance, people=None)
            if crossed is not None:
                # the interval for other people too, which is never narrower than the one for these people
                low, high = crossed.interval(asked.level, span, span[0] >= 0 and isfinite(span[1] - span[0]))
                low = low if these.low is None else min(low, these.low)
                high = high if these.high is None else max(high, these.high)
                signature = asked.sign(measure, LIKE_THESE)
                like = msgspec.structs.replace(these, low=low, high=high, over=LIKE_THESE, signature=signature)
                variance, rest = summed.own_variance(measure, asked.again), max(crossed.rest, 0.0)
                noise = None if variance is None else min(variance, rest)
                sources = Sources(max(crossed.examples, 0.0), max(crossed.people, 0.0), noise, rest - (noise or 0.0))
            sampled = msgspec.structs.replace(sampled, like_these=like, variance=sources)
            (found if code is None else families.setdefault(table.families[code], {}))[measure] = sampled
    return PeopleBlock("people", n, found, families) if found else None


def _of_draws(table: RunTable, wanted: _Wanted, asked: _Asked) -> PeopleBlock | None:
    """By example, in two passes over the table: memory never holds the numbers of all variants."""
    summed = {measure: ByExample(table.spill, len(table.operators), asked.clusters) for measure in wanted}
    draws: dict[str, Ints] = {measure: np.zeros(0, dtype=np.int64) for measure in wanted}
    for squares in (False, True):
        for part in table.parts() if wanted else ():
            for measure, (value, _, _) in wanted.items():
                number = value(part)
                kept = ~part.changed & ~np.isnan(number)
                columns = part.size, part.example[kept], part.operator[kept], number[kept]
                if squares:
                    summed[measure].add_squares(*columns)
                else:
                    summed[measure].add(*columns, part.text[kept] != AS_IT_WAS)
                    draws[measure] = np.union1d(draws[measure], part.draw[kept])
        wanted = {measure: how for measure, how in wanted.items() if summed[measure].several_each}
    found = {measure: summed[measure].sampled(measure, *how[1:], asked) for measure, how in wanted.items()}
    n = max((len(draws[measure]) for measure in wanted), default=0)
    return PeopleBlock("draws", n, found, {}) if found else None
