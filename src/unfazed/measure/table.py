"""A run as columns of numbers: for each example and variant what its slices, answer and scores are.

Texts stream through and are not kept, so a table takes a few dozen bytes an item. Examples are in the order of
the data and variants in the order example, draw, operator, however they came in.
"""

from __future__ import annotations

from array import array
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from unfazed.core.task import Task
from unfazed.core.values import Example, Json, Output, Variant
from unfazed.score._scorer import Array, Scorer

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]
Item = tuple[Example, Output, list[tuple[Variant, Output]]]
NO_GOLD, NO_OUTPUT = -2, -1
_VARIANT = ("example", "operator", "family", "draw", "changed", "ok", "flip")


@dataclass(frozen=True)
class Scored:
    """The items' scores under one scorer, NaN without one; codes into `rows`, its statistics, where it is not linear.

    `clean_due` and `due` tell which items have gold, so that a score was due.
    """

    scorer: Scorer
    clean: Array
    varied: Array
    clean_due: Bools
    due: Bools
    clean_codes: Ints
    codes: Ints
    rows: Array

    @property
    def clean_known(self) -> Bools:
        """Which examples can be scored; an item without slots has no slot F1 of its own but still counts in a set."""
        return ~np.isnan(self.clean) if self.scorer.linear else self.clean_codes >= 0

    @property
    def known(self) -> Bools:
        return ~np.isnan(self.varied) if self.scorer.linear else self.codes >= 0


@dataclass(frozen=True)
class Table:
    """Columns of a run. `flip` is 1 where a variant's answer differs from the clean one, -1 where either is missing."""

    task: Task
    ids: Ints  # the examples' rows in the data
    clean_ok: Bools
    groups: dict[str, tuple[list[str], Ints]]  # slice → its values, and each example's, -1 for none
    operators: list[str]
    families: list[str]
    example: Ints
    operator: Ints
    family: Ints
    draw: Ints
    changed: Bools
    ok: Bools
    flip: Ints
    scored: dict[str, Scored]


class PairCodes:
    """Numbers the distinct pairs of output and gold, once for all scorers that look at the same thing.

    Two runs that are compared share one, so that their statistics have the same columns.
    """

    def __init__(self, scorers: Sequence[Scorer], task: Task) -> None:
        self.task = task
        self.scorers = scorers
        readers = {(type(scorer).key, type(scorer).gold_key): scorer for scorer in scorers}
        self._readers = list(readers.values())
        self._reader_of = {s.name: list(readers).index((type(s).key, type(s).gold_key)) for s in scorers}
        self._codes: list[dict[tuple[Hashable, Hashable], int]] = [{} for _ in self._readers]
        self._pairs: list[list[tuple[Json, Json]]] = [[] for _ in self._readers]
        self._gold: Json = None
        self._gold_keys: list[Hashable] = [None for _ in self._readers]

    def code(self, output: Output, ok: bool, gold: Json, into: list[array[int]]) -> None:
        """Appends the item's code for each way of reading it."""
        last = self._gold  # a variant's gold is most often its example's; 1 and True are equal but not the same label
        if gold is not last and (type(gold) is not type(last) or gold != last):
            self._gold = gold
            self._gold_keys = [None if gold is None else r.gold_key(gold, self.task) for r in self._readers]
        for i, (reader, true) in enumerate(zip(self._readers, self._gold_keys, strict=True)):
            if true is None:
                into[i].append(NO_GOLD)
                continue
            said = reader.key(output.value, self.task) if ok else None
            if said is None:
                into[i].append(NO_OUTPUT)
                continue
            codes = self._codes[i]
            code = codes.setdefault((said, true), len(codes))
            if code == len(self._pairs[i]):
                self._pairs[i].append((output.value, gold))
            into[i].append(code)

    def columns(self) -> list[array[int]]:
        return [array("q") for _ in self._readers]

    def scored(self, scorer: Scorer, clean: Sequence[Ints], varied: Sequence[Ints]) -> Scored:
        """The scores of items from their codes."""
        reader = self._reader_of[scorer.name]
        codes, clean_codes = varied[reader], clean[reader]
        pairs = self._pairs[reader]
        rows = scorer.stats([p[0] for p in pairs], [p[1] for p in pairs], self.task) if pairs else np.zeros((0, 1))
        scores = np.append(scorer.aggregate(rows) if pairs else np.zeros(0), [np.nan, np.nan])
        due, clean_due = codes != NO_GOLD, clean_codes != NO_GOLD
        if not scorer.linear and pairs:  # the same statistics get the same code, whatever came first
            rows, place = np.unique(rows, axis=0, return_inverse=True)
            place = np.append(place.ravel(), [NO_OUTPUT, NO_OUTPUT])
            codes, clean_codes = place[codes], place[clean_codes]
            scores = np.append(scorer.aggregate(rows), [np.nan, np.nan])
        return Scored(scorer, scores[clean_codes], scores[codes], clean_due, due, clean_codes, codes, rows)


