"""The small transformer over pairs of texts: its network, and how pairs become batches to train on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor, nn

from unswayed.base import Seeds
from unswayed.lab.training.loop import Loop, padded
from unswayed.lab.training.models import TrainingSettings
from unswayed.systems.device import beside

LONGEST = 64  # tokens of a text that are read
PADDING, UNKNOWN = 0, 1
_HEADS = 4

Numbers = list[int]
Numbered = tuple[Numbers, Numbers]


class PairBatch(NamedTuple):
    """The tokens of both texts by number."""

    first: Tensor
    second: Tensor


class PairTransformer(nn.Module):
    """One transformer reads each text; each token is then compared with the tokens of the other text that it is like.

    What is learnt is the same whichever text comes first.
    """

    def __init__(self, tokens: int, classes: int, settings: TrainingSettings) -> None:
        super().__init__()
        size, self.settings = settings.hidden, settings
        self.tokens = nn.Embedding(tokens, size, padding_idx=PADDING)
        self.places = nn.Embedding(LONGEST, size)
        nn.init.normal_(self.tokens.weight)  # so that a token is at first most like itself
        nn.init.normal_(self.places.weight, std=0.02)
        layer = nn.TransformerEncoderLayer(
            size, _HEADS, 2 * size, settings.dropout, activation="gelu", batch_first=True, norm_first=True
        )
        self.encoder = nn.TransformerEncoder(layer, settings.layers, enable_nested_tensor=False)
        self.dropout = nn.Dropout(settings.dropout)
        self.compare = nn.Sequential(nn.Linear(4 * size, size), nn.GELU())
        self.judge = nn.Sequential(nn.Linear(2 * size, size), nn.GELU(), self.dropout, nn.Linear(size, classes))

    def parts(self) -> list[list[nn.Parameter]]:
        return [list(self.parameters())]

    def collate(self, pairs: Sequence[Numbered]) -> PairBatch:
        return PairBatch(*(padded([pair[side][:LONGEST] for pair in pairs]) for side in (0, 1)))

    def _read(self, numbers: Tensor) -> Tensor:
        if self.training and self.settings.word_dropout:  # unknown tokens are met in training too
            hidden = torch.rand(numbers.shape).to(numbers.device) < self.settings.word_dropout
            numbers = torch.where(hidden & (numbers != PADDING), UNKNOWN, numbers)
        seen = self.dropout(self.tokens(numbers) + self.places.weight[: numbers.shape[1]])
        states: Tensor = self.encoder(seen, src_key_padding_mask=numbers == PADDING)
        return states

    def forward(self, batch: PairBatch) -> Tensor:
        a, b = self._read(batch.first), self._read(batch.second)
        alike = a @ b.transpose(1, 2) / a.shape[2] ** 0.5
        found = self._compared(a, b, alike, batch) + self._compared(b, a, alike.transpose(1, 2), batch[::-1])
        scores: Tensor = self.judge(found)
        return scores

    def _compared(self, own: Tensor, other: Tensor, alike: Tensor, numbers: Sequence[Tensor]) -> Tensor:
        """Mean and largest over the tokens of one text, each beside what it is like in the other."""
        mine, theirs = (n == PADDING for n in numbers)
        beside_it = alike.masked_fill(theirs[:, None], -torch.inf).softmax(2) @ other
        pairs = torch.cat([own, beside_it, (own - beside_it).abs(), own * beside_it], 2)
        seen = self.compare(self.dropout(pairs)).masked_fill(mine[:, :, None], 0.0)
        mean = seen.sum(1) / (~mine).sum(1, keepdim=True)
        return torch.cat([mean, seen.amax(1)], 1)

    def loss(self, batch: PairBatch, gold: Tensor, part: int) -> Tensor:
        return nn.functional.cross_entropy(self(batch), gold)

    @torch.inference_mode()
    def answers(self, pairs: Sequence[Numbered], together: int = 256) -> list[int]:
        """The number of the likeliest label of each pair; texts of like length are asked together."""
        self.eval()
        order = sorted(range(len(pairs)), key=lambda i: len(pairs[i][0]) + len(pairs[i][1]))
        found = [0] * len(pairs)
        for at in range(0, len(order), together):
            group = order[at : at + together]
            labels = self(beside(self, self.collate([pairs[i] for i in group]))).argmax(1).tolist()
            for i, label in zip(group, labels, strict=True):
                found[i] = label
        return found


class TransformerLoop(Loop):
    """Pairs in, the mean over labels of the accuracy on dev as the score: AFQMC's labels are not equally frequent."""

    def __init__(
        self, network: PairTransformer, learnt: Sequence[tuple[Numbered, int]], dev: Sequence[tuple[Numbered, int]],
        seeds: Seeds,
    ) -> None:  # fmt: skip
        self._learnt, self._dev = learnt, dev
        super().__init__(network, [len(a) + len(b) for (a, b), _ in learnt], seeds)

    def collated(self, chosen: list[int]) -> tuple[PairBatch, Tensor]:
        pairs = [self._learnt[i] for i in chosen]
        return self.network.collate([pair for pair, _ in pairs]), torch.tensor([label for _, label in pairs])

    def score(self, network: PairTransformer) -> float:
        found = network.answers([pair for pair, _ in self._dev])
        right: dict[int, list[bool]] = {}
        for label, (_, gold) in zip(found, self._dev, strict=True):
            right.setdefault(gold, []).append(label == gold)
        return sum(sum(of) / len(of) for of in right.values()) / len(right)
