"""Applies operators to examples: every operator, every draw, labels moved, in the examples' order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from itertools import islice
from multiprocessing import get_context
from typing import Any

import msgspec

from unfazed.core.edits import LabelsLost, apply
from unfazed.core.errors import CannotKeepLabels, UnknownName, UsageError
from unfazed.core.language import require_language
from unfazed.core.seeds import Seeds
from unfazed.core.task import task_named
from unfazed.core.values import Example, Json, Variant
from unfazed.vary import operators
from unfazed.vary.operator import Change, Operator, Text, describe

BLOCK = 512  # examples handled at once: enough for operators that batch, little enough to stream


class OperatorSpec(msgspec.Struct, frozen=True):
    """An operator by name, with what it is told."""

    name: str
    params: dict[str, Json] = {}

    def make(self) -> Operator:
        cls = operators.get(self.name)
        known = cls.parameters()
        for key in self.params:
            if key not in known:
                raise UnknownName(f"parameter of {self.name}", key, known)
        operator = cls(**self.params)
        operator.name, operator.family = self.name, self.name.split("/", 1)[0]
        return operator

    def describe(self) -> dict[str, Json]:
        cls = operators.get(self.name)
        defaults = {k: p.default for k, p in cls.parameters().items()}
        return describe(self.name, cls, {**defaults, **self.params})


class Variation(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that decides which variants an example gets."""

    operators: tuple[OperatorSpec, ...]
    task: str
    language: str
    language_guessed: bool = False
    draws: int = 1
    seed: int = 0
    fields: tuple[str, ...] = ()

    def check(self) -> None:
        """Raises before any work where an operator can't be used for this language or task."""
        names = [spec.name for spec in self.operators]
        twice = next((name for name, count in Counter(names).items() if count > 1), None)
        if twice:
            raise UsageError(f"The operator {twice} is asked for twice; make two suites to compare its settings.")
        if not names:
            raise UsageError("No operator was given. See `unfazed list operators`.")
        if self.draws < 1:
            raise UsageError(f"draws must be 1 or more, not {self.draws}.")
        task = task_named(self.task)
        for spec in self.operators:
            cls = operators.get(spec.name)
            require_language(spec.name, cls.languages, self.language, self.language_guessed)
            if task.aligned and not cls.aligned:
                raise CannotKeepLabels(
                    f"{spec.name} rewrites whole texts, so the labels of a {task.name} example can't be kept true."
                )


