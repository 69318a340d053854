"""Encoder and decoder, T5 and mBART among them: translation, questions to SQL, any text to a text."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from unfazed.core.values import Example
from unfazed.systems.hf._generating import GeneratingSystem
from unfazed.systems.hf._lessons import Lesson, gold_text, padded_labels
from unfazed.systems.hf._model import groups


class Seq2Seq(GeneratingSystem):
    """For mBART and its kin give source_language and target_language as the tokenizer has them."""

    name = "hf/seq2seq"
    auto = "AutoModelForSeq2SeqLM"

    def lessons(self, number: int, example: Example) -> list[Lesson]:
        wanted = self.cut(gold_text(example.gold))
        target = self.tokenizer(text_target=wanted, truncation=True, max_length=self.room)["input_ids"]
        return [Lesson(self.encoded(example.inputs), target)]

    def targets(self, lessons: Sequence[Lesson], width: int) -> dict[str, Any]:
        golds = [lesson.gold for lesson in lessons]
        return {"labels": padded_labels(golds, max(map(len, golds)))}

    def mark(self, dev: Sequence[Example]) -> float:
        """The probability of a right piece after the right ones before it, in the geometric mean."""
        lessons = [lesson for n, example in enumerate(dev) for lesson in self.lessons(n, example)]
        loss, count = 0.0, 0
        for group in groups([len(lesson.row["input_ids"]) + len(lesson.gold) for lesson in lessons]):
            chosen = [lessons[i] for i in group]
            pieces = sum(len(lesson.gold) for lesson in chosen)
            out = self.model(**self.padded([lesson.row for lesson in chosen]), **self.targets(chosen, 0))
            loss, count = loss + float(out.loss) * pieces, count + pieces
        return math.exp(-loss / max(count, 1))
