"""Simulated runs with known answers, and rows for how often something was found in them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from benchmarks._measure import Row
from unswayed.base.task import task_named
from unswayed.base.values import Example, Output, Variant
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


def share(
    name: str, what: str, found: float, times: int, least: float | None = None, most: float | None = None,
    note: str = "",
) -> Row:  # fmt: skip
    """How often something was found, as a share; `least` and `most` are the shares that are asked for.

    A share of few simulations may miss what is asked by three standard errors.
    """
    asked = least if least is not None else most
    chance = 0.0 if asked is None else 300 * (asked * (1 - asked) / times) ** 0.5
    told = f"{times:,} simulations{'; ' if note else ''}{note}"
    ours, wanted = round(100 * float(found), 1), None if asked is None else round(100 * asked, 6)
    return Row(name, what, ours, "%", more=most is None, asked=wanted, note=told, by_chance=round(chance, 1))


class Cell(NamedTuple):
    """One setting, and the share of its simulations in which the interval covered."""

    share: float
    where: str


def worst_cell(name: str, what: str, cells: Sequence[Cell], times: int, least: float = 0.93) -> Row:
    """The worst setting of a section, which is what has to hold."""
    worst = min(cells)
    mean = 100 * sum(cell.share for cell in cells) / len(cells)
    note = f"worst of {len(cells)} settings: {worst.where}; {mean:.1f}% on average"
    return share(name, what, worst.share, times, least=least, note=note)
