"""Training on sentences with intents and slots: how they become batches, and how many come out right."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import torch

from unfazed.core import Seeds
from unfazed.systems.loop import Loop
from unfazed.systems.network import Batch, Gold, Network, answers, padded, windows


class Said(NamedTuple):
    """A sentence to learn from, or to be tested on."""

    tokens: list[str]
    intent: str
    tags: list[str]


class Training(Loop):
    """Sentences in, end to end on dev as the score."""

    def __init__(self, network: Network, said: Sequence[Said], dev: Sequence[Said], seeds: Seeds) -> None:
        self._pieces = _pieces(network, said)
        self.dev = dev
        super().__init__(network, [len(piece.tokens) for piece in self._pieces], seeds)

    def collated(self, chosen: list[int]) -> tuple[Batch, Gold]:
        pieces = [self._pieces[i] for i in chosen]
        gold = Gold(torch.tensor([p.intent for p in pieces]), padded([p.tags for p in pieces]))
        return self.network.front.collate([p.tokens for p in pieces]), gold

    def score(self, network: Network) -> float:
        return end_to_end(network, self.dev)


class _Piece(NamedTuple):
    tokens: list[str]
    intent: int
    tags: list[int]


def _pieces(network: Network, said: Sequence[Said]) -> list[_Piece]:
    """Sentences as numbers, cut where the front has no room for all of one."""
    intents = {intent: n for n, intent in enumerate(network.labels.intents)}
    tags = {tag: n for n, tag in enumerate(network.labels.tags)}
    return [
        _Piece(s.tokens[a:b], intents[s.intent], [tags[tag] for tag in s.tags[a:b]])
        for s in said
        for a, b in windows(network.front, s.tokens)
    ]


def end_to_end(network: Network, said: Sequence[Said]) -> float:
    """The share of sentences whose intent and every tag are right."""
    found = answers(network, [s.tokens for s in said])
    return sum(intent == s.intent and tags == s.tags for s, (intent, tags) in zip(said, found, strict=True)) / len(said)
