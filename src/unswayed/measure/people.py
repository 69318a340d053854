"""People as a sample: intervals for these people and for people like these, and where the differences come from."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import copy
from dataclasses import dataclass
from math import isfinite

import msgspec
import numpy as np
import numpy.typing as npt

from unswayed.base.values import Estimate
from unswayed.measure.draws import ByExample
from unswayed.measure.repeats import Again
from unswayed.measure.run_table import Part, RunTable
from unswayed.measure.sampling import LIKE_THESE, THESE, PeopleBlock, Sampled, Sources
from unswayed.measure.spill import Spill
from unswayed.measure.table_reader import PersonOf
from unswayed.measure.variance import Cells, Components, components
from unswayed.run.block import AS_IT_WAS, Kind
from unswayed.score import Scorer
from unswayed.stats import Array, Ints, Numbers, mean_interval


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


class _Columns:
    """All of people's variants of the same meaning that have a number, gathered over the parts of a table."""

    def __init__(self, table: RunTable, value: Numbered) -> None:
        self.names: list[str] = table.people
        self.families = table.families
        at, example, person, stratum, values, altered = 0, [], [], [], [], []
        for part in table.parts():
            number = value(part)
            kept = ~part.changed & ~np.isnan(number) & (part.person >= 0)
            example.append(part.example[kept] + at)
            person.append(part.person[kept])
            stratum.append(part.family[kept])
            values.append(number[kept])
            altered.append(part.text[kept] != AS_IT_WAS)
            at += part.size
        self.examples = at
        self.example, self.person, self.stratum = (np.concatenate(c) for c in (example, person, stratum))
        self.values: Array = np.concatenate(values)
        self.altered = np.concatenate(altered)

    def of(self, stratum: int) -> _Columns:
        """Those of one family."""
        inside, part = self.stratum == stratum, copy(self)
        for name in ("example", "person", "stratum", "values", "altered"):
            setattr(part, name, getattr(self, name)[inside])
        return part

    def by_example(self, spill: Spill, clusters: Ints | None) -> ByExample:
        found = ByExample(spill, len(self.families), clusters)
        found.add(self.examples, self.example, self.stratum, self.values, self.altered)
        found.add_squares(self.examples, self.example, self.stratum, self.values)
        return found


@dataclass(frozen=True)
class _Asked:
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
    wanted: dict[str, tuple[Numbered, tuple[float, float]]] = {"flips": (_flips, (0.0, 1.0))}
    if scorer is not None and scorer.linear:
        name, (low, high) = scorer.name, scorer.bounds
        wanted = {
            "average": (lambda part: part.scored[name].varied, (low, high)),
            "drop": (
                lambda part: part.scored[name].clean[part.example] - part.scored[name].varied,
                (low - high, high - low),
            ),
            **wanted,
        }
    if table.people:
        return _of_people(table, wanted, _Asked(again, level, sign, clusters, THESE, THESE))
    over = "examples like these" if cluster is None else f"{cluster} (clusters)"
    return _of_draws(table, wanted, _Asked(again, level, sign, clusters, over, "draws"))


def _of_people(
    table: RunTable, wanted: Mapping[str, tuple[Numbered, tuple[float, float]]], asked: _Asked
) -> PeopleBlock | None:
    found: dict[str, Sampled] = {}
    families: dict[str, dict[str, Sampled]] = {}
    n = 0
    for measure, (value, span) in wanted.items():
        columns = _Columns(table, value)
        if len(np.flatnonzero(np.bincount(columns.example))) < 2:
            continue
        n = max(n, len(np.flatnonzero(np.bincount(columns.person))))
        found[measure] = _crossed(measure, columns, span, asked, table.spill)
        strata = np.unique(columns.stratum).tolist()
        for code in strata if len(strata) > 1 else ():
            part = _crossed(measure, columns.of(code), span, asked, table.spill)
            families.setdefault(columns.families[code], {})[measure] = part
    return PeopleBlock("people", n, found, families) if found else None


