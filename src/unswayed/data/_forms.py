"""Rows in the forms that tools write: tagged texts (tokens with tags, or a text with entities), and chats (OpenAI's
messages, Inspect's messages as input, and BFCL's questions with functions).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from unswayed.base.chat import calls_of, chat_inputs
from unswayed.base.edits import to_bio
from unswayed.base.errors import DataError, option
from unswayed.base.values import Example, Json
from unswayed.data._guess import FREE_GOLDS
from unswayed.data._reader import Problem, ReadOptions, read_lines

Record = Mapping[str, Any]
TOKENS = ("tokens", "words")
_TAGS = ("tags", "ner_tags", "slots", "ner", "labels", "iob_tags", "bio_tags")
_ENTITIES = ("entities", "ents", "spans")
_SPANS = (*_ENTITIES, "label", "labels")
_TEXTS = ("text", "sentence", "utterance", "query", "content")
_TYPES = ("label", "labels", "type", "entity_group", "entity", "tag")
_TAG = re.compile(r"O|[BIESLUM]-\S+|[BI]")
_JOINED = "\u00a0"  # stands for a space inside a token, as single spaces separate tokens


def record_of(row: Any) -> Any:
    """The row as an object, where spaCy's older form has a list: `["Anna lives", {"entities": [[0, 4, "PER"]]}]`."""
    is_pair = isinstance(row, list) and len(row) == 2 and isinstance(row[0], str) and isinstance(row[1], dict)
    return {"text": row[0], "entities": row[1]["entities"]} if is_pair and "entities" in row[1] else row


def is_bio_tag(tag: object) -> bool:
    """Is it a tag of BIO, IOB1, BIOES or BILOU?"""
    return isinstance(tag, str) and bool(_TAG.fullmatch(tag))


def is_tagged_record(record: Record, options: ReadOptions, golds: Iterable[str]) -> bool:
    """Does the row hold a tagged text? `golds` are the names of fields that would hold a label instead."""
    if options.task not in (None, "tag", "slu"):
        return False
    if _tokens_field(record, options) is not None:
        return _tags_field(record, options) is not None or not any(name in record for name in golds)
    if _is_label_studio(record):
        return True
    text = _text_field(record, options)
    if text is None:
        return False
    if _spans_field(record, options) is not None:
        return True
    tags = _tags_field(record, options)
    if tags is None or ("intent" in record and options.task != "tag"):
        return False
    if options.task == "tag":
        return True
    values = record[tags].split() if isinstance(record[tags], str) else record[tags]
    plain = tags == "slots" or (isinstance(values, list) and bool(values) and all(map(is_bio_tag, values)))
    chosen = options.gold == tags and (tags == "slots" or isinstance(record[tags], list))
    return plain and (chosen or (not options.gold and not any(name in record for name in golds)))


