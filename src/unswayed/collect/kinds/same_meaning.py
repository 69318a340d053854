"""Same meaning? Grammatical? Two texts, a slider from 0 to 100 that begins nowhere, and a choice."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Annotated

import msgspec

from unswayed.base.values import Example, Json, Variant
from unswayed.collect.kinds import MAX_TEXT, ItemText, SuiteItem, TaskKind


class SameMeaningItem(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`of` names what `b` is a paraphrase of, so that the best of several can be kept. If `a` and `b` are answers,
    `question` is what they answer."""

    a: ItemText
    b: ItemText
    of: str = ""
    question: Annotated[str, msgspec.Meta(max_length=MAX_TEXT)] = ""


class SameMeaningAnswer(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    similarity: Annotated[int, msgspec.Meta(ge=0, le=100)]
    grammatical: bool


class SameMeaningOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`anchors` are what stands at places of the slider, such as {"50" = "about half of it"}."""

    threshold: float = 75
    near: float = 25  # how far a gold similarity may be missed
    together: Annotated[int, msgspec.Meta(ge=1, le=20)] = 3  # paraphrases of one text on a page, at most
    anchors: dict[str, str] = {}


class SameMeaning(TaskKind):
    name = "same_meaning"
    item_type, answer_type, options_type = SameMeaningItem, SameMeaningAnswer, SameMeaningOptions
    level = "interval"

    @classmethod
    def from_suite(cls, example: Example, variants: Sequence[Variant], fields: Sequence[str]) -> Iterator[SuiteItem]:
        """Each text that a variant changed, beside its original; the same pair once."""
        for field in fields:
            original, seen = example.inputs[field], {example.inputs[field]}
            for variant in variants:
                text = variant.inputs[field]
                if variant.meaning == "same" and text not in seen:
                    of = f"{example.id}/{field}"
                    origin = {"example": example.id, "field": field, "source": variant.source, "draw": variant.draw}
                    yield SuiteItem(f"{of}/{len(seen)}", {"a": original, "b": text, "of": of}, origin)
                    seen.add(text)

    def unit(self, id: str, content: dict[str, Json], origin: dict[str, Json]) -> str:
        """Paraphrases of the same text are judged together."""
        return "\n".join((content["of"], content["a"], content.get("question", ""))) if content.get("of") else id

    def on_a_page(self) -> int:
        return int(self.options.together)

    def right(self, gold: Json, answer: Json) -> bool:
        near = abs(answer["similarity"] - gold.get("similarity", answer["similarity"])) <= self.options.near
        return bool(near and answer["grammatical"] == gold.get("grammatical", answer["grammatical"]))

    def summary(self, answers: Sequence[Json]) -> dict[str, Json]:
        """The mean similarity, the share that finds it grammatical, and whether both are enough to keep it."""
        similarity = sum(a["similarity"] for a in answers) / len(answers)
        grammatical = sum(a["grammatical"] for a in answers) / len(answers)
        kept = similarity >= self.options.threshold and grammatical > 0.5
        return {"similarity": similarity, "grammatical": grammatical, "kept": kept}
