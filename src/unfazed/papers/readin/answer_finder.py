"""A small extractive reader that trains in a minute: it knows letters, what a question shares, and what it asks for."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Self

import numpy as np

from unfazed.core import Example, Inputs, Json, Progress, Seeds, content_id
from unfazed.papers.readin.answer_features import SIZE, Doubles, Ints, Reading
from unfazed.systems import Failed
from unfazed.systems.baselines import Arrays, Floats, Quiet, Rows, SavedCard, SavedSystem

NAME = "baselines/reader"
_EPOCHS = 2
_RATE = 0.1
_TOP = 24  # beginnings, and ends, whose spans are looked at
_START, _END, _SPAN = range(3)  # columns of the weights


class Reader(SavedSystem):
    """A linear model of where an answer begins, where it ends, and of the span between, learnt together."""

    name = NAME
    card: SavedCard
    batch_size = 32

    def __init__(self, card: SavedCard, weights: Floats) -> None:
        self.card = card
        self._weights = weights

    @classmethod
    def train(
        cls,
        examples: Iterable[Example],
        task: str = "qa",
        seed: int = 0,
        epochs: int = _EPOCHS,
        progress: bool = False,
    ) -> Self:
        """A model of these examples; those whose answers do not stand in the context are passed over."""
        examples = cls.checked(examples, task, "qa")
        learning = _Learning()
        rng = Seeds(seed, NAME, cls.version).stream("", 0).numpy()
        with Progress("training", (epochs + 1) * len(examples)) if progress else Quiet() as counted:
            rows = []
            for example in examples:
                rows.append(_Row(example))
                counted.add()
            for _ in range(epochs):
                for i in rng.permutation(len(rows)).tolist():
                    learning.step(rows[i])
                    counted.add()
        card = SavedCard(
            system=NAME,
            version=cls.version,
            task=task,
            seed=seed,
            examples=len(examples),
            data=content_id([[e.inputs, e.gold] for e in examples], 16),
        )
        return cls(card, learning.averaged())

    def predict(self, batch: Sequence[Inputs]) -> Sequence[Json | Failed]:
        return [self._answer(inputs) for inputs in batch]

    def _answer(self, inputs: Inputs) -> Json | Failed:
        absent = next((field for field in ("question", "context") if field not in inputs), None)
        if absent is not None:
            return Failed(f"the input has no {absent!r}", final=True)
        reading = Reading(inputs["question"], inputs["context"])
        starts, ends, scores, _ = _scored(self._weights, reading, reading.place_features())
        if not len(scores):
            return reading.context.strip()
        best = int(scores.argmax())
        return reading.context[reading.places[starts[best]] : reading.places[ends[best]]].strip()

    def decides(self) -> Json:
        return [self.card.task]

    def arrays(self) -> Arrays:
        return {"weights": self._weights}

    @classmethod
    def rebuilt(cls, card: SavedCard, arrays: Arrays) -> Self:
        if arrays["weights"].shape != (SIZE, 3):
            raise ValueError("they have the wrong shape")
        return cls(card, arrays["weights"])

    @classmethod
    def sample(cls) -> Self:
        context = "The band plays loud jazz. It rains on monday, and the sun shines on sunday."
        asked = {"When does it rain?": "monday", "What does the band play?": "loud jazz"}
        golds = [{"answers": [{"text": text, "start": context.index(text)}]} for text in asked.values()]
        inputs = [{"question": question, "context": context} for question in asked]
        return cls.train(Example(i, str(i), inputs[i], golds[i]) for i in range(len(inputs)))

    @classmethod
    def sample_inputs(cls, text: str) -> Inputs:
        return {"question": "When does it rain?", "context": text}


class _Row:
    """An example to learn from: its reading and the gold spans, as the numbers of their places."""

    def __init__(self, example: Example) -> None:
        self.reading = Reading(example.inputs["question"], example.inputs["context"])
        self.features = self.reading.place_features().astype(np.int32)
        number = {place: n for n, place in enumerate(self.reading.places.tolist())}
        spans = {
            (a["start"], a["start"] + len(a["text"])) for a in example.gold["answers"] if a.get("start") is not None
        }
        self.gold = sorted((number[a], number[b]) for a, b in spans if a in number and b in number and a < b)


class _Learning:
    """AdaGrad over the spans of the likeliest places and the right ones; the weights are averaged over the steps."""

    def __init__(self) -> None:
        self.weights = np.zeros((SIZE, 3))
        self._squares = np.full((SIZE, 3), 1e-2)
        self._behind = np.zeros((SIZE, 3))  # changes times the steps that came before them
        self._steps = 0

    def step(self, row: _Row) -> None:
        self._steps += 1
        if not row.gold:
            return
        starts, ends, scores, spans = _scored(self.weights, row.reading, row.features, row.gold)
        right = np.isin(starts * row.reading.length + ends, [a * row.reading.length + b for a, b in row.gold])
        likely = np.exp(scores - scores.max())
        # Up for the right spans, as likely as they are among themselves, and down for all as likely as they are.
        error = likely / likely.sum() - np.where(right, likely, 0) / max(likely[right].sum(), 1e-300)
        for column, places in ((_START, starts), (_END, ends)):
            blame = np.bincount(places, error, minlength=len(row.features)).astype(np.float64)
            blamed = np.flatnonzero(blame)
            self._change(column, row.features[blamed], blame[blamed])
        self._change(_SPAN, spans, error)

    def _change(self, column: int, features: Ints | Rows, error: Doubles) -> None:
        touched, number = np.unique(features, return_inverse=True)
        slope = np.bincount(number.ravel(), np.repeat(error, features.shape[1]))
        self._squares[touched, column] += slope * slope
        change = _RATE * slope / np.sqrt(self._squares[touched, column])
        self.weights[touched, column] -= change
        self._behind[touched, column] -= change * (self._steps - 1)

    def averaged(self) -> Floats:
        return (self.weights - self._behind / max(self._steps, 1)).astype(np.float32)


def _scored(
    weights: Floats | Doubles, reading: Reading, features: Ints | Rows, gold: Sequence[tuple[int, int]] = ()
) -> tuple[Ints, Ints, Doubles, Ints]:
    """Spans between the likeliest places, the gold ones among them, as places' numbers; their scores and features."""
    begins, finishes = (weights[features, column].sum(axis=1, dtype=np.float64) for column in (_START, _END))
    top = [np.argsort(-scores, kind="stable")[:_TOP] for scores in (begins, finishes)]
    chosen = [np.union1d(top[side], [span[side] for span in gold]).astype(np.int64) for side in (0, 1)]
    starts, ends = reading.spans(*chosen)
    spans = reading.span_features(reading.places[starts], reading.places[ends])
    return starts, ends, begins[starts] + finishes[ends] + weights[spans, _SPAN].sum(axis=1, dtype=np.float64), spans