class TaggedForm:
    """Makes examples of tagged rows; what the first `record` is like decides for all of them."""

    def __init__(self, record: Record, options: ReadOptions) -> None:
        self._options = options
        self._studio = _is_label_studio(record) and not _tokens_field(record, options)
        self._tokens = _tokens_field(record, options)
        self._text = _text_field(record["data"] if self._studio else record, options)
        self._spans = None if self._tokens or self._studio else _spans_field(record, options)
        self.gold = self._spans or (None if self._studio else _tags_field(record, options))
        intent = options.task != "tag" and self._tokens is not None and isinstance(record.get("intent"), str)
        self._intent = intent or options.task == "slu"

    def example(self, row: int, record: Record) -> Example:
        gold: Json
        if self._studio:
            text, spans = self._studio_text(record)
            gold = {"entities": entities_of(spans, text)}
        elif self._tokens is not None:
            tokens = _list_field(record, self._tokens)
            text, gold = join_tokens(tokens), None
            if self.gold is not None or self._options.task is not None:
                gold = {"tags": bio_tags(self._tags(record), len(tokens))}
        elif self._spans is not None:
            text = _string_field(record, self._text)
            gold = {"entities": entities_of(_list_field(record, self._spans), text)}
        else:
            text, tags = _string_field(record, self._text), self._tags(record)
            words = text.split()
            text = " ".join(words) if len(words) == len(tags) else text
            gold = {"tags": bio_tags(tags, text.count(" ") + 1)}
        if self._intent and self._spans is None and not self._studio:
            intent = record.get("intent")
            if not isinstance(intent, str):
                raise Problem(f"intent must be a text, not {intent!r:.60}.")
            gold = {"intent": intent, "slots": gold["tags"]}
        id = record.get(self._options.id or "id")
        if not isinstance(id, str | int | None) or isinstance(id, bool):
            raise Problem(f"an id must be a text or a whole number, not {id!r:.60}.")
        groups = {name: str(record[name]) for name in self._options.groups if record.get(name) is not None}
        return Example(row, "" if id is None else str(id), {"text": text}, gold, groups)

    def _studio_text(self, record: Record) -> tuple[str, list[Any]]:
        """The text of a task of Label Studio, and the entities of its first annotation that was not cancelled."""
        data, annotations = record.get("data"), record.get("annotations")
        if not isinstance(data, dict) or not isinstance(annotations, list):
            raise Problem("a task of Label Studio must have data and annotations.")
        text = _string_field(data, self._text)
        made = [one for one in annotations if isinstance(one, dict) and not one.get("was_cancelled")]
        if not made or not isinstance(made[0].get("result"), list):
            raise Problem("this task has no annotation. Annotate it, or leave it out.")
        results = [one for one in made[0]["result"] if isinstance(one, dict)]
        return text, [one.get("value") for one in results if one.get("type") == "labels"]

    def _tags(self, record: Record) -> list[Any]:
        if self.gold is None:
            raise Problem(
                f"there are tokens, but no tags ({', '.join(_TAGS[:3])}, …). "
                f"Choose the field of the tags with {option('gold')}."
            )
        tags = record.get(self.gold)
        return tags.split() if isinstance(tags, str) else _list_field(record, self.gold)


def join_tokens(tokens: Sequence[Any]) -> str:
    """The text of tokens: single spaces between them, and none inside."""
    for n, token in enumerate(tokens, 1):
        if not isinstance(token, str):
            raise Problem(f"token {n} must be a text, not {token!r:.60}.")
        if not token.strip():
            raise Problem(f"token {n} is empty. Remove it and its tag.")
    if not tokens:
        raise Problem("there are no tokens. Leave the row out.")
    return " ".join(token.strip().replace(" ", _JOINED) for token in tokens)


def bio_tags(tags: Sequence[Any], tokens: int) -> list[str]:
    """The tags as BIO; raises Problem where they are not the tags of so many tokens."""
    number = next((tag for tag in tags if isinstance(tag, int)), None)
    if number is not None:
        raise Problem(
            f"the tags are numbers, such as {number}, without their names. Write the names (O, B-PER, …) instead, or "
            f"read the folder that Dataset.save_to_disk makes, which has them."
        )
    wrong = next((tag for tag in tags if not isinstance(tag, str)), None)
    if wrong is not None or len(tags) != len([tag for tag in tags if tag is not None]):
        raise Problem(f"a tag must be a text such as O or B-PER, not {wrong!r:.60}.")
    if len(tags) != tokens:
        raise Problem(f"there are {len(tags)} tags for {tokens} tokens.")
    try:
        return to_bio(tags)
    except ValueError as error:
        raise Problem(f"the tag {str(error)!r:.60} is not O, B-…, I-…, E-… or S-….") from None


