"""Sequence classification: a label for one text or for two."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from unfazed.core.task import task_named
from unfazed.core.values import Example
from unfazed.systems.hf._answering import Classifying
from unfazed.systems.hf._lessons import Lesson, Teachable, share


class Classify(Classifying, Teachable):
    """The label with the highest score, by the name that the model's config has for it; LABEL_3 is 3."""

    name = "hf/classify"

    @classmethod
    def labels_in(cls, examples: Sequence[Example]) -> list[str]:
        return sorted({_label(example) for example in examples})

    def lessons(self, number: int, example: Example) -> list[Lesson]:
        return [Lesson(self.encoded(example.inputs), self.labels.index(_label(example)))]

    def targets(self, lessons: Sequence[Lesson], width: int) -> dict[str, Any]:
        import torch

        return {"labels": torch.tensor([lesson.gold for lesson in lessons])}

    def mark(self, dev: Sequence[Example]) -> float:
        answers = self.answers([example.inputs for example in dev])
        return share([answer == _label(example) for answer, example in zip(answers, dev, strict=True)])


def _label(example: Example) -> str:
    return str(task_named("classify").label(example.gold))
