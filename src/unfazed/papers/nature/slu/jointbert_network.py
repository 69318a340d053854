"""The network of `slu/jointbert`: a Hugging Face encoder with a line for the intent and one for the tags."""

from __future__ import annotations

import torch.nn.functional as F
from torch import Tensor, nn

from unfazed.papers.nature.slu.layers import token_loss
from unfazed.systems.network import Batch, Encoder, Front, Gold, Network
from unfazed.systems.training import Labels, TrainingSettings


class Jointbert(Network):
    """The intent is read from the first position, a token's tag from its first piece (Chen et al. 2019)."""

    front: Encoder

    def __init__(self, front: Front, labels: Labels, settings: TrainingSettings) -> None:
        super().__init__(front, labels, settings)
        self.dropout = nn.Dropout(settings.dropout)
        self.intent = nn.Linear(front.size, len(labels.intents))
        self.slots = nn.Linear(front.size, len(labels.tags))

    def _scores(self, batch: Batch) -> tuple[Tensor, Tensor]:
        sentence, tokens = self.front.sentence_and_tokens(batch)
        return self.intent(self.dropout(sentence)), self.slots(self.dropout(tokens))

    def loss(self, batch: Batch, gold: Gold, part: int) -> Tensor:
        intents, slots = self._scores(batch)
        return F.cross_entropy(intents, gold.intents) + token_loss(slots, gold.tags, batch)

    def answer(self, batch: Batch) -> tuple[Tensor, Tensor]:
        intents, slots = self._scores(batch)
        return intents.argmax(1), slots.argmax(2)

    def attention(self, batch: Batch) -> Tensor:
        return self.front.attention(batch)
