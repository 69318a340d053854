"""From records to examples that can be used: which field is what, as the user chose or as the names suggest,
whether an example is sound, and ids for those without.

What is decided on the first record holds for all, so that a row with other fields is an error and no guess.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterable, Mapping, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import Any

from unfazed.core.choices import CHOICES, LETTERS, letter_of, lettered
from unfazed.core.errors import DataError, UsageError, nearest, option
from unfazed.core.ids import canonical, content_id
from unfazed.core.task import Task
from unfazed.core.values import Example, Inputs, Json
from unfazed.data._chats import ChatForm, is_chat_record
from unfazed.data._reader import Problem, ReadOptions
from unfazed.data._tagged import TaggedForm, is_tagged_record

Record = Mapping[str, Any]

_IDS = ("id", "guid", "uid", "idx")
_GOLDS = (
    *("gold", "label", "gold_label", "intent", "class", "category", "sentiment", "answers", "answer", "target"),
    *("completion", "response", "solution", "ideal", "expected", "answerKey"),
)
_LESS_SURE_GOLDS = ("stars", "rating", "polarity", "emotion", "is_duplicate")  # said where they are taken
_CHOICES = ("choices", "options", "endings")
_PAIRS = (
    ("premise", "hypothesis"),
    ("sentence1", "sentence2"),
    ("question1", "question2"),
    ("text1", "text2"),
    ("question", "context"),
    ("question", "reference", "answer"),  # as a judge compares them
    ("reference", "answer"),
)
_TEXTS = (
    *("text", "sentence", "utterance", "query", "question", "source", "src", "input", "prompt"),
    *("content", "document", "review", "message", "comment", "title", "body"),
)
_SURE_TEXTS = frozenset((*_TEXTS, *(name for pair in _PAIRS for name in pair)))
_ANY_GOLD = frozenset((*_GOLDS, *_LESS_SURE_GOLDS))
KNOWN_FIELDS = frozenset((*_IDS, *_ANY_GOLD, *_TEXTS, *(name for pair in _PAIRS for name in pair)))


class Fields:
    """Makes examples of the records of one file."""

    def __init__(self, options: ReadOptions, cells: bool = False) -> None:
        """`cells`: values are cells of a text table, where an empty one means that there is no value."""
        self._options = options
        self._cells = cells
        self._form: _Native | _Flat | ChatForm | TaggedForm | None = None
        self.gold: str | None = None  # the field that holds it, once a record was seen

    def example(self, row: int, record: Record, path: Path, line: int) -> Example:
        try:
            if self._form is None:
                self._form = self._form_of(record, path)
            return self._form.example(row, record)
        except Problem as problem:
            raise DataError(str(problem), path, line) from None

    def guessed(self, path: Path) -> tuple[str, ...]:
        """Which fields were taken, where the user did not choose and other fields are there, or a name is less sure."""
        form = self._form
        return (f"{path}: {said}",) if isinstance(form, _Flat) and (said := form.guess) else ()

    def _form_of(self, record: Record, path: Path) -> _Native | _Flat | ChatForm | TaggedForm:
        if isinstance(record.get("inputs"), dict):
            self.gold = self._options.gold or "gold"
            return _Native(self._options)
        if not self._options.inputs and is_chat_record(record):
            return ChatForm(record, self._options, path)
        if is_tagged_record(record, self._options, _GOLDS):
            tagged = TaggedForm(record, self._options)
            self.gold = tagged.gold
            return tagged
        flat = _Flat(record, self._options, self._cells)
        self.gold = flat.gold
        return flat


class _Native:
    """unfazed's own form: `{"id": …, "inputs": {…}, "gold": …, "groups": {…}}`; only `inputs` must be there."""

    def __init__(self, options: ReadOptions) -> None:
        self._options = options

    def example(self, row: int, record: Record) -> Example:
        options = self._options
        inputs = _field(record, "inputs")
        if not isinstance(inputs, dict) or not inputs:
            raise Problem(f"inputs must be texts by name, such as {{'text': …}}, not {inputs!r:.60}.")
        inputs = {name: _text(inputs, name) for name in options.inputs or inputs}
        gold = _field(record, options.gold) if options.gold else record.get("gold")
        id = _id(_field(record, options.id) if options.id else record.get("id"))
        groups = record.get("groups") or {}
        if not isinstance(groups, dict):
            raise Problem(f"groups must be slices by name, such as {{'domain': 'home'}}, not {groups!r:.60}.")
        others = [name for name in options.groups if name not in groups]
        return Example(row, id, inputs, gold, {**_groups(groups, groups), **_groups(record, others)})


