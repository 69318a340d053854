"""Intervals over trainings: simulated, with a truth that is known."""

from __future__ import annotations

import numpy as np
import pytest

from unswayed.stats import Estimate, over_trainings

TRUTH = float(np.clip(0.8 + np.random.default_rng(1).normal(0, 0.2, 200_000), 0, 1).mean())


def shares(rng: np.random.Generator, spread: float, examples: int, trainings: int) -> tuple[list[Estimate], float]:
    """Accuracies of trainings that differ by `spread`, on the same examples, some harder than others; and the truth."""
    easy = rng.normal(0, 0.2, examples)
    found = []
    for n in range(trainings):
        chance = np.clip(0.8 + easy + rng.normal(0, spread), 0, 1)
        right = rng.random(examples) < chance
        value, half = float(right.mean()), 1.96 * float(right.std(ddof=1)) / examples**0.5
        found.append(Estimate(value, value - half, value + half, examples, 0, f"t{n}"))
    return found, TRUTH


@pytest.mark.parametrize("spread", [0.0, 0.01, 0.04])
@pytest.mark.parametrize("trainings", [2, 3, 5])
def test_coverage(spread: float, trainings: int) -> None:
    """At least nominal, whether trainings hardly differ or differ more than samples of examples do."""
    rng = np.random.default_rng(7)
    covered = 0
    for _ in range(400):
        found, truth = shares(rng, spread, 300, trainings)
        whole = over_trainings(found)
        assert whole.low is not None
        assert whole.high is not None
        covered += whole.low <= truth <= whole.high
    assert covered / 400 >= 0.93  # 0.95 less two standard errors


def test_one_training_alone_misses_the_truth_too_often() -> None:
    """What the interval of a single training is: too narrow where trainings differ."""
    rng = np.random.default_rng(7)
    alone = 0
    for _ in range(400):
        (found,), truth = shares(rng, 0.04, 300, 1)
        assert found.low is not None
        assert found.high is not None
        alone += found.low <= truth <= found.high
    assert alone / 400 < 0.8


def test_one_stays_as_it_is_and_holes_are_told() -> None:
    one = Estimate(0.5, 0.4, 0.6, 10, 0, "s")
    assert over_trainings([one]) is one
    assert over_trainings([one, Estimate(None, None, None, 0, 10, "t")]).value is None
    both = over_trainings([one, Estimate(0.7, 0.6, 0.8, 10, 1, "t")])
    assert both.value == pytest.approx(0.6)
    assert (both.n, both.missing, both.over) == (10, 1, "examples and trainings like these")
    wide = [Estimate(value, value - 0.02, value + 0.02, 10, 0, "s") for value in (0.9, 0.99, 0.6)]
    assert over_trainings(wide, within=(0, 1)).high == 1
    assert (over_trainings(wide).high or 0) > 1
    assert both.signature != over_trainings([one, one]).signature
