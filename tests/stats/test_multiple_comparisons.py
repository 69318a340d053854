"""Several means at once: max-T holds its level and beats Bonferroni; which sets are named, where the truth is known."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import optimize, stats

from unswayed.stats import multiple_comparisons
from unswayed.stats.multiple_comparisons import (
    JointMeans,
    SetComparisons,
    compare_groups,
    compare_paired_sets,
    draw_largest,
    max_t_level,
    max_t_p_values,
)


def table(n=300, width=4, seed=0, holes=0.3):
    rng = np.random.default_rng(seed)
    numbers = rng.normal(size=(n, 1)) + rng.normal(size=(n, width))
    numbers[rng.random(numbers.shape) < holes] = np.nan
    return numbers


def correlation_of(numbers, clusters=None, parts=1):
    found = JointMeans(numbers.shape[1])
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
    assert max_t_level(0.95, draw_largest(same, 20_000, 0), 10) == pytest.approx(0.95, abs=0.004)
    assert max_t_level(0.95, draw_largest(apart, 20_000, 0), 10) == pytest.approx(0.95**0.1, abs=5e-4)
    p = [0.002, 0.04, 0.9, 1e-9]
    together = max_t_p_values(p, draw_largest(np.ones((4, 4)), 20_000, 0))
    assert together == pytest.approx([*p[:3], 4e-9], rel=0.5)  # beyond all draws it is Bonferroni's
    drawn = draw_largest(np.eye(4), 20_000, 0)
    assert max_t_p_values(p, drawn) == pytest.approx([1 - (1 - x) ** 4 for x in p], rel=0.2)


def test_a_mean_that_does_not_vary_is_left_apart():
    numbers = np.column_stack([np.zeros(50), np.full(50, 0.1), np.arange(50.0)])
    assert correlation_of(numbers) == pytest.approx(np.eye(3))


def test_no_mean_at_all():
    assert max_t_p_values([], draw_largest(np.zeros((0, 0)), 10, 0)) == []


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
        drawn = draw_largest(correlation_of(numbers, clusters), 1000, 0)
        alarms += min(max_t_p_values(p.tolist(), drawn)) <= 0.05
    assert 0.02 < alarms / times < 0.08


def _above(values: np.ndarray, code: np.ndarray, seed: int) -> bool:
    found = compare_groups(values, np.ones(len(values)), code, int(code.max()) + 1, 1.0, 0.95, seed)
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


def test_a_small_slice_that_loses_much_is_often_named() -> None:
    """A test that is corrected for twenty sets twice finds it in 2% of runs; the size stays below 5%."""
    rng, found, false = np.random.default_rng(5), 0, 0
    code = np.repeat(np.arange(20), 25)
    for seed in range(40):
        for hurt in (True, False):
            rates = np.where((code == 19) & hurt, 0.35, 0.05)
            lost = (rng.random((500, 3)) < 0.5) & (rng.random(500) < rates)[:, None]
            p = compare_groups(lost.mean(axis=1), np.ones(500), code, 20, 1.0, 0.95, seed).p
            found += hurt and p[19] <= 0.05
            false += not hurt and bool((p <= 0.05).any())
    assert found >= 12  # 30%
    assert false <= 6


def test_a_set_with_a_larger_drop_is_named() -> None:
    rng = np.random.default_rng(5)
    code = np.repeat(np.arange(20), 30)
    drops = (rng.random(600) < np.where(code == 7, 0.6, 0.1)).astype(float)
    found = compare_groups(drops, np.ones(600), code, 20, 1.0, 0.95)
    assert found.most(0.05) == 7


def test_shrunk_means_lie_between_their_own_and_the_common_one():
    rng = np.random.default_rng(8)
    code = rng.integers(0, 8, 400)
    found = compare_groups((rng.random(400) < 0.2).astype(float), np.ones(400), code, 8, 1.0, 0.95)
    assert np.ptp(found.shrunk) < 0.3 * np.ptp(found.value)  # all alike: drawn together
    apart = compare_groups(np.where(code < 4, 0.0, 0.5) + rng.normal(0, 0.05, 400), np.ones(400), code, 8, 1.0, 0.95)
    assert np.abs(apart.shrunk - apart.value).max() < 0.05  # truly apart: they stay


def test_two_paired_sets_are_a_paired_t_test() -> None:
    rng = np.random.default_rng(9)
    pairs = rng.normal(size=(12, 2))
    pairs[:, 1] += 0.8
    found = compare_paired_sets(pairs, np.ones((12, 2)), 0.0, 0.95)
    p = stats.ttest_rel(*pairs.T).pvalue
    assert found.value == pytest.approx(pairs.mean(axis=0))
    assert found.rest == pytest.approx(pairs.mean(axis=0)[::-1])
    assert found.pairs[0, 1] == found.pairs[1, 0] == pytest.approx(p)
    assert found.p == pytest.approx([p, p], abs=0.02)  # max-T of two that are one
    assert (np.diag(found.pairs) == 1).all()
    gap, error = pairs[:, 1] - pairs[:, 0], stats.sem(pairs[:, 1] - pairs[:, 0])
    floored = (
        stats.t.sf(gap.mean() / np.sqrt(error**2 + 2 * (5 / 12) ** 2), 11) * 2
    )  # each error counts one that far off
    assert compare_paired_sets(pairs, np.ones((12, 2)), 5.0, 0.95).pairs[0, 1] == pytest.approx(floored)
    independent = max_t_level(0.95, draw_largest(np.eye(2), 20_000, 0), 2)
    assert found.together == pytest.approx(independent, abs=0.006)


def test_holes_of_paired_sets_weigh_nothing() -> None:
    total, weight = np.array([[1.0, 0.0], [3.0, 8.0], [0.0, 4.0]]), np.array([[1.0, 0.0], [3.0, 4.0], [1.0, 4.0]])
    assert compare_paired_sets(total, weight, 1.0, 0.95).value == pytest.approx([0.8, 1.5])


def test_two_groups_pass_welchs_test_and_their_deal() -> None:
    rng = np.random.default_rng(10)
    x = np.concatenate([rng.normal(0, 1, 15), rng.normal(1.5, 3, 25)])
    code = np.repeat([0, 1], [15, 25])
    found = compare_groups(np.append(x, 99.0), np.ones(41), np.append(code, -1), 2, 0.0, 0.9)
    welch = stats.ttest_ind(x[:15], x[15:], equal_var=False).pvalue
    assert found.pairs[0, 1] == pytest.approx(welch)
    assert (found.p >= 1 - (1 - welch) ** 2 - 1e-9).all()  # Šidák
    assert found.value == pytest.approx([x[:15].mean(), x[15:].mean()])
    assert found.rest == pytest.approx([x[15:].mean(), x[:15].mean()])
    assert found.together == pytest.approx(0.9**0.5)
    theirs = stats.permutation_test(
        (x[:15], x[15:]), lambda a, b: stats.ttest_ind(a, b, equal_var=False).statistic, n_resamples=999, rng=1
    ).pvalue
    assert found.p == pytest.approx([max(theirs, 1 - (1 - welch) ** 2)] * 2, abs=0.04)


def test_a_set_that_is_all_or_nothing_is_not_tested() -> None:
    found = compare_groups(np.arange(5.0), np.ones(5), np.zeros(5, dtype=int), 2, 1.0, 0.95)
    assert found.p.tolist() == [1, 1]
    assert np.isnan(found.value[1])
    assert np.isnan(found.shrunk[1])
    assert found.most(0.05) is None


def test_means_are_shrunk_by_reml() -> None:
    """Against a search of the likelihood by scipy: independent means with equal errors, then with unequal ones."""
    rng = np.random.default_rng(11)
    for error in (np.full(6, 0.3), np.array([0.1, 0.2, 0.3, 0.4, 0.5, 0.6])):
        value, variances = rng.normal(0, 0.6, 6), error**2

        def minus(between: float, value: np.ndarray = value, variances: np.ndarray = variances) -> float:
            weight = 1 / (variances + between)
            mean = (weight @ value) / weight.sum()
            return float(-np.log(weight).sum() + np.log(weight.sum()) + weight @ (value - mean) ** 2)

        between = optimize.minimize_scalar(minus, bounds=(0, 3), method="bounded").x
        weight = 1 / (variances + between)
        mean = (weight @ value) / weight.sum()
        expected = mean + between * weight * (value - mean)
        found = multiple_comparisons._shrunk_means(value, np.diag(variances))
        assert found == pytest.approx(expected, abs=0.01)


def test_only_one_that_is_above_all_others_is_the_most_hurt() -> None:
    value, rest = np.array([0.5, 0.4, 0.1]), np.array([0.25, 0.3, 0.45])
    pairs = np.array([[1.0, 0.02, 0.001], [0.02, 1.0, 0.001], [0.001, 0.001, 1.0]])
    found = SetComparisons(value, rest, np.array([0.01, 0.01, 0.01]), value, pairs, 0.95)
    assert found.most(0.05) == 0
    assert found.most(0.03) is None  # the second is too near, corrected for two others
    assert SetComparisons(value, rest, np.array([0.2, 0.01, 0.01]), value, pairs, 0.95).most(0.05) is None
    assert SetComparisons(value, rest, np.array([1.0, 1.0, 1.0]), value, pairs, 0.95).most(0.05) is None
