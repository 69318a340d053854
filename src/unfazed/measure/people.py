"""People as a sample: intervals for these people and for people like these, and where the differences come from."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import copy
from math import isfinite

import msgspec
import numpy as np

from unfazed.core.estimate import Array, Ints, Numbers, mean_interval, numbers_of
from unfazed.core.values import Estimate
from unfazed.measure.repeats import Again
from unfazed.measure.run_table import Part, PersonOf, RunTable
from unfazed.measure.sampling import LIKE_THESE, THESE, PeopleBlock, Sampled, Sources
from unfazed.measure.variance import Cells, Components, components
from unfazed.run.block import AS_IT_WAS, Kind, used_numbers
from unfazed.score import Scorer


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


class _Columns:
    """All variants of the same meaning that have a number, gathered over the parts of a table."""

    def __init__(self, table: RunTable, value: Callable[[Part], Array], people: bool, clusters: Ints | None) -> None:
        self.clusters = clusters
        self.names: list[str] = table.people
        self.families = table.families
        at, example, person, stratum, values, altered = 0, [], [], [], [], []
        for part in table.parts():
            number = value(part)
            kept = ~part.changed & ~np.isnan(number)
            if people:
                kept &= part.person >= 0
            example.append(part.example[kept] + at)
            person.append(part.person[kept] if people else part.draw[kept])
            stratum.append(part.family[kept] if people else part.operator[kept])
            values.append(number[kept])
            altered.append(part.text[kept] != AS_IT_WAS)
            at += part.size
        self.examples = at
        self.example, self.person, self.stratum = (np.concatenate(c) for c in (example, person, stratum))
        self.values: Array = np.concatenate(values)
        self.altered: Array = np.concatenate(altered).astype(np.float64)

    def of(self, stratum: int) -> _Columns:
        """Those of one family."""
        inside, part = self.stratum == stratum, copy(self)
        for name in ("example", "person", "stratum", "values", "altered"):
            setattr(part, name, getattr(self, name)[inside])
        return part


def measure_people(
    table: RunTable, scorer: Scorer | None, again: Again | None, level: float, sign: Callable[[str, str], str],
    clusters: Ints | None = None, cluster: str | None = None,
) -> PeopleBlock | None:  # fmt: skip
    """The block of a run; None if nothing was varied twice, so that there is nothing to compare."""
    people = bool(table.people)
    over = THESE if people else "examples like these" if cluster is None else f"{cluster} (clusters)"
    wanted: dict[str, tuple[Callable[[Part], Array], tuple[float, float]]] = {"flips": (_flips, (0.0, 1.0))}
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
    found: dict[str, Sampled] = {}
    families: dict[str, dict[str, Sampled]] = {}
    n = 0
    for measure, (value, span) in wanted.items():
        columns = _Columns(table, value, people, clusters)
        if len(np.flatnonzero(np.bincount(columns.example))) < 2 or (not people and not _varied_twice(columns)):
            continue
        n = max(n, len(np.flatnonzero(np.bincount(columns.person))))
        found[measure] = _sampled(measure, columns, span, people, again, level, sign, over)
        strata = np.unique(columns.stratum).tolist() if people else []
        for code in strata if len(strata) > 1 else ():
            part = _sampled(measure, columns.of(code), span, people, again, level, sign, over)
            families.setdefault(columns.families[code], {})[measure] = part
    return PeopleBlock("people" if people else "draws", n, found, families) if found else None


def _drops(part: Part, score: str) -> Array:
    drops: Array = part.scored[score].clean[part.example] - part.scored[score].varied
    return drops


def _flips(part: Part) -> Array:
    return np.where(part.flip >= 0, part.flip, np.nan).astype(np.float64)


def _varied_twice(columns: _Columns) -> bool:
    return bool((np.bincount(columns.example, minlength=1) > 1).any())


def _sampled(
    measure: str, columns: _Columns, span: tuple[float, float], people: bool, again: Again | None, level: float,
    sign: Callable[[str, str], str], over: str,
) -> Sampled:  # fmt: skip
    examples, number = used_numbers(columns.example, columns.examples)
    place = number[columns.example]
    means = np.bincount(place, weights=columns.values) / np.bincount(place)
    share = span[0] >= 0
    clusters = None if columns.clusters is None else columns.clusters[examples]
    units = numbers_of(means, clusters=clusters)
    low, high = mean_interval(units, span, level, "share" if share else "difference")
    signature = sign(measure, THESE if people else "draws")
    these = Estimate(float(means.mean()), low, high, len(means), 0, signature, over=over)
    own, draws = None if again is None else _own(measure, again), len(place) / len(means)
    own = None if own is None else own * float(columns.altered.mean())  # what is unaltered has the clean answer
    many, varies = (None, None) if clusters is None else (units.units, _varies(units))
    if not people:
        return Sampled(these, None, _nested(columns, place, means, own), draws, {}, many, varies)
    clusters = None if columns.clusters is None else columns.clusters[columns.example]
    cells = Cells(columns.example, columns.person, columns.stratum, columns.values, clusters)
    crossed = components(cells)
    if crossed is None:
        alone = msgspec.structs.replace(_nested(columns, place, means, own), people=None)
        return Sampled(these, None, alone, draws, _by(columns), many, varies)
    like = _like_these(crossed, these, span, share, level)
    like = msgspec.structs.replace(like, signature=sign(measure, LIKE_THESE))
    rest = max(crossed.rest, 0.0)
    noise = None if own is None else min(own, rest)
    sources = Sources(max(crossed.examples, 0.0), max(crossed.people, 0.0), noise, rest - (noise or 0.0))
    return Sampled(these, like, sources, draws, _by(columns), many, varies)


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


def _nested(columns: _Columns, place: Ints, means: Array, own: float | None) -> Sources:
    """Examples and, within them, draws, which have nothing in common from one example to the next."""
    many = np.bincount(place)
    operator = np.bincount(columns.stratum, weights=columns.values) / np.maximum(np.bincount(columns.stratum), 1)
    centred = columns.values - operator[columns.stratum]
    middle = np.bincount(place, weights=centred) / many
    freedom = len(place) - len(many)
    within = float(((centred - middle[place]) ** 2).sum()) / freedom if freedom else None
    between = float(means.var(ddof=1))
    noise = None if own is None or within is None else min(own, within)
    if within is None:
        return Sources(between, None, None, None)
    examples = max(between - within * float((1 / many).mean()), 0.0)
    return Sources(examples, within - (noise or 0.0), noise, None)


def _own(measure: str, again: Again) -> float | None:
    """The variance of one answer's number when the same text is asked again."""
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
