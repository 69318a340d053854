"""The table of a run, made of its blocks: they are sorted, scored and put aside as soon as a part of it is full."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import replace
from types import NoneType
from typing import Any, NamedTuple

import numpy as np

from unswayed.base.task import Task
from unswayed.base.values import Output
from unswayed.measure.run_table import NO_GOLD, PairCodes, RunTable, ordered
from unswayed.measure.spill import Kept, Spill
from unswayed.run.block import AS_IT_WAS, Block, Kind, first_of_each
from unswayed.run.record import NOT_ASKED
from unswayed.score import AnswerPair, Comparing
from unswayed.stats import Array, Ints

PersonOf = Callable[[Kind, str], str | None]
VARIANTS_A_PART = 1 << 16
_COLUMNS = ("rows", "clean_ok", "variants", "kind", "ok", "flip", "text", "person", "beside")


class RunTableReader:
    """Takes the blocks of a run, in the order of the suite; `table` gives the columns once all are in."""

    def __init__(
        self, task: Task, pairs: PairCodes, spill: Spill, comparing: Comparing | None = None,
        fill: Fill | None = None, person: PersonOf | None = None,
    ) -> None:  # fmt: skip
        self.task, self.pairs, self.spill, self._fill, self._person_of = task, pairs, spill, fill, person
        self._people: dict[str, int] = {}
        self._compared = comparing or Comparing(task)
        self._kinds: dict[tuple[int, str, bool, str], int] = {}
        self._made = np.zeros(0, dtype=np.int64)
        self._values: dict[str, dict[str, int]] = {}
        self._stored: list[dict[Any, Kept]] = []
        self._last = -1
        self._most_tries = 0
        self._examples = self._clean_answers = self._answers = 0
        self._start()

    def _start(self) -> None:
        """Empties the part."""
        self._columns: dict[str, list[Ints]] = {name: [] for name in _COLUMNS}
        self._groups: list[tuple[int, dict[str, Ints]]] = []
        self._clean_codes: list[list[Ints]] = [[] for _ in self.pairs.columns()]
        self._codes: list[list[Ints]] = [[] for _ in self.pairs.columns()]
        self._size = self._repeated = 0

    def add(self, block: Block) -> None:
        """Takes a block in; a part ends with the example that fills it."""
        rest: Block | None = block if len(block.rows) else None
        while rest is not None:
            # A part holds whole examples, so that clusters and the worst of several draws are reckoned inside one part.
            filled = np.cumsum(rest.sizes + 1) + self._size >= VARIANTS_A_PART
            end = int(filled.argmax()) + 1 if filled.any() else len(rest.rows)
            now = np.arange(len(rest.rows)) < end
            self._add(rest if now.all() else rest.only(now))
            if filled.any() or self.pairs.full:
                self._put_aside()
            rest = None if now.all() else rest.only(~now)

    def _add(self, block: Block) -> None:
        found = compared(block, self._compared, self._fill)
        # Kinds of variants are few and rows are many: a number for each kind here, and columns of numbers from then on.
        known = [(each.draw, each.source, each.meaning == "changed", each.family) for each in block.kinds]
        kinds, people = self._kinds, self._people
        kind = np.array([kinds.setdefault(each, len(kinds)) for each in known], dtype=np.int64)[block.kind]
        persons: list[int] = []
        if (person_of := self._person_of) is not None:
            for k, note in zip(block.kind.tolist(), block.notes, strict=True):
                who = person_of(block.kinds[k], note)
                persons.append(-1 if who is None else people.setdefault(who, len(people)))
        columns: dict[str, Any] = {
            "rows": np.array(block.rows, dtype=np.int64),
            "clean_ok": found.before >= 0,
            "variants": block.sizes,
            "kind": kind,
            "ok": found.after >= 0,
            "flip": found.flip,
            "text": block.text,
            "person": np.array(persons, dtype=np.int64),
            "beside": np.zeros(0) if found.beside is None else found.beside,
        }
        for name, column in columns.items():
            self._columns[name].append(column)
        self._size += len(block.rows) + len(kind)
        self._clean_answers += int((found.before > 0).sum())
        self._answers += int((found.after > 0).sum())
        if len(block.text):
            # how many texts of an example are alike, and how many distinct ones of the same meaning it has at most;
            # they are numbered as they come, from 1 if none is the example's own
            starts = (np.cumsum(block.sizes) - block.sizes)[block.sizes > 0]
            most, least = np.maximum.reduceat(block.text, starts), np.minimum.reduceat(block.text, starts)
            distinct = most + (least == AS_IT_WAS)
            self._repeated += len(block.text) - int(distinct.sum())
            same = np.array([each.meaning == "same" for each in block.kinds])[block.kind]
            if not same.all():
                texts = block.owner * (int(most.max()) + 1) + block.text
                distinct = np.bincount(np.unique(texts[same]) // (int(most.max()) + 1), minlength=1)
            self._most_tries = max(self._most_tries, int(distinct.max()))
        self._code(block, found)
        named: dict[str, Ints] = {}
        for key in dict.fromkeys(key for groups in block.groups for key in groups):
            values = self._values.setdefault(key, {})
            each_value = (groups.get(key) for groups in block.groups)
            codes = [-1 if value is None else values.setdefault(value, len(values)) for value in each_value]
            named[key] = np.array(codes, dtype=np.int64)[block.group]
        self._groups.append((len(block.rows), named))

    def _code(self, block: Block, found: Compared) -> None:
        """Numbers the pairs of output and gold, each distinct one once."""
        n = len(block.rows)
        clean = block.in_turn(np.ones(n, dtype=np.int64), np.zeros(len(block.kind), dtype=np.int64))
        state = np.minimum(block.in_turn(found.before, found.after), 1) + 1  # none, unreadable, an answer
        # Outputs and golds repeat, so what is scored is each distinct pair, found by one number for output, gold, state
        # and whether it is clean. A scorer that reads the inputs makes every item a pair of its own.
        gold, out = block.in_turn(block.clean_gold, block.gold), block.in_turn(block.clean_out, block.out)
        each, most = (
            ((gold * len(block.outputs) + out) * 3 + state) * 2 + clean,
            len(block.golds) * len(block.outputs) * 6,
        )
        if self.pairs.see_inputs:
            each, most = np.arange(len(each)), len(each)
        first, place = first_of_each(each, most)
        into, owner, task = self.pairs.columns(), block.in_turn(np.arange(n), block.owner), self.task
        for at in first.tolist():
            output, inputs, gold_of = block.outputs[out[at]], block.inputs[owner[at]], block.golds[gold[at]]
            # an answer is scored as it is, an unreadable one as nothing, a missing one as it is filled
            none, unreadable = int(state[at]) == 0, int(state[at]) == 1
            if output.error == NOT_ASKED.error:
                gold_of = None  # no score is due
            elif gold_of is not None and (unreadable or (none and self._fill is not None)):
                right = none and self._fill is not None and (self._fill.clean if clean[at] else self._fill.varied)
                output, none = Output(task.right(gold_of) if right else task.nothing(gold_of)), False
            self.pairs.code(output, not none, gold_of, into, inputs)
        for reader, codes in enumerate(into):
            column = np.array(codes, dtype=np.int64)[place]
            self._clean_codes[reader].append(column[clean == 1])
            self._codes[reader].append(column[clean == 0])

    def _put_aside(self) -> None:
        """Sorts, scores and stores the part."""
        whole = {name: _joined(columns) for name, columns in self._columns.items()}
        rows, sizes, kind = whole["rows"], whole["variants"], whole["kind"]
        # Parts may come in any order inside, as workers finish, but examples of one part all come before those of the
        # next: the numbers of a run then do not depend on who made it.
        order = np.argsort(rows, kind="stable")
        if len(rows) and rows[order[0]] <= self._last:
            raise ValueError(f"row {rows[order[0]]} of the suite comes after row {self._last}")
        self._last = int(rows[order[-1]]) if len(rows) else self._last
        place = np.empty_like(order)
        place[order] = np.arange(len(order))
        # the order of each kind of variant within its example: by draw, operator, then whether it is a control
        ranks = {key: rank for rank, key in enumerate(sorted({kind[:3] for kind in self._kinds}))}
        sort = np.lexsort(
            (np.array([ranks[kind[:3]] for kind in self._kinds], dtype=np.int64)[kind], np.repeat(place, sizes))
        )
        columns: dict[Any, Any] = {
            "clean_ok": whole["clean_ok"][order] == 1,
            "variants": sizes[order].astype(np.int32),
            "kind": kind[sort].astype(np.int32),
            "ok": whole["ok"][sort] == 1,
            "flip": whole["flip"][sort].astype(np.int8),
            "text": whole["text"][sort].astype(np.int32),
            "repeated": np.zeros(min(self._repeated, 1), dtype=np.int8),
        }
        if self._person_of is not None:
            columns["person"] = whole["person"][sort].astype(np.int32)
        if self._compared.beside:
            columns["beside"] = whole["beside"][sort]
        for key in dict.fromkeys(key for _, groups in self._groups for key in groups):
            codes = _joined([groups.get(key, np.full(size, -1)) for size, groups in self._groups])
            columns["group", key] = codes[order].astype(np.int32)
        clean_codes = [_joined(codes)[order] for codes in self._clean_codes]
        varied_codes = [_joined(codes)[sort] for codes in self._codes]
        self.pairs.score()
        for reader, (clean, varied) in enumerate(zip(clean_codes, varied_codes, strict=True)):
            columns["clean due", reader], columns["due", reader] = clean != NO_GOLD, varied != NO_GOLD
        for scorer in self.pairs.scorers:
            reader = self.pairs.reader_of[scorer.name]
            columns["clean", scorer.name] = self.pairs.values(scorer, clean_codes[reader])
            columns["varied", scorer.name] = self.pairs.values(scorer, varied_codes[reader])
        self.pairs.forget()
        self._stored.append({name: self.spill.put(column) for name, column in columns.items()})
        self._examples += len(rows)
        counts = np.bincount(kind, minlength=len(self._kinds))
        counts[: len(self._made)] += self._made
        self._made = counts
        self._start()

    def table(self) -> RunTable:
        if self._size or not self._stored:
            self._put_aside()
        found = {key: ordered(list(values)) for key, values in sorted(self._values.items())}
        return RunTable(
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
            most_tries=self._most_tries,
            people=list(self._people),
            beside=self._compared.beside,
        )


def _joined(columns: Sequence[Ints]) -> Ints:
    return np.concatenate(columns) if columns else np.zeros(0, dtype=np.int64)


def read_table(
    blocks: Iterable[Block], task: Task, pairs: PairCodes, spill: Spill, comparing: Comparing | None = None,
    fill: Fill | None = None, person: PersonOf | None = None,
) -> RunTable:  # fmt: skip
    """The table of a run's blocks; `comparing` says which answers are the same, `person` who made a variant.

    With `fill`, it is as if nothing that was asked were missing.
    """
    reader = RunTableReader(task, pairs, spill, comparing, fill, person)
    for block in blocks:
        reader.add(block)
    return reader.table()


MISSING, LEFT_OUT = -1, -2  # instead of whether an answer changed: one of the two failed, or was not asked
_SIMPLE = (str, int, bool, NoneType)
_NONE, _UNREADABLE = -1, 0  # instead of the number of an answer


class Fill(NamedTuple):
    """What stands for missing answers: right ones or wrong ones. A wrong answer to a variant differs from the clean."""

    clean: bool
    varied: bool


class Compared(NamedTuple):
    """The number of each answer, equal for equal ones: -1 where there is none, 0 if it can't be read.

    `flip` is 1 where a variant's answer differs from the clean one, -1 where either is missing, and -2 where either
    was not asked. `beside` is the second measure of each change, NaN where either is missing; None if there is none.
    """

    before: Ints
    after: Ints
    flip: Ints
    beside: Array | None = None


def joined_outputs(blocks: Iterable[Block]) -> Iterator[Block]:
    """The blocks with equal outputs as one, without their seconds and tokens, so that each is looked at once."""
    for block in blocks:
        # a number for each output, the same for equal ones of the types that labels and texts have
        known: dict[Hashable, int] = {}
        keys = ((type(o.value), o.value, o.error) if type(o.value) in _SIMPLE else id(o) for o in block.outputs)
        numbers = np.array([known.setdefault(key, len(known)) for key in keys], dtype=np.int64)
        first, place = first_of_each(numbers, len(numbers))
        outputs = [block.outputs[at] for at in first.tolist()]
        yield replace(block, outputs=outputs, clean_out=place[block.clean_out], out=place[block.out])


def compared(block: Block, comparing: Comparing, fill: Fill | None = None) -> Compared:
    """The answers of all items of a block; with `fill`, those that failed are as if they were there."""
    numbers: dict[Hashable, int] = {None: _NONE, Comparing.unreadable: _UNREADABLE}

    def number(answer: Hashable) -> int:
        return numbers.setdefault(answer, len(numbers) - 1)

    of = np.array([number(comparing.answer(output)) for output in block.outputs], dtype=np.int64)
    before, after, owner = of[block.clean_out], of[block.out], block.owner
    for at, example in block.moved():
        output = block.outputs[block.out[at]]
        after[at] = number(comparing.varied(block.example(example), block.variant(at, example), output))
    # Answers are numbered, so equal ones are found by comparing arrays. A comparison of its own, such as a judge, is
    # only asked about those that differ, about each two answers of an example once.
    first = before[owner]
    flip = np.where(first == after, 0, 1)
    beside = np.where((first <= _UNREADABLE) | (after <= _UNREADABLE), np.nan, 0.0) if comparing.beside else None
    if not comparing.plain:
        comparing.count_words(block.outputs[at] for at in block.clean_out.tolist())
        can = np.array([comparing.comparable(answer) for answer in numbers])
        differ = np.flatnonzero((flip == 1) & can[first + 1] & can[after + 1])
        keys = list(zip(owner[differ].tolist(), first[differ].tolist(), after[differ].tolist(), strict=True))
        due: dict[tuple[int, int, int], AnswerPair] = {}
        for at, key in zip(differ.tolist(), keys, strict=True):
            clean = block.outputs[block.clean_out[key[0]]]
            said, reference = comparing.part(block.outputs[block.out[at]].value), comparing.part(clean.value)
            due[key] = AnswerPair(said, reference, block.inputs[key[0]], False, block.golds[block.gold[at]])
        pairs = list(due.values())
        same = dict(zip(due, comparing.same(pairs), strict=True))
        flip[differ] = [MISSING if same[key] is None else int(not same[key]) for key in keys]
        if beside is not None:
            values = dict(zip(due, comparing.values_beside(pairs), strict=True))
            beside[differ] = [values[key] for key in keys]
    not_asked = np.array([output.error == NOT_ASKED.error for output in block.outputs])
    lost = (first < 0) | (after < 0)
    left_out = not_asked[block.clean_out][owner] | not_asked[block.out]
    flip[lost] = MISSING if fill is None else int(not fill.varied)
    flip[lost & left_out] = LEFT_OUT
    return Compared(before, after, flip, beside)
