"""Which is more plausible? Two texts side by side; which is left is drawn by lot and stored."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any, Literal

import msgspec

from unfazed.collect.kinds import ItemText, Kind
from unfazed.core.seeds import Stream
from unfazed.core.values import Json


class PlausibleItem(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    a: ItemText
    b: ItemText
    original: str = ""  # what both were made from, shown above them


class PlausibleAnswer(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The text that was chosen, by its name in the item and not by its side."""

    choice: Literal["a", "b"]


class PlausibleOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    question: str = ""


class Plausible(Kind):
    name = "plausible"
    item_type, answer_type, options_type = PlausibleItem, PlausibleAnswer, PlausibleOptions

    def shown(self, item: Any, rng: Stream) -> dict[str, Json]:
        return {"left": rng.choice("ab")}

    def summary(self, answers: Sequence[Json]) -> dict[str, Json]:
        return dict(Counter(answer["choice"] for answer in answers))