class _Flat:
    """A text or more, a label and an id side by side, as tables have them."""

    def __init__(self, first: Record, options: ReadOptions, cells: bool) -> None:
        _check_chosen(first, options)
        self._cells = cells
        self._groups = options.groups
        self._id = options.id or _first(_IDS, first)
        self._gold_is_chosen = options.gold is not None
        self.gold = options.gold or _first((*_GOLDS, *_LESS_SURE_GOLDS), first)
        self._is_slu = "slots" in first and options.task in (None, "slu") and not (options.gold and not options.task)
        if self._is_slu and not options.gold and "intent" in first:
            self.gold = "intent"
        self._is_slu = self._is_slu and self.gold is not None
        self._choices = None if options.inputs else next((n for n in _CHOICES if _listed_choices(first.get(n))), None)
        taken = {self._id, self.gold, self._choices}
        self._inputs = options.inputs or _guess_inputs(first, taken, self._groups)
        known = [*taken, *self._groups, *self._inputs]
        self.guess = self._guess(first, options, [*known, *(["slots"] if self._is_slu else [])])

    def _guess(self, first: Record, options: ReadOptions, taken: list[str | None]) -> str:
        """A sentence on what was taken and what was not; none where the user chose, or it is plain."""
        others = [name for name in first if name not in taken]
        sure = self._inputs[0] in _SURE_TEXTS and self.gold not in _LESS_SURE_GOLDS
        if (options.inputs and options.gold) or (sure and not others):
            return ""
        gold = f"the gold is {self.gold!r}" if self.gold else "there is no gold"
        left = f"; not read: {', '.join(others)}" if others else ""
        how = f"To change it, use {option('input')} or {option('gold')}."
        return f"the text is {' and '.join(map(repr, self._inputs))} and {gold}, by the fields' names{left}. {how}"

    def example(self, row: int, record: Record) -> Example:
        inputs = {name: _text(record, name) for name in self._inputs}
        gold = self._gold_of(record)
        if self._choices is not None:
            inputs[CHOICES], gold = _chosen(record, self._choices, gold)
        elif self._is_slu:
            gold, inputs = _slu(gold, _field(record, "slots"), inputs)
        elif self.gold == "answers":
            gold = _answers(gold)
        id = _id(_field(record, self._id)) if self._id else ""
        return Example(row, id, inputs, gold, _groups(record, self._groups) if self._groups else {})

    def _gold_of(self, record: Record) -> Json:
        if self.gold is None:
            if not _ANY_GOLD.isdisjoint(record):
                name = _first((*_GOLDS, *_LESS_SURE_GOLDS), record)
                raise Problem(f"this row has a {name!r}, but the first row has none. Give it in all rows, or in none.")
            return None
        gold = _field(record, self.gold)
        if self._cells:
            if gold.lower() == "nan":
                raise Problem(f"{self.gold} is NaN, so the label is missing. Fill it in, or leave the row out.")
            return gold or None
        return gold


def _first(names: Iterable[str], record: Record) -> str | None:
    return next((name for name in names if name in record), None)


def _guess_inputs(record: Record, taken: set[str | None], groups: Sequence[str]) -> tuple[str, ...]:
    for pair in _PAIRS:  # a paragraph may be both: an input, and what clusters the questions on it
        if all(isinstance(record.get(name), str) and name not in taken for name in pair):
            return pair
    taken = {*taken, *groups}
    known = next((name for name in _TEXTS if name in record and name not in taken), None)
    if known:
        return (known,)
    texts = [name for name, value in record.items() if isinstance(value, str) and name not in taken]
    if len(texts) == 1:
        return (texts[0],)
    has = ", ".join(record) or "none"
    raise Problem(
        f"it is not clear which field holds the text; the fields are: {has}. Choose it with {option('input')}."
    )


def _check_chosen(first: Record, options: ReadOptions) -> None:
    """Raises where the first record lacks a field that the user chose, with the option that chose it."""
    for name, fields in options.chosen_fields().items():
        for field in fields:
            if field not in first:
                raise _absent(first, field, f" for {name}")


def _field(record: Record, name: str) -> Any:
    try:
        return record[name]
    except KeyError:
        raise _absent(record, name) from None


def _absent(record: Record, name: str, chosen_by: str = "") -> Problem:
    near = nearest(name, record)
    hint = f" Did you mean {near!r}?" if near else ""
    has = ", ".join(record) or "none"
    return Problem(f"there is no field {name!r}{chosen_by}.{hint} This row's fields are: {has}.")


def _text(record: Record, name: str) -> str:
    value = _field(record, name)
    if type(value) is not str:
        raise Problem(f"{name} must be a text, not {value!r:.60}.")
    return value


def _id(value: Any) -> str:
    """The id as a text; empty where there is none."""
    if type(value) is str:
        return value
    if value is None:
        return ""
    if type(value) is int:
        return str(value)
    raise Problem(f"an id must be a text or a whole number, not {value!r:.60}.")


def _groups(record: Record, names: Iterable[str]) -> dict[str, str]:
    """The slices; a record without a value is in no slice of that name."""
    values = {name: _field(record, name) for name in names}
    for name, value in values.items():
        if not isinstance(value, str | int | float | None):
            raise Problem(f"the group {name} must be a text or a number, not {value!r:.60}.")
    return {name: _slice(value) for name, value in values.items() if value is not None}


