"""Exact tests, intervals of shares, corrections and Student's t, against scipy and statsmodels."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st
from scipy import stats

from unswayed.base.errors import UnknownName
from unswayed.stats import (
    CORRECTIONS,
    binomial_tail,
    bonferroni,
    clopper_pearson,
    correct,
    holm,
    mcnemar,
    share_of,
    t_p_value,
    t_quantile,
)

FREEDOM = [0.7, 1.0, 2.0, 3.4, 10.0, 99.5, 1000.0, 99_999.0, 1e6]


@pytest.mark.parametrize("n", [1, 2, 7, 40, 300])
@pytest.mark.parametrize("p", [0.01, 0.3, 0.5, 0.97])
def test_binomial_tails_are_scipys(n: int, p: float) -> None:
    for k in {0, 1, n // 2, n - 1, n}:
        assert binomial_tail(k, n, p) == pytest.approx(stats.binom.sf(k - 1, n, p), rel=1e-9)
    assert binomial_tail(n + 1, n, p) == 0


def test_certain_coins() -> None:
    assert binomial_tail(1, 5, 0.0) == 0
    assert binomial_tail(5, 5, 1.0) == 1
    assert binomial_tail(0, 5, 0.0) == 1
    assert binomial_tail(3, 4) == pytest.approx(5 / 16)


@pytest.mark.parametrize(("more", "less"), [(0, 0), (1, 0), (7, 2), (2, 7), (5, 5), (120, 80)])
def test_mcnemars_test_is_the_sign_test(more: int, less: int) -> None:
    expected = stats.binomtest(more, more + less, 0.5).pvalue if more + less else 1.0
    assert mcnemar(more, less) == pytest.approx(expected)


@pytest.mark.parametrize(("k", "n"), [(0, 10), (10, 10), (3, 10), (57, 60), (1, 1)])
@pytest.mark.parametrize("level", [0.8, 0.95])
def test_intervals_of_shares_are_clopper_and_pearsons(k: int, n: int, level: float) -> None:
    exact = stats.binomtest(k, n).proportion_ci(level, method="exact")
    assert clopper_pearson(k, n, level) == pytest.approx((exact.low, exact.high), abs=1e-12)
    found = share_of(k, n, 4, "s", level)
    assert (found.value, found.n, found.missing, found.signature) == (k / n, n, 4, "s")
    assert (found.low, found.high) == pytest.approx((exact.low, exact.high), abs=1e-12)


def test_half_a_win_widens_the_interval_on_either_side() -> None:
    low, high = clopper_pearson(3.5, 10)
    assert low == clopper_pearson(3, 10)[0]
    assert high == clopper_pearson(4, 10)[1]
    assert share_of(0, 0, 2, "s").value is None


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12))
def test_holm_is_never_above_bonferroni_and_keeps_the_order(p: list[float]) -> None:
    found = holm(p)
    assert all(one <= other for one, other in zip(found, bonferroni(p), strict=True))
    assert sorted(range(len(p)), key=p.__getitem__) == sorted(range(len(p)), key=lambda i: (found[i], p[i]))


def test_corrections_are_those_of_r() -> None:
    """p.adjust(c(0.01, 0.04, 0.03, 0.6, 0.02), method)."""
    p = [0.01, 0.04, 0.03, 0.6, 0.02]
    assert holm(p) == pytest.approx([0.05, 0.09, 0.09, 0.6, 0.08])
    assert bonferroni(p) == pytest.approx([0.05, 0.2, 0.15, 1.0, 0.1])


def test_what_was_not_tested_is_not_counted() -> None:
    assert correct([0.01, None, 0.02]) == [0.02, None, 0.02]
    assert correct([0.01, None, 0.02], "bonferroni") == [0.02, None, 0.04]
    assert correct([0.01, None], "none") == [0.01, None]
    with pytest.raises(UnknownName, match="correction"):
        correct([0.1], "fdr")
    assert set(CORRECTIONS) == {"holm", "bonferroni", "none"}


@pytest.mark.parametrize("df", FREEDOM)
def test_students_t_equals_scipy(df: float) -> None:
    for p in (0.01, 0.5, 0.6, 0.9, 0.975, 0.995, 0.9999):
        assert t_quantile(p, df) == pytest.approx(stats.t.ppf(p, df), rel=1e-7)
    for t in (0.0, 0.01, 0.3, -1.0, 2.0, 5.0):
        assert t_p_value(t, df) == pytest.approx(2 * stats.t.sf(abs(t), df), rel=1e-7)
    assert t_p_value(float("inf"), df) == 0
