"""A pretrained Hugging Face encoder as the front of a network, opened from a folder and never from a hub."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from unfazed.core.errors import UsageError
from unfazed.systems.batch import Batch, Front, Sentence, padded

_POSITIONS = 512
_RESERVED = 2  # RoBERTa and its kin begin to count positions at 2
_LETTERS = 64  # of a word that are cut into pieces
_PIECES = 16  # of a word that are read; a word of noise may not fill the window
_CACHED = 50_000


class Encoder(Front):
    """A token's vector is that of its first piece. Tokens that the tokenizer makes nothing of are unknown ones."""

    together = 4096

    def __init__(self, model: Any, tokenizer: str, unknown: int) -> None:
        super().__init__()
        from tokenizers import Tokenizer

        self.model = model
        self._tokenizer = Tokenizer.from_str(tokenizer)
        self._stored = tokenizer
        self._unknown = unknown
        self._before, self._after = _frame(self._tokenizer)
        if hasattr(self._tokenizer.pre_tokenizer, "add_prefix_space"):
            self._tokenizer.pre_tokenizer.add_prefix_space = True  # each word stands alone, but not at the beginning
        self._known: dict[str, list[int]] = {}
        config = model.config
        positions = min(getattr(config, "max_position_embeddings", None) or _POSITIONS, _POSITIONS) - _RESERVED
        self.room = positions - len(self._before) - len(self._after)
        self.size = int(config.hidden_size)

    @classmethod
    def opened(cls, folder: str | Path) -> Encoder:
        """The encoder and tokenizer that `save_pretrained` wrote to a folder."""
        from transformers import AutoModel, AutoTokenizer

        if not (Path(folder) / "config.json").is_file():
            raise UsageError(f"{folder} holds no Hugging Face encoder: it has no config.json.")
        try:
            with no_bars():
                tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True)
                model = AutoModel.from_pretrained(
                    folder, local_files_only=True, dtype=torch.float32, attn_implementation="eager"
                )
        except (OSError, ValueError, ImportError, KeyError) as error:
            raise UsageError(f"{folder}: the encoder can't be opened ({error}).") from error
        if model.config.is_encoder_decoder:
            raise UsageError(f"{folder} holds a {model.config.model_type}, which has a decoder too. Give an encoder.")
        unknown = tokenizer.unk_token_id if tokenizer.unk_token_id is not None else 0
        return cls(model, tokenizer.backend_tokenizer.to_str(), unknown)

    @classmethod
    def rebuilt(cls, config: dict[str, Any]) -> Encoder:
        """One of the same make, with weights that are still to be loaded."""
        from transformers import AutoConfig, AutoModel

        model = AutoModel.from_config(
            AutoConfig.for_model(**config["encoder"]), dtype=torch.float32, attn_implementation="eager"
        )
        return cls(model, config["tokenizer"], config["unknown"])

    def config(self) -> dict[str, object]:
        encoder = json.loads(self.model.config.to_json_string(use_diff=False))
        encoder.pop("_name_or_path", None)  # where it lay does not change what it is
        return {"encoder": encoder, "tokenizer": self._stored, "unknown": self._unknown}

    def widths(self, tokens: Sentence) -> list[int]:
        return [len(self._pieces(token)) for token in tokens]

    def collate(self, sentences: Sequence[Sentence]) -> Batch:
        """Pieces between the marks of beginning and end; `words` is the token that each piece is of, from 1."""
        pieces, words, firsts = [], [], []
        for tokens in sentences:
            row, owners, first = list(self._before), [0] * len(self._before), []
            for n, token in enumerate(tokens, 1):
                own = self._pieces(token)
                first.append(len(row))
                row += own
                owners += [n] * len(own)
            pieces.append([*row, *self._after])
            words.append(owners)
            firsts.append(first)
        length = torch.tensor([len(row) for row in pieces])
        there = (torch.arange(int(length.max()))[None] < length[:, None]).long()
        fields = {"pieces": padded(pieces), "there": there, "words": padded(words), "firsts": padded(firsts)}
        return Batch(torch.tensor([len(tokens) for tokens in sentences]), fields)

    def _pieces(self, token: str) -> list[int]:
        found = self._known.get(token)
        if found is None:
            text = token[:_LETTERS].encode("utf-8", "replace").decode()  # half a surrogate pair is no text
            ids = self._tokenizer.encode(text, add_special_tokens=False).ids
            found = ids[: min(_PIECES, self.room)] or [self._unknown]
            if len(self._known) >= _CACHED:
                self._known.clear()
            self._known[token] = found
        return found

    def forward(self, batch: Batch) -> Tensor:
        return self.sentence_and_tokens(batch)[1]

    def sentence_and_tokens(self, batch: Batch) -> tuple[Tensor, Tensor]:
        """The vector at the first position, and those of the tokens."""
        states = self._run(batch).last_hidden_state
        firsts = batch.fields["firsts"][:, :, None].expand(-1, -1, states.shape[2])
        return states[:, 0], states.gather(1, firsts)

    def attention(self, batch: Batch) -> Tensor:
        """Of the last layer, the mean over its heads: from a token's first piece to all pieces of another.

        What goes to the marks of beginning and end is left out, and the rest made to sum to 1.
        """
        pieces = self._run(batch, output_attentions=True).attentions[-1].mean(1)
        count = batch.mask.shape[1]
        words = torch.nn.functional.pad(batch.fields["words"], (0, pieces.shape[2] - batch.fields["words"].shape[1]))
        owner = torch.nn.functional.one_hot(words, count + 1)[:, :, 1:].to(pieces.dtype)
        rows = batch.fields["firsts"][:, :, None].expand(-1, -1, pieces.shape[2])
        between = pieces.gather(1, rows) @ owner
        shares: Tensor = between / between.sum(2, keepdim=True).clamp_min(1e-12)
        return shares

    def _run(self, batch: Batch, **options: bool) -> Any:
        return self.model(input_ids=batch.fields["pieces"], attention_mask=batch.fields["there"], **options)


def _frame(tokenizer: Any) -> tuple[list[int], list[int]]:
    """The ids that the tokenizer puts before and after a text."""
    whole, bare = tokenizer.encode("a").ids, tokenizer.encode("a", add_special_tokens=False).ids
    at = next((i for i in range(len(whole)) if bare and whole[i : i + len(bare)] == bare), 0)
    return whole[:at], whole[at + len(bare) :]


@contextmanager
def no_bars() -> Iterator[None]:
    """Loading goes too fast to be watched."""
    from transformers.utils import logging

    shown = logging.is_progress_bar_enabled()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        if shown:
            logging.enable_progress_bar()
