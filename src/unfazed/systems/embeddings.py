"""Sentence embeddings by a Hugging Face encoder in a folder, and their cosines."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from unfazed.systems.hf import load_pretrained

_TOGETHER = 64
_LONGEST = 256


class Embeddings:
    """A Hugging Face encoder; a sentence's embedding is the mean of its tokens' vectors."""

    def __init__(self, folder: str | Path) -> None:
        self._tokenizer, self._model = load_pretrained("AutoModel", folder, "sentence encoder")

    def similarity(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        """The cosine of each pair, from -1 to 1."""
        texts = list(dict.fromkeys(text for pair in pairs for text in pair))
        found: dict[str, Any] = {}
        for at in range(0, len(texts), _TOGETHER):
            some = texts[at : at + _TOGETHER]
            found |= dict(zip(some, self._embedded(some), strict=True))
        return [float(found[a] @ found[b]) for a, b in pairs]

    def _embedded(self, texts: list[str]) -> Any:
        import torch

        encoded = self._tokenizer(texts, return_tensors="pt", padding=True, truncation=True, max_length=_LONGEST)
        with torch.inference_mode():
            seen = self._model(**encoded).last_hidden_state
        mask = encoded["attention_mask"].unsqueeze(-1).float()
        mean = (seen * mask).sum(1) / mask.sum(1).clamp(min=1e-9)
        return torch.nn.functional.normalize(mean, dim=1)
