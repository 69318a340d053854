"""The contract of a scorer, from whose sums for each item every score and interval follows; and correlations."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from math import sqrt
from typing import ClassVar

import msgspec
import numpy as np
import numpy.typing as npt

from unswayed.base.errors import UsageError
from unswayed.base.ids import canonical
from unswayed.base.task import Task
from unswayed.base.values import Inputs, Json
from unswayed.stats.statistics import Array, ratio

__all__ = ["Array", "MeanScorer", "Pair", "Scorer", "Stats", "WithInputs", "kendall", "label_among", "label_key",
    "label_of",
    "pearson", "ratio", "stats_here", "tags_of"]  # fmt: skip


class WithInputs(msgspec.Struct, frozen=True):
    """A gold with the inputs of its example, for scorers that look at both."""

    gold: Json
    inputs: Inputs


class Scorer:
    """Extend, and put in `score/NAME.py` or behind the entry point `unswayed.scorers`.

    Example: `class Exact(Scorer)` with methods `stats` and `aggregate`; `docs/extending.md` shows one.

    An interval resamples the rows of `stats` and never scores a text again. The score of one item is the
    aggregate of its own row; of an example's variants the one with the lowest is its worst.
    """

    needed: ClassVar[tuple[tuple[str, ...], ...]] = (("stats",), ("aggregate",))  # to extend: one of each
    name: ClassVar[str]  # by default the class's
    version: ClassVar[int] = 1
    linear: ClassVar[bool] = True  # the score of a set is the mean of its items' scores
    apart: ClassVar[bool] = False  # an item's row does not depend on the others, so that blocks are scored and let go
    bounds: ClassVar[tuple[float, float]] = (0.0, 1.0)  # the least and the greatest score
    sees_inputs: ClassVar[bool] = False  # golds come as `WithInputs`, with the example's inputs

    def __init_subclass__(cls, **more: object) -> None:
        super().__init_subclass__(**more)
        if not hasattr(cls, "name") and cls.__module__ != __name__:
            cls.name = cls.__name__

    @property
    def decides(self) -> str | None:
        """What decides scores beside the code, such as parameters; None if that can't be known."""
        return ""

    def key(self, value: Json, task: Task) -> Hashable:
        """What of an output or a gold this scorer looks at: values of one key score alike.

        None says that there is nothing to score; such an output is missing, not wrong.
        """
        return None if value is None else canonical(value)

    def gold_key(self, gold: Json, task: Task) -> Hashable:
        """The key of a gold, where that is read otherwise than an output; None says that no score is due."""
        return self.key(gold, task)

    def stats(self, outputs: Sequence[Json], golds: Sequence[Json], task: Task) -> Array:
        """One row of sufficient statistics for each item.

        Called with pairs of an output and a gold whose keys differ: with every one at once, so that columns may
        depend on what is seen, such as the classes; or, where the scorer says `apart`, with some after others.
        """
        raise NotImplementedError

    def aggregate(self, sums: Array) -> Array:
        """The score of a set from the sum of its rows, along the last axis; NaN where it is not defined."""
        raise NotImplementedError

    def parts(self, golds: Iterable[Json], task: Task) -> list[Scorer]:
        """The same score of each kind of gold that there is, such as each type of entity; reported beside the whole."""
        return []

    def classes(self, outputs: Sequence[Json], golds: Sequence[Json], task: Task) -> Array | None:
        """Of a score that is a mean over classes: each item's (class said, class in gold, number of classes).

        Rows of `stats` would have columns for every class, so that memory would be items times classes.
        """
        return None


Pair = tuple[Json, Json]  # an output and its gold


def due_of(scorer: Scorer, gold: Json, inputs: Inputs) -> Json:
    """The gold as the scorer gets it."""
    return WithInputs(gold, inputs) if scorer.sees_inputs and gold is not None else gold


Stats = Callable[[Scorer, Sequence[Pair], Task], Array]


def stats_here(scorer: Scorer, pairs: Sequence[Pair], task: Task) -> Array:
    """A scorer's rows for pairs, made in this process."""
    rows = scorer.stats([output for output, _ in pairs], [gold for _, gold in pairs], task)
    if getattr(rows, "ndim", None) != 2 or len(rows) != len(pairs):
        shape = getattr(rows, "shape", None)
        found = f"an array of shape {tuple(shape)}" if shape is not None else type(rows).__name__
        raise UsageError(
            f"The scorer {scorer.name} returned {found} for {len(pairs)} items. "
            f"`stats` must return an array with one row for each item."
        )
    return rows


class MeanScorer(Scorer):
    """Extend with `item`. A row is (the item's score, 1)."""

    needed = (("item", "stats"),)
    apart = True

    def item(self, output: Json, gold: Json, task: Task) -> float:
        raise NotImplementedError

    def stats(self, outputs: Sequence[Json], golds: Sequence[Json], task: Task) -> Array:
        rows = np.ones((len(outputs), 2))
        found = [self.item(output, gold, task) for output, gold in zip(outputs, golds, strict=True)]
        if found and np.asarray(found).dtype.kind not in "biuf":
            wrong = next((score for score in found if not isinstance(score, (int, float, np.number))), found)
            raise UsageError(f"The scorer {self.name} gave {wrong!r:.60}. `item` must return a number for each output.")
        rows[:, 0] = found
        return rows

    def aggregate(self, sums: Array) -> Array:
        return ratio(sums[..., 0], sums[..., 1])


def label_key(self: Scorer, value: Json, task: Task) -> Hashable:
    """The `key` of scorers that look at the label alone; shared, so that a run's labels are read once."""
    return label_of(value, task)


def label_of(value: Json, task: Task) -> str | None:
    """The task's label, or None where an odd output holds something else in its place."""
    label = task.label(value)
    return label if isinstance(label, str) else None


def label_among(labels: tuple[str, ...], gold: Json, task: Task) -> str | None:
    """The gold label if it is one of these; else None, so that the item has no score and is not missing."""
    label = label_of(gold, task)
    return label if label is not None and label.casefold() in labels else None


def tags_of(value: Json) -> tuple[str, ...] | None:
    """The tags, or None where there is no list of texts."""
    slots = value.get("slots", value.get("tags")) if isinstance(value, dict) else value
    if not isinstance(slots, (list, tuple)) or not all(isinstance(tag, str) for tag in slots):
        return None
    return tuple(slots)


_BLOCK = 2_000_000  # comparisons made at once


def pearson(x: npt.NDArray[np.float64], y: npt.NDArray[np.float64]) -> float | None:
    """None where either does not vary."""
    if len(x) < 2:
        return None
    x, y = x - x.mean(), y - y.mean()
    size = sqrt(float(x @ x) * float(y @ y))
    return float(x @ y) / size if size else None


def kendall(x: npt.NDArray[np.float64], y: npt.NDArray[np.float64]) -> float | None:
    """Kendall's tau-b, by comparing all pairs in blocks; None where either does not vary."""
    n = len(x)
    agree = tied_x = tied_y = 0
    step = max(1, _BLOCK // max(n, 1))
    for start in range(0, n, step):
        rows = slice(start, min(start + step, n))
        later = np.arange(n)[None, :] > np.arange(n)[rows, None]
        dx, dy = np.sign(x[rows, None] - x[None, :]), np.sign(y[rows, None] - y[None, :])
        agree += int((dx * dy)[later].sum())
        tied_x += int((dx[later] == 0).sum())
        tied_y += int((dy[later] == 0).sum())
    pairs = n * (n - 1) // 2
    size = sqrt((pairs - tied_x) * (pairs - tied_y))
    return agree / size if size else None
