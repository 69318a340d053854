"""Tells a label from an id: where nearly every row has a value of its own, it is no class to be right about."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from unswayed.base.errors import DataError, option
from unswayed.base.task import Task
from unswayed.base.values import Example
from unswayed.data._reader import ReadOptions

_SOON = 1_000  # rows after which it is looked at first, so that a long file is not read in vain
_AT_LEAST = 100  # rows, below which every row may well have its own label
_REFUSED, _WARNED = 0.9, 0.5  # values per row


class LabelCounts:
    """Counts the values of the labels of one file. Whoever chose the task, or named all labels, means them."""

    def __init__(self, path: Path, task: Task, options: ReadOptions) -> None:
        self._path, self._task = path, task
        self._name = f"{option('gold')} {options.gold}" if options.gold else "label"
        self._meant = options.task is not None
        self._seen: set[int] | None = set() if options.labels is None else None
        self._rows = 0

    def add(self, example: Example) -> None:
        if self._seen is None or (label := self._task.label(example.gold)) is None:
            return
        self._rows += 1
        self._seen.add(hash(label))
        if self._rows == _SOON and not self._meant:
            self._refuse("the first ")

    def add_each(self, examples: Sequence[Example]) -> None:
        if self._seen is None:
            return
        if self._rows < _SOON <= self._rows + len(examples):  # it may be refused halfway
            for example in examples:
                self.add(example)
            return
        labels = [label for e in examples if (label := self._task.label(e.gold)) is not None]
        self._rows += len(labels)
        self._seen.update(map(hash, labels))

    def check(self) -> None:
        """To be called after the last row. Raises, or warns on standard error."""
        if self._seen is None or self._rows < _AT_LEAST:
            return
        if not self._meant:
            self._refuse("")
        if len(self._seen) >= _WARNED * self._rows:
            print(f"unswayed: {self._path}: {self._found('')}", file=sys.stderr)

    def _refuse(self, which: str) -> None:
        assert self._seen is not None
        if len(self._seen) >= _REFUSED * self._rows:
            raise DataError(
                f"{self._found(which)} Choose the column of the labels with {option('gold')}. If each value is a "
                f"label, use {option('task')} {self._task.name}; if they are free answers, {option('task')} generate; "
                f"if there are no labels, {option('task')} text.",
                self._path,
            )

    def _found(self, which: str) -> str:
        assert self._seen is not None
        return f"{self._name} has {len(self._seen):,} values in {which}{self._rows:,} rows: is it an id?"
