"""Rows that hold a tagged text: tokens with tags, or a text with entities, in the forms that tools write."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from unswayed.base.edits import to_bio
from unswayed.base.errors import option
from unswayed.base.values import Example, Inputs, Json
from unswayed.data._reader import Problem, ReadOptions

Record = Mapping[str, Any]
TOKENS = ("tokens", "words")
_TAGS = ("tags", "ner_tags", "slots", "ner", "labels", "iob_tags", "bio_tags")
_ENTITIES = ("entities", "ents", "spans")
_SPANS = (*_ENTITIES, "label", "labels")
_TEXTS = ("text", "sentence", "utterance", "query", "content")
_TYPES = ("label", "labels", "type", "entity_group", "entity", "tag")
_TAG = re.compile(r"O|[BIESLUM]-\S+|[BI]")
_JOINED = "\u00a0"  # stands for a space inside a token, as single spaces separate tokens


def as_record(row: Any) -> Any:
    """The row as an object, where spaCy's older form has a list: `["Anna lives", {"entities": [[0, 4, "PER"]]}]`."""
    is_pair = isinstance(row, list) and len(row) == 2 and isinstance(row[0], str) and isinstance(row[1], dict)
    return {"text": row[0], "entities": row[1]["entities"]} if is_pair and "entities" in row[1] else row


def looks_tagged(tag: object) -> bool:
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
    plain = tags == "slots" or _are_tags(record[tags])
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
        inputs, gold = self._read(record)
        if self._intent and self._spans is None and not self._studio:
            intent = record.get("intent")
            if not isinstance(intent, str):
                raise Problem(f"intent must be a text, not {intent!r:.60}.")
            gold = {"intent": intent, "slots": gold["tags"]}
        id = record.get(self._options.id or "id")
        if not isinstance(id, str | int | None) or isinstance(id, bool):
            raise Problem(f"an id must be a text or a whole number, not {id!r:.60}.")
        groups = {name: str(record[name]) for name in self._options.groups if record.get(name) is not None}
        return Example(row, "" if id is None else str(id), inputs, gold, groups)

    def _read(self, record: Record) -> tuple[Inputs, Json]:
        if self._studio:
            return self._studio_row(record)
        if self._tokens is not None:
            tokens = _listed(record, self._tokens)
            if self.gold is None and self._options.task is None:
                return {"text": joined(tokens)}, None
            return {"text": joined(tokens)}, {"tags": tags_of_row(self._tags(record), len(tokens))}
        text = _texted(record, self._text)
        if self._spans is not None:
            return {"text": text}, {"entities": entities_of(_listed(record, self._spans), text)}
        tags = self._tags(record)
        words = text.split()
        text = " ".join(words) if len(words) == len(tags) else text
        return {"text": text}, {"tags": tags_of_row(tags, text.count(" ") + 1)}

    def _tags(self, record: Record) -> list[Any]:
        if self.gold is None:
            raise Problem(
                f"there are tokens, but no tags ({', '.join(_TAGS[:3])}, …). "
                f"Choose the field of the tags with {option('gold')}."
            )
        tags = record.get(self.gold)
        return tags.split() if isinstance(tags, str) else _listed(record, self.gold)

    def _studio_row(self, record: Record) -> tuple[Inputs, Json]:
        data, annotations = record.get("data"), record.get("annotations")
        if not isinstance(data, dict) or not isinstance(annotations, list):
            raise Problem("a task of Label Studio must have data and annotations.")
        text = _texted(data, self._text)
        made = [one for one in annotations if isinstance(one, dict) and not one.get("was_cancelled")]
        if not made or not isinstance(made[0].get("result"), list):
            raise Problem("this task has no annotation. Annotate it, or leave it out.")
        spans = [one.get("value") for one in made[0]["result"] if isinstance(one, dict) and one.get("type") == "labels"]
        return {"text": text}, {"entities": entities_of(spans, text)}


def joined(tokens: Sequence[Any]) -> str:
    """The text of tokens: single spaces between them, and none inside."""
    for n, token in enumerate(tokens, 1):
        if not isinstance(token, str):
            raise Problem(f"token {n} must be a text, not {token!r:.60}.")
        if not token.strip():
            raise Problem(f"token {n} is empty. Remove it and its tag.")
    if not tokens:
        raise Problem("there are no tokens. Leave the row out.")
    return " ".join(token.strip().replace(" ", _JOINED) for token in tokens)


