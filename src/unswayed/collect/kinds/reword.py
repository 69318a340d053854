"""In their own words: a sentence is shown, the person writes how they would say it, and marks its labels again."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Annotated

import msgspec

from unswayed.base.edits import LabelsLost, Span, bio, marked_tags, slots_of
from unswayed.base.task import Task
from unswayed.base.values import Example, Json, Variant
from unswayed.collect.kinds import MAX_TEXT, Delivery, Flag, ItemText, SuiteItem, TaskKind
from unswayed.collect.kinds.labels import Slot

Words = Annotated[str, msgspec.Meta(max_length=MAX_TEXT)]


class RewordItem(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`marks` are the labelled words of the text, in its order."""

    text: ItemText
    marks: tuple[Slot, ...] = ()


class RewordAnswer(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """For each mark of the item its words in the new text, or null if the new text does not have it."""

    text: ItemText
    marks: tuple[Words | None, ...] = ()


class RewordOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    question: str = ""  # instead of the pages' own


class Reword(TaskKind):
    name = "reword"
    item_type, answer_type, options_type = RewordItem, RewordAnswer, RewordOptions
    about = "dialect"
    makes_text = True
    source = "dialect"

    @classmethod
    def from_suite(cls, example: Example, variants: Sequence[Variant], fields: Sequence[str]) -> Iterator[SuiteItem]:
        """The texts of an example, each with the words that its gold labels."""
        for field in fields:
            text = example.inputs[field]
            marks = labelled_words(example.gold, field, text)
            content = {"text": text, "marks": [{"name": m.name, "value": text[m.start : m.end]} for m in marks]}
            yield SuiteItem(f"{example.id}/{field}", content, {"example": example.id, "field": field})

    def answer(self, facts: Json, item: RewordItem, shown: dict[str, Json]) -> RewordAnswer:
        answer: RewordAnswer = super().answer(facts, item, shown)
        if len(answer.marks) != len(item.marks):
            raise msgspec.ValidationError(f"the item has {len(item.marks)} marks, the answer {len(answer.marks)}")
        try:
            placed(answer.text, answer.marks)
        except LabelsLost as error:
            raise msgspec.ValidationError(str(error)) from error
        return answer

    def flags(self, item: RewordItem, answer: RewordAnswer, delivery: Delivery) -> list[Flag]:
        return [Flag("as it was")] if answer.text == item.text else []

    def judgements(self, answer: Json) -> dict[str, Json]:
        return {}

    def right(self, gold: Json, answer: Json) -> bool:
        return bool(gold["text"].split() == answer["text"].split())

    def moved(self, task: Task, gold: Json, field: str, text: str, answer: Json) -> tuple[str, Json]:
        """The new text, and the labels that the person marked in it. One whose words are gone goes with them."""
        before = labelled_words(gold, field, text)
        if not before:
            return answer["text"], gold
        new = " ".join(answer["text"].split())  # as tokens are separated
        marks = [words and " ".join(words.split()) for words in answer["marks"]]
        found = [(n, Span(*span, before[n].name)) for n, span in enumerate(placed(new, marks)) if span is not None]
        if "entities" in gold:
            known = sorted(gold["entities"], key=lambda entity: (entity["start"], entity["end"]))
            kept = [{**known[n], "start": span.start, "end": span.end} for n, span in found]
            return new, {**gold, "entities": sorted(kept, key=lambda entity: (entity["start"], entity["end"]))}
        return new, {**gold, task.tag_field: bio(new, [span for _, span in found])}


def labelled_words(gold: Json, field: str, text: str) -> list[Span]:
    """The stretches of a text that its gold labels with tags or entities, in order."""
    if field != "text" or not isinstance(gold, dict):
        return []
    if "entities" in gold:
        return sorted(Span(entity["start"], entity["end"], entity["label"]) for entity in gold["entities"])
    tags = gold.get("slots", gold.get("tags"))
    if not isinstance(tags, list):
        return []
    return [Span(*place, kind) for place, (kind, *_) in zip(marked_tags(text, tags), slots_of(tags), strict=True)]


def placed(text: str, marks: Sequence[str | None]) -> list[tuple[int, int] | None]:
    """Where each mark's words are in a text, none over another: whole words first, and from the left."""
    taken: list[tuple[int, int]] = []
    places: list[tuple[int, int] | None] = [None] * len(marks)
    for n in sorted(range(len(marks)), key=lambda n: -len(marks[n] or "")):
        words = marks[n]
        if words is None:
            continue
        found = [match.start() for match in re.finditer(f"(?={re.escape(words)})", text)] if words.strip() else []
        inside = re.compile(rf"(?<!\w){re.escape(words)}(?!\w)")
        found.sort(key=lambda at: (inside.match(text, at) is None, at))
        free = [at for at in found if all(at + len(words) <= first or last <= at for first, last in taken)]
        if not free:
            raise LabelsLost(f"{words!r:.60} is not in the text, or it is marked twice")
        places[n] = (free[0], free[0] + len(words))
        taken.append((free[0], free[0] + len(words)))
    return places
