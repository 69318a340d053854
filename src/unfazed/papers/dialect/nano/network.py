"""A T5-family model that gives a number: the logit of one token at the first place that it decodes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from unfazed.core import UsageError
from unfazed.systems.training import TrainingSettings

SCORED = "<extra_id_0>"  # the token whose logit is the score, where the vocabulary has it; else its last one

_TAIL = 16  # tokens at the end that are always kept


class Network(nn.Module):
    """The model, its tokenizer, and the settings of its training."""

    def __init__(self, model: Any, tokenizer: Any, settings: TrainingSettings, length: int) -> None:
        super().__init__()
        self.model = model
        self.tokenizer = tokenizer
        self.settings = settings
        self.length = length
        self.token = _token(tokenizer, model)
        self.start = int(model.config.decoder_start_token_id or 0)

    def parts(self) -> list[list[nn.Parameter]]:
        return [list(self.parameters())]

    def collate(self, texts: Sequence[str]) -> dict[str, Tensor]:
        """What is too long is cut in the middle: the tag, without which there is nothing to tell, stands at the end."""
        rows = self.tokenizer(list(texts), padding=False, truncation=False)["input_ids"]
        rows = [ids if len(ids) <= self.length else ids[: self.length - _TAIL] + ids[-_TAIL:] for ids in rows]
        ids = torch.full((len(rows), max(map(len, rows))), int(self.tokenizer.pad_token_id or 0))
        mask = torch.zeros_like(ids)
        for place, row in enumerate(rows):
            ids[place, : len(row)] = torch.tensor(row)
            mask[place, : len(row)] = 1
        return {"input_ids": ids, "attention_mask": mask}

    def forward(self, batch: dict[str, Tensor]) -> Tensor:
        first = torch.full((len(batch["input_ids"]), 1), self.start)
        logits: Tensor = self.model(**batch, decoder_input_ids=first).logits
        return logits[:, 0, self.token]

    def loss(self, batch: dict[str, Tensor], gold: Tensor, part: int) -> Tensor:
        """The root of the mean square; the small number keeps its slope finite at zero."""
        missed: Tensor = self(batch) - gold
        return (missed.square().mean() + 1e-8).sqrt()

    @torch.no_grad()
    def scores(self, texts: Sequence[str], batch_size: int = 64) -> list[float]:
        """Inputs of like length are scored together; the order of the result is that of the texts."""
        self.eval()
        order = sorted(range(len(texts)), key=lambda i: len(texts[i]))
        found = [0.0] * len(texts)
        for at in range(0, len(order), batch_size):
            chosen = order[at : at + batch_size]
            for i, score in zip(chosen, self(self.collate([texts[i] for i in chosen])).tolist(), strict=True):
                found[i] = score
        return found


def load(path: str | Path, settings: TrainingSettings, length: int) -> Network:
    """A model and tokenizer saved in a folder, weights as safetensors."""
    from transformers import AutoModelForSeq2SeqLM, AutoTokenizer

    if not Path(path, "config.json").exists():
        raise UsageError(f"{path} holds no Hugging Face model: config.json is not there.")
    try:
        model = AutoModelForSeq2SeqLM.from_pretrained(path, local_files_only=True, use_safetensors=True)
        tokenizer = AutoTokenizer.from_pretrained(path, local_files_only=True)
    except (OSError, ValueError, KeyError) as error:
        raise UsageError(f"{path} is no sequence-to-sequence model that can be loaded: {error}") from error
    return Network(model, tokenizer, settings, length)


def _token(tokenizer: Any, model: Any) -> int:
    known = tokenizer.convert_tokens_to_ids(SCORED)
    unknown = tokenizer.unk_token_id
    return int(known) if known is not None and known != unknown else int(model.config.vocab_size) - 1
