"""A free question with given answers, such as the type of a noise: one of them, or several."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Annotated, Any

import msgspec

from unswayed.base.values import Json
from unswayed.collect.kinds import ItemText, TaskKind


class ChoiceItem(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`original` is shown above the text, where there is one."""

    text: ItemText
    original: str = ""


class ChoiceAnswer(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    choice: Annotated[list[str], msgspec.Meta(min_length=1, max_length=100)]


class ChoiceOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    question: Annotated[str, msgspec.Meta(min_length=1)]
    answers: Annotated[list[str], msgspec.Meta(min_length=2, max_length=100)]
    several: bool = False


class Choice(TaskKind):
    name = "choice"
    item_type, answer_type, options_type = ChoiceItem, ChoiceAnswer, ChoiceOptions

    def answer(self, facts: Json, item: Any, shown: dict[str, Json]) -> ChoiceAnswer:
        answer = msgspec.convert(facts, ChoiceAnswer)
        unknown = [name for name in answer.choice if name not in self.options.answers]
        if unknown or len(set(answer.choice)) < len(answer.choice):
            raise msgspec.ValidationError(f"{unknown or answer.choice} is not among the answers of this study")
        if len(answer.choice) > 1 and not self.options.several:
            raise msgspec.ValidationError("only one answer may be chosen")
        return answer

    def judgements(self, answer: Json) -> dict[str, Json]:
        return {"choice": " + ".join(sorted(answer["choice"]))}

    def right(self, gold: Json, answer: Json) -> bool:
        return sorted(gold["choice"]) == sorted(answer["choice"])

    def summary(self, answers: Sequence[Json]) -> dict[str, Json]:
        return dict(Counter(name for answer in answers for name in answer["choice"]))
