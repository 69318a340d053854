"""The contracts of scorers, from whose sums for each item every score and interval follows; and correlations.

`Scorer` for any statistics, `MeanScorer` for a score of each item, `SegmentScorer` for corpus metrics of sacreBLEU, and
`AnswerScorer` for SQuAD's two scores.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from contextlib import nullcontext
from math import sqrt
from typing import Any, ClassVar

import msgspec
import numpy as np
import numpy.typing as npt

from unswayed.base.errors import UsageError
from unswayed.base.ids import canonical
from unswayed.base.language import by_script
from unswayed.base.recorder import recorder_of
from unswayed.base.task import Task
from unswayed.base.task.qa import normal_answer
from unswayed.base.task.translate import references_of
from unswayed.base.values import Inputs, Json
from unswayed.stats.resample import Array as Array, ratio as ratio
from unswayed.systems.metrics import sacrebleu_metrics


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
    by_operator: ClassVar[bool] = False  # is it reported by operator even if it is not the main score?
    linear: ClassVar[bool] = True  # the score of a set is the mean of its items' scores
    apart: ClassVar[bool] = False  # an item's row does not depend on the others, so that blocks are scored and let go
    bounds: ClassVar[tuple[float, float]] = (0.0, 1.0)  # the least and the greatest score
    stored: ClassVar[bool] = True  # is scoring an answer slower than to find its score in a file (some 6 µs)?
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

    def item_scores(self, rows: Array) -> Array:
        """What items are ranked by to find the worst: the score of each by itself."""
        return self.aggregate(rows)

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
    with recorder_of(type(scorer)) or nullcontext():
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


_COMPARISONS_AT_ONCE = 2_000_000  # comparisons made at once


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
    step = max(1, _COMPARISONS_AT_ONCE // max(n, 1))
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


class SegmentScorer(Scorer):
    """Extend with `metric`. Outputs are texts; a gold is a reference or a list of them."""

    linear = False
    apart = True
    bounds = (0.0, 100.0)
    _metric: Any = None  # chosen by the first references

    def metric(self, metrics: Any, language: str) -> Any:
        """The metric, from the module `sacrebleu.metrics`, for references in that language."""
        raise NotImplementedError

    def key(self, value: Json, task: Task) -> Hashable:
        return value if isinstance(value, str) else None

    def gold_key(self, gold: Json, task: Task) -> Hashable:
        return tuple(references_of(gold)) or None

    def stats(self, outputs: Sequence[Json], golds: Sequence[Json], task: Task) -> Array:
        if not outputs:
            return np.zeros((0, 1))
        references = [references_of(gold) for gold in golds]
        if self._metric is None:
            language = by_script(text for texts in references for text in texts)
            self._metric = self.metric(sacrebleu_metrics(), language)
        most = max(map(len, references))
        streams = [[texts[i] if i < len(texts) else None for texts in references] for i in range(most)]
        # sacreBLEU's own significance tests resample what this gives; there is no public name for it.
        return np.array(self._metric._extract_corpus_statistics(list(outputs), streams), dtype=float)


class AnswerScorer(MeanScorer):
    """Extend with `likeness`. Answers of the task qa are read by SQuAD's rules; others as they are, but for spaces and
    capitals, as marks count in a number."""

    part: ClassVar[str] = ""
    stored = False

    def likeness(self, said: str, due: str) -> float:
        """The score of an answer against one gold answer, both in their normal forms."""
        raise NotImplementedError

    def key(self, value: Json, task: Task) -> Hashable:
        texts = texts_of(value)
        return None if texts is None else tuple(compared_form(text, task) for text in texts)

    def item(self, output: Json, gold: Json, task: Task) -> float:
        said = texts_of(output)
        if said is None or len(said) != 1:
            return 0.0  # guessing twice is not an answer
        answer = compared_form(said[0], task)
        # By SQuAD 2.0's rule, gold answers of which nothing is left don't count, unless there is no other; then the
        # right answer is none.
        forms = [compared_form(text, task) for text in texts_of(gold) or ()]
        forms = ([form for form in forms if form] or [""]) if task.name == "qa" else forms
        return max((self.likeness(answer, due) for due in forms), default=0.0)

    def parts(self, golds: Iterable[Json], task: Task) -> list[Scorer]:
        """Where some questions have no answer, those that have one and those that have none, as SQuAD 2.0 reports."""
        if self.part or task.name != "qa":
            return []
        kinds = {has_answer(gold) for gold in golds if gold is not None}
        if len(kinds) < 2:
            return []
        found: list[Scorer] = []
        cls = type(self)
        # Each part is a class of its own: a run's golds are read once for all scorers that share a `gold_key`.
        for part, gold_key in (("HasAns", _answered_key), ("NoAns", _unanswered_key)):
            fields = {"name": f"{cls.name}({part})", "part": part, "gold_key": gold_key, "__module__": cls.__module__}
            found.append(type(f"{cls.__name__}{part}", (cls,), fields)())
        return found


def compared_form(text: str, task: Task) -> str:
    """What makes two answers of a task equal: SQuAD's form; else lower case, with single spaces between words."""
    return normal_answer(text) if task.name == "qa" else " ".join(text.split()).casefold()


def has_answer(gold: Json) -> bool:
    return any(normal_answer(text) for text in texts_of(gold) or ())


def _answered_key(self: Scorer, gold: Json, task: Task) -> Hashable:
    return self.key(gold, task) if has_answer(gold) else None


def _unanswered_key(self: Scorer, gold: Json, task: Task) -> Hashable:
    return None if has_answer(gold) else self.key(gold, task)


def texts_of(value: Json) -> tuple[str, ...] | None:
    """The answers in a gold or an output as they stand, or None where there is none to read. An empty list of answers
    says that the question has none, which the empty text is."""
    if isinstance(value, dict):
        value = value.get("answers", value.get("text", value.get("label")))
        if value == []:
            return ("",)
    values = value if isinstance(value, list) else [value]
    texts = [v.get("text") if isinstance(v, dict) else v for v in values]
    readable = [text for text in texts if isinstance(text, (str, int, float)) and text == text]  # NaN is not itself
    found = tuple(map(str, readable))
    return found if found and len(found) == len(texts) else None
