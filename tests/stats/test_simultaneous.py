"""Several means at once: their correlation, whatever the parts, and that max-T holds its level and beats Bonferroni."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from unswayed.stats.multiple_comparisons import Together, corrected_together, largest, level_together


def table(n=300, width=4, seed=0, holes=0.3):
    rng = np.random.default_rng(seed)
    numbers = rng.normal(size=(n, 1)) + rng.normal(size=(n, width))
    numbers[rng.random(numbers.shape) < holes] = np.nan
    return numbers


def correlation_of(numbers, clusters=None, parts=1):
    found = Together(numbers.shape[1])
    for rows in np.array_split(np.arange(len(numbers)), parts):
        known = ~np.isnan(numbers[rows])
        cluster = None if clusters is None else clusters[rows]
        found.add(np.nan_to_num(numbers[rows]), known.astype(float), cluster)
    return found.correlation()


def test_the_correlation_is_that_of_the_means():
    """Against the definition: what each example adds to each mean."""
    numbers = table()
    adds = np.nan_to_num(numbers - np.nanmean(numbers, axis=0))
    expected = adds.T @ adds
    scale = np.sqrt(np.diag(expected))
    assert correlation_of(numbers) == pytest.approx(expected / np.outer(scale, scale))


def test_parts_change_no_bit(monkeypatch):
    monkeypatch.setattr("unswayed.stats.multiple_comparisons._BLOCK", 64)
    numbers = table()
    for parts in (2, 7, 100):
        assert np.array_equal(correlation_of(numbers), correlation_of(numbers, parts=parts))


def test_clusters_vary_as_wholes():
    numbers = table(holes=0)
    clusters = np.arange(300) // 10
    totals = (numbers - numbers.mean(axis=0)).reshape(30, 10, -1).sum(axis=1)
    assert correlation_of(numbers, clusters, parts=4) == pytest.approx(np.corrcoef(totals.T))


def test_equal_means_cost_nothing_and_independent_ones_what_sidak_says():
    same, apart = np.ones((10, 10)), np.eye(10)
    assert level_together(0.95, largest(same, 20_000, 0), 10) == pytest.approx(0.95, abs=0.004)
    assert level_together(0.95, largest(apart, 20_000, 0), 10) == pytest.approx(0.95**0.1, abs=5e-4)
    p = [0.002, 0.04, 0.9, 1e-9]
    together = corrected_together(p, largest(np.ones((4, 4)), 20_000, 0))
    assert together == pytest.approx([*p[:3], 4e-9], rel=0.5)  # beyond all draws it is Bonferroni's
    drawn = largest(np.eye(4), 20_000, 0)
    assert corrected_together(p, drawn) == pytest.approx([1 - (1 - x) ** 4 for x in p], rel=0.2)


def test_a_mean_that_does_not_vary_is_left_apart():
    numbers = np.column_stack([np.zeros(50), np.full(50, 0.1), np.arange(50.0)])
    assert correlation_of(numbers) == pytest.approx(np.eye(3))


def test_no_mean_at_all():
    assert corrected_together([], largest(np.zeros((0, 0)), 10, 0)) == []


@pytest.mark.parametrize("clustered", [False, True])
def test_false_alarms_stay_at_the_level(clustered):
    """400 tables of 12 correlated means without a true one; with clusters of five that share their numbers."""
    rng = np.random.default_rng(1)
    times, n, width = 400, 60, 12
    alarms = 0
    for _ in range(times):
        numbers = rng.normal(size=(n, 1)) + rng.normal(size=(n, width))
        clusters, units = None, numbers
        if clustered:
            numbers, clusters = np.repeat(numbers, 5, axis=0), np.repeat(np.arange(n), 5)
        p = stats.ttest_1samp(units, 0).pvalue
        drawn = largest(correlation_of(numbers, clusters), 1000, 0)
        alarms += min(corrected_together(p.tolist(), drawn)) <= 0.05
    assert 0.02 < alarms / times < 0.08
