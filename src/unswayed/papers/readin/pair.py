"""A small classifier of sentence pairs that trains on the spot: what a pair shares, and a logistic regression on it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Self

import numpy as np
import numpy.typing as npt

from unswayed.base import Example, Inputs, Json, Progress
from unswayed.systems import Failed
from unswayed.systems.baselines import (
    Arrays,
    Floats,
    Quiet,
    Rows,
    SavedCard,
    SavedSystem,
    Vocabulary,
    best_labels,
    hashed,
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


class PairClassifier(SavedSystem):
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
        examples = cls.checked_examples(examples, task, "classify")
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
        card = cls.new_card(task, seed, examples, labels=labels, fields=fields)
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


def _rows(vocabulary: Vocabulary, hashes: list[int]) -> Rows:
    """The rows of the features that training knows; row 0, which weighs nothing, where it knows none."""
    known = vocabulary.rows
    return np.array([known[h] for h in hashes if h in known] or [0], dtype=np.int32)


_LETTERS = 200  # as much of a text as is compared
_CROSSED = 64  # pieces of one side that are paired with pieces of the other
_TENTHS = 10


def pair_features(a: str, b: str) -> list[int]:
    """The same for (a, b) and (b, a), with spaces at the ends and capitals left out of account."""
    a, b = (" ".join(text.lower().split())[:_LETTERS] for text in (a, b))
    found = ["always", f"lengths {min(abs(len(a) - len(b)), 10)}"]
    for n in (1, 2, 3):
        here, there = _pieces(a, n), _pieces(b, n)
        shared = here & there
        found += [f"= {piece}" for piece in sorted(shared)]
        found += [f"- {piece}" for piece in sorted(here ^ there)]
        for name, most in (("of all", len(here | there)), ("of the shorter", min(len(here), len(there)))):
            found.append(f"{n} {name} {_TENTHS * len(shared) // max(most, 1)}")
    return [hashed(feature) for feature in [*found, *_instead(a, b)]]


def _instead(a: str, b: str) -> Iterable[str]:
    """Each piece that only one side has beside each that only the other has: 啥时候 for 什么时候."""
    here, there = _pieces(a, 1) | _pieces(a, 2), _pieces(b, 1) | _pieces(b, 2)
    left, right = sorted(here - there)[:_CROSSED], sorted(there - here)[:_CROSSED]
    return (f"{min(x, y)} / {max(x, y)}" for x in left for y in right)


def _pieces(text: str, n: int) -> set[str]:
    """Letters n at a time; pairs and longer also with the marks of beginning and end."""
    text = text if n == 1 else f"<{text}>"
    return {text[i : i + n] for i in range(len(text) - n + 1)}


_MEMORY = 8  # steps that L-BFGS remembers
_ENOUGH = 1e-3  # of the first gradient's length
_HALVINGS = 20
_GRAIN = 4096.0  # weights are multiples of 1/4096: sums are exact, so they are the same in a batch of any make-up

Doubles = npt.NDArray[np.float64]


class _Problem:
    """The loss and its gradient. Examples are scaled to length 1, so that long ones weigh no more than others."""

    def __init__(
        self, features: Sequence[Rows], labels: npt.NDArray[np.int64], shape: tuple[int, int], strength: float
    ) -> None:
        lengths = np.array([len(rows) for rows in features])
        self.rows = np.concatenate(features)
        self.owners = np.repeat(np.arange(len(features)), lengths)
        self.values = np.repeat(1.0 / np.sqrt(np.maximum(lengths, 1)), lengths)
        self.labels, self.shape, self.strength = labels, shape, strength

    def __call__(self, weights: Doubles) -> tuple[float, Doubles]:
        columns = range(self.shape[1])
        count = len(self.labels)
        scores = np.stack(
            [np.bincount(self.owners, weights[self.rows, k] * self.values, minlength=count) for k in columns], axis=1
        )
        scores -= scores.max(axis=1, keepdims=True)
        logs = scores - np.log(np.exp(scores).sum(axis=1, keepdims=True))
        loss = -self.strength * logs[np.arange(count), self.labels].sum() + 0.5 * float((weights * weights).sum())
        error = np.exp(logs)
        error[np.arange(count), self.labels] -= 1.0
        slope = [np.bincount(self.rows, error[self.owners, k] * self.values, minlength=self.shape[0]) for k in columns]
        return float(loss), self.strength * np.stack(slope, axis=1) + weights


def train_logistic(
    features: Sequence[Rows], labels: npt.NDArray[np.int64], shape: tuple[int, int], strength: float, steps: int,
    done: Callable[[], None],
) -> Floats:  # fmt: skip
    """Weights (features × labels). `strength` is how much an example's loss weighs against the penalty."""
    problem = _Problem(features, labels, shape, strength)
    weights = np.zeros(shape)
    loss, slope = problem(weights)
    first = np.linalg.norm(slope)
    moved: list[tuple[Doubles, Doubles]] = []
    for _ in range(steps):
        if np.linalg.norm(slope) <= _ENOUGH * first:
            break
        way = _direction(slope, moved)
        pace, against = (1.0 if moved else 1.0 / max(float(first), 1e-12)), float((slope * way).sum())
        for _ in range(_HALVINGS):
            new_loss, new_slope = problem(weights + pace * way)
            if new_loss <= loss + 1e-4 * pace * against:
                break
            pace /= 2
        else:
            break  # no further in the arithmetic that there is
        moved = [*moved, (pace * way, new_slope - slope)][-_MEMORY:]
        weights, loss, slope = weights + pace * way, new_loss, new_slope
        done()
    weights[0] = 0.0  # features that were never seen say nothing
    return (np.round(weights * _GRAIN) / _GRAIN).astype(np.float32)


def _direction(slope: Doubles, moved: Sequence[tuple[Doubles, Doubles]]) -> Doubles:
    """Where to go from here, by the slopes along the last steps (Nocedal's two loops)."""
    way, shares = -slope, []
    for step, change in reversed(moved):
        share = float((step * way).sum()) / float((step * change).sum())
        way = way - share * change
        shares.append(share)
    if moved:
        step, change = moved[-1]
        way = way * (float((step * change).sum()) / float((change * change).sum()))
    for (step, change), share in zip(moved, reversed(shares), strict=True):
        way = way + step * (share - float((change * way).sum()) / float((step * change).sum()))
    return way
