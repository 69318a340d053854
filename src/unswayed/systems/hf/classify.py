"""`hf/classify`: a label for a text, or for two."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cached_property
from typing import Any

from unswayed.base.values import Inputs, Json
from unswayed.systems.hf._model import HfSystem, length_groups

_FIRST = ("premise", "question", "text", "sentence1")  # texts that stand first where names alone do not say it


class HfClassifier(HfSystem):
    """The label with the highest score, by the name that the model's config has for it; LABEL_3 is 3."""

    name = "hf/classify"
    auto = "AutoModelForSequenceClassification"
    tasks = ("classify", "text")

    @cached_property
    def labels(self) -> list[str]:
        return self.options.labels or label_names(self.folder.config.get("id2label") or {0: "LABEL_0", 1: "LABEL_1"})

    def input_problem(self, inputs: Inputs) -> str | None:
        if not self.options.fields and len(inputs) > 2:
            return f"there are {len(inputs)} texts; choose with the option fields"
        return super().input_problem(inputs) if inputs else "there is no text"

    def encoded(self, inputs: Inputs) -> dict[str, list[int]]:
        texts = [self.cut_text(inputs[field]) for field in self.options.fields or ordered_fields(inputs)]
        return dict(self.tokenizer(*texts, truncation=True, max_length=self.room))

    def answers(self, batch: Sequence[Inputs]) -> list[Json]:
        rows = [self.encoded(inputs) for inputs in batch]
        found: list[Json] = [None] * len(batch)
        for group in length_groups([len(row["input_ids"]) for row in rows]):
            logits = self.model(**self.padded([rows[i] for i in group])).logits
            best = logits.round(decimals=4).argmax(1).tolist()  # padding may change the last digits
            for i, number in zip(group, best, strict=True):
                found[i] = self.labels[number]
        return found


def ordered_fields(inputs: Inputs) -> list[str]:
    """The texts' names in a fixed order: a premise before its hypothesis, others by name."""
    return sorted(inputs, key=lambda name: (name not in _FIRST, name))


def label_names(id2label: dict[Any, str]) -> list[str]:
    """A config's labels in the order of the outputs; where they are only numbered, the numbers."""
    names = [str(id2label[key]) for key in sorted(id2label, key=int)]
    numbered = [re.fullmatch(r"LABEL_(\d+)", name) for name in names]
    return [match[1] for match in numbered if match] if all(numbered) else names
