"""Intervals: the same as scipy's where scipy has them, as wide as they should be, and never falsely certain."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats

from unswayed.measure.measuring import measure_run
from unswayed.stats import Mean, Ratio, bootstrap, certain_interval, count_rows, interval, resample, sample_of
from unswayed.stats.resample import draw_counts

RNG = np.random.default_rng(3)
BINARY = (RNG.random(300) < 0.8).astype(float)
CONTINUOUS = RNG.gamma(2.0, size=300)


@pytest.mark.parametrize("values", [BINARY, CONTINUOUS], ids=["binary", "continuous"])
def test_agrees_with_scipy(values):
    sample = sample_of(values[:, None], Mean())
    assert sample.few_rows == (values is BINARY)
    low, high = interval(sample.value, bootstrap([sample], 10_000, 0)[0], sample.n, (0, 9), 0.95)
    theirs = stats.bootstrap(
        (values,), np.mean, n_resamples=10_000, method="percentile", rng=np.random.default_rng(1)
    ).confidence_interval
    width = theirs.high - theirs.low
    assert low == pytest.approx(theirs.low, abs=0.05 * width)
    assert high == pytest.approx(theirs.high, abs=0.05 * width)


def test_both_ways_of_drawing_have_one_distribution(monkeypatch):
    """The same examples, drawn by counts of distinct rows and one by one."""
    values = np.column_stack([RNG.integers(0, 4, 500), np.full(500, 3)]).astype(float)
    few = bootstrap([sample_of(values, Ratio())], 20_000, 0)[0]
    monkeypatch.setattr(resample.Sample, "few_rows", False)
    one_by_one = bootstrap([sample_of(values, Ratio())], 20_000, 0)[0]
    # sums of whole numbers: rounding puts equal ones, which single precision splits, back together
    assert stats.ks_2samp(few.round(6), one_by_one.round(6)).pvalue > 1e-3


def test_ratio_agrees_with_scipy():
    above, below = RNG.integers(0, 3, 200), RNG.integers(2, 5, 200)
    sample = sample_of(np.column_stack([above, below]).astype(float), Ratio())
    low, high = interval(sample.value, bootstrap([sample], 10_000, 0)[0], sample.n, (0, 1), 0.95)
    theirs = stats.bootstrap(
        (above, below),
        lambda a, b, axis=-1: a.sum(axis) / b.sum(axis),
        paired=True,
        n_resamples=10_000,
        method="percentile",
        rng=np.random.default_rng(1),
    ).confidence_interval
    assert (low, high) == pytest.approx((theirs.low, theirs.high), abs=0.05 * (theirs.high - theirs.low))


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


def test_covers_the_truth_about_as_often_as_it_says():
    inside = 0
    for trial in range(400):
        values = (np.random.default_rng(trial).random(200) < 0.7).astype(float)
        sample = sample_of(values[:, None], Mean())
        low, high = interval(sample.value, bootstrap([sample], 1000, 0)[0], 200, (0, 1), 0.9)
        inside += low <= 0.7 <= high
    assert 0.85 <= inside / 400 <= 0.95


def test_resampling_is_by_example(fake_run):
    """Ten variants that stand or fall together say no more than one: the interval must not shrink."""
    rng = np.random.default_rng(0)
    answers = ["a" if right else "b" for right in rng.random(80) < 0.6]
    one = measure_run(fake_run([("a", "a", [("p", 0, "same", o)]) for o in answers]))
    ten = measure_run(fake_run([("a", "a", [("p", d, "same", o) for d in range(10)]) for o in answers]))
    for name in ("average", "worst", "drop", "flips", "consistency"):
        narrow, wide = getattr(one.whole, name), getattr(ten.whole, name)
        assert wide.high - wide.low == pytest.approx(narrow.high - narrow.low, abs=0.02), name
    by_variant = np.repeat([o == "b" for o in answers], 10).astype(float)
    sample = sample_of(by_variant[:, None], Mean())
    low, high = interval(sample.value, bootstrap([sample], 10_000, 0)[0], sample.n, (0, 1), 0.95)
    assert ten.flip_rate.high - ten.flip_rate.low > 2 * (high - low)


@pytest.mark.parametrize("n", [1, 5, 20, 1000])
@pytest.mark.parametrize("level", [0.9, 0.95])
def test_no_width_gives_clopper_pearson(n, level):
    for k, value in ((0, 0.0), (n, 1.0)):
        exact = stats.binomtest(k, n).proportion_ci(level, method="exact")
        assert certain_interval(value, n, (0, 1), level) == pytest.approx((exact.low, exact.high))


def test_no_flips_of_twenty_is_not_certain(fake_run):
    results = measure_run(fake_run([("a", "a", [("p", d, "same", "a") for d in range(3)]) for _ in range(20)]))
    assert (results.flip_rate.value, results.flip_rate.low) == (0.0, 0.0)
    exact = 1 - 0.025 ** (1 / 20)
    assert exact <= results.flip_rate.high < 1.3 * exact
    assert results.clean.low == pytest.approx(1 - results.flip_rate.high)
    assert results.drop.low == pytest.approx(-results.drop.high)
    assert results.drop.low < 0


def test_one_example_says_next_to_nothing(fake_run):
    found = measure_run(fake_run([("a", "a", [("p", 0, "same", "a")])])).average
    assert (found.n, found.value, found.low, found.high) == (1, 1.0, 0.0, 1.0)


def test_where_no_resample_is_defined_there_is_no_interval():
    assert interval(0.5, np.full(10, np.nan), 3, (0, 1), 0.95) == (None, None)


@given(arrays(float, st.tuples(st.integers(1, 30), st.integers(1, 3)), elements=st.sampled_from([0.0, 0.5, 1.0])))
def test_counted_rows_are_the_rows(values):
    rows, counts = count_rows(values)
    assert sorted(map(tuple, np.repeat(rows, counts, axis=0))) == sorted(map(tuple, values))


def test_rows_of_many_columns_are_counted():
    values = RNG.random((40, 20))[RNG.integers(0, 5, 40)]
    rows, counts = count_rows(np.repeat(values, 2, axis=0))
    assert len(rows) <= 5
    assert counts.sum() == 80


def test_wider_at_a_higher_level(random_run):
    narrow, wide = (measure_run(random_run(), level=level).worst for level in (0.8, 0.99))
    assert wide.low < narrow.low < narrow.value < narrow.high < wide.high


def test_threads_and_parts_change_nothing(monkeypatch):
    samples = [sample_of(RNG.random((300, 1)), Mean()) for _ in range(3)]
    together = bootstrap(samples, 500, 0)
    monkeypatch.setattr(resample.os, "cpu_count", lambda: 1)
    assert all(np.array_equal(a, b) for a, b in zip(together, bootstrap(samples, 500, 0), strict=True))
    assert bootstrap(samples[:1], 500, 0)[0] == pytest.approx(together[0], abs=1e-6)