def _of_draws(
    table: RunTable, wanted: Mapping[str, tuple[Numbered, tuple[float, float]]], asked: _Asked
) -> PeopleBlock | None:
    """By example, in two passes over the table: memory never holds the numbers of all variants."""
    summed = {measure: ByExample(table.spill, len(table.operators), asked.clusters) for measure in wanted}
    draws: dict[str, Ints] = {measure: np.zeros(0, dtype=np.int64) for measure in wanted}
    for part in table.parts():
        for measure, (value, _) in wanted.items():
            kept, number = _kept(part, value)
            altered = part.text[kept] != AS_IT_WAS
            summed[measure].add(part.size, part.example[kept], part.operator[kept], number, altered)
            draws[measure] = np.union1d(draws[measure], part.draw[kept])
    wanted = {measure: how for measure, how in wanted.items() if summed[measure].several_each}
    for part in table.parts() if wanted else ():
        for measure, (value, _) in wanted.items():
            kept, number = _kept(part, value)
            summed[measure].add_squares(part.size, part.example[kept], part.operator[kept], number)
    found = {measure: _nested(measure, summed[measure], span, asked) for measure, (_, span) in wanted.items()}
    n = max((len(draws[measure]) for measure in wanted), default=0)
    return PeopleBlock("draws", n, found, {}) if found else None


def _kept(part: Part, value: Numbered) -> tuple[npt.NDArray[np.bool_], Array]:
    """Which variants of the same meaning have a number, and these numbers."""
    number = value(part)
    kept = ~part.changed & ~np.isnan(number)
    return kept, number[kept]


def _flips(part: Part) -> Array:
    return np.where(part.flip >= 0, part.flip, np.nan).astype(np.float64)


def _nested(measure: str, found: ByExample, span: tuple[float, float], asked: _Asked) -> Sampled:
    """Draws have nothing in common from one example to the next."""
    units = found.units()
    low, high = mean_interval(units, span, asked.level, "share" if span[0] >= 0 else "difference")
    signature = asked.sign(measure, asked.name)
    these = Estimate(found.mean(), low, high, found.examples, 0, signature, over=asked.over)
    many, varies = (None, None) if asked.clusters is None else (units.units, _varies(units))
    sources = found.sources(_own(measure, asked.again, found))
    return Sampled(these, None, sources, found.variants / found.examples, {}, many, varies)


def _crossed(measure: str, columns: _Columns, span: tuple[float, float], asked: _Asked, spill: Spill) -> Sampled:
    """People are the same from one example to the next."""
    summed = columns.by_example(spill, asked.clusters)
    sampled = msgspec.structs.replace(_nested(measure, summed, span, asked), by=_by(columns))
    clusters = None if asked.clusters is None else asked.clusters[columns.example]
    crossed = components(Cells(columns.example, columns.person, columns.stratum, columns.values, clusters))
    if crossed is None:
        return msgspec.structs.replace(sampled, variance=msgspec.structs.replace(sampled.variance, people=None))
    like = _like_these(crossed, sampled.these, span, span[0] >= 0, asked.level)
    like = msgspec.structs.replace(like, signature=asked.sign(measure, LIKE_THESE))
    own, rest = _own(measure, asked.again, summed), max(crossed.rest, 0.0)
    noise = None if own is None else min(own, rest)
    sources = Sources(max(crossed.examples, 0.0), max(crossed.people, 0.0), noise, rest - (noise or 0.0))
    return msgspec.structs.replace(sampled, like_these=like, variance=sources)


def _varies(clusters: Numbers) -> float:
    """The variance of a cluster's mean, large clusters counting for more."""
    rest = clusters.total - clusters.value * clusters.weight
    return float(rest @ rest) / max(clusters.units - 1, 1) / float(clusters.weight.mean()) ** 2


def _like_these(found: Components, these: Estimate, span: tuple[float, float], share: bool, level: float) -> Estimate:
    """The interval for other people too, which is never narrower than the one for these people."""
    low, high = found.interval(level, span, share and isfinite(span[1] - span[0]))
    low = low if these.low is None else min(low, these.low)
    high = high if these.high is None else max(high, these.high)
    return msgspec.structs.replace(these, low=low, high=high, over=LIKE_THESE)


def _own(measure: str, again: Again | None, summed: ByExample) -> float | None:
    """The variance of one answer's number when the same text is asked again; what is unaltered has the clean answer."""
    found = None if again is None else _asked_again(measure, again)
    return None if found is None else found * (summed.altered / summed.variants)


def _asked_again(measure: str, again: Again) -> float | None:
    if measure != "flips":
        known = again.variance[~np.isnan(again.variance)]
        return float(known.mean()) if len(known) else None
    several = again.compared > 1
    share = again.changed[several] / again.compared[several]
    k = again.compared[several]
    return float((share * (1 - share) * k / (k - 1)).mean()) if several.any() else None


def _by(columns: _Columns) -> dict[str, float]:
    """The mean of each person."""
    many = np.bincount(columns.person, minlength=len(columns.names))
    total = np.bincount(columns.person, weights=columns.values, minlength=len(columns.names))
    return {name: float(total[i] / many[i]) for i, name in enumerate(columns.names) if many[i]}
