"""From records to examples: which field is what, as the user chose or as the names suggest.

What is decided on the first record holds for all, so that a row with other fields is an error and no guess.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import chain, islice, repeat
from pathlib import Path
from typing import Any, ClassVar

from unswayed.base.chat import CHOICES, LETTERS, LISTED, letter_of, lettered
from unswayed.base.errors import DataError, nearest, option
from unswayed.base.ids import canonical
from unswayed.base.options import ReadOptions
from unswayed.base.task import task_named
from unswayed.base.values import Example, Json
from unswayed.data._forms import ChatForm, Form, TaggedForm, id_text, is_chat_record
from unswayed.data._guess import FREE_GOLDS
from unswayed.data._reader import Problem, Reader, Record

_IDS = ("id", "guid", "uid", "idx")
_GOLDS = (
    *("gold", "label", "gold_label", "intent", "class", "category", "sentiment", "labels", "topics", "categories"),
    *("relevant", "relevant_ids", "relevant_docs", "relevant_doc_ids", "relevant_documents", "qrels"),
    *("answers", "answer", "target", "completion", "response", "solution", "ideal", "expected", "answerKey"),
    *("expected_output", "expected_answer", "reference_answer", "reference_output", "ground_truth", "correct_answer"),
)
_LESS_SURE_GOLDS = ("stars", "rating", "polarity", "emotion", "is_duplicate", "score", "similarity")
_CHOICE_FIELDS = ("choices", "options", "endings")
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
_RESULTS = ("outputs", "reference_outputs")  # of tools that keep an example as two objects, such as LangSmith
_SURE_TEXTS = frozenset((*_TEXTS, *(name for pair in _PAIRS for name in pair)))
_ALL_GOLDS = (*_GOLDS, *_LESS_SURE_GOLDS)
_READING = {"question", "context"}  # whose answer may be a stretch of the context
_IN_RESULTS, _IN_INPUTS = "(?:outputs?|reference_outputs?|expected)", "inputs?"  # what dotted names start with
_VERDICTS = ("yes", "no", "true", "false")  # answers that are labels, though a context may have these words
_MAX_PLACES = 20  # of an answer in its context
_ANY_GOLD = frozenset(_ALL_GOLDS)
KNOWN_FIELDS = _ANY_GOLD | _SURE_TEXTS | {*_IDS}
_MIN_TEXT_WORDS, _MIN_SENTENCE_WORDS = 3, 5  # of a text; of what is a text and hardly the name of a column
_LETTERS_PER_WORD = 2  # of Chinese, Japanese and Thai, which have no spaces


class Fields:
    """Makes examples of the records of one file."""

    def __init__(self, options: ReadOptions, cells: bool = False) -> None:
        """`cells`: values are cells of a text table, where an empty one means that there is no value."""
        self._options, self._cells = options, cells
        self.form = Form(options)  # of no kind yet
        self._dotted: tuple[str, ...] = ()

    def example(self, row: int, record: Record, path: Path, line: int) -> Example:
        """The example of one record; a `DataError` with its place if something is wrong with it."""
        try:
            if type(self.form) is Form:  # the first record decides for all
                options = self._options
                chosen = [name for names in options.chosen_fields().values() for name in names]
                named = [name for name in chosen if "." in name and name not in record]
                results = next((name for name in _RESULTS if isinstance(record.get(name), dict)), None)
                if isinstance(record.get("inputs"), dict) and results and "gold" not in record:
                    named += [f"{part}.{name}" for part in ("inputs", results) for name in record[part]]
                self._dotted = tuple(dict.fromkeys(named))
                record = self._flattened(record)
                if isinstance(record.get("inputs"), dict):
                    self.form = _Native(record, options)
                elif not options.input and is_chat_record(record):
                    self.form = ChatForm(record, options, path)
                elif (tagged := TaggedForm(record, options)).fits(record, _GOLDS):
                    self.form = tagged
                else:
                    self.form = _Flat(record, options, self._cells)
            else:
                record = self._flattened(record)
            return self.form.example(row, record)
        except Problem as problem:
            raise DataError(str(problem), path, line) from None

    def _flattened(self, record: Record) -> Record:
        """The record with a field for each dotted name, such as `outputs.answer`, in place of the object it is in."""
        if not self._dotted:
            return record
        found = dict(record)
        for name in self._dotted:
            value: Any = record
            for step in name.split("."):
                value = value.get(step) if isinstance(value, dict) else None
            if value is not None:
                found[name] = value
        for name in self._dotted:
            found.pop(name.partition(".")[0], None)
        return found


class RecordReader(Reader):
    """A reader of records with named fields: extend with a method `records`."""

    cells: ClassVar[bool] = False  # values are cells of a text table

    def records(self, path: Path, options: ReadOptions) -> Iterator[Record]:
        """The records in order. Before it yields one, it sets `line` to where the record stands."""
        raise NotImplementedError

    def read(self, path: Path, options: ReadOptions) -> Iterator[Example]:
        self.file, self.fields = path, Fields(options, self.cells)
        for row, record in enumerate(self.records(path, options)):
            yield self.fields.example(row, record, path, self.line)


class _Native(Form):
    """unswayed's own form: `{"id": …, "inputs": {…}, "gold": …, "groups": {…}}`; only `inputs` must be there."""

    def __init__(self, first: Record, options: ReadOptions) -> None:
        super().__init__(options)
        self._gold = options.gold or ("gold" if "gold" in first else _first_named(_ALL_GOLDS, first)) or "gold"
        self.gold = self._gold
        held = ("inputs", "id", "groups", self.gold, options.id, *options.groups)
        self.left = tuple(name for name in first if name not in held)
        self.taken = f"text = {' + '.join(options.input or first['inputs'])}"
        self.taken += f", gold = {self.gold}" if self.gold in first else ""

    def example(self, row: int, record: Record) -> Example:
        options = self._options
        inputs = _required_field(record, "inputs")
        if not isinstance(inputs, dict) or not inputs:
            raise Problem(f"inputs must be texts by name, such as {{'text': …}}, not {inputs!r:.60}.")
        inputs = {name: _text_field(inputs, name) for name in options.input or inputs}
        gold = _required_field(record, self._gold) if options.gold else record.get(self._gold)
        id = id_text(_required_field(record, options.id) if options.id else record.get("id"))
        groups = record.get("groups") or {}
        if not isinstance(groups, dict):
            raise Problem(f"groups must be slices by name, such as {{'domain': 'home'}}, not {groups!r:.60}.")
        others = [name for name in options.groups if name not in groups]
        return Example(row, id, inputs, gold, {**_group_values(groups, groups), **_group_values(record, others)})


