"""The sign-flip test against trying all signs, its size and power where they are known, and intervals that agree."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from unswayed.stats import mcnemar, mean_interval, numbers_of, sign_flip_interval, sign_flip_p
from unswayed.stats.sign_flip import _saddlepoint_p, unseen_failures_p


def _by_trying_all(x: np.ndarray) -> float:
    signs = np.array(list(itertools.product([-1, 1], repeat=len(x))))
    return float((np.abs(signs @ x) >= abs(x.sum()) - 1e-9).mean())


@pytest.mark.parametrize("values", [(0.0, 1.0), (1 / 3, 2 / 3, 1.0), (0.1, 0.25, 0.7)])
def test_it_is_the_share_of_all_signs(values: tuple[float, ...]) -> None:
    rng = np.random.default_rng(1)
    for _ in range(10):
        x = rng.choice(values, 11) * rng.choice([-1, 1], 11, p=[0.2, 0.8])
        assert sign_flip_p(x) == pytest.approx(_by_trying_all(x))


def test_equal_sizes_are_mcnemars_test() -> None:
    x = np.array([0.5] * 9 + [-0.5] * 2 + [0.0] * 30)
    assert sign_flip_p(x) == mcnemar(9, 2)
    assert sign_flip_p(np.array([0.5, -0.5, 0.0]), np.array([9.0, 2.0, 30.0])) == mcnemar(9, 2)


def test_nothing_that_differs_is_no_evidence() -> None:
    assert sign_flip_p(np.zeros(20)) == 1
    assert sign_flip_p(np.zeros(0)) == 1
    assert sign_flip_p(np.array([1.0])) == 1


def test_many_differences_take_the_saddlepoint() -> None:
    rng = np.random.default_rng(2)
    for mean in (0.02, 0.15, 0.4):
        x = rng.normal(mean, 1, 240)
        size = np.abs(x) / np.abs(x).max()
        near = _saddlepoint_p(abs(x.sum()) / np.abs(x).max(), size, np.ones(len(x)))
        assert near == pytest.approx(sign_flip_p(x), rel=0.03)
    assert sign_flip_p(np.ones(2000) * rng.choice([0.5, 1.0], 2000)) < 1e-100


def test_the_interval_excludes_zero_exactly_where_the_test_rejects() -> None:
    rng = np.random.default_rng(3)
    rejected = 0
    for _ in range(400):
        n, level = int(rng.choice([5, 12, 50])), float(rng.choice([0.8, 0.95, 0.999]))
        x = numbers_of((rng.random(n) < 0.95) - rng.binomial(3, rng.choice([0.95, 0.8, 0.6]), n) / 3)
        low, high, p = sign_flip_interval(x, mean_interval(x, (-1.0, 1.0), level, "difference"), level)
        assert low is not None
        assert high is not None
        assert low <= x.value <= high
        assert (p < 1 - level) == (not low <= 0 <= high)
        rejected += p < 1 - level
    assert 50 < rejected < 350


@pytest.mark.parametrize(
    ("n", "clean", "varied", "least"), [(20, 0.9, 0.8, 0.13), (50, 1.0, 0.95, 0.63), (100, 0.98, 0.95, 0.34)]
)
def test_size_and_power_with_three_draws(n: int, clean: float, varied: float, least: float) -> None:
    rng, times = np.random.default_rng(4), 400
    for true, most in ((varied, 1.0), (clean, 0.08)):  # 6%, and three standard errors of 400 simulations
        found = 0
        for _ in range(times):
            x = (rng.random(n) < clean) - rng.binomial(3, true, n) / 3
            found += sign_flip_p(x) < 0.05
        assert found / times <= most
        assert true == clean or found / times >= least


def test_many_small_losses_are_no_evidence_until_a_whole_one_should_have_been_seen() -> None:
    """One clean answer against the mean of ten variants, all right equally often: size without and with the test."""
    rng, times = np.random.default_rng(5), 300
    found = [0, 0]
    for _ in range(times):
        x = numbers_of((rng.random(50) < 0.98) - rng.binomial(10, 0.98, 50) / 10)
        found[0] += sign_flip_p(x.total) < 0.05
        found[1] += sign_flip_interval(x, (-1.0, 1.0), 0.95, 1.0)[2] < 0.05
    assert found[0] / times > 0.2
    assert found[1] / times <= 0.08


def test_the_number_of_whole_failures_is_binomial() -> None:
    """Of 40 examples eight lose a quarter and none gains: 2 and most of one more loss are expected to gain all."""
    x = numbers_of(np.array([0.25] * 8 + [0.0] * 32))
    assert unseen_failures_p(x, 1.0) == pytest.approx((1 - (2 + 0.82 / 4) / 40) ** 40 / 2)
    one = numbers_of(np.array([0.25] * 8 + [0.0] * 31 + [-1.0]))
    q = (2 + 0.82 / 4) / 40
    by_hand = (1 - q) ** 40 + 40 * q * (1 - q) ** 39 / 2
    assert unseen_failures_p(one, 1.0) == pytest.approx(by_hand)
    # where the signs alone say enough, and where nothing differs
    assert unseen_failures_p(numbers_of(np.full(200, 0.3)), 1.0) == 0
    assert unseen_failures_p(numbers_of(np.zeros(9)), 1.0) == 1
