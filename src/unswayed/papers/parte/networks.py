"""The networks of the entailment models, and how pairs of sentences become batches to train on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from unswayed.base import Json, Seeds, canonical
from unswayed.lab.training.loop import Loop, padded
from unswayed.lab.training.models import TrainingSettings
from unswayed.papers.parte.models import LabelledPair
from unswayed.papers.parte.vectors import Vectors, words_of
from unswayed.systems.device import beside, home

LONGEST = 50  # words of a sentence that are read
_UNKNOWN = 1  # 0 is padding


class SentencePairs(NamedTuple):
    """Premises and hypotheses by number of word, and their lengths."""

    premises: Tensor
    hypotheses: Tensor
    lengths: tuple[Tensor, Tensor]


class PairNetwork(nn.Module):
    """Extend with how a sentence becomes one vector. The word vectors are kept as they were given."""

    def __init__(self, vectors: Vectors, classes: int, settings: TrainingSettings) -> None:
        super().__init__()
        self.vectors, self.settings = vectors, settings
        table = np.vstack([np.zeros_like(vectors.rows[:1]), vectors.rows.mean(axis=0, keepdims=True), vectors.rows])
        self.register_buffer("table", torch.from_numpy(table), persistent=False)
        self.size: int = vectors.rows.shape[1]
        self.encoder = self.make_encoder()
        wide, inside = 4 * self.width, self.width
        layers: list[nn.Module] = []
        for size in (wide, inside, inside):
            layers += [nn.Linear(size, inside), nn.ReLU(), nn.Dropout(settings.dropout)]
        self.judge = nn.Sequential(*layers, nn.Linear(inside, classes))

    @property
    def width(self) -> int:
        """Of a sentence's vector."""
        raise NotImplementedError

    def make_encoder(self) -> nn.Module:
        raise NotImplementedError

    def encoded(self, words: Tensor, lengths: Tensor) -> Tensor:
        """Sentences as vectors, (sentences, width)."""
        raise NotImplementedError

    def parts(self) -> list[list[nn.Parameter]]:
        return [list(self.parameters())]

    def numbers(self, text: str) -> list[int]:
        """The numbers of a sentence's words; an empty one has one unknown word."""
        found = [self.vectors.find(word) + 2 for word in words_of(text, LONGEST)]
        return [number if number > _UNKNOWN else _UNKNOWN for number in found] or [_UNKNOWN]

    def collate(self, pairs: Sequence[tuple[list[int], list[int]]]) -> SentencePairs:
        sides = [[pair[side] for pair in pairs] for side in (0, 1)]
        lengths = tuple(torch.tensor([len(row) for row in side]) for side in sides)
        return SentencePairs(padded(sides[0]), padded(sides[1]), (lengths[0], lengths[1]))

    def forward(self, batch: SentencePairs) -> Tensor:
        table: Tensor = self.get_buffer("table")
        p = self.encoded(table[batch.premises], batch.lengths[0])
        h = self.encoded(table[batch.hypotheses], batch.lengths[1])
        out: Tensor = self.judge(torch.cat([p, h, (p - h).abs(), p * h], 1))
        return out

    def loss(self, batch: SentencePairs, gold: Tensor, part: int) -> Tensor:
        return nn.functional.cross_entropy(self(batch), gold)

    @torch.inference_mode()
    def answers(self, pairs: Sequence[tuple[list[int], list[int]]], together: int = 256) -> list[int]:
        """The number of the likeliest label of each pair."""
        self.eval()
        found: list[int] = []
        for at in range(0, len(pairs), together):
            found += self(beside(self, self.collate(pairs[at : at + together]))).argmax(1).tolist()
        return found

    @torch.inference_mode()
    def chances(self, pairs: Sequence[tuple[list[int], list[int]]]) -> list[float]:
        """The probability of the likeliest label of each pair."""
        self.eval()
        if not pairs:
            return []
        found: list[float] = self(beside(self, self.collate(pairs))).softmax(1).amax(1).tolist()
        return found


class BowPairNetwork(PairNetwork):
    """A sentence is the mean of its words' vectors."""

    @property
    def width(self) -> int:
        return self.size

    def make_encoder(self) -> nn.Module:
        return nn.Identity()

    def encoded(self, words: Tensor, lengths: Tensor) -> Tensor:
        return words.sum(1) / lengths[:, None]  # padding is zero


class BilstmPairNetwork(PairNetwork):
    """A sentence is the largest of what a bidirectional LSTM says at each of its words."""

    @property
    def width(self) -> int:
        return 2 * self.settings.hidden

    def make_encoder(self) -> nn.Module:
        return nn.LSTM(self.size, self.settings.hidden, self.settings.layers, batch_first=True, bidirectional=True)

    def encoded(self, words: Tensor, lengths: Tensor) -> Tensor:
        packed = pack_padded_sequence(words, home(lengths), batch_first=True, enforce_sorted=False)
        seen, _ = pad_packed_sequence(self.encoder(packed)[0], batch_first=True)
        padding = torch.arange(seen.shape[1], device=seen.device)[None] >= lengths[:, None]
        out: Tensor = seen.masked_fill(padding[:, :, None], -torch.inf).amax(1)
        return out


class PairLoop(Loop):
    """Pairs in, accuracy on dev as the score."""

    def __init__(
        self, network: PairNetwork, labels: Sequence[Json], learnt: Sequence[LabelledPair],
        dev: Sequence[LabelledPair], seeds: Seeds,
    ) -> None:  # fmt: skip
        self._labels = {canonical(label): n for n, label in enumerate(labels)}
        self._pairs = [(network.numbers(pair.premise), network.numbers(pair.hypothesis)) for pair in learnt]
        self._golds = [self._labels[canonical(pair.label)] for pair in learnt]
        self._dev = [(network.numbers(pair.premise), network.numbers(pair.hypothesis)) for pair in dev]
        self._dev_golds = [self._labels.get(canonical(pair.label), -1) for pair in dev]
        super().__init__(network, [len(premise) for premise, _ in self._pairs], seeds)

    def collated(self, chosen: list[int]) -> tuple[SentencePairs, Tensor]:
        return self.network.collate([self._pairs[i] for i in chosen]), torch.tensor([self._golds[i] for i in chosen])

    def score(self, network: PairNetwork) -> float:
        found = network.answers(self._dev)
        return sum(a == b for a, b in zip(found, self._dev_golds, strict=True)) / len(found)
