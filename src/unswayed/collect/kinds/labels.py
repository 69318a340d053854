"""Are these labels reasonable? An utterance with its slots and its intent, judged apart."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from unswayed.base.edits import slots_of
from unswayed.base.ids import content_id
from unswayed.base.values import Example, Json, Variant
from unswayed.collect.kinds import ItemText, SuiteItem, TaskKind


class Slot(msgspec.Struct, frozen=True):
    """A slot of an utterance that people judge: its name and its words."""

    name: str
    value: str


class LabelsItem(msgspec.Struct, frozen=True):
    """As `unswayed survey export` writes it."""

    utterance: ItemText
    intent: str
    slots: list[Slot] = []
    marked: str = ""


class LabelsAnswer(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A question that a person can't answer is null."""

    slots: bool | None
    intent: bool | None


class LabelsOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    pass


class Labels(TaskKind):
    name = "labels"
    item_type, answer_type, options_type = LabelsItem, LabelsAnswer, LabelsOptions
    control_gold = {"slots": True, "intent": True}  # noqa: RUF012

    @classmethod
    def from_suite(cls, example: Example, variants: Sequence[Variant], fields: Sequence[str]) -> Iterator[SuiteItem]:
        """Each utterance that an operator altered, with the labels that it kept; ids tell nobody which operator."""
        for variant in variants:
            gold = variant.gold
            if variant.meaning != "same" or not isinstance(gold, dict) or not {"intent", "slots"} <= gold.keys():
                continue
            text = variant.inputs["text"]
            tokens = text.split(" ")
            slots = [{"name": n, "value": " ".join(tokens[a:b])} for n, a, b in slots_of(gold["slots"])]
            origin = {
                "control": False, "operator": variant.source, "suite_id": "", "example_id": example.id,
                "draw": variant.draw, "note": variant.note,
            }  # fmt: skip
            id = content_id([example.id, variant.source, variant.draw, text])
            yield SuiteItem(id, {"utterance": text, "slots": slots, "intent": gold["intent"]}, origin)

    def summary(self, answers: Sequence[Json]) -> dict[str, Json]:
        """The share that finds each reasonable, of those who answered."""
        votes = {name: [a[name] for a in answers if a[name] is not None] for name in ("slots", "intent")}
        return {name: sum(own) / len(own) if own else None for name, own in votes.items()}
