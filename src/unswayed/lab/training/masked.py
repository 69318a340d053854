"""A small masked language model of your texts. Synonym operators take it as `model`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from unswayed.base.errors import UsageError, option
from unswayed.base.ids import content_id
from unswayed.base.progress import Progress
from unswayed.base.seeds import Seeds
from unswayed.lab.training.loop import Checkpoint, Loop, padded
from unswayed.lab.training.models import TrainingSettings, changed_settings, split_held_out
from unswayed.storage.files import free
from unswayed.systems import ModelFolder
from unswayed.systems.device import beside, home, require_torch, torch_seed, torch_threads

DEFAULTS = TrainingSettings(
    epochs=8, patience=2, batch_size=32, lr=1e-3, weight_decay=0.01, average=0.0, dropout=0.1, hidden=128, layers=2
)
_SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
_MASKED, _LONGEST, _IGNORED = 0.15, 64, -100


def train_masked(texts: Iterable[str], to: Path, model: str | None = None, **options: Any) -> list[float]:
    """Trains a model of transformers' BERT kind, from `model`'s folder or from nothing, and saves it in `to`.

    Gives the share of hidden words of a held-out tenth of the texts that it fills in right, for each epoch.
    """
    settings = changed_settings(DEFAULTS, options)
    require_torch("a masked language model", "transformers")
    every = [text for text in dict.fromkeys(texts) if text.strip()]
    learnt, dev = split_held_out(every, None, lambda text: text)
    if len(every) < 2:
        raise UsageError("There are no texts to learn from.")
    if not free(to) and not (to / "training.safetensors").is_file():
        raise UsageError(f"{to} exists. Choose another folder with {option('o', 'to')}.")
    to.mkdir(parents=True, exist_ok=True)
    seeds = Seeds(settings.seed, "masked", 1)
    with torch_threads(settings.threads), torch_seed(seeds.stream("weights", 0).bits() >> 1):
        if model is None:
            tokenizer, made = _from_nothing(learnt, settings, to)
        else:
            folder = ModelFolder(model, "encoder")
            tokenizer, made = folder.tokenizer(), folder.model("AutoModelForMaskedLM", fresh_head=True, learns=True)
        loop = _MaskedLoop(_MaskedNetwork(made, settings), tokenizer, learnt, dev, seeds)
        checkpoint = Checkpoint(to / "training.safetensors", content_id([settings, learnt, model or ""], 16))
        with Progress("training masked words", settings.epochs * len(learnt)) as counted:
            history = loop.run(checkpoint, counted)
    made.save_pretrained(to)
    tokenizer.save_pretrained(to)
    checkpoint.remove()
    return history.scores


def _from_nothing(texts: Sequence[str], settings: TrainingSettings, to: Path) -> tuple[Any, Any]:
    """A vocabulary of whole words, and a BERT of this size."""
    from transformers import BertConfig, BertForMaskedLM, BertTokenizer

    counts = Counter(word for text in texts for word in text.lower().split() if word.isalpha())
    words = sorted(word for word, count in counts.items() if count >= settings.min_count)
    (to / "vocab.txt").write_text("\n".join([*_SPECIAL, *words]) + "\n", encoding="utf-8")
    tokenizer = BertTokenizer(str(to / "vocab.txt"), model_max_length=_LONGEST)
    config = BertConfig(
        vocab_size=len(tokenizer), hidden_size=settings.hidden, num_hidden_layers=settings.layers,
        num_attention_heads=4, intermediate_size=2 * settings.hidden, max_position_embeddings=_LONGEST + 2,
        hidden_dropout_prob=settings.dropout, attention_probs_dropout_prob=settings.dropout,
    )  # fmt: skip
    return tokenizer, BertForMaskedLM(config)


class _MaskedNetwork(nn.Module):
    """The model as the loop takes it."""

    def __init__(self, model: Any, settings: TrainingSettings) -> None:
        super().__init__()
        self.model, self.settings = model, settings

    def parts(self) -> list[list[nn.Parameter]]:
        return [list(self.model.parameters())]

    def loss(self, batch: dict[str, Tensor], gold: Tensor, part: int) -> Tensor:
        loss: Tensor = self.model(**batch, labels=gold).loss
        return loss


class _MaskedLoop(Loop):
    """Each time a text comes, other words of it are hidden, one at least; in dev texts always the same."""

    def __init__(
        self, network: _MaskedNetwork, tokenizer: Any, learnt: Sequence[str], dev: Sequence[str], seeds: Seeds
    ) -> None:
        self._tokenizer = tokenizer
        self._rows, self._dev = ([self._ids(text) for text in texts] for texts in (learnt, dev))
        self._special = np.array(tokenizer.all_special_ids)
        super().__init__(network, [len(row) for row in self._rows], seeds)

    def _ids(self, text: str) -> list[int]:
        found: list[int] = self._tokenizer(text, truncation=True, max_length=_LONGEST)["input_ids"]
        return found

    def _hidden(self, rows: Sequence[list[int]], rng: np.random.Generator) -> tuple[dict[str, Tensor], Tensor]:
        ids = padded(rows)
        free = np.isin(ids.numpy(), self._special, invert=True)
        drawn = np.where(free, rng.random(ids.shape), 2.0)
        chosen = free & ((drawn < _MASKED) | (drawn == drawn.min(1, keepdims=True)))
        hidden = torch.from_numpy(chosen)
        gold = ids.masked_fill(~hidden, _IGNORED)
        mask = torch.tensor([[1] * len(row) + [0] * (ids.shape[1] - len(row)) for row in rows])
        return {"input_ids": ids.masked_fill(hidden, self._tokenizer.mask_token_id), "attention_mask": mask}, gold

    def collated(self, chosen: list[int]) -> tuple[Any, Any]:
        return self._hidden([self._rows[i] for i in chosen], np.random.default_rng(int(torch.randint(1 << 31, (1,)))))

    @torch.inference_mode()
    def score(self, network: Any) -> float:
        network.eval()
        right = count = 0
        for at in range(0, len(self._dev), 64):
            batch, gold = self._hidden(self._dev[at : at + 64], np.random.default_rng(at))
            guessed = home(network.model(**beside(network, batch)).logits.argmax(-1))
            right += int(((guessed == gold) & (gold != _IGNORED)).sum())
            count += int((gold != _IGNORED).sum())
        return right / max(1, count)
