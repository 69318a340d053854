"""What is wrong with examples: inputs, golds, labels and ids; new ids for those without; labels that look like ids; and
the language, where the user gave none.
"""

from __future__ import annotations

import math
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import NamedTuple
from zlib import crc32

from unswayed.base.errors import DataError, UsageError, nearest, option
from unswayed.base.ids import canonical, canonical_lines, content_id, content_ids
from unswayed.base.language import (
    SEVERAL,
    UNSURE,
    identifier_installed,
    identify,
    identify_row,
    language_name,
    language_tag,
)
from unswayed.base.options import ReadOptions
from unswayed.base.progress import notices
from unswayed.base.task import Task, task_named
from unswayed.base.values import Example, Json
from unswayed.data._reader import Problem
from unswayed.storage.suite import LANGUAGE

_IDENTIFIED_ROWS = 1_000  # rows that tell the language
_WATCHED_ROWS = 1_000  # rows that are all watched; further on, the next is ever farther away
_OTHER_SHARE, _OTHER_ROWS = 0.1, 10  # the share of rows, and how many, that may be in another language


class DataKind(NamedTuple):
    """What data is about."""

    task: str
    language: str
    language_guessed: bool
    compared: dict[str, str] = {}  # noqa: RUF012 - never changed; extract and equivalent, where the data decides
    notes: tuple[str, ...] = ()  # what was guessed that the user may want otherwise, in sentences