class _Flat(Form):
    """A text or more, a label and an id side by side, as tables have them."""

    def __init__(self, first: Record, options: ReadOptions, cells: bool) -> None:
        super().__init__(options)
        for chosen_by, fields in options.chosen_fields().items():
            for field in fields:
                if field not in first:
                    raise _no_field(first, field, f" for {chosen_by}")
        self._cells = cells
        self._groups = options.groups
        self._id = options.id or _first_named(_IDS, first)
        self.gold = options.gold or _first_named(_ALL_GOLDS, first, _IN_RESULTS)
        held = [name for name in first if re.match(rf"{_IN_RESULTS}\.", name)]
        if self.gold is None and len(held) == 1:  # the only output, whatever it is called
            self.gold = held[0]
        self._is_slu = "slots" in first and options.task in (None, "slu") and not (options.gold and not options.task)
        if self._is_slu and not options.gold and "intent" in first:
            self.gold = "intent"
        self._is_slu = self._is_slu and self.gold is not None
        self._has_answers = (self.gold or "").casefold() == "answers"
        listed = (name for name in _CHOICE_FIELDS if _listed_choices(first.get(name)))
        self._choices = None if options.input else next(listed, None)
        taken = {self._id, self.gold, self._choices}
        self._inputs = options.input or _text_fields(first, taken, self._groups)
        taken |= {*self._groups, *self._inputs, *(["slots"] if self._is_slu else [])}
        self.left = tuple(name for name in first if name not in taken)
        self._names = dict(zip(self._inputs, _last_parts(self._inputs), strict=True))
        # A text that stands in the context is an answer to find there; it moves with the context.
        golds = _answer_texts(first.get(self.gold) if self.gold else None)
        context = next((first[name] for name in self._inputs if self._names[name] == "context"), "")
        asked = set(self._names.values()) == _READING and options.task in (None, "qa")
        named = _field_name(self.gold) in (*FREE_GOLDS, "gold", "answers")
        words = [text for text in golds if text.strip().casefold() not in _VERDICTS]
        found = options.task == "qa" or any(_places(text, context) for text in words)
        self._is_reading = asked and bool(golds) and (named or options.task == "qa") and found
        self.taken = f"text = {' + '.join(self._inputs)}" + (f", gold = {self.gold}" if self.gold else "")

    def example(self, row: int, record: Record) -> Example:
        inputs = {self._names[name]: _text_field(record, name) for name in self._inputs}
        gold: Json = None
        if self.gold is not None:
            gold = _required_field(record, self.gold)
            if self._cells:
                if gold.lower() == "nan":
                    raise Problem(f"{self.gold} is NaN, so the label is missing. Fill it in, or leave the row out.")
                gold = gold or None
        elif not _ANY_GOLD.isdisjoint(record):
            name = _first_named(_ALL_GOLDS, record)
            raise Problem(f"this row has a {name!r}, but the first row has none. Give it in all rows, or in none.")
        if self._choices is not None:
            found = _listed_choices(_required_field(record, self._choices))
            if found is None:
                given = record[self._choices]
                raise Problem(f"{self._choices} must be a list of 2 to {len(LETTERS)} texts, not {given!r:.60}.")
            letter = None if gold is None else letter_of(gold, *found)
            if gold is not None and letter is None:
                kinds = "the place, the letter or the text of a choice"
                raise Problem(f"the right answer must be {kinds}, not {gold!r:.60}.")
            inputs[CHOICES], gold = lettered(found[0]), letter
        elif self._is_slu:
            slots = _required_field(record, "slots")
            gold = {"intent": gold, "slots": slots.split() if isinstance(slots, str) else slots}
            if len(inputs) == 1:  # the task calls the utterance `text`
                inputs = {"text": next(iter(inputs.values()))}
        elif self._is_reading and (texts := _answer_texts(gold)):
            context = next(text for name, text in inputs.items() if name == "context")
            answers: list[Json] = []
            for text in texts:
                answers += [{"text": text, "start": at} for at in _places(text, context)] or [{"text": text}]
            gold = {"answers": answers}
        elif self._has_answers:
            gold = gold if isinstance(gold, str) else task_named("qa").own_gold(gold)
        id = id_text(_required_field(record, self._id)) if self._id else ""
        return Example(row, id, inputs, gold, _group_values(record, self._groups) if self._groups else {})

    def examples(self, row: int, records: Sequence[Record]) -> list[Example] | None:
        if self._choices is not None or self._is_slu or self._has_answers or self._groups or self._cells:
            return None
        if self._is_reading or self._names.keys() != set(self._names.values()):
            return None
        try:
            inputs = [{name: record[name] for name in self._inputs} for record in records]
            golds = repeat(None) if self.gold is None else [record[self.gold] for record in records]
            ids = repeat("") if self._id is None else [record[self._id] for record in records]
        except KeyError:
            return None
        if self.gold is None and not all(map(_ANY_GOLD.isdisjoint, records)):
            return None
        texts = chain.from_iterable(map(dict.values, inputs))
        if {*map(type, texts), *(map(type, ids) if self._id is not None else ())} != {str}:
            return None
        return list(map(Example, range(row, row + len(records)), ids, inputs, golds))


