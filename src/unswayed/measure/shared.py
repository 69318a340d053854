"""What two runs have in common: the suite, which must be the same, and the items that both answered."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np

from unswayed.base.errors import UsageError
from unswayed.measure.measuring import Runlike
from unswayed.measure.run_table import Part, RunTable, Scored
from unswayed.storage.suite import Suite


def refuse_other_suite(runs: Sequence[Runlike]) -> None:
    """Raises if a run is of another suite than the first, and says what differs."""
    first = runs[0].suite
    for run in runs[1:]:
        if run.suite.id != first.id:
            differs = _differences(first, run.suite)
            why = f" They differ in {', '.join(differs)}." if differs else ""
            raise UsageError(
                f"The runs are of different suites ({first.id} and {run.suite.id}), so they can't be compared pair by "
                f"pair.{why} Run both systems on the same suite."
            )


def _differences(a: Suite, b: Suite) -> list[str]:
    """In what two suites differ, in words; nothing if their manifests do not say."""
    one, other = a.manifest, b.manifest
    found = []
    for name in ("task", "language", "seed", "draws", "examples", "variants"):
        values = getattr(one, name, None), getattr(other, name, None)
        if values[0] != values[1]:
            found.append(f"{name} ({values[0]} and {values[1]})")
    operators = [[str(o.get("name")) for o in getattr(m, "operators", ())] for m in (one, other)]
    for mine, others, whose in ((operators[0], operators[1], "first"), (operators[1], operators[0], "other")):
        if only := sorted(set(mine) - set(others)):
            found.append(f"operators (only the {whose} has {', '.join(only)})")
    hashes = [{name: h for name, h in getattr(m, "hashes", {}).items() if "example" in name} for m in (one, other)]
    if hashes[0] != hashes[1]:
        found.append("the data")
    return found


class Shared:
    """A table in which items that the other lacks are missing; what was due stays due, so they are counted.

    `ends` are where parts end: those of different tables may differ, as a run's outputs decide how many fit.
    """

    def __init__(self, mine: RunTable, other: RunTable, ends: Sequence[int]) -> None:
        self.task, self.operators, self.families, self.spill = mine.task, mine.operators, mine.families, mine.spill
        self._tables, self._ends = (mine, other), ends

    def parts(self) -> Iterator[Part]:
        for mine, other in zip(*(_cut(table, self._ends) for table in self._tables), strict=True):
            scored = {name: _shared_scores(s, other.scored[name]) for name, s in mine.scored.items()}
            flip = np.where(other.flip < 0, np.minimum(mine.flip, other.flip), mine.flip)
            yield replace(mine, flip=flip, scored=scored)


def ends_of(tables: Iterable[RunTable]) -> list[int]:
    """Where a part of any of the tables ends."""
    sizes = [[stored["clean_ok"].shape[0] for stored in table.stored] for table in tables]
    return sorted({int(end) for column in sizes for end in np.cumsum(column)})


def _cut(table: RunTable, ends: Sequence[int]) -> Iterator[Part]:
    for part in table.parts():
        inside = [end - part.first for end in ends if part.first < end < part.first + part.size]
        for start, stop in pairwise([0, *inside, part.size]):
            yield part if not inside else _between(part, start, stop)


def _between(part: Part, start: int, stop: int) -> Part:
    """Some of a part's examples, with their variants."""
    own, varied = slice(start, stop), slice(*np.searchsorted(part.example, [start, stop]).tolist())
    columns = ("operator", "family", "draw", "changed", "text", "ok", "flip")
    return replace(
        part,
        first=part.first + start,
        size=stop - start,
        clean_ok=part.clean_ok[own],
        groups={key: codes[own] for key, codes in part.groups.items()},
        example=part.example[varied] - start,
        scored={name: _scored_between(s, own, varied) for name, s in part.scored.items()},
        **{name: getattr(part, name)[varied] for name in columns},
    )


def _scored_between(scored: Scored, own: slice, varied: slice) -> Scored:
    clean = {name: getattr(scored, name)[own] for name in ("clean", "clean_due", "clean_codes")}
    return replace(scored, **clean, **{name: getattr(scored, name)[varied] for name in ("varied", "due", "codes")})


def _shared_scores(mine: Scored, other: Scored) -> Scored:
    clean_lost, lost = ~other.clean_known, ~other.known
    clean, varied = np.where(clean_lost, np.nan, mine.clean), np.where(lost, np.nan, mine.varied)
    if mine.scorer.linear:
        return replace(mine, clean=clean, varied=varied)
    clean_codes, codes = np.where(clean_lost, -1, mine.clean_codes), np.where(lost, -1, mine.codes)
    return replace(mine, clean=clean, varied=varied, clean_codes=clean_codes, codes=codes)
