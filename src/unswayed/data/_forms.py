"""Rows in the forms that tools write: tagged texts (tokens with tags, or a text with entities), and chats (OpenAI's
messages, Inspect's messages as input, and BFCL's questions with functions).
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from unswayed.base.chat import calls_of, chat_inputs
from unswayed.base.edits import to_bio
from unswayed.base.errors import DataError, option
from unswayed.base.options import ReadOptions
from unswayed.base.values import Example, Inputs, Json
from unswayed.data._guess import FREE_GOLDS
from unswayed.data._reader import Problem, Record, read_lines

T = TypeVar("T")
_TOKENS = ("tokens", "words")
_TAGS = ("tags", "ner_tags", "slots", "ner", "labels", "iob_tags", "bio_tags")
_ENTITIES = ("entities", "ents", "spans")
_SPANS = (*_ENTITIES, "label", "labels")
_TEXTS = ("text", "sentence", "utterance", "query", "content")
_TYPES = ("label", "labels", "type", "entity_group", "entity", "tag")
_TAG = re.compile(r"O|[BIESLUM]-\S+|[BI]")
_JOINED = "\u00a0"  # stands for a space inside a token, as single spaces separate tokens
_CHAT_GOLDS = FREE_GOLDS | {"gold", "label", "reference"}  # names of a column with the right answer
_ANSWERS = "possible_answer"  # BFCL's folder of golds, beside its files of questions
_decode = msgspec.json.Decoder().decode


def record_of(row: Any) -> Any:
    """The row as an object, where spaCy's older form has a list: `["Anna lives", {"entities": [[0, 4, "PER"]]}]`."""
    is_pair = isinstance(row, list) and len(row) == 2 and isinstance(row[0], str) and isinstance(row[1], dict)
    return {"text": row[0], "entities": row[1]["entities"]} if is_pair and "entities" in row[1] else row


def json_object(line: str, path: Path, number: int) -> dict[str, Any]:
    """The object that a line of JSON is; a `DataError` where it is none."""
    try:
        record = _decode(line)
    except (msgspec.MsgspecError, UnicodeError, RecursionError) as error:
        raise DataError(json_problem(line, error)[0], path, number) from error
    record = record_of(record)
    if not isinstance(record, dict):
        raise DataError(f"a row must be an object {{…}}, not {line.strip():.40}", path, number)
    return record


def json_problem(text: str, error: Exception) -> tuple[str, int | None]:
    """What is wrong with a text that did not decode, and in which of its lines.

    Python's laxer decoder distinguishes NaN from halves of characters, and knows the place.
    """
    try:
        json.dumps(json.loads(text), ensure_ascii=False).encode()
    except UnicodeEncodeError as surrogate:
        broken = ord(surrogate.object[surrogate.start])
        return f"the text holds half a character, \\u{broken:04x}, which can't be stored. Fix or remove it.", None
    except json.JSONDecodeError as precise:  # some messages end in the *at* that comes next
        what = precise.msg.removesuffix(" at")
        return f"this is not valid JSON: {what} at column {precise.colno}.", precise.lineno
    except (ValueError, RecursionError):
        return f"this is not valid JSON: {error}.", None
    return "this is not valid JSON: it holds NaN, Infinity or a number out of range. Give a label, or null.", None


def naming_of(feature: Json) -> Callable[[Json], Json] | None:
    """What turns the class numbers of a column into names, if it has such; `feature` is as `datasets` writes it."""
    if isinstance(feature, list) and feature:  # how older versions write a list
        feature = {"feature": feature[0]}
    if not isinstance(feature, dict):
        return None
    names = feature.get("names")
    if feature.get("_type") == "ClassLabel" and isinstance(names, list) and names:
        by_number: dict[Json, Json] = {None: None, -1: None, **dict(enumerate(names))}
        return by_number.__getitem__
    inner = naming_of(feature["feature"]) if "feature" in feature else None
    if inner is None:
        return None
    return lambda numbers: None if numbers is None else [inner(number) for number in numbers]


class Form:
    """Makes examples of the records of one file. What the first record is like decides for all."""

    gold: str | None = None  # the field that holds it
    taken = ""  # which fields hold texts and gold, such as `text = review, gold = stars`
    left: tuple[str, ...] = ()  # fields that were not read

    def __init__(self, options: ReadOptions) -> None:
        self._options = options

    def example(self, row: int, record: Record) -> Example:
        """The example of one record; raises Problem if something is wrong with it."""
        raise NotImplementedError

    def examples(self, row: int, records: Sequence[Record]) -> list[Example] | None:
        """What `example` gives for records that follow each other; None where they must be looked at one by one."""
        return None

    def _placed(self, row: int, record: Record, inputs: Inputs, gold: Json) -> Example:
        """The example with the id and the groups of its record, either of which may be absent."""
        options = self._options
        groups = {name: str(record[name]) for name in options.groups if record.get(name) is not None}
        return Example(row, id_text(record.get(options.id or "id")), inputs, gold, groups)


