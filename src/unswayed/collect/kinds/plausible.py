"""Which is more plausible? Two texts side by side; which is left is drawn by lot and stored."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Any, Literal

import msgspec

from unswayed.base.ids import content_id
from unswayed.base.seeds import Stream
from unswayed.base.values import Example, Json, Variant
from unswayed.collect.kinds import ItemText, SuiteItem, TaskKind


class PlausibleItem(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    a: ItemText
    b: ItemText
    original: str = ""  # what both were made from, shown above them


class PlausibleAnswer(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The text that was chosen, by its name in the item and not by its side."""

    choice: Literal["a", "b"]


class PlausibleOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    question: str = ""


class Plausible(TaskKind):
    name = "plausible"
    item_type, answer_type, options_type = PlausibleItem, PlausibleAnswer, PlausibleOptions

    @classmethod
    def from_suite(cls, example: Example, variants: Sequence[Variant], fields: Sequence[str]) -> Iterator[SuiteItem]:
        """Each two versions of a text by different makers; where one is a person's, the key says which."""
        for field in fields:
            made: dict[str, tuple[Variant, str]] = {}
            for variant in variants:
                text = variant.inputs[field]
                if variant.meaning == "same" and text != example.inputs[field]:
                    made.setdefault(variant.source, (variant, text))
            for (one, a), (two, b) in combinations(made.values(), 2):
                if a == b or one.family != two.family:
                    continue
                origin: dict[str, Json] = {"example_id": example.id, "field": field, "a": one.source, "b": two.source}
                people = [v.source.startswith("people/") for v in (one, two)]
                if people[0] != people[1]:
                    person, other = (one, two) if people[0] else (two, one)
                    side = "a" if people[0] else "b"
                    origin |= {"human": side, "family": one.family, "person": person.source, "operator": other.source}
                id = content_id([example.id, field, one.source, two.source])
                yield SuiteItem(id, {"a": a, "b": b, "original": example.inputs[field]}, origin)

    def shown(self, item: Any, rng: Stream) -> dict[str, Json]:
        return {"left": rng.choice("ab")}

    def summary(self, answers: Sequence[Json]) -> dict[str, Json]:
        return dict(Counter(answer["choice"] for answer in answers))
