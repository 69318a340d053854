"""How typists and their texts differ: gammas of slips, and habits of capitals and marks, from counts by person."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from unswayed.vary.slips import PER, STYLES

_KEPT = 240  # people that a profile keeps
_FEW = 5  # people below whom nothing is said of how they differ
_STEPS = 256  # of the list that haste is drawn from
_MOST = 0.97  # chance of a habit that shows nearly always
_STEADY = 50.0  # shape of a gamma that hardly varies
_WAYS = ("capital", "lost", "changed")

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Made = tuple[str, Mapping[str, int], Mapping[str, int]]  # who, opportunities of a text, and slips in it


class People(NamedTuple):
    """The shape of the gamma by which one person's texts differ, and people as `SlipProfile.people` has them."""

    shape: float
    people: list[list[float]]


def fitted_people(made: Sequence[Made], rates: Mapping[str, float]) -> People:
    """Fitted by moments: what two texts of one person share is the person's, the rest of the excess is the text's."""
    plain = [kind for kind in rates if kind.rsplit("_", 1)[0] not in STYLES]
    expected = np.array([sum(rates[kind] * here[PER[kind]] for kind in plain) for _, here, _ in made])
    counts = np.array([sum(events[kind] for kind in plain) for _, _, events in made], float)
    names = sorted({who for who, _, _ in made})
    if len(names) < _FEW:
        return People(_text_shape(counts, expected, np.ones(1)), [])
    index = {name: k for k, name in enumerate(names)}
    who = np.array([index[name] for name, _, _ in made])
    n, m = np.bincount(who, counts), np.bincount(who, expected)
    pairs = (m**2 - np.bincount(who, expected**2)).sum()
    excess = ((n**2 - np.bincount(who, counts**2)).sum() / pairs if pairs else 1.0) - 1
    shape = 1 / excess if excess > 1 / _STEADY else _STEADY
    rng = np.random.Generator(np.random.PCG64(7))
    factors = rng.gamma(shape + n, 1 / (shape + m))
    kept = np.sort(rng.permutation(len(names))[:_KEPT])
    columns = [_scaled(factors[kept], 1.0)]
    columns += [_scaled(chances[kept], mean) for chances, mean in (_habit(name, made, who, rng) for name in STYLES)]
    rows = [[float(f"{value:.3g}") for value in row] for row in np.stack(columns, axis=1)]
    return People(_text_shape(counts, expected, columns[0]), rows)


def _scaled(values: Floats, mean: float) -> Floats:
    """The values of those who are kept, with the mean of all."""
    found = float(values.mean())
    return values * (mean / found) if found else values


def _habit(style: str, made: Sequence[Made], who: Ints, rng: np.random.Generator) -> tuple[Floats, float]:
    """For each person a chance of the habit, drawn from the beta that all texts and theirs leave; and the mean."""
    seen = [(here[style], sum(events[f"{style}_{way}"] for way in _WAYS)) for _, here, events in made]
    done = np.array([min(times, most) for most, times in seen], float)
    could = np.array([most for most, _ in seen], float)
    n, m = np.bincount(who, done), np.bincount(who, could)
    mean = n.sum() / max(m.sum(), 1.0)
    if not mean:
        return np.zeros(len(n)), 0.0
    pairs = (m * (m - 1)).sum()
    both = (n * (n - 1)).sum() / pairs if pairs else mean**2
    alike = min(max((both - mean**2) / (mean - mean**2), 0.002), 0.95)  # correlation within a person
    strength = 1 / alike - 1
    return np.minimum(rng.beta(mean * strength + n, (1 - mean) * strength + m - n), _MOST), float(mean)


def _text_shape(counts: Floats, expected: Floats, people: Floats) -> float:
    """The shape of the gamma of haste at which as many texts have no slip as have none."""
    right = float((counts == 0).mean())
    sizes = np.quantile(expected, np.linspace(0.01, 0.99, 50))
    means = np.outer(sizes * expected.mean() / max(sizes.mean(), 1e-9), people).ravel()
    low, high = 0.05, _STEADY
    for _ in range(40):
        middle = (low * high) ** 0.5
        none = float(((1 + means / middle) ** -middle).mean())
        low, high = (middle, high) if none > right else (low, middle)
    return round(low, 3)


def gamma_steps(shape: float) -> list[float]:
    """Equally likely values of the gamma of this shape with mean 1."""
    if shape >= _STEADY * 0.98:
        return [1.0]
    grid = np.arange(-40, 4.2, 0.002)  # of logs
    sums = np.cumsum(np.exp(shape * grid - np.exp(grid)))
    places = np.searchsorted(sums, (np.arange(_STEPS) + 0.5) / _STEPS * sums[-1])
    values = np.exp(grid[places])
    return [float(f"{value:.4g}") for value in values / values.mean()]
