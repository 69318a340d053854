"""Token classification: a BIO tag for each token of a text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from unfazed.core.values import Example
from unfazed.systems.hf._answering import Tagging, TagWindow
from unfazed.systems.hf._lessons import IGNORED, Lesson, Teachable, padded_labels, share


class Tag(Tagging, Teachable):
    """A token's tag is that of its first piece, and O where the tokenizer makes nothing of it. There is no intent."""

    name = "hf/tag"

    @classmethod
    def labels_in(cls, examples: Sequence[Example]) -> list[str]:
        return sorted({"O", *(tag for example in examples for tag in example.gold["slots"])})

    def lessons(self, number: int, example: Example) -> list[Lesson]:
        return [self._lesson(window, example.gold["slots"]) for window in self.windows(number, example.inputs["text"])]

    def _lesson(self, window: TagWindow, tags: Sequence[str]) -> Lesson:
        gold = [IGNORED] * len(window.row["input_ids"])
        for n, piece in enumerate(window.firsts):
            if piece is not None:
                gold[piece] = self.labels.index(tags[window.start + n])
        return Lesson(window.row, gold)

    def targets(self, lessons: Sequence[Lesson], width: int) -> dict[str, Any]:
        return {"labels": padded_labels([lesson.gold for lesson in lessons], width)}

    def mark(self, dev: Sequence[Example]) -> float:
        """The share of texts of which every tag is right."""
        found = self.tagged([example.inputs["text"] for example in dev])
        return share([tags == example.gold["slots"] for tags, example in zip(found, dev, strict=True)])
