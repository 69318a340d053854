"""The network of `slu/bilstm`: one encoder for both tasks; the sentence's vector speaks for the slots too."""

from __future__ import annotations

import torch.nn.functional as F
from torch import Tensor, nn

from unfazed.papers.nature.slu.crf import Chain
from unfazed.papers.nature.slu.layers import BothWays, Pooling
from unfazed.systems.network import Batch, Front, Gold, Network
from unfazed.systems.training import Labels, TrainingSettings


class Bilstm(Network):
    """BiLSTM, a weighted sum of its states for the intent, and a chain of tags over them for the slots."""

    def __init__(self, front: Front, labels: Labels, settings: TrainingSettings) -> None:
        super().__init__(front, labels, settings)
        self.encoder = BothWays(front.size, settings.hidden, settings.layers, settings.dropout)
        self.dropout = nn.Dropout(settings.dropout)
        self.pooling = Pooling(self.encoder.size)
        self.intent = nn.Linear(self.encoder.size, len(labels.intents))
        self.slots = nn.Linear(self.encoder.size, len(labels.tags))
        self.context = nn.Linear(self.encoder.size, len(labels.tags), bias=False)
        self.chain = Chain(labels.tags)

    def _scores(self, batch: Batch) -> tuple[Tensor, Tensor]:
        states = self._states(batch)
        sentence = self.pooling(states, batch)
        return self.intent(sentence), self.slots(states) + self.context(sentence)[:, None]

    def _states(self, batch: Batch) -> Tensor:
        states: Tensor = self.dropout(self.encoder(self.front(batch), batch))
        return states

    def loss(self, batch: Batch, gold: Gold, part: int) -> Tensor:
        intents, slots = self._scores(batch)
        return F.cross_entropy(intents, gold.intents) + self.chain.loss(slots, gold.tags, batch)

    def answer(self, batch: Batch) -> tuple[Tensor, Tensor]:
        intents, slots = self._scores(batch)
        return intents.argmax(1), self.chain.best(slots, batch)

    def attention(self, batch: Batch) -> Tensor:
        return self.pooling.weights(self._states(batch), batch)[:, None]
