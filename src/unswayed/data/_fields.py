"""From records to examples: which field is what, as the user chose or as the names suggest.

What is decided on the first record holds for all, so that a row with other fields is an error and no guess.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, repeat
from pathlib import Path
from typing import Any

from unswayed.base.choices import CHOICES, LETTERS, letter_of, lettered
from unswayed.base.errors import DataError, nearest, option
from unswayed.base.values import Example, Inputs, Json
from unswayed.data._chats import ChatForm, is_chat_record
from unswayed.data._names import (
    ANY_GOLD,
    CHOICE_FIELDS,
    GOLDS,
    IDS,
    LESS_SURE_GOLDS,
    first_named,
    is_sure,
    text_fields,
)
from unswayed.data._reader import Problem, ReadOptions
from unswayed.data._tagged import TaggedForm, is_tagged_record

Record = Mapping[str, Any]


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

    def examples(self, row: int, records: Sequence[Record]) -> list[Example] | None:
        """The examples of records that follow each other; None where they must be looked at one by one."""
        return self._form.examples(row, records) if isinstance(self._form, _Flat) else None

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
        if is_tagged_record(record, self._options, GOLDS):
            tagged = TaggedForm(record, self._options)
            self.gold = tagged.gold
            return tagged
        flat = _Flat(record, self._options, self._cells)
        self.gold = flat.gold
        return flat


class _Native:
    """unswayed's own form: `{"id": …, "inputs": {…}, "gold": …, "groups": {…}}`; only `inputs` must be there."""

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
        self._id = options.id or first_named(IDS, first)
        self.gold = options.gold or first_named((*GOLDS, *LESS_SURE_GOLDS), first)
        self._is_slu = "slots" in first and options.task in (None, "slu") and not (options.gold and not options.task)
        if self._is_slu and not options.gold and "intent" in first:
            self.gold = "intent"
        self._is_slu = self._is_slu and self.gold is not None
        self._has_answers = (self.gold or "").casefold() == "answers"
        listed = (name for name in CHOICE_FIELDS if _listed_choices(first.get(name)))
        self._choices = None if options.inputs else next(listed, None)
        taken = {self._id, self.gold, self._choices}
        self._inputs = options.inputs or text_fields(first, taken, self._groups)
        known = [*taken, *self._groups, *self._inputs]
        self.guess = self._guess(first, options, [*known, *(["slots"] if self._is_slu else [])])

    def _guess(self, first: Record, options: ReadOptions, taken: list[str | None]) -> str:
        """A sentence on what was taken and what was not; none where the user chose, or it is plain."""
        others = [name for name in first if name not in taken]
        sure = is_sure(self._inputs[0]) and (self.gold or "").casefold() not in LESS_SURE_GOLDS
        if (options.inputs and options.gold) or (sure and not others):
            return ""
        gold = f"the gold is {self.gold!r}" if self.gold else "there is no gold"
        by = "by the fields' names" if is_sure(self._inputs[0]) or len(first) == 1 else "by the first row"
        left = f"; not read: {', '.join(others)}" if others else ""
        how = f"To change it, use {option('input')} or {option('gold')}."
        return f"the text is {' and '.join(map(repr, self._inputs))} and {gold}, {by}{left}. {how}"

    def example(self, row: int, record: Record) -> Example:
        inputs = {name: _text(record, name) for name in self._inputs}
        gold = self._gold_of(record)
        if self._choices is not None:
            inputs[CHOICES], gold = _chosen(record, self._choices, gold)
        elif self._is_slu:
            gold, inputs = _slu(gold, _field(record, "slots"), inputs)
        elif self._has_answers:
            gold = _answers(gold)
        id = _id(_field(record, self._id)) if self._id else ""
        return Example(row, id, inputs, gold, _groups(record, self._groups) if self._groups else {})

    def examples(self, row: int, records: Sequence[Record]) -> list[Example] | None:
        """What `example` gives for each, where all that is needed is there; else None."""
        if self._choices is not None or self._is_slu or self._has_answers or self._groups or self._cells:
            return None
        try:
            inputs = [{name: record[name] for name in self._inputs} for record in records]
            golds = repeat(None) if self.gold is None else [record[self.gold] for record in records]
            ids = repeat("") if self._id is None else [record[self._id] for record in records]
        except KeyError:
            return None
        if self.gold is None and not all(map(ANY_GOLD.isdisjoint, records)):
            return None
        texts = chain.from_iterable(map(dict.values, inputs))
        if {*map(type, texts), *(map(type, ids) if self._id is not None else ())} != {str}:
            return None
        return list(map(Example, range(row, row + len(records)), ids, inputs, golds))

    def _gold_of(self, record: Record) -> Json:
        if self.gold is None:
            if not ANY_GOLD.isdisjoint(record):
                name = first_named((*GOLDS, *LESS_SURE_GOLDS), record)
                raise Problem(f"this row has a {name!r}, but the first row has none. Give it in all rows, or in none.")
            return None
        gold = _field(record, self.gold)
        if self._cells:
            if gold.lower() == "nan":
                raise Problem(f"{self.gold} is NaN, so the label is missing. Fill it in, or leave the row out.")
            return gold or None
        return gold


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
