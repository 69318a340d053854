"""Extractive question answering: the stretch of the context that a model points to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from unfazed.core.values import Example
from unfazed.systems.hf._answering import ContextWindow, Reading
from unfazed.systems.hf._lessons import Lesson, Teachable, share


class Read(Reading, Teachable):
    """Long contexts are read in windows that overlap; the best span of all of them is the answer."""

    name = "hf/read"
    outputs = 2

    def lessons(self, number: int, example: Example) -> list[Lesson]:
        """Every window; where the answer is not in it, its first piece is the right one, as in SQuAD 2."""
        placed = [a for a in example.gold["answers"] if a.get("start") is not None]
        if not placed:
            return []
        start, end = placed[0]["start"], placed[0]["start"] + len(placed[0]["text"])
        return [Lesson(w.row, _pieces(w, start, end)) for w in self.windows(number, example.inputs)]

    def targets(self, lessons: Sequence[Lesson], width: int) -> dict[str, Any]:
        import torch

        starts, ends = (torch.tensor([lesson.gold[side] for lesson in lessons]) for side in (0, 1))
        return {"start_positions": starts, "end_positions": ends}

    def mark(self, dev: Sequence[Example]) -> float:
        """The share of questions that are answered with one of the golds, letter by letter."""
        answers = self.answers([example.inputs for example in dev])
        golds = [{a["text"] for a in example.gold["answers"]} for example in dev]
        return share([answer in gold for answer, gold in zip(answers, golds, strict=True)])


def _pieces(window: ContextWindow, start: int, end: int) -> tuple[int, int]:
    """The first and last piece of this stretch of the context; (0, 0) where not all of it is in the window."""
    first = next((n for n, place in enumerate(window.places) if place and place[0] <= start < place[1]), None)
    last = next((n for n, place in enumerate(window.places) if place and place[0] < end <= place[1]), None)
    return (0, 0) if first is None or last is None else (first, last)
