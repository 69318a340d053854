"""Exact match: the answer is one of the gold answers, whatever its spaces and capitals."""

from __future__ import annotations

from collections.abc import Hashable

from unfazed.core.task import Task
from unfazed.core.values import Json
from unfazed.score._scorer import MeanScorer


class ExactMatch(MeanScorer):
    """Gold is `{"answers": [{"text": …}, …]}`, a text, a number or a list of texts; an output is one text or number."""

    name = "exact_match"

    def key(self, value: Json, task: Task) -> Hashable:
        return answers_of(value)

    def item(self, output: Json, gold: Json, task: Task) -> float:
        said = answers_of(output)
        return float(said is not None and len(said) == 1 and said[0] in (answers_of(gold) or ()))


def answers_of(value: Json) -> tuple[str, ...] | None:
    """The normal forms of the answers in a gold or an output, or None where there is no answer to read."""
    texts = texts_of(value)
    return None if texts is None else tuple(map(normal_form, texts))


def texts_of(value: Json) -> tuple[str, ...] | None:
    """The answers in a gold or an output as they stand, or None where there is none to read."""
    if isinstance(value, dict):
        value = value.get("answers", value.get("text", value.get("label")))
    values = value if isinstance(value, list) else [value]
    texts = [v.get("text") if isinstance(v, dict) else v for v in values]
    readable = [text for text in texts if isinstance(text, (str, int, float)) and text == text]  # NaN is not itself
    found = tuple(map(str, readable))
    return found if found and len(found) == len(texts) else None


def normal_form(text: str) -> str:
    """Lower case, with single spaces between words and none around them."""
    return " ".join(text.split()).casefold()
