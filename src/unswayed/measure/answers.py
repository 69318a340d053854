"""Lost and gained answers: what one run has right and another, on the same suite, has wrong."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import islice
from typing import Literal, NamedTuple

import numpy as np

from unswayed.base.text import spelled
from unswayed.base.values import Example, Json, Output, Variant
from unswayed.measure.changes import Right
from unswayed.measure.compared import Answers
from unswayed.measure.measuring import Runlike, items_of, scorers_for
from unswayed.measure.missing import wrong
from unswayed.measure.run_table import Bools, Part
from unswayed.measure.stored import KeptScores
from unswayed.run.plan import MeasurePlan
from unswayed.score import Array, Scorer, comparing_for

_A_BLOCK = 500  # examples that are scored together


class Changed(NamedTuple):
    """An answer that is right in one run and wrong in the other; `operator` is empty for a clean input."""

    change: Literal["lost", "gained"]
    example: str
    operator: str
    draw: int | None
    text: str
    answer_a: str
    answer_b: str
    gold: str


_Said = tuple[Example, Example | Variant, Output, Output]


def changed_answers(a: Runlike, b: Runlike, score: str, plan: MeasurePlan) -> Iterator[Changed]:
    """Every lost and gained answer, in the order of the suite; none where nothing can be scored."""
    task = a.suite.task
    with comparing_for(a.suite, plan.extract, plan.equivalent, plan.rubric).at(None) as comparing:
        scorer = next(iter(scorers_for(task, plan.scores or [score], comparing)), None) if score != "none" else None
        said = _both(a, b, plan)
        with KeptScores([a, b]) as kept:
            right = Right(scorer, task, kept)
            while scorer is not None and (block := list(islice(said, _A_BLOCK))):
                due = [right.due(item.gold, example.inputs) for example, item, *_ in block]
                right.see([(o.value, gold) for (_, _, *both), gold in zip(block, due, strict=True) for o in both])
                for (_, item, *both), gold in zip(block, due, strict=True):
                    was, is_ = (False if o.unreadable else right(o.value, gold) for o in both)
                    if gold is not None and was is not None and is_ is not None and was != is_:
                        yield _changed("lost" if was else "gained", item, both[0], both[1])


def _both(a: Runlike, b: Runlike, plan: MeasurePlan) -> Iterator[_Said]:
    """What both runs answered, of clean inputs and of variants with the same meaning."""
    counted = wrong if plan.missing == "wrong" else _as_it_is
    pairs = zip(items_of(a, b), items_of(b, a), strict=True)
    for (example, clean_a, varied_a), (_, clean_b, varied_b) in pairs:
        before, after = counted(clean_a), counted(clean_b)
        if _read(before) and _read(after):
            yield example, example, before, after
        for (variant, output_a), (_, output_b) in zip(varied_a, varied_b, strict=True):
            before, after = counted(output_a), counted(output_b)
            if _read(before) and _read(after) and variant.meaning == "same":
                yield example, variant, before, after


def _as_it_is(output: Output) -> Output:
    return output


def _read(output: Output) -> bool:
    return output.ok or output.unreadable


def _changed(change: Literal["lost", "gained"], item: Example | Variant, a: Output, b: Output) -> Changed:
    inputs = item.inputs
    text = next(iter(inputs.values())) if len(inputs) == 1 else spelled(dict(inputs))
    said: list[Json] = [a.value, b.value, item.gold]
    shown = (spelled(value, inputs) for value in said)
    if isinstance(item, Variant):
        return Changed(change, item.example_id, item.source, item.draw, text, *shown)
    return Changed(change, item.id, "", None, text, *shown)


class Tallied:
    """Counts lost and gained answers part by part: of clean inputs, of variants, and of each operator's."""

    def __init__(self) -> None:
        self._counts: dict[str, Counter[str]] = {}

    def add(self, a: Part, b: Part, scorer: Scorer) -> None:
        best = scorer.bounds[1]
        one, other = a.scored[scorer.name], b.scored[scorer.name]
        self._count("clean", one.clean, other.clean, best)
        same = ~a.changed
        self._count("variants", one.varied[same], other.varied[same], best)
        for code, name in enumerate(a.operators):
            chosen: Bools = same & (a.operator == code)
            self._count(f"operator={name}", one.varied[chosen], other.varied[chosen], best)

    def _count(self, name: str, a: Array, b: Array, best: float) -> None:
        known = ~np.isnan(a) & ~np.isnan(b)
        before, after = a[known] >= best, b[known] >= best
        self._counts.setdefault(name, Counter()).update(
            lost=int((before & ~after).sum()),
            gained=int((~before & after).sum()),
            right=int((before & after).sum()),
            wrong=int((~before & ~after).sum()),
        )

    def answers(self) -> dict[str, Answers]:
        return {name: Answers(**counts) for name, counts in self._counts.items() if counts.total()}