class _Names:
    """Numbers names as they come, and renumbers them in alphabetical order at the end."""

    def __init__(self) -> None:
        self.codes: dict[str, int] = {}

    def code(self, name: str) -> int:
        return self.codes.setdefault(name, len(self.codes))

    def ordered(self, codes: Ints) -> tuple[list[str], Ints]:
        names = sorted(self.codes)
        place = np.empty(len(names) + 1, dtype=np.int64)
        place[[self.codes[name] for name in names]] = np.arange(len(names))
        place[-1] = -1
        return names, place[codes]


class TableReader:
    """Takes the items of a run one by one; `table` gives the columns once all are in."""

    def __init__(self, task: Task, pairs: PairCodes) -> None:
        self.task, self.pairs = task, pairs
        self._ids, self._clean_ok = array("q"), array("b")
        self._variants = array("q")
        self._clean_codes, self._codes = pairs.columns(), pairs.columns()
        self._operators, self._families = _Names(), _Names()
        self._groups: dict[str, tuple[_Names, array[int]]] = {}

    def add(self, example: Example, clean: Output, varied: Iterable[tuple[Variant, Output]]) -> None:
        at = len(self._ids)
        before = answer_of(self.task, clean)
        self._ids.append(example.row)
        self._clean_ok.append(before is not None)
        self.pairs.code(clean, before is not None, example.gold, self._clean_codes)
        for key, value in example.groups.items():
            names, codes = self._groups.setdefault(key, (_Names(), array("q")))
            codes.extend([-1] * (at - len(codes)))
            codes.append(names.code(value))
        operator, family = self._operators.code, self._families.code
        for variant, output in varied:
            after = answer_of(self.task, output)
            flip = -1 if before is None or after is None else before != after
            self._variants.extend(
                (
                    at,
                    operator(variant.source),
                    family(variant.family),
                    variant.draw,
                    variant.meaning == "changed",
                    after is not None,
                    flip,
                )
            )
            self.pairs.code(output, after is not None, variant.gold, self._codes)

    def table(self, scorers: Sequence[Scorer]) -> Table:
        ids = _ints(self._ids)
        order = np.argsort(ids, kind="stable")
        new_place = np.empty_like(order)
        new_place[order] = np.arange(len(order))
        column = dict(zip(_VARIANT, _ints(self._variants).reshape(-1, len(_VARIANT)).T, strict=True))
        operators, operator = self._operators.ordered(column["operator"])
        families, family = self._families.ordered(column["family"])
        example = new_place[column["example"]]
        sort = np.lexsort((column["changed"], operator, column["draw"], example))
        clean_codes = [_ints(codes)[order] for codes in self._clean_codes]
        codes = [_ints(codes)[sort] for codes in self._codes]
        return Table(
            task=self.task,
            ids=ids[order],
            clean_ok=_ints(self._clean_ok)[order] == 1,
            groups={key: self._slice(key, order) for key in sorted(self._groups)},
            operators=operators,
            families=families,
            example=example[sort],
            operator=operator[sort],
            family=family[sort],
            draw=column["draw"][sort],
            changed=column["changed"][sort] == 1,
            ok=column["ok"][sort] == 1,
            flip=column["flip"][sort],
            scored={s.name: self.pairs.scored(s, clean_codes, codes) for s in scorers},
        )

    def _slice(self, key: str, order: Ints) -> tuple[list[str], Ints]:
        names, codes = self._groups[key]
        codes.extend([-1] * (len(order) - len(codes)))
        return names.ordered(_ints(codes)[order])


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


def read_table(items: Iterable[Item], task: Task, scorers: Sequence[Scorer]) -> Table:
    """The table of a run's items."""
    reader = TableReader(task, PairCodes(scorers, task))
    for example, clean, varied in items:
        reader.add(example, clean, varied)
    return reader.table(scorers)
