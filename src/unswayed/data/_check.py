"""Whether an example is sound: its inputs, its gold, its label and its id; and ids for those without."""

from __future__ import annotations

import math

from unswayed.base.errors import UsageError, nearest, option
from unswayed.base.ids import canonical, canonical_lines, content_id, content_ids
from unswayed.base.task import Task
from unswayed.base.values import Example, Json
from unswayed.data._ids import Ids
from unswayed.data._reader import Problem

_DEPTH = 100
_PLAIN = {str, int, bool, type(None)}  # types of golds that can be stored whatever they are


class Checks:
    """Passes the examples of one file, in order. Remembers every id, and the line that it stands on."""

    def __init__(self, task: Task, labels: tuple[str, ...] | None = None) -> None:
        self._task = task
        self._labels = None if labels is None else frozenset(labels)
        self._ids = Ids()
        self._copies: dict[str, int] = {}  # by content id, how many rows were the same
        self._names: tuple[str, ...] = ()

    def passed(self, example: Example, line: int) -> Example:
        """The example with its id; raises Problem if something is wrong with it."""
        self._check_inputs(example)
        unfit = _unfit(example.gold)
        if unfit:
            raise Problem(unfit)
        problem = self._task.gold_problem(example)
        if problem:
            raise Problem(f"{problem}. Fix the row, or choose another task with {option('task')}.")
        if self._labels is not None:
            self._check_label(example)
        return self._with_id(example, line)

    def passed_each(self, examples: list[Example], lines: list[int]) -> list[Example] | None:
        """What `passed` gives for each, if nothing is wrong with any of them; else None, and nothing is remembered."""
        golds = [e.gold for e in examples]
        if self._labels is not None or not examples or (set(map(type, golds)) - _PLAIN and any(map(_unfit, golds))):
            return None
        names = self._names_of(examples[0])
        if any(name not in inputs for inputs in {tuple(e.inputs) for e in examples} for name in names):
            return None
        if any(map(self._task.gold_problem, examples)):
            return None
        return self._with_ids(examples, lines)

    def _with_ids(self, examples: list[Example], lines: list[int]) -> list[Example] | None:
        ids = [e.id for e in examples]
        given = all(ids)
        if not given and any(ids):
            return None
        try:
            if given:
                canonical_lines([(e.id, e.inputs, e.gold, e.groups) for e in examples])
            else:
                canonical_lines([e.groups for e in examples if e.groups])
                ids = content_ids([[e.inputs, e.gold] for e in examples])
        except UnicodeEncodeError:
            return None
        again = self._ids.add_each(ids, lines, all_new=given)
        if again is None:
            return None
        if given:
            return examples
        for i in again:
            ids[i] = self._another_id(ids[i], lines[i])
        return [Example(e.row, id, e.inputs, e.gold, e.groups) for e, id in zip(examples, ids, strict=True)]

    def _names_of(self, example: Example) -> tuple[str, ...]:
        self._names = self._names or self._task.fields or tuple(example.inputs)
        return self._names

    def _check_inputs(self, example: Example) -> None:
        inputs = example.inputs
        for name in self._names_of(example):
            if name not in inputs:
                near = nearest(name, inputs)
                hint = f" Did you mean {near!r}?" if near else ""
                raise Problem(f"there is no input {name!r}.{hint} This row's inputs are: {', '.join(inputs)}.")

    def _check_label(self, example: Example) -> None:
        assert self._labels is not None
        label = self._task.label(example.gold)
        if label is None:
            raise UsageError(
                f"The task {self._task.name} has no labels, so {option('labels')} can't be checked. Leave it out."
            )
        if label not in self._labels:
            near = nearest(label, self._labels)
            hint = f" Did you mean {near!r}?" if near else ""
            raise Problem(
                f"the label {label!r} is not in {option('labels')} ({', '.join(sorted(self._labels))}).{hint} "
                f"Fix the label, or add it to {option('labels')}."
            )

    def _with_id(self, example: Example, line: int) -> Example:
        try:
            if example.id:
                canonical((example.id, example.inputs, example.gold, example.groups))
                id = example.id
            else:
                if example.groups:
                    canonical(example.groups)
                id = self._new_id(example, line)
        except UnicodeEncodeError as error:
            broken = ord(error.object[error.start])
            raise Problem(f"a text holds half a character, \\u{broken:04x}, which can't be stored.") from None
        before = self._ids.add(id, line) if example.id else None
        if before is not None:
            raise Problem(
                f"the id {id!r} is already that of row {before}. Ids must differ; leave them out to get new ones."
            )
        return example if example.id else Example(example.row, id, example.inputs, example.gold, example.groups)

    def _new_id(self, example: Example, line: int) -> str:
        id = content_id([example.inputs, example.gold])
        return id if self._ids.add(id, line) is None else self._another_id(id, line)

    def _another_id(self, content: str, line: int) -> str:
        """For the same row again, or, hardly ever, where a given id is like a row's own."""
        id = content
        while self._ids.add(id, line) is not None:
            self._copies[content] = self._copies.get(content, 1) + 1
            id = f"{content}-{self._copies[content]}"
        return id


def _unfit(gold: Json, depth: int = 0) -> str | None:
    """Why a gold can't be stored as JSON, if it can't."""
    kind = type(gold)
    if kind is str or kind is int or kind is bool or gold is None:
        return None
    if kind is float:
        return (
            None
            if math.isfinite(gold)
            else f"gold is {gold}, so the label is missing. Fill it in, or leave the row out."
        )
    if kind is dict or kind is list:
        if depth == _DEPTH:
            return f"gold is nested more than {_DEPTH} deep. Fix the row, or leave it out."
        for value in gold.values() if kind is dict else gold:
            if type(value) is not str and (unfit := _unfit(value, depth + 1)):
                return unfit
        return None
    return f"gold must be a text, a number, a list or an object, not {gold!r:.60} ({kind.__name__})."
