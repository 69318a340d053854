"""Simulated runs with known answers, and rows for how often something was found in them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from benchmarks._measure import Row
from unswayed.base.task import task_named
from unswayed.base.values import Example, Output, Variant
from unswayed.stats import clopper_pearson, t_quantile
from unswayed.storage.suite import Manifest

Bools = npt.NDArray[np.bool_]
_LABELS = ("a", "b")
FAILED = Output(error="no answer")


class MadeRun:
    """A run of two labels: `clean` tells which examples are right, `varied` which variants, a column for each source.

    What is true in `lost` (the clean input, then the variants) has no answer. `says` are the system's own names of the
    two labels.
    """

    system = identity = "simulated"

    def __init__(
        self, clean: Bools, varied: Bools, sources: Sequence[str], groups: Mapping[str, Sequence[object]] | None = None,
        lost: Bools | None = None, says: Sequence[str] = _LABELS,
    ) -> None:  # fmt: skip
        manifest = Manifest(task="classify", language="en")
        self.suite: Any = SimpleNamespace(id="s", signed="s", task=task_named("classify"), manifest=manifest)
        self._clean, self._varied, self._groups = clean, varied, groups or {}
        self._says = dict(zip(_LABELS, says, strict=True))
        self._lost = np.zeros((len(clean), len(sources) + 1), dtype=bool) if lost is None else lost
        seen: Counter[str] = Counter()
        self._columns = [(source, seen.update([source]) or seen[source] - 1) for source in sources]

    def items(self) -> Iterator[tuple[Example, Output, list[tuple[Variant, Output]]]]:
        for i, (right, row, gone) in enumerate(
            zip(self._clean.tolist(), self._varied.tolist(), self._lost.tolist(), strict=True)
        ):
            gold, other = _LABELS[i % 2], _LABELS[1 - i % 2]
            answer = {True: Output(self._says[gold]), False: Output(self._says[other])}
            varied = [
                (
                    Variant(i, str(i), draw, source, source.split("/")[0], "same", {"text": f"{i} {j}"}, gold, ""),
                    FAILED if gone[j + 1] else answer[one],
                )
                for j, ((source, draw), one) in enumerate(zip(self._columns, row, strict=True))
            ]
            groups = {name: str(values[i]) for name, values in self._groups.items()}
            yield Example(i, str(i), {"text": str(i)}, gold, groups), FAILED if gone[0] else answer[right], varied


@dataclass
class Trials:
    """What intervals did in simulations of one setting, beside those of a `reference` that is named.

    `power` counts what was found of that which is there: each row says what.
    """

    reference: str
    times: int = 0
    inside: int = 0
    found: int = 0
    width: float = 0.0
    theirs: float = 0.0

    def add(
        self, ends: tuple[float | None, float | None], true: float, theirs: float = 0.0, found: bool | None = None
    ) -> None:
        """One interval, and the width of the reference's; `found` is by default whether it excludes true - 0.1."""
        low, high = (end if end is not None else other for end, other in zip(ends, (-np.inf, np.inf), strict=True))
        self.times += 1
        self.inside += low - 1e-9 <= true <= high + 1e-9
        self.width += high - low
        self.theirs += theirs
        self.found += low > true - 0.1 if found is None else bool(found)

    @property
    def coverage(self) -> float:
        return self.inside / max(self.times, 1)

    @property
    def power(self) -> float:
        return self.found / max(self.times, 1)

    @property
    def ratio(self) -> float | None:
        return self.width / self.theirs if self.theirs else None

    def __str__(self) -> str:
        width = "no reference" if self.ratio is None else f"{self.ratio:.2f} × {self.reference}"
        return f"coverage {self.coverage:.1%}, width {width}, power {self.power:.1%}"


def share(
    name: str, what: str, found: float, times: int, least: float | None = None, most: float | None = None,
    note: str = "", seen: Trials | None = None,
) -> Row:  # fmt: skip
    """How often something was found, as a share; `least` and `most` are the shares that are asked for.

    A share of few simulations may miss what is asked by three standard errors. The note has the coverage, the width and
    the power of `seen`; where nothing has an interval, the share itself is the power or the size.
    """
    asked = least if least is not None else most
    chance = 0.0 if asked is None else 300 * (asked * (1 - asked) / times) ** 0.5
    figures = seen or f"no interval, {'size' if most is not None else 'power'} {found:.1%}"
    told = f"{figures}; {times:,} simulations{'; ' if note else ''}{note}"
    ours, wanted = round(100 * float(found), 1), None if asked is None else round(100 * asked, 6)
    return Row(name, what, ours, "%", more=most is None, asked=wanted, note=told, by_chance=round(chance, 1))


class Cell(NamedTuple):
    """One setting, and what intervals did in its simulations."""

    share: float
    where: str
    seen: Trials


def cell(where: str, seen: Trials) -> Cell:
    return Cell(seen.coverage, where, seen)


def worst_cell(name: str, what: str, cells: Sequence[Cell], times: int, least: float = 0.93) -> Row:
    """The setting of a section that covers worst, which is what has to hold; and the mean width of all settings."""
    worst = min(cells, key=lambda one: one.share)
    mean = 100 * sum(one.share for one in cells) / len(cells)
    note = f"worst of {len(cells)} settings: {worst.where}; on average {mean:.1f}%"
    ratios = [(one.seen.ratio, one.where) for one in cells if one.seen.ratio is not None]
    if ratios:
        widest = max(ratios)
        average = float(np.mean([ratio for ratio, _ in ratios]))
        note += f" and {average:.2f} × as wide, at most {widest[0]:.2f} ({widest[1]})"
    return share(name, what, worst.share, times, least=least, note=note, seen=worst.seen)


def paired_t(values: npt.NDArray[np.float64]) -> float:
    """The width of Student's interval of a mean."""
    return 2 * t_quantile(0.975, len(values) - 1) * float(values.std(ddof=1)) / len(values) ** 0.5


@lru_cache(maxsize=100_000)
def exact_width(right: int, n: int) -> float:
    """The width of Clopper and Pearson's interval."""
    low, high = clopper_pearson(right, n)
    return high - low
