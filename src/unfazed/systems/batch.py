"""Sentences of different lengths side by side in tensors, and long texts cut to what a network reads at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from torch import Tensor, nn

from unfazed.systems._settings import Labels, Settings

Sentence = Sequence[str]


@dataclass(frozen=True)
class Batch:
    """`fields` are whatever the front reads; `lengths` are in tokens."""

    lengths: Tensor
    fields: dict[str, Tensor]

    @cached_property
    def mask(self) -> Tensor:
        """True where there is a token."""
        return torch.arange(int(self.lengths.max()))[None] < self.lengths[:, None]


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

    def __init__(self, front: Front, labels: Labels, settings: Settings) -> None:
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


def padded(rows: Sequence[Sequence[int]]) -> Tensor:
    """Rows of whole numbers, with zeros after the shorter ones."""
    out = np.zeros((len(rows), max(map(len, rows))), dtype=np.int64)
    for i, row in enumerate(rows):
        out[i, : len(row)] = row
    return torch.from_numpy(out)


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
            batch = network.front.collate([sentences[i][a:b] for i, a, b in (pieces[p] for p in group)])
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
