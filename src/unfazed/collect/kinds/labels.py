"""Are these labels reasonable? An utterance with its slots and its intent, judged apart."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from unfazed.collect.kinds import ItemText, Kind
from unfazed.core.values import Json


class Slot(msgspec.Struct, frozen=True):
    """A slot of an utterance that people judge: its name and its words."""

    name: str
    value: str


class LabelsItem(msgspec.Struct, frozen=True):
    """As `unfazed survey export` writes it."""

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


class Labels(Kind):
    name = "labels"
    item_type, answer_type, options_type = LabelsItem, LabelsAnswer, LabelsOptions
    control_gold = {"slots": True, "intent": True}  # noqa: RUF012

    def summary(self, answers: Sequence[Json]) -> dict[str, Json]:
        """The share that finds each reasonable, of those who answered."""
        votes = {name: [a[name] for a in answers if a[name] is not None] for name in ("slots", "intent")}
        return {name: sum(own) / len(own) if own else None for name, own in votes.items()}
