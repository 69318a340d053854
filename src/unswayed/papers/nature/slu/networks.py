"""The networks of the slot fillers: what each makes of a batch of sentences."""

from __future__ import annotations

from copy import deepcopy

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from unswayed.lab.training.models import TrainingSettings
from unswayed.papers.nature.slu.fronts import Batch, Encoder, Front, Gold, Network
from unswayed.papers.nature.slu.layers import BothWays, Chain, LabelDecoder, Pooling, SelfAttention, token_loss
from unswayed.papers.nature.slu.models import LabelSet


class BilstmNetwork(Network):
    """BiLSTM, a weighted sum of its states for the intent, and a chain of tags over them for the slots."""

    def __init__(self, front: Front, labels: LabelSet, settings: TrainingSettings) -> None:
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


INTENT, SLOTS = 0, 1


class BirnnNetwork(Network):
    """Two encoders that share no weights. Each has its own loss and optimiser, and takes the other as it stands.

    So they are trained in turns: a step of the one, then a step of the other on what the first has become.
    """

    def __init__(self, front: Front, labels: LabelSet, settings: TrainingSettings) -> None:
        super().__init__(front, labels, settings)
        self.slot_front = deepcopy(front)
        self.encoders = nn.ModuleList(
            BothWays(front.size, settings.hidden, settings.layers, settings.dropout) for _ in (INTENT, SLOTS)
        )
        self.dropout = nn.Dropout(settings.dropout)
        both = 4 * settings.hidden
        self.intent_decoder = nn.LSTM(both, settings.hidden, batch_first=True)
        self.intent = nn.Linear(settings.hidden, len(labels.intents))
        self.slots = LabelDecoder(both, settings.hidden, len(labels.tags), settings.dropout)

    def parts(self) -> list[list[nn.Parameter]]:
        intent = [self.front, self.encoders[INTENT], self.intent_decoder, self.intent]
        slots = [self.slot_front, self.encoders[SLOTS], self.slots]
        return [[p for module in modules for p in module.parameters()] for modules in (intent, slots)]

    def _states(self, batch: Batch, task: int) -> Tensor:
        front = self.front if task == INTENT else self.slot_front
        states: Tensor = self.dropout(self.encoders[task](front(batch), batch))
        return states

    def _intents(self, batch: Batch, own: Tensor, other: Tensor) -> Tensor:
        """Read from the decoder's state at the last token."""
        states, _ = self.intent_decoder(torch.cat([own, other], 2))
        last = states[torch.arange(len(states), device=states.device), batch.lengths - 1]
        scores: Tensor = self.intent(self.dropout(last))
        return scores

    def loss(self, batch: Batch, gold: Gold, part: int) -> Tensor:
        own = self._states(batch, part)
        with torch.no_grad():
            other = self._states(batch, 1 - part)
        if part == INTENT:
            return F.cross_entropy(self._intents(batch, own, other), gold.intents)
        forced = gold.tags if torch.rand(()) < self.settings.forcing else None
        return token_loss(self.slots(torch.cat([own, other], 2), forced), gold.tags, batch)

    def answer(self, batch: Batch) -> tuple[Tensor, Tensor]:
        intent, slots = (self._states(batch, task) for task in (INTENT, SLOTS))
        tags = self.slots(torch.cat([slots, intent], 2)).argmax(2)
        return self._intents(batch, intent, slots).argmax(1), tags


class StackpropNetwork(Network):
    """Words go through a BiLSTM beside self-attention; a Hugging Face encoder stands in place of both.

    The intent of a sentence is the one that most of its tokens have.
    """

    def __init__(self, front: Front, labels: LabelSet, settings: TrainingSettings) -> None:
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


class JointbertNetwork(Network):
    """The intent is read from the first position, a token's tag from its first piece (Chen et al. 2019)."""

    front: Encoder

    def __init__(self, front: Front, labels: LabelSet, settings: TrainingSettings) -> None:
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
