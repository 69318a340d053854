"""Sequence tagging, such as named entities: stretches of a text, each with a type."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from contextlib import suppress
from itertools import pairwise

import msgspec

from unswayed.base.edits import Edit, LabelsLost, Span, apply, bio, marked_tags, move_spans, slots_of, to_bio
from unswayed.base.task import Task
from unswayed.base.task.slu import tags_problem
from unswayed.base.values import Example, Inputs, Json

_SPANS = ("entities", "ents", "spans")
_TAGS = ("tags", "slots", "ner_tags", "labels")
_TYPES = ("label", "entity_group", "type", "entity")


class TagTask(Task):
    """Gold is `{"tags": [BIO tags]}`, one for each token that single spaces separate in `text`; or, of a text that is
    not in tokens, `{"entities": [{"start": …, "end": …, "label": …}]}` in characters.

    An output may be a list of tags (BIO, IOB1, BIOES), a list of entities, or an object with either. It is stored as
    both, so that it can be compared with either form of gold.
    """

    name = "tag"
    fields = ("text",)
    varied = ("text",)
    scores = ("entity_f1",)
    aligned = True
    tag_field = "tags"

    def fits(self, example: Example) -> bool:
        return isinstance(example.gold, dict) and example.gold.keys() in ({"tags"}, {"entities"})

    def gold_problem(self, example: Example) -> str | None:
        gold, text = example.gold, example.inputs.get("text", "")
        if isinstance(gold, dict) and "entities" in gold:
            entities = gold["entities"]
            if not isinstance(entities, list) or not all(isinstance(entity, dict) for entity in entities):
                return f"gold's entities must be a list of {{'start', 'end', 'label'}}, not {entities!r:.80}"
            if problem := next(filter(None, (_entity_problem(entity, text) for entity in entities)), None):
                return problem
            for one, other in pairwise(sorted(entities, key=lambda entity: (entity["start"], entity["end"]))):
                if other["start"] < one["end"]:
                    first, second = (text[entity["start"] : entity["end"]] for entity in (one, other))
                    return f"the entities {first!r:.40} and {second!r:.40} overlap"
            return None
        if isinstance(gold, dict) and "tags" in gold:
            return tags_problem(gold["tags"], text, "gold", "tags")
        return f'gold must be {{"tags": [BIO tags]}} or {{"entities": [...]}}, not {gold!r:.80}'

    def read(self, output: Json, inputs: Inputs) -> Json:
        found = _read_output(output, inputs.get("text", ""))
        return output if isinstance(found, str) else found

    def output_problem(self, output: Json, inputs: Inputs) -> str | None:
        found = _read_output(output, inputs.get("text", ""))
        return found if isinstance(found, str) else None

    def answer(self, output: Json) -> Hashable:
        """The types of the entities in order, each with the number of its tokens: an added word is no flip."""
        return tuple((kind, last - first) for kind, first, last in slots_of(output["tags"]))

    def nothing(self, gold: Json) -> Json:
        return {"tags": ["O"] * len(gold.get("tags", ())), "entities": []}

    def marked(self, gold: Json, field: str, text: str) -> list[tuple[int, int]]:
        if field != "text" or not gold or "tags" in gold:
            return super().marked(gold, field, text)
        return [(entity["start"], entity["end"]) for entity in gold["entities"]]

    def move(self, gold: Json, field: str, text: str, edits: Sequence[Edit]) -> tuple[str, Json]:
        if field != "text" or "tags" in gold:
            return super().move(gold, field, text, edits)
        before = self.marked(gold, field, text)
        changed, moved = apply(text, edits), []
        for entity, (first, last), (start, end) in zip(
            gold["entities"], before, move_spans(before, edits), strict=True
        ):
            for edit in edits:  # letters put against an entity belong to it, as a doubled last letter does
                letters = "".join({letter for letter in edit.new if letter.isalnum()}) or "\0"
                if edit.start == edit.end == last and first < last:
                    end += len(edit.new) - len(edit.new.lstrip(letters))
                elif edit.start == edit.end == first:
                    start -= len(edit.new) - len(edit.new.rstrip(letters))
            if not changed[start:end].strip():
                raise LabelsLost("nothing is left of an entity")
            moved.append({**entity, "start": start, "end": end})
        return changed, {"entities": moved}


def _entity_problem(entity: Json, text: str) -> str | None:
    start, end, label = (entity.get(name) for name in ("start", "end", "label"))
    if type(start) is not int or type(end) is not int or not isinstance(label, str) or not label:
        return f"an entity must have a start, an end and a label, not {entity!r:.80}"
    if not 0 <= start < end <= len(text):
        return f"an entity goes from character {start} to {end}, but the text has {len(text)}"
    return None


def _read_output(output: Json, text: str) -> dict[str, Json] | str:
    """The output as tags and as entities; or what is wrong with it."""
    found = output
    if isinstance(output, str):  # a system that writes texts, such as a language model, writes JSON
        with suppress(msgspec.MsgspecError, UnicodeError):
            found = msgspec.json.decode(output)
    if isinstance(found, dict):
        name = next((name for name in (*_SPANS, *_TAGS) if isinstance(found.get(name), list)), None)
        if name is None:
            return f"an output must have tags or entities, not {output!r:.80}"
        spans, found = name in _SPANS, found[name]
    else:
        spans = isinstance(found, list) and not any(isinstance(one, str) for one in found)
    if not isinstance(found, list):
        return f"an output must be a list of tags or of entities, not {output!r:.80}"
    if not spans:
        if not all(isinstance(tag, str) for tag in found):
            return f"an output's tags must be texts, not {found!r:.80}"
        if (tokens := text.count(" ") + 1) != len(found):
            return f"an output has {len(found)} tags for {tokens} tokens"
        try:
            tags = to_bio(found)
        except ValueError as wrong:
            return f"an output has the tag {str(wrong)!r}, which is not O, B-… or I-…"
        places = zip(slots_of(tags), marked_tags(text, tags), strict=True)
        return {"tags": tags, "entities": [{"start": a, "end": b, "label": kind} for (kind, *_), (a, b) in places]}
    entities: list[dict[str, Json]] = []
    for entity in found:
        if isinstance(entity, list) and len(entity) == 3:
            entity = dict(zip(("start", "end", "label"), entity, strict=True))
        if not isinstance(entity, dict):
            return f"an entity must be {{'start', 'end', 'label'}}, not {entity!r:.80}"
        label = next((entity[name] for name in _TYPES if name in entity), None)
        entities.append({"start": entity.get("start"), "end": entity.get("end"), "label": label})
        if problem := _entity_problem(entities[-1], text):
            return problem
    entities.sort(key=lambda entity: (entity["start"], entity["end"], entity["label"]))
    return {"tags": bio(text, [Span(e["start"], e["end"], e["label"]) for e in entities]), "entities": entities}