def entities_of(spans: Sequence[Any], text: str) -> list[dict[str, Json]]:
    """Entities as the task has them: where each starts and ends, in characters, and its label; in order."""
    found: list[dict[str, Json]] = []
    for span in spans:
        if isinstance(span, (list, tuple)) and len(span) == 3:
            span = dict(zip(("start", "end", "label"), span, strict=True))
        if not isinstance(span, dict):
            raise Problem(f"an entity must be {{'start', 'end', 'label'}}, not {span!r:.60}.")
        label = next((span[name] for name in _TYPES if name in span), None)
        label = label[0] if isinstance(label, list) and len(label) == 1 else label
        start, end = span.get("start", span.get("start_offset")), span.get("end", span.get("end_offset"))
        if type(start) is not int or type(end) is not int or not isinstance(label, str) or not label:
            raise Problem(f"an entity must have a start, an end and one label, not {span!r:.80}.")
        given = span.get("text")
        if isinstance(given, str) and text[start:end] != given:
            # Tools written in JavaScript count UTF-16 units, so an emoji counts twice.
            units = text.encode("utf-16-le", "surrogatepass")
            start, end = (len(units[: 2 * max(at, 0)].decode("utf-16-le", "replace")) for at in (start, end))
            if text[start:end] != given:
                raise Problem(f"the entity {given!r:.40} does not stand at character {span.get('start')} of the text.")
        found.append({"start": start, "end": end, "label": label})
    return sorted(found, key=lambda entity: (entity["start"], entity["end"], entity["label"]))


def _tokens_field(record: Record, options: ReadOptions) -> str | None:
    names = [name for name in TOKENS if not options.inputs or options.inputs == (name,)]
    names += [name for name in options.inputs if len(options.inputs) == 1 and name not in names]
    for name in names:
        value = record.get(name)
        if isinstance(value, list) and value and all(isinstance(one, str) for one in value):
            return name
    return None


def _tags_field(record: Record, options: ReadOptions) -> str | None:
    if options.gold:
        return options.gold if isinstance(record.get(options.gold), (list, str)) else None
    known = (name for name in _TAGS if isinstance(record.get(name), (list, str)))
    return next(known, "slots" if record.get("slots") is not None else None)


def _text_field(record: Record, options: ReadOptions) -> str | None:
    names = options.inputs if len(options.inputs) == 1 else () if options.inputs else _TEXTS
    known = next((name for name in names if isinstance(record.get(name), str)), None)
    if known or options.inputs:
        return known
    texts = [name for name, value in record.items() if isinstance(value, str)]
    return texts[0] if len(texts) == 1 else None


def _spans_field(record: Record, options: ReadOptions) -> str | None:
    """The field with a list of spans: objects with a start and a type, or triples of start, end and label."""
    for name in (options.gold,) if options.gold else _SPANS:
        spans = record.get(name)
        if not isinstance(spans, list) or (not spans and name not in _ENTITIES):
            continue
        for span in spans:
            if isinstance(span, dict):
                fits = ("start" in span or "start_offset" in span) and any(name in span for name in _TYPES)
            else:
                triple = isinstance(span, (list, tuple)) and len(span) == 3
                fits = triple and type(span[0]) is int and type(span[1]) is int and isinstance(span[2], str)
            if not fits:
                break
        else:
            return name
    return None


def _is_label_studio(record: Record) -> bool:
    return isinstance(record.get("data"), dict) and isinstance(record.get("annotations"), list)


def _string_field(record: Record, name: str | None) -> str:
    value = record.get(name) if name else None
    if not isinstance(value, str):
        raise Problem(f"{name or 'text'} must be a text, not {value!r:.60}.")
    return value


CHAT_GOLDS = FREE_GOLDS | {"gold", "label", "expected_output", "reference"}  # names of a column with the right answer
ANSWERS = "possible_answer"  # BFCL's folder of golds, beside its files of questions


def is_chat_record(record: Record) -> bool:
    """Does the row hold messages, in one of the known forms?"""
    return _is_messages(record.get("messages")) or _is_messages(record.get("input")) or _is_bfcl(record)