def _required_field(record: Record, name: str) -> Any:
    try:
        return record[name]
    except KeyError:
        raise _no_field(record, name) from None


def _no_field(record: Record, name: str, chosen_by: str = "") -> Problem:
    near = nearest(name, record)
    hint = f" Did you mean {near!r}?" if near else ""
    has = ", ".join(record) or "none"
    return Problem(f"there is no field {name!r}{chosen_by}.{hint} This row's fields are: {has}.")


def _text_field(record: Record, name: str) -> str:
    value = _required_field(record, name)
    if _field_name(name) in LISTED and isinstance(value, list) and all(isinstance(text, str) for text in value):
        return canonical(value).decode()
    if type(value) is not str:
        raise Problem(f"{name} must be a text, not {value!r:.60}.")
    return value


def _group_values(record: Record, names: Iterable[str]) -> dict[str, str]:
    """The slices; a record without a value is in no slice of that name."""
    values = {name: value for name in names if (value := _required_field(record, name)) is not None}
    for name, value in values.items():
        if not isinstance(value, str | int | float):
            raise Problem(f"the group {name} must be a text or a number, not {value!r:.60}.")
    return {name: str(value).lower() if isinstance(value, bool) else str(value) for name, value in values.items()}


def _listed_choices(value: Any) -> tuple[list[str], list[str]] | None:
    """The choices and their labels, if they have some: a list, or as ARC has them, `{"text": […], "label": […]}`."""
    texts, labels = (value.get("text"), value.get("label")) if isinstance(value, dict) else (value, None)
    if not isinstance(texts, list) or not 2 <= len(texts) <= len(LETTERS):
        return None
    if not all(isinstance(text, str) and text.strip() for text in texts):
        return None
    return texts, [str(label) for label in labels] if isinstance(labels, list) else []


