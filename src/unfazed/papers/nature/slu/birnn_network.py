"""The network of `slu/birnn`: two recurrent networks, one a task, that read each other's states (Wang et al. 2018)."""

from __future__ import annotations

from copy import deepcopy

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from unfazed.papers.nature.slu.layers import BothWays, LabelDecoder, token_loss
from unfazed.systems.network import Batch, Front, Gold, Network
from unfazed.systems.training import Labels, TrainingSettings

INTENT, SLOTS = 0, 1


class Birnn(Network):
    """Two encoders that share no weights. Each has its own loss and optimiser, and takes the other as it stands.

    So they are trained in turns: a step of the one, then a step of the other on what the first has become.
    """

    def __init__(self, front: Front, labels: Labels, settings: TrainingSettings) -> None:
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
        last = states[torch.arange(len(states)), batch.lengths - 1]
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
