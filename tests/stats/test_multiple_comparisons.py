"""Which sets are named, where the truth is known."""

import numpy as np
import pytest

from unswayed.stats.multiple_comparisons import apart_groups


def _above(values: np.ndarray, code: np.ndarray, seed: int) -> bool:
    found = apart_groups(values, np.ones(len(values)), code, int(code.max()) + 1, 1.0, 0.95, seed)
    return bool(((found.p <= 0.05) & (found.value > found.rest)).any())


@pytest.mark.parametrize("noisy", [0, 1])
def test_a_set_that_varies_more_or_less_than_the_rest_is_not_named_for_that(noisy: int) -> None:
    """Both have a mean drop of 0.1, one of single losses, the other of many losses and gains."""
    rng = np.random.default_rng(3)
    code = np.repeat([0, 1], [10, 490])
    named = 0
    for seed in range(60):
        wild = (rng.random(500) < 0.6).astype(float) - (rng.random(500) < 0.5)
        named += _above(np.where(code == noisy, wild, rng.random(500) < 0.1), code, seed)
    assert named <= 6


def test_a_small_set_that_loses_nothing_does_not_get_the_rest_named() -> None:
    rng = np.random.default_rng(4)
    code = np.repeat([0, 1], [10, 490])
    assert not any(_above(np.where(code == 0, 0.0, 0.1 * rng.random(500)), code, seed) for seed in range(10))


def test_a_set_with_a_larger_drop_is_named() -> None:
    rng = np.random.default_rng(5)
    code = np.repeat(np.arange(20), 30)
    drops = (rng.random(600) < np.where(code == 7, 0.6, 0.1)).astype(float)
    found = apart_groups(drops, np.ones(600), code, 20, 1.0, 0.95)
    assert found.most(0.05) == 7
