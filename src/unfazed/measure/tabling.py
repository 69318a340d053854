"""From a run's items to its table: items stream through, and their numbers are put aside block by block."""

from __future__ import annotations

from array import array
from collections.abc import Hashable, Iterable, Sequence
from typing import Any

import numpy as np

from unfazed.core.task import Task
from unfazed.core.values import Example, Output, Variant
from unfazed.measure.pairs import NO_GOLD, Ints, PairCodes
from unfazed.measure.spill import Kept, Spill
from unfazed.measure.table import Table, ordered

Item = tuple[Example, Output, list[tuple[Variant, Output]]]
VARIANTS_A_PART = 1 << 16


class TableReader:
    """Takes the items of a run one by one, in the order of the suite; `table` gives the columns once all are in."""

    def __init__(self, task: Task, pairs: PairCodes, spill: Spill) -> None:
        self.task, self.pairs, self.spill = task, pairs, spill
        self._kinds: dict[tuple[int, str, bool, str], int] = {}
        self._made = np.zeros(0, dtype=np.int64)
        self._values: dict[str, dict[str, int]] = {}
        self._stored: list[dict[Any, Kept]] = []
        self._last = -1
        self._examples = self._clean_answers = self._answers = 0
        self._start()

    def _start(self) -> None:
        """Empties the block."""
        self._rows, self._clean_ok, self._variants = array("q"), array("b"), array("q")
        self._kind, self._ok, self._flip = array("q"), array("b"), array("b")
        self._clean_codes, self._codes = self.pairs.columns(), self.pairs.columns()
        self._groups: dict[str, array[int]] = {}

    def add(self, example: Example, clean: Output, varied: Sequence[tuple[Variant, Output]]) -> None:
        at = len(self._rows)
        before = answer_of(self.task, clean)
        self._rows.append(example.row)
        self._clean_ok.append(before is not None)
        self._variants.append(len(varied))
        self.pairs.code(clean, before is not None, example.gold, self._clean_codes)
        for key, value in example.groups.items():
            values = self._values.setdefault(key, {})
            codes = self._groups.setdefault(key, array("q"))
            codes.extend([-1] * (at - len(codes)))
            codes.append(values.setdefault(value, len(values)))
        kinds = self._kinds
        for variant, output in varied:
            after = answer_of(self.task, output)
            kind = (variant.draw, variant.source, variant.meaning == "changed", variant.family)
            self._kind.append(kinds.setdefault(kind, len(kinds)))
            self._ok.append(after is not None)
            self._flip.append(-1 if before is None or after is None else before != after)
            self.pairs.code(output, after is not None, variant.gold, self._codes)
        if len(self._kind) + len(self._rows) >= VARIANTS_A_PART or self.pairs.full:
            self._put_aside()

    def _put_aside(self) -> None:
        """Sorts, scores and stores the block."""
        rows, sizes = _ints(self._rows), _ints(self._variants)
        order = np.argsort(rows, kind="stable")
        if len(rows) and rows[order[0]] <= self._last:
            raise ValueError(f"row {rows[order[0]]} of the suite comes after row {self._last}")
        self._last = int(rows[order[-1]]) if len(rows) else self._last
        place = np.empty_like(order)
        place[order] = np.arange(len(order))
        kind = _ints(self._kind)
        sort = np.lexsort((self._ranks()[kind], np.repeat(place, sizes)))
        ok, clean_ok = _ints(self._ok)[sort] == 1, _ints(self._clean_ok)[order] == 1
        columns: dict[Any, Any] = {
            "clean_ok": clean_ok,
            "variants": sizes[order].astype(np.int32),
            "kind": kind[sort].astype(np.int32),
            "ok": ok,
            "flip": _ints(self._flip)[sort].astype(np.int8),
        }
        for key, codes in self._groups.items():
            codes.extend([-1] * (len(rows) - len(codes)))
            columns["group", key] = _ints(codes)[order].astype(np.int32)
        clean_codes = [_ints(codes)[order] for codes in self._clean_codes]
        columns |= self._scores(clean_codes, [_ints(codes)[sort] for codes in self._codes])
        self._stored.append({name: self.spill.put(column) for name, column in columns.items()})
        self._examples += len(rows)
        self._clean_answers += int(clean_ok.sum())
        self._answers += int(ok.sum())
        counts = np.bincount(kind, minlength=len(self._kinds))
        counts[: len(self._made)] += self._made
        self._made = counts
        self._start()

    def _scores(self, clean_codes: list[Ints], codes: list[Ints]) -> dict[Any, Any]:
        columns: dict[Any, Any] = {}
        self.pairs.score()
        for reader, (clean, varied) in enumerate(zip(clean_codes, codes, strict=True)):
            columns["clean due", reader], columns["due", reader] = clean != NO_GOLD, varied != NO_GOLD
        for scorer in self.pairs.scorers:
            reader = self.pairs.reader_of[scorer.name]
            columns["clean", scorer.name] = self.pairs.values(scorer, clean_codes[reader])
            columns["varied", scorer.name] = self.pairs.values(scorer, codes[reader])
        self.pairs.forget()
        return columns

    def _ranks(self) -> Ints:
        """The order of each kind of variant within its example: by draw, operator, then whether it is a control."""
        ranks = {key: rank for rank, key in enumerate(sorted({kind[:3] for kind in self._kinds}))}
        return np.array([ranks[kind[:3]] for kind in self._kinds], dtype=np.int64)

    def table(self) -> Table:
        if len(self._rows) or not self._stored:
            self._put_aside()
        found = {key: ordered(list(values)) for key, values in sorted(self._values.items())}
        return Table(
            task=self.task,
            pairs=self.pairs,
            spill=self.spill,
            kinds=list(self._kinds),
            values={key: names for key, (names, _) in found.items()},
            stored=self._stored,
            places={key: place for key, (_, place) in found.items()},
            examples=self._examples,
            clean_answers=self._clean_answers,
            answers=self._answers,
            made=self._made,
        )


def answer_of(task: Task, output: Output) -> Hashable:
    """The output as compared with another, or None where there is none or it has not the task's form."""
    if not output.ok:
        return None
    try:
        return (task.answer(output.value),)
    except (AttributeError, KeyError, TypeError, ValueError):
        return None


def _ints(values: array[int]) -> Ints:
    return np.array(values, dtype=np.int64)


def read_table(items: Iterable[Item], task: Task, pairs: PairCodes, spill: Spill) -> Table:
    """The table of a run's items."""
    reader = TableReader(task, pairs, spill)
    for example, clean, varied in items:
        reader.add(example, clean, varied)
    return reader.table()
