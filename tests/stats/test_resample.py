"""Bootstrap samples: one distribution however they are drawn, and rows that are counted."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats

from unswayed.stats import Mean, Paired, Ratio, bootstrap, count_rows, merge_rows, ratio, resample, sample_of
from unswayed.stats.resample import Observations, Statistic, draw_counts

RNG = np.random.default_rng(3)


def test_both_ways_of_drawing_have_one_distribution(monkeypatch):
    """The same examples, drawn by counts of distinct rows and one by one."""
    values = np.column_stack([RNG.integers(0, 4, 500), np.full(500, 3)]).astype(float)
    few = bootstrap([sample_of(values, Ratio())], 20_000, 0)[0]
    monkeypatch.setattr(resample.Sample, "few_rows", False)
    one_by_one = bootstrap([sample_of(values, Ratio())], 20_000, 0)[0]
    # sums of whole numbers: rounding puts equal ones, which single precision splits, back together
    assert stats.ks_2samp(few.round(6), one_by_one.round(6)).pvalue > 1e-3


def test_counts_are_those_of_uniform_draws():
    n, samples = 50, 40_000
    rng = np.random.Generator(np.random.SFC64(0))
    full = draw_counts(rng, samples, n).astype(np.int64)
    assert (full.sum(axis=1) == n).all()
    seen = np.bincount(full.ravel(), minlength=8)[:8] / full.size
    expected = stats.binom.pmf(np.arange(8), n, 1 / n)
    assert seen == pytest.approx(expected, abs=5 * np.sqrt(0.25 / full.size))
    # draws of one sample compete for n places, so two examples' counts are correlated by -1 / (n - 1)
    assert np.corrcoef(full[:, 0], full[:, 1])[0, 1] == pytest.approx(-1 / (n - 1), abs=0.02)


@given(arrays(float, st.tuples(st.integers(1, 30), st.integers(1, 3)), elements=st.sampled_from([0.0, 0.5, 1.0])))
def test_counted_rows_are_the_rows(values):
    rows, counts = count_rows(values)
    assert sorted(map(tuple, np.repeat(rows, counts, axis=0))) == sorted(map(tuple, values))


def test_rows_of_many_columns_are_counted():
    values = RNG.random((40, 20))[RNG.integers(0, 5, 40)]
    rows, counts = count_rows(np.repeat(values, 2, axis=0))
    assert len(rows) <= 5
    assert counts.sum() == 80


def test_threads_and_parts_change_nothing(monkeypatch):
    samples = [sample_of(RNG.random((300, 1)), Mean()) for _ in range(3)]
    together = bootstrap(samples, 500, 0)
    monkeypatch.setattr(resample.os, "cpu_count", lambda: 1)
    assert all(np.array_equal(a, b) for a, b in zip(together, bootstrap(samples, 500, 0), strict=True))
    assert bootstrap(samples[:1], 500, 0)[0] == pytest.approx(together[0], abs=1e-6)


def test_a_sample_that_is_too_large_twice_is_drawn_a_third_time(monkeypatch):
    sums = iter([50, 60, 20])  # of 30: too many, too many again, fewer
    monkeypatch.setattr(resample, "_poisson", lambda rng, rate, samples, n: spread(next(sums), n))
    counts = resample.draw_counts(np.random.Generator(np.random.PCG64(0)), 1, 30)
    assert counts.sum() == 30


def spread(total, n):
    return np.bincount(np.arange(total) % n, minlength=n).astype(np.uint8)[None, :]


def test_rows_that_are_merged_are_counted_as_if_each_came_by_itself() -> None:
    values = RNG.integers(0, 3, (200, 2)).astype(float)
    rows, counts = count_rows(values)
    found = merge_rows(np.vstack([rows, rows[::-1]]), np.append(counts, counts[::-1]))
    assert np.array_equal(found[0], rows)
    assert np.array_equal(found[1], 2 * counts)
    wide = RNG.random((70, 20))  # more values than a number can hold
    again = merge_rows(np.vstack([wide, wide]), np.append(np.ones(70, dtype=np.int64), np.full(70, 2)))
    assert np.array_equal(again[0], np.unique(wide, axis=0))
    assert (again[1] == 3).all()


def test_a_late_value_is_not_taken_for_an_early_one() -> None:
    values = np.zeros((1000, 1))
    values[900:] = 0.25
    rows, counts = count_rows(values)
    assert (rows.ravel().tolist(), counts.tolist()) == ([0.0, 0.25], [900, 100])


def test_rows_are_counted_where_that_is_cheaper() -> None:
    assert sample_of(RNG.integers(0, 2, (1000, 1)).astype(float), Mean()).few_rows
    assert not sample_of(RNG.random((1000, 1)), Mean()).few_rows
    many = sample_of(RNG.integers(0, 100, (100_000, 1)).astype(float), Mean())
    assert (len(many.rows), many.few_rows, many.n) == (100, True, 100_000)


@pytest.mark.parametrize("values", [np.arange(300.0)[:, None], RNG.integers(0, 2, (4000, 1)).astype(float)])
def test_swaps_have_the_spread_of_random_signs(values: np.ndarray) -> None:
    """The difference of means after random swaps has mean zero and the variance of the sum of signed differences."""
    a, b = values, np.roll(values, 1, axis=0) * 1.5
    rows, counts = count_rows(np.hstack([a, b]))
    drawn = resample.swap(rows[:, :1], rows[:, 1:], counts, Mean(), 4000, 0)
    spread = np.sqrt(((b - a) ** 2).sum()) / len(a)
    assert drawn.mean() == pytest.approx(0, abs=4 * spread / np.sqrt(4000))
    assert drawn.std() == pytest.approx(spread, rel=0.06)


def test_swapping_one_example_gives_its_difference_or_the_opposite() -> None:
    drawn = resample.swap(np.array([[1.0]]), np.array([[4.0]]), np.ones(1, dtype=np.int64), Mean(), 50, 1)
    assert set(drawn.tolist()) == {-3.0, 3.0}


def test_samples_that_are_the_same_are_drawn_once_and_others_are_not_mixed_up() -> None:
    one, other = sample_of(RNG.random((90, 1)), Mean()), sample_of(RNG.random((90, 1)), Mean())
    assert one.id != other.id
    assert one.id == sample_of(one.rows, Mean()).id
    first, second, third = bootstrap([one, other, one], 200, 4)
    assert np.array_equal(first, third)
    assert first.mean() == pytest.approx(one.value, abs=0.02)
    assert second.mean() == pytest.approx(other.value, abs=0.02)
    assert not np.array_equal(first, bootstrap([one], 200, 5)[0])
    certain = bootstrap([sample_of(np.full((9, 1), 0.5), Mean())], 7, 0)[0]
    assert certain.tolist() == [0.5] * 7


def test_large_tables_are_summed_in_pieces_with_the_same_result(monkeypatch: pytest.MonkeyPatch) -> None:
    table = RNG.random((5000, 3))
    sample = sample_of(table, Ratio())
    whole = bootstrap([sample], 60, 0)[0]
    monkeypatch.setattr(resample, "_BLOCK", 64)
    monkeypatch.setattr(resample, "_ONE_THREAD", 60 * 3 * 70)
    assert bootstrap([sample], 60, 0)[0] == pytest.approx(whole, rel=1e-6)


def test_the_thresholds_of_sixteen_bits_have_the_poisson_distribution() -> None:
    steps, rest = resample._thresholds(0.9)
    exact = stats.poisson.pmf(np.arange(len(rest)), 0.9)
    counted = np.diff(np.append(0, np.array(steps, dtype=np.int64)))
    left = 65536 - counted.sum()
    found = np.append(counted, np.zeros(len(rest) - len(counted))) + left * rest
    assert found / 65536 == pytest.approx(exact, abs=1e-12)


SUMS = np.array([[3.0, 4.0, 1.0, 5.0], [2.0, 0.0, 6.0, 3.0]])


def test_a_mean_a_ratio_and_nothing_by_nothing() -> None:
    assert Mean()(SUMS, 6).tolist() == [0.5, 1 / 3]
    found = Ratio()(SUMS[:, :2], 6)
    assert found[0] == 0.75
    assert np.isnan(found[1])
    assert np.isnan(ratio(np.ones(2), np.array([0.0, 4.0]))).tolist() == [True, False]


def test_a_paired_statistic_is_the_right_less_the_left() -> None:
    found = Paired(Ratio())(SUMS[:1], 6)
    assert found.tolist() == [1 / 5 - 3 / 4]
    assert np.array_equal(Paired(Mean()).columns(SUMS), SUMS)

    class Doubled(Mean):
        def columns(self, distinct):
            return 2 * distinct

    assert np.array_equal(Paired(Doubled()).columns(SUMS), 2 * SUMS)


def test_ids_tell_statistics_apart() -> None:
    assert len({Mean().id, Ratio().id, Paired(Mean()).id, Paired(Ratio()).id}) == 4
    assert np.array_equal(Statistic().columns(SUMS), SUMS)


def test_observations_are_of_a_share_from_zero_to_one() -> None:
    column = Observations(np.arange(1), np.ones((1, 1)), Mean(), np.zeros(1, dtype=np.int64))
    assert (column.span, column.kind) == ((0.0, 1.0), "share")
