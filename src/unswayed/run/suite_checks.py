"""What can be counted of a suite without people: labels that do not hold, and variants that equal their example."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import chain, compress
from operator import eq
from pathlib import Path
from typing import NamedTuple

import msgspec

from unswayed.base.edits import slots_of
from unswayed.base.task import Task
from unswayed.base.values import Example, Variant
from unswayed.data import ReadOptions, read_examples
from unswayed.storage.suite import Suite
from unswayed.vary import operators
from unswayed.vary.guard import LabelGuard

SHOWN = 3  # variants of an operator that are named


class LabelCheck(msgspec.Struct, kw_only=True):
    """What was counted of one operator's variants.

    `misfit`: gold does not fit the text, such as five tags for six tokens. `lost`: a labelled value is gone, or there
    is one more. `reworded`: a labelled value has other words. `contradicted`: the training labels speak against a
    word; None if no training data was given.
    """

    source: str
    variants: int = 0
    misfit: int = 0
    lost: int = 0
    reworded: int = 0
    contradicted: int | None = None
    shown: list[str] = []

    @property
    def fails(self) -> bool:
        return bool(self.misfit or self.lost or self.contradicted)


def learnt_guard(path: str | Path, reading: ReadOptions) -> LabelGuard:
    """The guard of labelled data in a file or folder."""
    assert reading.task is not None
    return LabelGuard.learn(read_examples(path, reading), reading.task)


def check_labels(suite: Suite, guard: LabelGuard | None = None) -> list[LabelCheck]:
    """The counts for each operator or person of a suite, for variants that keep the meaning."""
    found: dict[str, LabelCheck] = {}
    task = suite.task
    same = ((example, v) for example, variants in suite.groups() for v in variants if v.meaning == "same")
    for example, variant in same:
        name = variant.source
        check = found.setdefault(name, LabelCheck(source=name, contradicted=None if guard is None else 0))
        check.variants += 1
        asked = msgspec.structs.replace(example, inputs=variant.inputs, gold=variant.gold)
        problem = task.gold_problem(asked) if variant.gold is not None else None
        if problem is not None:
            check.misfit += 1
            _show(check, variant, problem)
            continue
        before, after = _values(example, task), _values(asked, task)
        if [kind for kind, _ in before] != [kind for kind, _ in after]:
            check.lost += 1
            _show(check, variant, "other values are labelled than in the example")
        elif before != after:
            check.reworded += 1
        if guard is not None and check.contradicted is not None:
            rewords = name in operators and operators.get(name).rewords
            if objection := guard.objection(example, variant.inputs, variant.gold, rewords):
                check.contradicted += 1
                _show(check, variant, f"{objection.word!r}: {objection.reason}")
    return [found[name] for name in sorted(found)]


def _values(example: Example, task: Task) -> Sequence[tuple[str, str]]:
    """The type and text of each labelled value."""
    tags = task.tags(example.gold)
    if tags is None:
        return [
            ("", text[start:end])
            for field, text in example.inputs.items()
            for start, end in (task.marked(example.gold, field, text) if task.aligned else ())
        ]
    tokens = example.inputs["text"].split(" ")
    return [(kind, " ".join(tokens[first:last])) for kind, first, last in slots_of(tags)]


def _show(check: LabelCheck, variant: Variant, why: str) -> None:
    if len(check.shown) < SHOWN:
        check.shown.append(f"{variant.example_id}, draw {variant.draw}: {why}")


class UnalteredCounts(NamedTuple):
    """By operator or person: how many variants there are, and how many of them equal their example."""

    made: dict[str, int]
    unaltered: dict[str, int]  # without those that have none


def count_unaltered(suite: Suite) -> UnalteredCounts:
    made: Counter[str] = Counter()
    same: Counter[str] = Counter()
    parts = suite.lists("examples", "row", "inputs")
    examples = chain.from_iterable(zip(*part, strict=True) for part in parts)
    texts: dict[int, str] = {}
    for rows, sources, varied in suite.lists("variants", "row", "source", "inputs"):
        last = rows[-1]
        if last not in texts:
            texts = {row: text for row, text in texts.items() if row >= rows[0]}
            for row, text in examples:
                texts[row] = text
                if row >= last:
                    break
        made.update(sources)
        same.update(compress(sources, map(eq, varied, map(texts.get, rows))))
    return UnalteredCounts(dict(made), dict(same))
