"""PRISM: how likely a multilingual translation model finds one text as a paraphrase of the other."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from unfazed.core import Json
from unfazed.systems import Metric, ModelFolder, Segment
from unfazed.systems.device import beside


class Prism(Metric):
    """The mean log-probability of a token, of the candidate given the reference and the other way, averaged.

    `model` is the folder of a sequence-to-sequence model. With `against=source` the candidate is scored as a
    translation of its source, without a reference.
    """

    deterministic = True

    def __init__(self, model: str = "", against: str = "reference", batch: int = 32) -> None:
        if against not in ("reference", "source"):
            raise ValueError(f"against must be reference or source, not {against}")
        if not model or not Path(model, "config.json").exists():
            raise ValueError("model must name the folder of a Hugging Face sequence-to-sequence model")
        self.uses = (against,)
        self._folder = ModelFolder(model, "sequence-to-sequence model")
        self._against, self._batch = against, batch
        self._loaded: tuple[Any, Any] | None = None

    def decides(self) -> Json:
        return [self._against, self._folder.content, *self._folder.place.decides()]

    def scores(self, segments: Sequence[Segment]) -> Sequence[float]:
        candidates = [segment.candidate for segment in segments]
        others = [getattr(segment, self._against) or "" for segment in segments]
        forward = self._likelihood(others, candidates)
        if self._against == "source":
            return forward
        backward = self._likelihood(candidates, others)
        return [(a + b) / 2 for a, b in zip(forward, backward, strict=True)]

    def _likelihood(self, given: Sequence[str], said: Sequence[str]) -> list[float]:
        """The mean log-probability of a token of each text, given another."""
        import torch

        model, tokenizer = self._model()
        found: list[float] = []
        for at in range(0, len(given), self._batch):
            rows = slice(at, at + self._batch)
            batch = tokenizer(list(given[rows]), padding=True, truncation=True, return_tensors="pt")
            batch = beside(model, dict(batch))
            target = tokenizer(text_target=list(said[rows]), padding=True, truncation=True, return_tensors="pt")
            target = beside(model, dict(target))
            ids, mask = target["input_ids"], target["attention_mask"]
            with torch.no_grad():
                inputs = {"input_ids": batch["input_ids"], "attention_mask": batch["attention_mask"]}
                logits = model(**inputs, labels=ids.masked_fill(mask == 0, -100)).logits
            chosen = logits.float().log_softmax(-1).gather(-1, ids.unsqueeze(-1)).squeeze(-1) * mask
            found += (chosen.sum(-1) / mask.sum(-1).clamp(min=1)).tolist()
        return found

    def _model(self) -> tuple[Any, Any]:
        if self._loaded is None:
            self._loaded = self._folder.model("AutoModelForSeq2SeqLM"), self._folder.tokenizer()
        return self._loaded