def id_text(value: Any) -> str:
    """The id as a text; empty where there is none."""
    if type(value) is str:
        return value
    if value is None:
        return ""
    if type(value) is int:
        return str(value)
    raise Problem(f"an id must be a text or a whole number, not {value!r:.60}.")


def is_bio_tag(tag: object) -> bool:
    """Is it a tag of BIO, IOB1, BIOES or BILOU?"""
    return isinstance(tag, str) and bool(_TAG.fullmatch(tag))


class TaggedForm(Form):
    """Tagged texts: tokens with a tag each, a text with entities, or Label Studio's tasks."""

    def __init__(self, record: Record, options: ReadOptions) -> None:
        super().__init__(options)
        one = options.input if len(options.input) == 1 else ()
        names = [name for name in _TOKENS if options.input in ((), (name,))]
        lists = ((name, record[name]) for name in (*names, *one) if isinstance(record.get(name), list))
        self._tokens = next((name for name, v in lists if v and all(isinstance(one, str) for one in v)), None)
        self._studio = not self._tokens and isinstance(record.get("data"), dict)
        self._studio = self._studio and isinstance(record.get("annotations"), list)
        holder = record["data"] if self._studio else record
        texts = [name for name, value in holder.items() if isinstance(value, str)]
        self._text = next((name for name in (one if options.input else _TEXTS) if name in texts), None)
        if self._text is None and not options.input and len(texts) == 1:
            self._text = texts[0]
        self._spans = self._tags = None
        if not self._tokens and not self._studio:
            spans = (options.gold,) if options.gold else _SPANS
            self._spans = next((name for name in spans if _are_spans(record.get(name), name in _ENTITIES)), None)
        if not self._studio:
            tags = (options.gold,) if options.gold else _TAGS
            self._tags = next((name for name in tags if isinstance(record.get(name), (list, str))), None)
            if not options.gold and not self._tags and record.get("slots") is not None:
                self._tags = "slots"
        self.gold = self._spans or self._tags
        intent = options.task != "tag" and self._tokens is not None and isinstance(record.get("intent"), str)
        self._has_intent = (intent or options.task == "slu") and not self._spans and not self._studio

    def fits(self, record: Record, golds: Iterable[str]) -> bool:
        """Does the row hold a tagged text? `golds` are the names of fields that would hold a label instead."""
        options, tags = self._options, self._tags
        if options.task not in (None, "tag", "slu"):
            return False
        labelled = any(name in record for name in golds)
        if self._tokens:
            return tags is not None or not labelled
        if self._studio or self._text is None:
            return self._studio
        if self._spans:
            return True
        if tags is None or ("intent" in record and options.task != "tag"):
            return False
        values = record[tags].split() if isinstance(record[tags], str) else record[tags]
        plain = tags == "slots" or (isinstance(values, list) and bool(values) and all(map(is_bio_tag, values)))
        chosen = options.gold == tags and (tags == "slots" or isinstance(record[tags], list))
        return options.task == "tag" or (plain and (chosen or (not options.gold and not labelled)))

    def example(self, row: int, record: Record) -> Example:
        gold: Json
        if self._studio:
            data, annotations = record.get("data"), record.get("annotations")
            if not isinstance(data, dict) or not isinstance(annotations, list):
                raise Problem("a task of Label Studio must have data and annotations.")
            text = _field(data, self._text, str)
            made = [one for one in annotations if isinstance(one, dict) and not one.get("was_cancelled")]
            if not made or not isinstance(made[0].get("result"), list):
                raise Problem("this task has no annotation. Annotate it, or leave it out.")
            results = [one for one in made[0]["result"] if isinstance(one, dict)]
            gold = {"entities": entities_of([r.get("value") for r in results if r.get("type") == "labels"], text)}
        elif self._tokens is not None:
            tokens = _field(record, self._tokens, list)
            text, gold = join_tokens(tokens), None
            if self._tags is not None or self._options.task is not None:
                gold = {"tags": bio_tags(self._tags_of(record), len(tokens))}
        elif self._spans is not None:
            text = _field(record, self._text, str)
            gold = {"entities": entities_of(_field(record, self._spans, list), text)}
        else:
            text, tags = _field(record, self._text, str), self._tags_of(record)
            words = text.split()
            text = " ".join(words) if len(words) == len(tags) else text
            gold = {"tags": bio_tags(tags, text.count(" ") + 1)}
        if self._has_intent:
            intent = record.get("intent")
            if not isinstance(intent, str):
                raise Problem(f"intent must be a text, not {intent!r:.60}.")
            gold = {"intent": intent, "slots": gold["tags"]}
        return self._placed(row, record, {"text": text}, gold)

    def _tags_of(self, record: Record) -> list[Any]:
        if self._tags is None:
            how = f"Choose the field of the tags with {option('gold')}."
            raise Problem(f"there are tokens, but no tags ({', '.join(_TAGS[:3])}, …). {how}")
        tags = record.get(self._tags)
        return tags.split() if isinstance(tags, str) else _field(record, self._tags, list)


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
        how = (
            "Write the names (O, B-PER, …) instead, or read the folder that Dataset.save_to_disk makes, which has them."
        )
        raise Problem(f"the tags are numbers, such as {number}, without their names. {how}")
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


