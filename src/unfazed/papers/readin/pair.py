"""A small classifier of pairs of texts: do the two say the same? It trains in a minute on tens of thousands."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Self

import numpy as np

from unfazed.core import Example, Inputs, Json, Progress, content_id
from unfazed.papers.readin.logistic import train_logistic
from unfazed.papers.readin.pair_features import pair_features
from unfazed.systems import Failed
from unfazed.systems.baselines import (
    Arrays,
    Floats,
    Quiet,
    Rows,
    SavedCard,
    SavedSystem,
    Vocabulary,
    best_labels,
    numbered,
    two_fields,
)

NAME = "baselines/pair"
_STEPS = 80  # at most; it takes about 60 for AFQMC
_STRENGTH = 4.0  # of the examples against the penalty: the best on AFQMC's dev set among 1, 2, 4, 8
_SEEN = 2  # a feature of one pair alone is learnt by heart and says nothing about others


class PairCard(SavedCard, frozen=True, kw_only=True):
    """The labels in the order of the weights, and the two inputs that are compared."""

    labels: list[Json]
    fields: tuple[str, str]


class Pair(SavedSystem):
    """Logistic regression over the letters that two texts share, and over what stands in one for what in the other.

    The texts may change places: what is learnt is whether they mean the same, not whether one follows from the other.
    """

    name = NAME
    card_type = PairCard
    card: PairCard
    batch_size = 256

    def __init__(self, card: PairCard, vocabulary: Vocabulary, weights: Floats) -> None:
        self.card = card
        self._vocabulary = vocabulary
        self._weights = weights

    @classmethod
    def train(cls, examples: Iterable[Example], task: str = "classify", seed: int = 0, progress: bool = False) -> Self:
        """A model of these examples. Nothing is random; the seed is only kept."""
        examples = cls.checked(examples, task, "classify")
        fields = two_fields(examples, NAME)
        labels, numbers = numbered([e.gold for e in examples])
        with Progress("training", len(examples) + _STEPS) if progress else Quiet() as counted:
            featured = []
            for example in examples:
                featured.append(pair_features(*(example.inputs[field] for field in fields)))
                counted.add()
            seen = Counter(h for hashes in featured for h in set(hashes))
            vocabulary = Vocabulary(h for h, count in seen.items() if count >= min(_SEEN, len(examples)))
            rows, shape = [_rows(vocabulary, hashes) for hashes in featured], (len(vocabulary), len(labels))
            weights = train_logistic(rows, np.array(numbers), shape, _STRENGTH, _STEPS, counted.add)
        card = PairCard(
            system=NAME,
            version=cls.version,
            task=task,
            labels=labels,
            fields=fields,
            seed=seed,
            examples=len(examples),
            data=content_id([[e.inputs, e.gold] for e in examples], 16),
        )
        return cls(card, vocabulary, weights)

    def predict(self, batch: Sequence[Inputs]) -> Sequence[Json | Failed]:
        first, second = self.card.fields
        there = [i for i, inputs in enumerate(batch) if first in inputs and second in inputs]
        rows = [_rows(self._vocabulary, pair_features(batch[i][first], batch[i][second])) for i in there]
        found = dict(zip(there, best_labels(self._weights, rows), strict=True))
        lacking = f"the input has no {first!r} and {second!r}"
        return [self.card.labels[found[i]] if i in found else Failed(lacking, final=True) for i in range(len(batch))]

    def decides(self) -> Json:
        return [self.card.task, self.card.labels, self.card.fields]

    def arrays(self) -> Arrays:
        return {"features": self._vocabulary.hashes(), "weights": self._weights}

    @classmethod
    def rebuilt(cls, card: PairCard, arrays: Arrays) -> Self:
        return cls(card, Vocabulary(arrays["features"].tolist()), arrays["weights"])

    @classmethod
    def sample(cls) -> Self:
        same = [("play some jazz", "play jazz"), ("is it raining", "does it rain"), ("stop it", "stop that")]
        other = [("play some jazz", "stop it"), ("is it raining", "play jazz"), ("stop that", "does it rain")]
        pairs = [(pair, "same") for pair in same] + [(pair, "other") for pair in other]
        inputs = [({"text": a, "other": b}, label) for (a, b), label in pairs]
        return cls.train(Example(i, str(i), texts, label) for i, (texts, label) in enumerate(inputs))

    @classmethod
    def sample_inputs(cls, text: str) -> Inputs:
        return {"text": text, "other": "play some jazz"}


def _rows(vocabulary: Vocabulary, hashes: list[int]) -> Rows:
    """The rows of the features that training knows; row 0, which weighs nothing, where it knows none."""
    known = vocabulary.rows
    return np.array([known[h] for h in hashes if h in known] or [0], dtype=np.int32)
