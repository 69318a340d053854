"""Multinomial logistic regression with an L2 penalty, solved whole by L-BFGS: for features that are many and rare."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from unfazed.systems.baselines import Floats, Rows

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
    features: Sequence[Rows],
    labels: npt.NDArray[np.int64],
    shape: tuple[int, int],
    strength: float,
    steps: int,
    done: Callable[[], None],
) -> Floats:
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
