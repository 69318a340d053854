"""The network of `slu/stackprop`: an intent for each token, which the slots are then read with (Qin et al. 2019)."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from unfazed.papers.nature.slu.layers import BothWays, LabelDecoder, SelfAttention, token_loss
from unfazed.systems.network import Batch, Encoder, Front, Gold, Network
from unfazed.systems.training import Labels, TrainingSettings


class Stackprop(Network):
    """Words go through a BiLSTM beside self-attention; a Hugging Face encoder stands in place of both.

    The intent of a sentence is the one that most of its tokens have.
    """

    def __init__(self, front: Front, labels: Labels, settings: TrainingSettings) -> None:
        super().__init__(front, labels, settings)
        self.dropout = nn.Dropout(settings.dropout)
        size = front.size
        if not isinstance(front, Encoder):
            self.recurrent = BothWays(front.size, settings.hidden, settings.layers, settings.dropout)
            self.mixing = SelfAttention(front.size, 4 * settings.hidden, settings.hidden)
            size = self.recurrent.size + self.mixing.size
        self.intent = LabelDecoder(size, settings.hidden, len(labels.intents), settings.dropout)
        self.slots = LabelDecoder(size + len(labels.intents), settings.hidden, len(labels.tags), settings.dropout)

    def _vectors(self, batch: Batch) -> Tensor:
        vectors: Tensor = self.front(batch)
        if not isinstance(self.front, Encoder):
            vectors = torch.cat([self.recurrent(vectors, batch), self.mixing(vectors, batch)], 2)
        out: Tensor = self.dropout(vectors)
        return out

    def _scores(self, batch: Batch, gold: Gold | None) -> tuple[Tensor, Tensor]:
        vectors = self._vectors(batch)
        intents = self.intent(vectors, gold and gold.intents[:, None].expand(-1, vectors.shape[1]))
        stacked = torch.cat([vectors, intents.softmax(2)], 2)
        return intents, self.slots(stacked, gold and gold.tags)

    def loss(self, batch: Batch, gold: Gold, part: int) -> Tensor:
        forced = gold if torch.rand(()) < self.settings.forcing else None
        intents, slots = self._scores(batch, forced)
        everywhere = gold.intents[:, None].expand(-1, intents.shape[1])
        return token_loss(intents, everywhere, batch) + token_loss(slots, gold.tags, batch)

    def answer(self, batch: Batch) -> tuple[Tensor, Tensor]:
        intents, slots = self._scores(batch, None)
        votes = torch.nn.functional.one_hot(intents.argmax(2), intents.shape[2]) * batch.mask[:, :, None]
        return votes.sum(1).argmax(1), slots.argmax(2)

    def attention(self, batch: Batch) -> Tensor:
        if isinstance(self.front, Encoder):
            return self.front.attention(batch)
        return self.mixing.weights(self.front(batch), batch)
