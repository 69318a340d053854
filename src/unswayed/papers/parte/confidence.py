"""Is a changed answer an unsure one? How sure a system was of its answers to the originals, changed and kept."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import numpy as np

from unswayed.base import Estimate, Inputs, content_id
from unswayed.papers.parte.changed import Judged
from unswayed.stats import Observations, Question, Ratio, Resampling, estimates, sign
from unswayed.storage import Suite
from unswayed.systems import System

VERSION = 1  # of this definition; part of every signature


class Confidence(msgspec.Struct, frozen=True):
    """The mean probability of the answers to originals that changed, and that were kept.

    `auc` is how often, of one of each, the changed one was less sure: 0.5 if confidence says nothing.
    """

    changed: Estimate
    kept: Estimate
    auc: float | None


def confidences(system: System, suite: Suite) -> dict[str, float] | None:
    """By example, how sure a system is of its answer to it; None of one that has no probabilities."""
    ask = getattr(system, "confidence", None)
    if ask is None:
        return None
    ids = [example.id for example in suite.examples()]
    inputs: list[Inputs] = [example.inputs for example in suite.examples()]
    found: list[float] = []
    for at in range(0, len(inputs), system.batch_size):
        found += ask(inputs[at : at + system.batch_size])
    return dict(zip(ids, found, strict=True))


def confidence_of(pairs: Sequence[Judged], sure: dict[str, float], name: str, settings: Resampling) -> Confidence:
    rows: dict[str, list[list[float]]] = {}
    by_change: tuple[list[float], list[float]] = ([], [])
    for pair in pairs:
        if pair.changed is not None:
            own = rows.setdefault(pair.example, [[0.0, 0.0], [0.0, 0.0]])
            own[pair.changed][0] += sure[pair.example]
            own[pair.changed][1] += 1
            by_change[pair.changed].append(sure[pair.example])
    table = np.array(list(rows.values()), dtype=float).reshape(-1, 2, 2)
    decided = content_id([[p.example, p.before, p.after] for p in pairs], 8)
    asked = []
    for changed, which in enumerate(("kept", "changed")):
        known = np.flatnonzero(table[:, changed, 1])
        column = Observations(known, table[known, changed], Ratio(), np.zeros(len(table), dtype=np.int64))
        measure = {"measure": f"confidence:{VERSION}", "of": which, "system": content_id(name), "pairs": decided}
        asked.append(Question(column, sign(measure, settings)))
    kept, changed_ = estimates(asked, settings)
    auc = None
    if all(by_change):
        stayed, moved = (np.sort(values) for values in by_change)
        below, upto = (np.searchsorted(stayed, moved, side) for side in ("left", "right"))
        auc = 1 - float((below + upto).mean() / 2 / len(stayed))
    return Confidence(changed_, kept, auc)