def data_kind(name: str, compared: dict[str, str], examples: Sequence[Example], language: str | None) -> DataKind:
    """What data is about, with the language as chosen, or else as found in its first examples."""
    tag = language_tag(language) if language else ""
    if tag and tag != SEVERAL:
        return DataKind(name, tag, False, compared)
    step, task = max(1, len(examples) // _IDENTIFIED_ROWS), task_named(name)
    found = identify(_varied_text(example, task) for example in examples[::step]).language
    how = f"set {option('lang', 'language')} if that is wrong"
    if "+" in found:
        one = found.split("+")[0]
        note = f"rows are in {language_name(found)}, and each is varied in its own; {how}, for example to {one}."
    else:
        note = f"the language is {found} ({language_name(found)}), identified from the texts; {how}."
    said = () if found in ("en", UNSURE) else (note,)  # most data is in English
    return DataKind(name, found, not tag, compared, said)


def with_languages(examples: Iterable[Example], kind: DataKind, path: Path | None = None) -> Iterator[Example]:
    """The examples, each with its own language where the data is in several; raises if later rows are in another."""
    task = task_named(kind.task)
    if "+" in kind.language:
        among = kind.language.split("+")
        for example in examples:
            given = example.groups.get(LANGUAGE)
            tag = language_tag(given) if given else identify_row(_varied_text(example, task), among)
            groups = {**example.groups, LANGUAGE: tag}
            yield Example(example.row, example.id, example.inputs, example.gold, groups)
    elif path is None or not kind.language_guessed or kind.language == UNSURE or not identifier_installed():
        yield from examples
    else:  # rows are watched less and less often: identifying each would take longer than reading it
        found: Counter[str] = Counter()
        number, rest = 0, iter(examples)
        for example in rest:
            step = 1 + number // _WATCHED_ROWS  # rows up to the next that is watched, for which this one stands
            found[identify_row(_varied_text(example, task))] += step
            number += step
            yield example
            yield from islice(rest, step - 1)
        others = ((tag, n) for tag, n in found.most_common() if tag not in (kind.language, UNSURE))
        other, count = next(others, ("", 0))
        if count > max(_OTHER_ROWS, _OTHER_SHARE * found.total()):
            what = f"the first rows are in {kind.language}, but {count / found.total():.0%} of all rows are in {other}."
            how = f"Set {option('lang', 'language')} to {kind.language}+{other} to vary each row in its own language"
            raise DataError(f"{what} {how}, or to {kind.language} if all rows are in that.", path)


def _varied_text(example: Example, task: Task) -> str:
    return " ".join(example.inputs[name] for name in task.texts(example.inputs) if name in example.inputs)


_MAX_GOLD_DEPTH = 100
_SCALARS = {str, int, bool, type(None)}  # types of golds that can be stored whatever they are


class Checks:
    """Passes the examples of one file, in order. Remembers every id, and the line that it stands on."""

    def __init__(self, task: Task, labels: tuple[str, ...] | None = None) -> None:
        self._task = task
        self._labels = None if labels is None else frozenset(labels)
        self._ids = LineIndex()
        self._copies: dict[str, int] = {}  # by content id, how many rows were the same
        self._names: tuple[str, ...] = ()

    def check_example(self, example: Example, line: int) -> Example:
        """The example with its id; raises Problem if something is wrong with it."""
        inputs, gold = example.inputs, example.gold
        self._names = self._names or self._task.fields or tuple(inputs)
        for name in self._names:
            if name not in inputs:
                near = nearest(name, inputs)
                hint = f" Did you mean {near!r}?" if near else ""
                raise Problem(f"there is no input {name!r}.{hint} This row's inputs are: {', '.join(inputs)}.")
        if unfit := _unfit_gold(gold):
            raise Problem(unfit)
        if problem := self._task.gold_problem(example):
            raise Problem(f"{problem}. Fix the row, or choose another task with {option('task')}.")
        if self._labels is not None:
            label = self._task.label(gold)
            if label is None:
                what = f"The task {self._task.name} has no labels, so {option('labels')} can't be checked."
                raise UsageError(f"{what} Leave it out.")
            if label not in self._labels:
                near = nearest(label, self._labels)
                hint = f" Did you mean {near!r}?" if near else ""
                what = f"the label {label!r} is not in {option('labels')} ({', '.join(sorted(self._labels))})."
                raise Problem(f"{what}{hint} Fix the label, or add it to {option('labels')}.")
        try:  # what can't be encoded can't be stored
            canonical((example.id, inputs, gold, example.groups) if example.id else example.groups)
            content = "" if example.id else content_id([inputs, gold])
        except UnicodeEncodeError as error:
            broken = ord(error.object[error.start])
            raise Problem(f"a text holds half a character, \\u{broken:04x}, which can't be stored.") from None
        before = self._ids.add(example.id or content, line)
        if example.id and before is not None:
            what = f"the id {example.id!r} is already that of row {before}."
            raise Problem(f"{what} Ids must differ; leave them out to get new ones.")
        if example.id:
            return example
        id = content if before is None else self._another_id(content, line)
        return Example(example.row, id, inputs, gold, example.groups)

    def check_block(self, examples: list[Example], lines: list[int]) -> list[Example] | None:
        """What `check_example` gives for each, if nothing is wrong with any of them; else None, and nothing is
        remembered. Checking columns instead of rows is why a clean file is read fast."""
        golds = [e.gold for e in examples]
        if self._labels is not None or not examples:
            return None
        if set(map(type, golds)) - _SCALARS and any(map(_unfit_gold, golds)):
            return None
        self._names = self._names or self._task.fields or tuple(examples[0].inputs)
        # Rows of one file have few different tuples of names, so each is looked at once.
        if any(name not in inputs for inputs in {tuple(e.inputs) for e in examples} for name in self._names):
            return None
        if any(map(self._task.gold_problem, examples)):
            return None
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

    def _another_id(self, content: str, line: int) -> str:
        """For the same row again, or, hardly ever, where a given id is like a row's own."""
        id = content
        while self._ids.add(id, line) is not None:
            self._copies[content] = self._copies.get(content, 1) + 1
            id = f"{content}-{self._copies[content]}"
        return id


def _unfit_gold(gold: Json, depth: int = 0) -> str | None:
    """Why a gold can't be stored as JSON, if it can't."""
    kind = type(gold)
    if kind is str or kind is int or kind is bool or gold is None:
        return None
    if kind is float:
        missing = f"gold is {gold}, so the label is missing. Fill it in, or leave the row out."
        return None if math.isfinite(gold) else missing
    if kind is dict or kind is list:
        if depth == _MAX_GOLD_DEPTH:
            return f"gold is nested more than {_MAX_GOLD_DEPTH} deep. Fix the row, or leave it out."
        for value in gold.values() if kind is dict else gold:
            if type(value) is not str and (unfit := _unfit_gold(value, depth + 1)):
                return unfit
        return None
    return f"gold must be a text, a number, a list or an object, not {gold!r:.60} ({kind.__name__})."


_64_BITS = (1 << 64) - 1
_MIN_PLACES = 1 << 12  # places at first; there are always at least half as many again as ids


class LineIndex:
    """A hash table in arrays: from an id to the line that it stands on.

    An id is known by 96 bits, Python's hash and a CRC, so two ids with the same bits won't be met. A plain dict would
    need ten times the memory, which counts with millions of examples.
    """

    def __init__(self) -> None:
        self._count = 0
        self._clear(_MIN_PLACES)

    def _clear(self, size: int) -> None:
        self._mask = size - 1
        self._hashes = array("Q", [0]) * size
        self._more = array("I", [0]) * size
        self._lines = array("I", [0]) * size  # each one more, as 0 is a free place

    def add(self, id: str, line: int) -> int | None:
        """Remembers an id and its line; or, where the id is known, leaves it and gives the line that it stands on."""
        hashed, more = hash(id) & _64_BITS, crc32(id.encode("utf-8", "surrogatepass"))
        at = hashed & self._mask
        while self._lines[at]:
            if self._hashes[at] == hashed and self._more[at] == more:
                return self._lines[at] - 1
            at = (at + 1) & self._mask
        self._hashes[at], self._more[at], self._lines[at] = hashed, more, line + 1
        self._count += 1
        if 3 * self._count > 2 * self._mask:
            self._grow()
        return None

    def add_each(self, ids: Sequence[str], lines: Sequence[int], all_new: bool) -> list[int] | None:
        """The same for many ids: which of them were known, from 0. Where they must be `all_new`, but are not, it is
        None, and none of them is remembered."""
        while 3 * (self._count + len(ids)) > 2 * self._mask:
            self._grow()
        hashes, more, taken, mask = self._hashes, self._more, self._lines, self._mask
        places: list[int] = []
        known: list[int] = []
        for n, (id, line) in enumerate(zip(ids, lines, strict=True)):
            hashed, rest = hash(id) & _64_BITS, crc32(id.encode("utf-8", "surrogatepass"))
            at = hashed & mask  # as in `add`; a call for each id would take longer than the search
            while taken[at]:
                if hashes[at] == hashed and more[at] == rest:
                    known.append(n)
                    break
                at = (at + 1) & mask
            else:
                hashes[at], more[at], taken[at] = hashed, rest, line + 1
                places.append(at)
        if known and all_new:
            for at in places:
                taken[at] = 0
            return None
        self._count += len(places)
        return known

    def _grow(self) -> None:
        old = zip(self._hashes, self._more, self._lines, strict=True)
        self._clear(2 * (self._mask + 1))
        hashes, rest, lines, mask = self._hashes, self._more, self._lines, self._mask
        for hashed, more, line in old:
            if line:
                at = hashed & mask  # no two are the same here, so any free place will do
                while lines[at]:
                    at = (at + 1) & mask
                hashes[at], rest[at], lines[at] = hashed, more, line


_EARLY_CHECK_ROWS = 1_000  # rows after which it is looked at first, so that a long file is not read in vain
_MIN_ROWS = 100  # rows, below which every row may well have its own label
_REFUSED_SHARE, _WARNED_SHARE = 0.9, 0.5  # values per row


class LabelCounts:
    """Counts the values of the labels of one file. Whoever chose the task, or named all labels, means them."""

    def __init__(self, path: Path, task: Task, options: ReadOptions) -> None:
        self._path, self._task = path, task
        self._name = f"{option('gold')} {options.gold}" if options.gold else "label"
        self._is_chosen = options.task is not None
        self._is_counted = options.labels is None
        self._seen: set[int] = set()
        self._rows = 0

    def add(self, examples: Sequence[Example]) -> None:
        if not self._is_counted:
            return
        labels = [label for e in examples if (label := self._task.label(e.gold)) is not None]
        early = _EARLY_CHECK_ROWS - self._rows
        if 0 < early <= len(labels):
            self._seen.update(map(hash, labels[:early]))
            self._rows += early
            self._described("the first ")
            labels = labels[early:]
        self._rows += len(labels)
        self._seen.update(map(hash, labels))

    def check(self) -> None:
        """To be called after the last row. Raises, or warns on standard error."""
        if not self._is_counted or self._rows < _MIN_ROWS:
            return
        described = self._described("")
        if len(self._seen) >= _WARNED_SHARE * self._rows:
            print(f"unswayed: {self._path}: {described}", file=notices())

    def _described(self, which: str) -> str:
        """How many values there are, as a question; raises where there are so many that they are ids."""
        many = f"{self._name} has {len(self._seen):,} values in {which}{self._rows:,} rows: is it an id?"
        if not self._is_chosen and len(self._seen) >= _REFUSED_SHARE * self._rows:
            task = option("task")
            how = f"Choose the column of the labels with {option('gold')}. If each value is a label, use {task} "
            how += f"{self._task.name}; if they are free answers, {task} generate; if there are no labels, {task} text."
            raise DataError(f"{many} {how}", self._path)
        return many