class Varier:
    """Makes the variants of blocks of examples. Holds the operators, so make one a process."""

    def __init__(self, variation: Variation) -> None:
        variation.check()
        self.variation = variation
        self.task = task_named(variation.task)
        self.operators = [spec.make() for spec in variation.operators]
        self.seeds = [Seeds(variation.seed, op.name, op.version) for op in self.operators]

    def block(self, examples: Sequence[Example]) -> tuple[list[Variant], Counter[str]]:
        """The variants of these examples in their order, and how often each operator found nothing to change."""
        fields = [self._fields(example) for example in examples]
        made: list[list[Variant]] = [[] for _ in examples]
        unchanged: Counter[str] = Counter()
        for operator, seeds in zip(self.operators, self.seeds, strict=True):
            changed = set()
            for draw in range(self.variation.draws):
                for i, variant in self._draw(operator, seeds, draw, examples, fields):
                    made[i].append(variant)
                    changed.add(i)
            if len(changed) < len(examples):
                unchanged[operator.name] += len(examples) - len(changed)
        return [variant for variants in made for variant in variants], unchanged

    def _draw(
        self, operator: Operator, seeds: Seeds, draw: int, examples: Sequence[Example], fields: list[tuple[str, ...]]
    ) -> Iterator[tuple[int, Variant]]:
        """One operator's variants of a block for one draw, with the example's place in the block."""
        language = self.variation.language
        aligned = self.task if self.task.aligned else None
        stream = seeds.stream
        places = [(i, field) for i, names in enumerate(fields) for field in names]
        texts = [Text(examples[i].inputs[f], language, examples[i].gold, f, aligned) for i, f in places]
        rngs = [stream(examples[i].id, draw, f) for i, f in places]
        changes = operator.changes(texts, rngs)
        at = 0
        for i, names in enumerate(fields):
            variant = self._variant(operator, draw, examples[i], names, changes[at : at + len(names)])
            at += len(names)
            if variant is not None:
                yield i, variant

    def _variant(
        self, operator: Operator, draw: int, example: Example, names: tuple[str, ...], changes: list[Change | None]
    ) -> Variant | None:
        inputs, gold = example.inputs.copy(), example.gold
        aligned = self.task.aligned and gold is not None
        notes = []
        for field, change in zip(names, changes, strict=True):
            if change is None:
                continue
            if aligned:
                try:
                    inputs[field], gold = self.task.move(gold, field, inputs[field], change.edits)
                except LabelsLost:
                    return None  # the change can't be made without making a label false
            else:
                inputs[field] = apply(inputs[field], change.edits)
            notes.append(change.note if len(names) == 1 else f"{field}: {change.note}")
        if not notes:
            return None
        if inputs == example.inputs:
            raise UsageError(f"{operator.name} gave back the text of example {example.id!r} unchanged.")
        return Variant(
            example.row,
            example.id,
            draw,
            operator.name,
            operator.family,
            operator.meaning,
            inputs,
            None if operator.meaning == "changed" else gold,  # then the answer should differ; which, nobody said
            "; ".join(notes),
        )

    def _fields(self, example: Example) -> tuple[str, ...]:
        chosen = self.variation.fields or self.task.varied or tuple(example.inputs)
        missing = next((f for f in chosen if f not in example.inputs), None)
        if missing:
            has = ", ".join(example.inputs)
            raise UsageError(f"Example {example.id!r} (row {example.row}) has no input {missing!r}; it has {has}.")
        return chosen


def vary(
    examples: Iterable[Example],
    variation: Variation,
    workers: int = 1,
    unchanged: Counter[str] | None = None,
    done: Callable[[int], None] = lambda count: None,
) -> Iterator[Variant]:
    """The variants of all examples, in the examples' order whatever the number of workers.

    `unchanged` collects, by operator, how many examples had nothing to change; `done` hears of finished examples.
    """
    blocks = _blocks(examples, BLOCK)
    for variants, none, size in _local(blocks, variation) if workers <= 1 else _pooled(blocks, variation, workers):
        if unchanged is not None:
            unchanged.update(none)
        yield from variants
        done(size)


_Made = tuple[list[Variant], Mapping[str, int], int]


def _local(blocks: Iterator[list[Example]], variation: Variation) -> Iterator[_Made]:
    varier = Varier(variation)
    for block in blocks:
        variants, unchanged = varier.block(block)
        yield variants, unchanged, len(block)


def _pooled(blocks: Iterator[list[Example]], variation: Variation, workers: int) -> Iterator[_Made]:
    """Keeps a few blocks ahead in worker processes and hands them back in order."""
    Varier(variation)  # fail here rather than in a worker
    with ProcessPoolExecutor(
        workers, mp_context=get_context("spawn"), initializer=_start, initargs=(variation,)
    ) as pool:
        waiting: list[tuple[Future[tuple[list[Variant], Counter[str]]], int]] = []
        try:
            for block in blocks:
                waiting.append((pool.submit(_work, block), len(block)))
                if len(waiting) > 2 * workers:
                    future, size = waiting.pop(0)
                    yield (*future.result(), size)
            for future, size in waiting:
                yield (*future.result(), size)
        finally:
            for future, _ in waiting:
                future.cancel()


_varier: Varier


def _start(variation: Variation) -> None:
    global _varier
    _varier = Varier(variation)


def _work(block: list[Example]) -> tuple[list[Variant], Counter[str]]:
    return _varier.block(block)


def _blocks(items: Iterable[Any], size: int) -> Iterator[list[Any]]:
    it = iter(items)
    while block := list(islice(it, size)):
        yield block
