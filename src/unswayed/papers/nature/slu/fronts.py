"""Networks that read sentences: batches, fronts that turn words into vectors, and a pretrained encoder as a front."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from unswayed.base import UsageError
from unswayed.lab.training.loop import padded
from unswayed.lab.training.models import TrainingSettings
from unswayed.papers.nature.slu.models import LabelSet
from unswayed.systems import load_pretrained
from unswayed.systems.device import beside

Sentence = Sequence[str]


@dataclass(frozen=True)
class Batch:
    """`fields` are whatever the front reads; `lengths` are in tokens."""

    lengths: Tensor
    fields: dict[str, Tensor]

    @cached_property
    def mask(self) -> Tensor:
        """True where there is a token."""
        return torch.arange(int(self.lengths.max()), device=self.lengths.device)[None] < self.lengths[:, None]


@dataclass(frozen=True)
class Gold:
    """The intent of each sentence, and the tag of each token; padding is 0."""

    intents: Tensor
    tags: Tensor


class Front(nn.Module):
    """From words to vectors, the first part of every network. Extend with what the words become."""

    size: int  # of a token's vector
    room: int = 128  # what fits into one window; each token has a width
    together: int = 16_384  # tokens that are asked at once, with their padding

    def widths(self, tokens: Sentence) -> list[int]:
        return [1] * len(tokens)

    def collate(self, sentences: Sequence[Sentence]) -> Batch:
        raise NotImplementedError

    def forward(self, batch: Batch) -> Tensor:
        """Vectors, (sentences, tokens, size)."""
        raise NotImplementedError

    def config(self) -> dict[str, object]:
        """What, besides the settings and weights, the front is made from."""
        raise NotImplementedError


class Network(nn.Module):
    """A front and what stands on it. Extend with the loss, the answers and, where there is one, the attention."""

    def __init__(self, front: Front, labels: LabelSet, settings: TrainingSettings) -> None:
        super().__init__()
        self.front = front
        self.labels = labels
        self.settings = settings

    def parts(self) -> list[list[nn.Parameter]]:
        """Parameters that are trained by a loss of their own; nearly always one part with all of them."""
        return [list(self.parameters())]

    def loss(self, batch: Batch, gold: Gold, part: int) -> Tensor:
        raise NotImplementedError

    def answer(self, batch: Batch) -> tuple[Tensor, Tensor]:
        """The numbers of the intents, (sentences), and of the tags, (sentences, tokens)."""
        raise NotImplementedError

    def attention(self, batch: Batch) -> Tensor | None:
        """How much each token, or the intent alone, looks at each token: (sentences, tokens or 1, tokens)."""
        return None


def windows(front: Front, tokens: Sentence) -> list[tuple[int, int]]:
    """Where to cut a sentence so that each piece fits into the front's room; nearly always a single piece."""
    cuts, used = [0], 0
    for at, width in enumerate(front.widths(tokens)):
        if used and used + width > front.room:
            cuts.append(at)
            used = 0
        used += width
    return list(zip(cuts, [*cuts[1:], len(tokens)], strict=True))


def answers(network: Network, sentences: Sequence[Sentence]) -> list[tuple[str, list[str]]]:
    """Intent and tags of each sentence. Pieces of like length are asked together.

    The intent of a text of several windows is that of its first.
    """
    pieces = [(i, a, b) for i, tokens in enumerate(sentences) for a, b in windows(network.front, tokens)]
    order = sorted(range(len(pieces)), key=lambda p: pieces[p][2] - pieces[p][1])
    intents: list[int] = [0] * len(pieces)
    tags: list[list[int]] = [[] for _ in pieces]
    network.eval()
    with torch.inference_mode():
        for group in _groups(order, [b - a for _, a, b in pieces], network.front.together):
            texts = [sentences[i][a:b] for i, a, b in (pieces[p] for p in group)]
            batch = beside(network, network.front.collate(texts))
            found = [t.tolist() for t in network.answer(batch)]
            for p, intent, row in zip(group, *found, strict=True):
                intents[p], tags[p] = intent, row[: pieces[p][2] - pieces[p][1]]
    first: dict[int, int] = {}
    joined: list[list[str]] = [[] for _ in sentences]
    for p, (i, _, _) in enumerate(pieces):
        first.setdefault(i, p)
        joined[i] += [network.labels.tags[t] for t in tags[p]]
    return [(network.labels.intents[intents[first[i]]], joined[i]) for i in range(len(sentences))]


def _groups(order: Sequence[int], lengths: Sequence[int], most: int) -> list[list[int]]:
    """Pieces in order of length, as many together as stay within `most` tokens with their padding."""
    groups: list[list[int]] = []
    for p in order:
        if groups and (len(groups[-1]) + 1) * lengths[p] <= most:
            groups[-1].append(p)
        else:
            groups.append([p])
    return groups


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
        self._tokenizer.no_padding()  # some are saved with it, and would make of each word a full sentence of pieces
        self._tokenizer.no_truncation()
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
        what = "Hugging Face encoder"
        tokenizer, model = load_pretrained("AutoModel", folder, what, learns=True, attn_implementation="eager")
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