def _field_name(name: str | None) -> str:
    """The last part of a dotted name, in small letters."""
    return (name or "").rpartition(".")[2].casefold()


def _last_parts(names: Sequence[str]) -> list[str]:
    """What inputs are called: `question` for `inputs.question`, as long as they differ."""
    found = [name.rpartition(".")[2] for name in names]
    return found if len(set(found)) == len(found) else list(names)


def _answer_texts(gold: Json) -> list[str]:
    """The answers in a gold that is a text or a list of texts; none if it has another form."""
    texts = [gold] if isinstance(gold, str) else gold
    return texts if isinstance(texts, list) and all(isinstance(text, str) for text in texts) else []


def _places(answer: str, context: object) -> list[int]:
    """Where an answer stands in its context, as whole words if it does so anywhere."""
    if not answer.strip() or not isinstance(context, str):
        return []
    for pattern in (rf"(?<!\w){re.escape(answer)}(?!\w)", re.escape(answer)):
        if found := [match.start() for match in islice(re.finditer(pattern, context), _MAX_PLACES)]:
            return found
    return []


def _first_named(names: Iterable[str], record: Record, among: str = "") -> str | None:
    """The field that has the first of these names; if none has, in capitals or small letters; if none has, with dots.

    `among` is what a dotted name must start with: those of inputs hold no gold.
    """
    found = next((name for name in names if name in record), None)
    if found is not None:
        return found
    fields = {name.casefold(): name for name in reversed(list(record)) if isinstance(name, str)}
    found = next((fields[name.casefold()] for name in names if name.casefold() in fields), None)
    if found is not None or not any("." in name for name in fields):
        return found
    dotted = {_field_name(name): name for name in reversed(list(record)) if re.match(rf"{among}\.", name)}
    return next((dotted[name.casefold()] for name in names if name.casefold() in dotted), None)


def _text_fields(record: Record, taken: set[str | None], groups: Sequence[str]) -> tuple[str, ...]:
    """The fields that hold the texts: by their names, else the only one, else the one whose text is by far longest."""
    for pair in _PAIRS:  # a paragraph may be both: an input, and what clusters the questions on it
        if all(isinstance(record.get(name), str) and name not in taken for name in pair):
            return (*pair, *_listed(record, taken))
    left = {name: value for name, value in record.items() if name not in {*taken, *groups}}
    known = _first_named(_TEXTS, left, _IN_INPUTS)
    if known:
        context = [name for name in left if "." in name and _field_name(name) == "context"]
        return (known, *context, *_listed(record, taken))
    lengths = {name: _word_count(value) for name, value in left.items() if isinstance(value, str)}
    longest = max(lengths, key=lambda name: lengths[name], default="")
    others = max((count for name, count in lengths.items() if name != longest), default=0)
    if lengths and (len(lengths) == 1 or lengths[longest] >= max(_MIN_TEXT_WORDS, 2 * others)):
        if _word_count(longest) >= _MIN_SENTENCE_WORDS:
            what = f"the row above should hold the names of the columns, but it has {longest!r:.60}."
            raise Problem(f"{what} Put a row of names above it, such as text and label.")
        return (longest,)
    what = f"it is not clear which field holds the text; the fields are: {', '.join(record) or 'none'}."
    raise Problem(f"{what} Choose it with {option('input')}.")


def _listed(record: Record, taken: Collection[str | None]) -> list[str]:
    """The fields that hold a list of passages, which a system is given beside a question."""
    lists = (name for name in record if _field_name(name) in LISTED and name not in taken)
    return [name for name in lists if isinstance(record[name], list)]


def _word_count(text: str) -> int:
    """How many words there are, by spaces; in Thai, Lao, Burmese and Japanese, which have none, by the letters."""
    unspaced = sum("\u0e00" <= c <= "\u0eff" or "\u1000" <= c <= "\u109f" or "\u3040" <= c <= "\u9fff" for c in text)
    return max(len(text.split()), unspaced // _LETTERS_PER_WORD)
