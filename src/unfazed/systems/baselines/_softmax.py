"""Multinomial logistic regression over sparse features, trained with AdaGrad in mini-batches."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np
import numpy.typing as npt

from unfazed.systems.baselines._features import Floats, Rows

_BATCH = 64
_RATE = 0.5
_DECAY = 1e-5
_CELLS = 1 << 21  # weights gathered at once
_GRAIN = 4096.0  # weights are multiples of 1/4096: sums are exact, so they are the same in a batch of any make-up

Scores = npt.NDArray[np.float64]


def train_softmax(
    features: Sequence[Rows],
    labels: npt.NDArray[np.int64],
    shape: tuple[int, int],
    epochs: int,
    rng: np.random.Generator,
    done: Callable[[int], None],
) -> Floats:
    """Weights (features × labels). `features` are the rows that are set in each example, with repeats."""
    weights = np.zeros(shape, dtype=np.float32)
    squares = np.full(shape, 1e-6, dtype=np.float32)
    for _ in range(epochs):
        order = rng.permutation(len(features))
        for start in range(0, len(order), _BATCH):
            chosen = order[start : start + _BATCH]
            _step(weights, squares, [features[i] for i in chosen], labels[chosen])
            done(len(chosen))
    weights[0] = 0.0  # features that were never seen say nothing
    return (np.round(weights * _GRAIN) / _GRAIN).astype(np.float32)


def _step(weights: Floats, squares: Floats, features: list[Rows], labels: npt.NDArray[np.int64]) -> None:
    rows = np.concatenate(features)
    lengths = np.array([len(f) for f in features])
    scale = 1.0 / np.sqrt(lengths)
    scores = np.add.reduceat(weights[rows], _starts(lengths), axis=0, dtype=np.float64) * scale[:, None]
    error = np.exp(scores - scores.max(axis=1, keepdims=True))
    error /= error.sum(axis=1, keepdims=True)
    error[np.arange(len(labels)), labels] -= 1.0
    # The gradient of a row is the sum over its occurrences: sort them together, then add up each stretch.
    occurrence = np.repeat((error * scale[:, None]).astype(np.float32), lengths, axis=0)
    order = np.argsort(rows, kind="stable")
    touched, first = np.unique(rows[order], return_index=True)
    gradient = np.add.reduceat(occurrence[order], first, axis=0) + _DECAY * weights[touched]
    squares[touched] += gradient * gradient
    weights[touched] -= _RATE * gradient / np.sqrt(squares[touched])


def best_labels(weights: Floats, features: Sequence[Rows]) -> list[int]:
    """The label with the highest score for each example."""
    best: list[int] = []
    for block in _blocks(features, _CELLS // weights.shape[1]):
        starts = _starts(np.array([len(f) for f in block]))
        scores = np.add.reduceat(weights[np.concatenate(block)], starts, axis=0, dtype=np.float64)
        best += scores.argmax(axis=1).tolist()
    return best


def _blocks(features: Sequence[Rows], most: int) -> Iterator[list[Rows]]:
    """Examples together as long as they have no more than `most` features."""
    block: list[Rows] = []
    size = 0
    for rows in features:
        if block and size + len(rows) > most:
            yield block
            block, size = [], 0
        block.append(rows)
        size += len(rows)
    if block:
        yield block


def _starts(lengths: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    return np.concatenate(([0], np.cumsum(lengths)[:-1]))
