"""`hf/classify`: a label for a text, or for two."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from unswayed.base.values import Inputs, Json
from unswayed.systems.hf import HfSystem, label_names, length_groups, ordered_fields


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
