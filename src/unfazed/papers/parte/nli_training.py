"""Training on pairs of sentences: how they become batches, and how many come out right."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from unfazed.core import Json, Seeds, canonical
from unfazed.papers.parte.networks import PairNetwork, Pairs
from unfazed.papers.parte.nli_system import Pair
from unfazed.systems.loop import Loop


class Training(Loop):
    """Pairs in, accuracy on dev as the score."""

    def __init__(
        self, network: PairNetwork, labels: Sequence[Json], learnt: Sequence[Pair], dev: Sequence[Pair], seeds: Seeds
    ) -> None:
        self._labels = {canonical(label): n for n, label in enumerate(labels)}
        self._pairs = [(network.numbers(pair.premise), network.numbers(pair.hypothesis)) for pair in learnt]
        self._golds = [self._labels[canonical(pair.label)] for pair in learnt]
        self._dev = [(network.numbers(pair.premise), network.numbers(pair.hypothesis)) for pair in dev]
        self._dev_golds = [self._labels.get(canonical(pair.label), -1) for pair in dev]
        super().__init__(network, [len(premise) for premise, _ in self._pairs], seeds)

    def collated(self, chosen: list[int]) -> tuple[Pairs, Tensor]:
        return self.network.collate([self._pairs[i] for i in chosen]), torch.tensor([self._golds[i] for i in chosen])

    def score(self, network: PairNetwork) -> float:
        found = network.answers(self._dev)
        return sum(a == b for a, b in zip(found, self._dev_golds, strict=True)) / len(found)