def _is_messages(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and isinstance(value[0], dict) and "role" in value[0]


def _is_bfcl(record: Record) -> bool:
    question = record.get("question")
    return isinstance(question, list) and bool(question) and _is_messages(question[0]) and "function" in record


class ChatForm:
    """Makes examples of rows with chats; what `record` is like decides for all rows."""

    def __init__(self, record: Record, options: ReadOptions, path: Path) -> None:
        self._options = options
        self._bfcl = _is_bfcl(record)
        self._golds = _read_bfcl_golds(path) if self._bfcl and options.gold is None else None
        self._messages = "messages" if "messages" in record else "input"

    def example(self, row: int, record: Record) -> Example:
        if self._bfcl:
            messages, tools, gold = self._bfcl_parts(record)
        else:
            messages, tools = record.get(self._messages), record.get("tools") or record.get("functions")
            gold = next((value for name, value in record.items() if name in CHAT_GOLDS and value is not None), None)
            if self._messages == "messages" and _is_messages(messages):
                assert isinstance(messages, list)
                last = messages[-1]
                if isinstance(last, dict) and last.get("role") == "assistant" and len(messages) > 1:
                    messages, gold = messages[:-1], _reply_gold(last) if gold is None else gold
        if self._options.gold:
            gold = record.get(self._options.gold)
        id = record.get(self._options.id or "id", "")
        if not isinstance(id, str | int | None):
            raise Problem(f"an id must be a text or a whole number, not {id!r:.60}.")
        groups = {name: str(record[name]) for name in self._options.groups if record.get(name) is not None}
        try:
            inputs = chat_inputs(messages, tools, self._options.turn)
        except ValueError as error:
            raise Problem(f"{error}. Fix the row, or choose another turn with {option('turn')}.") from None
        return Example(row, "" if id is None else str(id), inputs, gold, groups)

    def _bfcl_parts(self, record: Record) -> tuple[Json, Json, Json]:
        """The messages, tools and gold of a row of BFCL. Its tests of irrelevance are right without any call."""
        question, id = record.get("question"), record.get("id")
        if not isinstance(question, list) or len(question) != 1:
            raise Problem("question must be one turn, [[{'role': …, 'content': …}]]: multi-turn tests are not read.")
        functions = record.get("function")
        if not isinstance(functions, list) or not all(isinstance(f, dict) and "name" in f for f in functions):
            raise Problem(f"function must be a list of definitions, not {functions!r:.60}.")
        tools = [{"type": "function", "function": function} for function in functions]
        if self._golds is not None and id not in self._golds:
            raise Problem(f"{ANSWERS} has no row with the id {id!r}.")
        no_call: Json = [] if str(id).startswith(("irrelevance", "live_irrelevance")) else None
        return question[0], tools, self._golds[str(id)] if self._golds is not None else no_call


def _reply_gold(message: Mapping[str, Any]) -> Json:
    """The gold that the last message of the assistant is: its calls, as BFCL has golds, or its text."""
    if not message.get("tool_calls"):
        return message.get("content")
    calls = calls_of({"tool_calls": message["tool_calls"]})
    if calls is None:
        raise Problem(f"the assistant's tool_calls can't be read: {message['tool_calls']!r:.60}.")
    return [{call.name: {name: [_only_right(value)] for name, value in call.arguments.items()}} for call in calls]


def _only_right(value: Json) -> Json:
    """An object, or a list's objects, with each value as the only right one; golds have them so one level deep."""
    if isinstance(value, dict):
        return {key: [item] for key, item in value.items()}
    if not isinstance(value, list):
        return value
    return [_only_right(item) if isinstance(item, dict) else item for item in value]


def _read_bfcl_golds(path: Path) -> dict[str, Json] | None:
    """BFCL's golds by id, from the file of the same name in the folder beside the questions."""
    from unswayed.data.jsonl import json_object

    file = path.parent / ANSWERS / path.name
    if not file.is_file():
        return None
    found = {}
    for number, line in enumerate(read_lines(file), 1):
        if not line.isspace():
            row = json_object(line, file, number)
            if not isinstance(row.get("id"), str) or not isinstance(row.get("ground_truth"), list):
                raise DataError("a row must have an id and a list ground_truth.", file, number)
            found[row["id"]] = row["ground_truth"]
    return found


def _list_field(record: Record, name: str) -> list[Any]:
    value = record.get(name)
    if not isinstance(value, list):
        raise Problem(f"{name} must be a list, not {value!r:.60}.")
    return value