def _are_spans(spans: Any, may_be_empty: bool) -> bool:
    """Is it a list of objects with a start and a type, or of triples of start, end and label?"""
    if not isinstance(spans, list) or (not spans and not may_be_empty):
        return False
    for span in spans:
        if isinstance(span, dict):
            fits = ("start" in span or "start_offset" in span) and any(name in span for name in _TYPES)
        else:
            triple = isinstance(span, (list, tuple)) and len(span) == 3
            fits = triple and type(span[0]) is int and type(span[1]) is int and isinstance(span[2], str)
        if not fits:
            return False
    return True


def _field(record: Record, name: str | None, kind: type[T]) -> T:
    """The value of a field that must hold a text or a list."""
    value = record.get(name) if name else None
    if not isinstance(value, kind):
        raise Problem(f"{name or 'text'} must be a {'text' if kind is str else 'list'}, not {value!r:.60}.")
    return value


def is_chat_record(record: Record) -> bool:
    """Does the row hold messages, in one of the known forms?"""
    return _is_messages(record.get("messages")) or _is_messages(record.get("input")) or _is_bfcl(record)


def _is_messages(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and isinstance(value[0], dict) and "role" in value[0]


def _is_bfcl(record: Record) -> bool:
    question = record.get("question")
    return isinstance(question, list) and bool(question) and _is_messages(question[0]) and "function" in record


class ChatForm(Form):
    """Chats: messages, of which the last may be the gold, or a question of BFCL with its functions."""

    def __init__(self, record: Record, options: ReadOptions, path: Path) -> None:
        super().__init__(options)
        self._bfcl = _is_bfcl(record)
        self._messages = "messages" if "messages" in record else "input"
        self._golds: dict[str, Json] | None = None  # of BFCL by id, from the file of the same name beside the questions
        file = path.parent / _ANSWERS / path.name
        if self._bfcl and options.gold is None and file.is_file():
            self._golds = {}
            for number, line in enumerate(read_lines(file), 1):
                if not line.isspace():
                    row = json_object(line, file, number)
                    if not isinstance(row.get("id"), str) or not isinstance(row.get("ground_truth"), list):
                        raise DataError("a row must have an id and a list ground_truth.", file, number)
                    self._golds[row["id"]] = row["ground_truth"]

    def example(self, row: int, record: Record) -> Example:
        messages: Json
        tools: Json
        gold: Json
        if self._bfcl:
            question, functions, id = record.get("question"), record.get("function"), record.get("id")
            if not isinstance(question, list) or len(question) != 1:
                what = "question must be one turn, [[{'role': …, 'content': …}]]"
                raise Problem(f"{what}: multi-turn tests are not read.")
            if not isinstance(functions, list) or not all(isinstance(f, dict) and "name" in f for f in functions):
                raise Problem(f"function must be a list of definitions, not {functions!r:.60}.")
            messages, tools = question[0], [{"type": "function", "function": function} for function in functions]
            if self._golds is None:  # tests of irrelevance are right without any call
                gold = [] if str(id).startswith(("irrelevance", "live_irrelevance")) else None
            elif id not in self._golds:
                raise Problem(f"{_ANSWERS} has no row with the id {id!r}.")
            else:
                gold = self._golds[id]
        else:
            messages = record.get(self._messages)
            tools = record.get("tools") or record.get("functions")
            gold = next((value for name, value in record.items() if name in _CHAT_GOLDS and value is not None), None)
            several = self._messages == "messages" and _is_messages(messages) and len(messages) > 1
            if several and isinstance(messages[-1], dict) and messages[-1].get("role") == "assistant":
                reply, messages = messages[-1], messages[:-1]
                if gold is None and not reply.get("tool_calls"):
                    gold = reply.get("content")
                elif gold is None:  # its calls, as BFCL has golds
                    calls = calls_of({"tool_calls": reply["tool_calls"]})
                    if calls is None:
                        raise Problem(f"the assistant's tool_calls can't be read: {reply['tool_calls']!r:.60}.")
                    gold = [{name: {key: [_only_right(v)] for key, v in given.items()}} for name, given in calls]
        if self._options.gold:
            gold = record.get(self._options.gold)
        try:
            inputs = chat_inputs(messages, tools, self._options.turn)
        except ValueError as error:
            raise Problem(f"{error}. Fix the row, or choose another turn with {option('turn')}.") from None
        return self._placed(row, record, inputs, gold)


def _only_right(value: Json) -> Json:
    """An object, or a list's objects, with each value as the only right one; golds have them so one level deep."""
    if isinstance(value, dict):
        return {key: [item] for key, item in value.items()}
    if not isinstance(value, list):
        return value
    return [_only_right(item) if isinstance(item, dict) else item for item in value]
