"""A small judge of entailment that trains in seconds and knows only what can be counted in the two texts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import log
from typing import Self

import numpy as np

from unfazed.core import Example, Inputs, Json, Progress, content_id
from unfazed.papers.parte.entailment import Doubles, document_counts, fit, pair_numbers
from unfazed.systems import Failed
from unfazed.systems.baselines import Arrays, Quiet, SavedCard, SavedSystem, numbered, two_fields

NAME = "baselines/nli"
_PENALTY = 1.0
_GRAIN = 2.0**20  # weights are multiples of this, so that they survive another processor's arithmetic


class NliCard(SavedCard, frozen=True, kw_only=True):
    """The labels in the order of the weights, the two texts in the order of premise and hypothesis, and the stems."""

    labels: list[Json]
    fields: tuple[str, str]
    stems: list[str]


class Nli(SavedSystem):
    """Logistic regression over overlap, numbers, names and negation of a premise and a hypothesis.

    Unlike `baselines/pair` it knows which text is to follow from which, and it learns from hundreds of pairs.
    """

    name = NAME
    card_type = NliCard
    card: NliCard
    batch_size = 256

    def __init__(self, card: NliCard, telling: Doubles, scale: Doubles, weights: Doubles) -> None:
        """`telling` has a number for each stem and a last one for all others; `scale` is means, then deviations."""
        self.card = card
        self._telling, self._scale, self._weights = telling, scale, weights
        self._by_stem = dict(zip(card.stems, telling.tolist(), strict=False))

    @classmethod
    def train(cls, examples: Iterable[Example], task: str = "classify", seed: int = 0, progress: bool = False) -> Self:
        """A model of these examples, whatever their order; nothing is random, so the seed is only kept."""
        examples = cls.checked(examples, task, "classify")
        fields = _fields(examples)
        labels, numbers = numbered([e.gold for e in examples])
        counts = document_counts(e.inputs[field] for e in examples for field in fields)
        stems = sorted(s for s, count in counts.items() if count > 1)
        most = 2 * len(examples) + 1
        telling = np.array([log(most / (counts[s] + 1)) for s in stems] + [log(most / 2)])
        card = NliCard(
            system=NAME,
            version=cls.version,
            task=task,
            labels=labels,
            fields=fields,
            stems=stems,
            seed=seed,
            examples=len(examples),
            data=content_id([[e.inputs, e.gold] for e in examples], 16),
        )
        blank = cls(card, telling, np.zeros((2, 0)), np.zeros((0, len(labels))))
        with Progress("training", len(examples)) if progress else Quiet() as counted:
            rows = []
            for example in examples:
                rows.append(blank._numbers(example.inputs))
                counted.add()
        table = np.array(rows)
        scale = np.stack([table.mean(axis=0), table.std(axis=0) + 1e-9])
        weights = fit((table - scale[0]) / scale[1], np.array(numbers), len(labels), _PENALTY)
        return cls(card, telling, scale, np.round(weights * _GRAIN) / _GRAIN)

    def _numbers(self, inputs: Inputs) -> list[float]:
        premise, hypothesis = self.card.fields
        return pair_numbers(inputs[premise], inputs[hypothesis], self._by_stem, float(self._telling[-1]))

    def predict(self, batch: Sequence[Inputs]) -> Sequence[Json | Failed]:
        out: list[Json | Failed] = []
        for inputs in batch:
            absent = next((field for field in self.card.fields if field not in inputs), None)
            if absent is not None:
                out.append(Failed(f"the input has no {absent!r}", final=True))
                continue
            row = (np.array(self._numbers(inputs)) - self._scale[0]) / self._scale[1]
            scores = np.round((np.append(row, 1.0)[:, None] * self._weights).sum(axis=0), 9)
            out.append(self.card.labels[int(scores.argmax())])
        return out

    def decides(self) -> Json:
        return [self.card.task, self.card.labels, self.card.fields, self.card.stems]

    def arrays(self) -> Arrays:
        return {"telling": self._telling, "scale": self._scale, "weights": self._weights}

    @classmethod
    def rebuilt(cls, card: NliCard, arrays: Arrays) -> Self:
        return cls(card, arrays["telling"], arrays["scale"], arrays["weights"])

    @classmethod
    def sample(cls) -> Self:
        pairs = [
            ("play some loud jazz in the kitchen", "play some jazz", "entailed"),
            ("it will rain on monday and tuesday", "it will rain on monday", "entailed"),
            ("play some loud jazz in the kitchen", "do not play jazz", "not_entailed"),
            ("it will rain on monday and tuesday", "the sun shines", "not_entailed"),
        ]
        examples = [Example(i, str(i), {"text": p, "other": h}, gold) for i, (p, h, gold) in enumerate(pairs)]
        return cls.train(examples)

    @classmethod
    def sample_inputs(cls, text: str) -> Inputs:
        return {"text": text, "other": "play some jazz"}


def _fields(examples: Sequence[Example]) -> tuple[str, str]:
    """The names of the two texts: premise and hypothesis, or as they stand in the first example."""
    first, second = two_fields(examples, NAME)
    return ("premise", "hypothesis") if {first, second} == {"premise", "hypothesis"} else (first, second)