def _slice(value: str | int | float) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _listed_choices(value: Any) -> tuple[list[str], list[str]] | None:
    """The choices and their labels, if they have some: a list, or as ARC has them, `{"text": […], "label": […]}`."""
    texts, labels = (value.get("text"), value.get("label")) if isinstance(value, dict) else (value, None)
    if not isinstance(texts, list) or not 2 <= len(texts) <= len(LETTERS):
        return None
    if not all(isinstance(text, str) and text.strip() for text in texts):
        return None
    return texts, [str(label) for label in labels] if isinstance(labels, list) else []


def _chosen(record: Record, name: str, gold: Json) -> tuple[str, Json]:
    """The choices of a row as the input has them, and the letter of the right one."""
    found = _listed_choices(_field(record, name))
    if found is None:
        raise Problem(f"{name} must be a list of 2 to {len(LETTERS)} texts, not {record[name]!r:.60}.")
    texts, labels = found
    letter = None if gold is None else letter_of(gold, texts, labels)
    if gold is not None and letter is None:
        raise Problem(f"the right answer must be the place, the letter or the text of a choice, not {gold!r:.60}.")
    return lettered(texts), letter


def _slu(intent: Json, slots: Json, inputs: Inputs) -> tuple[Json, Inputs]:
    """Gold of an utterance whose intent and tags stand in two fields. The task calls the utterance `text`."""
    if len(inputs) == 1:
        inputs = {"text": next(iter(inputs.values()))}
    if isinstance(slots, str):
        slots = slots.split()
    return {"intent": intent, "slots": slots}, inputs


def _answers(answers: Json) -> Json:
    """Answers as SQuAD has them, `{"text": […], "answer_start": […]}` or a list, in the form of the task `qa`."""
    if isinstance(answers, dict) and isinstance(answers.get("text"), list):
        starts = answers.get("answer_start") or [None] * len(answers["text"])
        answers = [{"text": text, "start": start} for text, start in zip(answers["text"], starts, strict=False)]
    elif isinstance(answers, list):
        answers = [_answer(answer) for answer in answers]
    else:
        return answers
    return {"answers": answers}


def _answer(answer: Json) -> Json:
    if isinstance(answer, dict) and "answer_start" in answer:
        return {"text": answer.get("text"), "start": answer["answer_start"]}
    return {"text": answer} if isinstance(answer, str) else answer


_SMALLEST = 1 << 12  # places at first; there are always at least half as many again as ids


class Ids:
    """From an id to the line that it stands on, by 96 bits of its hash: two ids of one hash won't be met.

    A plain dict would need ten times the memory, which counts with millions of examples.
    """

    def __init__(self) -> None:
        self._count = 0
        self._clear(_SMALLEST)

    def _clear(self, size: int) -> None:
        self._mask = size - 1
        self._hashes = array("Q", [0]) * size
        self._more = array("I", [0]) * size
        self._lines = array("I", [0]) * size  # each one more, as 0 is a free place

    def add(self, id: str, line: int) -> int | None:
        """Remembers an id and its line; or, where the id is known, leaves it and gives the line that it stands on."""
        digest = blake2b(id.encode("utf-8", "surrogatepass"), digest_size=12).digest()
        hashed, more = int.from_bytes(digest[:8], "little"), int.from_bytes(digest[8:], "little")
        at = self._place(hashed, more)
        if self._lines[at]:
            return self._lines[at] - 1
        self._hashes[at], self._more[at], self._lines[at] = hashed, more, line + 1
        self._count += 1
        if 3 * self._count > 2 * self._mask:
            self._grow()
        return None

    def _place(self, hashed: int, more: int) -> int:
        """Where the hash stands, or else the free place where it would."""
        at = hashed & self._mask
        lines, hashes = self._lines, self._hashes
        while lines[at] and (hashes[at] != hashed or self._more[at] != more):
            at = (at + 1) & self._mask
        return at

    def _grow(self) -> None:
        old = zip(self._hashes, self._more, self._lines, strict=True)
        self._clear(2 * (self._mask + 1))
        for hashed, more, line in old:
            if line:
                at = self._place(hashed, more)
                self._hashes[at], self._more[at], self._lines[at] = hashed, more, line


_DEPTH = 100


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

    def _check_inputs(self, example: Example) -> None:
        inputs = example.inputs
        self._names = self._names or self._task.fields or tuple(inputs)
        for name in self._names:
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
        content = content_id([example.inputs, example.gold])
        id = content
        while self._ids.add(id, line) is not None:  # the same row again, or, hardly ever, a given id like it
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
            if unfit := _unfit(value, depth + 1):
                return unfit
        return None
    return f"gold must be a text, a number, a list or an object, not {gold!r:.60} ({kind.__name__})."