def tags_of_row(tags: Sequence[Any], tokens: int) -> list[str]:
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
    found = [_entity(span, text) for span in spans]
    return sorted(found, key=lambda entity: (entity["start"], entity["end"], entity["label"]))


def _entity(span: Any, text: str) -> dict[str, Json]:
    if isinstance(span, (list, tuple)) and len(span) == 3:
        span = dict(zip(("start", "end", "label"), span, strict=True))
    if not isinstance(span, dict):
        raise Problem(f"an entity must be {{'start', 'end', 'label'}}, not {span!r:.60}.")
    label = next((span[name] for name in _TYPES if name in span), None)
    label = label[0] if isinstance(label, list) and len(label) == 1 else label
    start, end = span.get("start", span.get("start_offset")), span.get("end", span.get("end_offset"))
    if type(start) is not int or type(end) is not int or not isinstance(label, str) or not label:
        raise Problem(f"an entity must have a start, an end and one label, not {span!r:.80}.")
    said = span.get("text")
    if isinstance(said, str) and text[start:end] != said:  # tools written in JavaScript count emoji twice
        start, end = (len(text.encode("utf-16-le", "surrogatepass")[: 2 * at].decode("utf-16-le", "replace"))
                      for at in (max(start, 0), max(end, 0)))  # fmt: skip
        if text[start:end] != said:
            raise Problem(f"the entity {said!r:.40} does not stand at character {span.get('start')} of the text.")
    return {"start": start, "end": end, "label": label}


def _tokens_field(record: Record, options: ReadOptions) -> str | None:
    names = [name for name in TOKENS if not options.inputs or options.inputs == (name,)]
    names += [name for name in options.inputs if len(options.inputs) == 1 and name not in names]
    return next((name for name in names if _are_texts(record.get(name))), None)


def _are_texts(value: object) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(one, str) for one in value)


def _tags_field(record: Record, options: ReadOptions) -> str | None:
    if options.gold:
        return options.gold if isinstance(record.get(options.gold), (list, str)) else None
    known = (name for name in _TAGS if isinstance(record.get(name), (list, str)))
    return next(known, "slots" if record.get("slots") is not None else None)


def _are_tags(value: object) -> bool:
    tags = value.split() if isinstance(value, str) else value
    return isinstance(tags, list) and bool(tags) and all(map(looks_tagged, tags))


def _text_field(record: Record, options: ReadOptions) -> str | None:
    names = options.inputs if len(options.inputs) == 1 else () if options.inputs else _TEXTS
    known = next((name for name in names if isinstance(record.get(name), str)), None)
    if known or options.inputs:
        return known
    texts = [name for name, value in record.items() if isinstance(value, str)]
    return texts[0] if len(texts) == 1 else None


def _spans_field(record: Record, options: ReadOptions) -> str | None:
    names = (options.gold,) if options.gold else _SPANS
    return next((name for name in names if _are_spans(record.get(name), name in _ENTITIES)), None)


def _are_spans(value: object, empty: bool) -> bool:
    if not isinstance(value, list):
        return False
    return all(map(_is_span, value)) if value else empty


def _is_span(value: object) -> bool:
    if isinstance(value, dict):
        return any(name in value for name in ("start", "start_offset")) and any(name in value for name in _TYPES)
    triple = isinstance(value, (list, tuple)) and len(value) == 3
    return triple and type(value[0]) is int and type(value[1]) is int and isinstance(value[2], str)  # type: ignore[index]


def _is_label_studio(record: Record) -> bool:
    return isinstance(record.get("data"), dict) and isinstance(record.get("annotations"), list)


def _listed(record: Record, name: str) -> list[Any]:
    value = record.get(name)
    if not isinstance(value, list):
        raise Problem(f"{name} must be a list, not {value!r:.60}.")
    return value


def _texted(record: Record, name: str | None) -> str:
    value = record.get(name) if name else None
    if not isinstance(value, str):
        raise Problem(f"{name or 'text'} must be a text, not {value!r:.60}.")
    return value
