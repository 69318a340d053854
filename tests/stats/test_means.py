"""Means of numbers and their intervals: coverage with known truth, monotone ends, clusters, all that agree."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, strategies as st

from unswayed.stats import (
    Mean,
    Numbers,
    Ratio,
    clopper_pearson,
    heavy_tails,
    mean_interval,
    mean_p,
    means,
    numbers_of,
    pseudo_of,
    summed,
    t_quantile,
)

SHARE, DIFFERENCE = (0.0, 1.0), (-1.0, 1.0)


def test_without_a_span_the_interval_is_students() -> None:
    x = np.array([1.0, 2.0, 4.0, 9.0])
    half = t_quantile(0.975, 3) * x.std(ddof=1) / 2
    assert mean_interval(x, (-math.inf, math.inf)) == pytest.approx((4 - half, 4 + half))


def test_the_interval_of_a_share_is_about_the_exact_one() -> None:
    for right, n in itertools.product((1, 2, 10, 50, 90), (100, 1000)):
        found = mean_interval(np.array([1.0] * right + [0.0] * (n - right)))
        assert found == pytest.approx(clopper_pearson(right, n), abs=0.3 / n + 0.003)


@pytest.mark.parametrize("kind", ["share", "difference"])
def test_the_p_value_is_one_minus_the_highest_level_that_excludes_zero(kind) -> None:  # type: ignore[no-untyped-def]
    rng = np.random.default_rng(3)
    for n in (5, 30, 200):
        x = numbers_of(rng.choice([-1.0, 0.0, 0.0, 0.5, 1.0], n))
        p = mean_p(x, DIFFERENCE, kind)
        ends = mean_interval(x, DIFFERENCE, 1 - p, kind)
        assert min(abs(end or 0.0) for end in ends) == pytest.approx(0, abs=1e-6)


def test_errors_of_single_variants_are_surer_than_those_of_whole_examples() -> None:
    """Thirty of 3,000 answers are wrong: one in thirty examples, or all three in ten."""
    single = np.array([2 / 3] * 30 + [1.0] * 970)
    whole = np.array([0.0] * 10 + [1.0] * 990)
    widths = [np.diff(mean_interval(x))[0] for x in (single, whole)]  # type: ignore[arg-type]
    assert widths[0] < 0.75 * widths[1]


@pytest.mark.parametrize("n", [2, 5, 20, 1000])
def test_all_that_agree_are_not_certain(n: int) -> None:
    low, high = mean_interval(np.ones(n), SHARE)
    assert low is not None
    assert high == 1
    assert 1 - 6 / n <= low < 1 - 2.5 / n or n == 2
    assert mean_interval(np.zeros(n), SHARE) == pytest.approx((0, 1 - low))


def test_one_example_says_next_to_nothing() -> None:
    assert mean_interval(np.ones(1), SHARE) == SHARE
    assert mean_interval(np.ones(1), (-math.inf, math.inf)) == (None, None)
    assert mean_interval(np.ones(0), SHARE) == (None, None)


@st.composite
def _one_rises(draw: st.DrawFn) -> tuple[tuple[float, float], str, np.ndarray, np.ndarray]:
    kind = draw(st.sampled_from(["share", "difference"]))
    span = SHARE if kind == "share" else DIFFERENCE
    value = st.sampled_from([span[0], 0.0, 0.1, 1 / 3, 0.5, 2 / 3, 0.9, 1.0]) | st.floats(*span)
    x = np.array(draw(st.lists(value, min_size=1, max_size=40)))
    rare = draw(st.sampled_from([span[0], 0.0, 1.0]))
    x = np.append(x, np.full(draw(st.sampled_from([0, 3, 30, 300])), rare))
    at, to = draw(st.integers(0, len(x) - 1)), draw(value)
    y = x.copy()
    y[at] = max(y[at], to)
    return span, kind, x, y


@given(_one_rises(), st.sampled_from([0.5, 0.8, 0.95, 0.99]), st.integers(1, 3))
def test_a_number_that_rises_lowers_neither_end(case, level, size) -> None:  # type: ignore[no-untyped-def]
    span, kind, x, y = case
    clusters = np.arange(len(x)) // size
    before, after = (mean_interval(numbers_of(v, clusters=clusters), span, level, kind) for v in (x, y))
    for one, other in zip(before, after, strict=True):
        if one is not None and other is not None:
            # exactly so of right and wrong; a share between them may make the other numbers look a little less sure
            ends = np.isin(np.append(x, y), [*span, 0.0]).all()
            assert other >= one - (1e-9 if ends and size == 1 else 0.6 * (span[1] - span[0]) / len(x))
            assert span[0] <= one <= span[1]


def test_clusters_are_what_is_drawn() -> None:
    """Twenty copies of each number say no more than one of each, if they are all right or all wrong."""
    x = np.array([1.0, 0.0, 1.0, 1.0, 0.0, 1.0])
    copies, clusters = np.repeat(x, 20), np.repeat(np.arange(6), 20)
    found = mean_interval(numbers_of(copies, clusters=clusters))
    assert found == pytest.approx(mean_interval(x))
    # and one cluster a number is no cluster
    assert mean_interval(numbers_of(x, clusters=np.arange(6))) == mean_interval(x)


def test_clusters_that_never_fail_as_a_whole_are_surer() -> None:
    """Ten clusters of 20, in each of which 15 or 17 are right: none is likely to have none right."""
    shares = np.tile([0.75, 0.85], 5)
    x = np.concatenate([np.arange(20) < round(20 * share) for share in shares]).astype(float)
    low, high = mean_interval(numbers_of(x, clusters=np.repeat(np.arange(10), 20)))
    alone = mean_interval(shares)
    assert low is not None
    assert high is not None
    assert high - low < 0.7 * (alone[1] - alone[0])  # type: ignore[operator]
    half = t_quantile(0.975, 9) * shares.std(ddof=1) / math.sqrt(10)
    assert high - low > 2 * half


def test_no_interval_that_holds_for_examples_that_fail_as_a_whole_is_much_narrower() -> None:
    """Fifty examples of ten variants, of which 2.5 in 500 go wrong one by one."""
    assert means.least_distance(50) == pytest.approx(1.73 / 50, rel=0.03)
    rng = np.random.default_rng(2)
    above = [0.995 - (mean_interval(rng.binomial(10, 0.995, 50) / 10)[0] or 0.0) for _ in range(300)]
    assert means.least_distance(50) < np.mean(above) < 2.1 * means.least_distance(50)


def test_pseudo_values_of_a_mean_are_its_numbers_and_of_a_ratio_its_bias_is_removed() -> None:
    x = np.array([[0.0], [1.0], [0.5]])
    assert pseudo_of(x, np.ones(3), Mean()) == pytest.approx(x[:, 0])
    pairs = np.array([[1.0, 2.0], [3.0, 3.0], [0.0, 1.0], [1.0, 4.0]])
    left = [np.delete(pairs, i, axis=0).sum(axis=0) for i in range(4)]
    by_hand = [4 * 0.5 - 3 * a / b for a, b in left]
    assert pseudo_of(pairs, np.ones(4), Ratio()) == pytest.approx(by_hand)
    assert len(pseudo_of(summed(pairs, np.array([5, 5, 7, 7])), np.ones(2), Ratio())) == 2


@pytest.mark.parametrize(("n", "size", "rate"), [(10, 1, 0.9), (30, 1, 0.98), (30, 20, 0.8), (100, 1, 0.6)])
def test_intervals_cover_what_is_true(n: int, size: int, rate: float) -> None:
    """Shares of three variants that hang together, in clusters that hang together; the truth is the rate."""
    rng = np.random.default_rng(7)
    inside, times = 0, 1500
    for _ in range(times):
        common = rng.beta(rate * 2, (1 - rate) * 2, n)
        x = rng.binomial(3, np.repeat(common, size)) / 3
        low, high = mean_interval(numbers_of(x, clusters=np.repeat(np.arange(n), size)))
        assert low is not None
        assert high is not None
        inside += low <= rate <= high
    assert inside / times >= 0.93


@pytest.mark.parametrize("n", [30, 100, 300, 1000])
def test_losses_that_are_rare_and_all_one_way(n: int) -> None:
    """Each example loses all or nothing, so that sums are binomial and coverage is known without drawing."""
    lost = np.arange(min(n, 80) + 1)
    numbers = [Numbers(np.array([1.0, 0.0]), np.ones(2), np.array([k, n - k], dtype=float)) for k in lost]
    ends = [mean_interval(x, DIFFERENCE, 0.95, "difference") for x in numbers]
    for rate in (0.5 / n, 1 / n, 2 / n, 3 / n, 5 / n, 10 / n):
        chances = np.exp([
            math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1) + k * math.log(rate)
            + (n - k) * math.log1p(-rate)
            for k in lost
        ])  # fmt: skip
        low, high = np.array(ends).T
        assert chances[(low <= rate) & (rate <= high)].sum() >= 0.94
        assert chances[high < rate].sum() <= 0.05  # what a claim that the drop is within a margin rests on


def test_unequal_weights_without_a_span_give_the_jackknifes_error() -> None:
    weight, values = np.array([1.0, 2.0, 5.0, 1.0, 3.0]), np.array([0.2, 0.9, 0.4, 1.0, 0.1])
    x = numbers_of(values, weight)
    mean = (values * weight).sum() / 12
    without = [np.delete(values * weight, i).sum() / np.delete(weight, i).sum() for i in range(5)]
    error = math.sqrt(4 / 5 * sum((one - mean) ** 2 for one in without))
    df = (weight**2).sum() ** 2 / (weight**4).sum() - 1
    half = t_quantile(0.95, df) * error
    assert x.value == pytest.approx(mean)
    assert mean_interval(x, (-math.inf, math.inf), 0.9) == pytest.approx((mean - half, mean + half))


def test_units_without_weight_say_nothing_and_few_heavy_units_are_few() -> None:
    with_none = Numbers(np.array([0.0, 3.0, 1.0]), np.array([0.0, 4.0, 2.0]), np.ones(3))
    without = Numbers(np.array([3.0, 1.0]), np.array([4.0, 2.0]), np.ones(2))
    assert mean_interval(with_none) == mean_interval(without)
    assert means.freedom(numbers_of(np.zeros(9))) == 8
    assert means.freedom(Numbers(np.zeros(3), np.array([100.0, 1.0, 1.0]), np.ones(3))) == 1
    counted = Numbers(np.array([1.0, 0.0]), np.ones(2), np.array([3.0, 5.0]))
    assert means.freedom(counted) == 7
    assert math.isnan(Numbers(np.zeros(1), np.zeros(1), np.ones(1)).value)


def test_counts_are_as_many_units() -> None:
    each = np.array([1.0] * 70 + [0.0] * 9 + [0.25] * 4)
    counted = Numbers(np.array([1.0, 0.0, 0.25]), np.ones(3), np.array([70.0, 9.0, 4.0]))
    for span, kind in ((SHARE, "share"), (DIFFERENCE, "difference"), (DIFFERENCE, "contrast")):
        found = mean_interval(counted, span, 0.95, kind)  # type: ignore[arg-type]
        assert found == pytest.approx(mean_interval(each, span, 0.95, kind))  # type: ignore[arg-type]


def test_few_numbers_that_make_up_a_variance_have_few_degrees_of_freedom() -> None:
    assert heavy_tails(numbers_of(np.array([1.0, -1.0] * 50))) == pytest.approx(100)
    alone = numbers_of(np.append(np.zeros(999), 1.0))
    rest = np.append(np.full(999, -0.001), 0.999)
    assert (rest**2).sum() ** 2 / (rest**4).sum() < 2
    assert heavy_tails(alone) == 2
    assert heavy_tails(numbers_of(np.array([0.0, 2.0, 2.0, 0.0, 1.0]))) == pytest.approx(4)
    assert heavy_tails(numbers_of(np.ones(4))) == math.inf


def test_the_pseudo_value_of_what_alone_made_a_statistic_defined_is_the_whole() -> None:
    only = np.array([[1.0, 2.0], [0.0, 0.0]])
    assert pseudo_of(only, np.array([1.0, 3.0]), Ratio())[0] == pytest.approx(0.5)


def test_many_rows_are_left_out_in_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    pairs = np.random.default_rng(2).random((50, 2)) + 0.5
    whole = pseudo_of(pairs, np.ones(50), Ratio())
    monkeypatch.setattr(means, "_BLOCK", 14)
    assert np.array_equal(pseudo_of(pairs, np.ones(50), Ratio()), whole)
