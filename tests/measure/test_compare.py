"""Comparisons: exact where they can be, corrected, and plain about chance."""

from __future__ import annotations

import itertools

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from unfazed.core.errors import NothingEvaluated, UnknownName, UsageError
from unfazed.core.estimate import Mean, Ratio, bonferroni, correct, count_rows, holm, mcnemar, swap
from unfazed.measure.compared import Comparison
from unfazed.measure.comparison import compare
from unfazed.measure.measuring import measure_run


def found(comparison, measure, set_="all"):
    return next(d for d in comparison.differences if (d.measure, d.set) == (measure, set_))


@given(st.integers(0, 300), st.integers(0, 300))
def test_mcnemar_is_scipys_binomial_test(more, less):
    expected = stats.binomtest(more, more + less).pvalue if more + less else 1.0
    assert mcnemar(more, less) == pytest.approx(expected, rel=1e-8)


@pytest.mark.parametrize("statistic", [Mean(), Ratio()])
@pytest.mark.parametrize("distinct", [True, False])
def test_swapping_is_the_exact_test_in_the_limit(statistic, distinct):
    """All 2^10 swaps of ten examples against random ones."""
    rng = np.random.default_rng(0)
    a = rng.random((10, 2)) if distinct else rng.integers(0, 2, (10, 2)).astype(float)
    b = a + (rng.random((10, 2)) if distinct else rng.integers(0, 2, (10, 2)))
    a, b = (x[:, :1] if isinstance(statistic, Mean) else x + np.array([0, 1]) for x in (a, b))

    def difference(a, b):
        return float((statistic(b.sum(0, keepdims=True), 10) - statistic(a.sum(0, keepdims=True), 10))[0])

    every = []
    for signs in itertools.product([True, False], repeat=10):
        keep = np.array(signs)[:, None]
        every.append(difference(np.where(keep, a, b), np.where(keep, b, a)))
    both, counts = count_rows(np.hstack([a, b]))
    drawn = swap(*np.hsplit(both, 2), counts, statistic, 20_000, 0)
    observed = abs(difference(a, b)) - 1e-12
    assert np.mean(np.abs(drawn) >= observed) == pytest.approx(np.mean(np.abs(every) >= observed), abs=0.01)
    assert np.std(drawn) == pytest.approx(np.std(every), rel=0.05)


def test_differences_are_of_what_both_answered(random_run):
    a, b = random_run(80, seed=1, right=0.5), random_run(80, seed=1, right=0.9, identity="b")
    compared = compare(a, b, bootstrap=500)
    for d in compared.differences:
        assert d.difference == pytest.approx(d.b - d.a)
        assert d.low <= d.difference <= d.high
        assert 0 < d.p <= d.p_corrected <= 1
    assert found(compared, "clean").test == "mcnemar"
    assert found(compared, "average").test == "randomisation"
    assert found(compared, "average").difference > 0 > found(compared, "flips").difference
    sets = {d.set for d in compared.differences}
    assert sets == {"all", "operator=keys/near", "operator=spoken/filler"}


def test_without_failures_the_sides_are_the_runs_own(random_run):
    a, b = random_run(50, seed=1, fail=0, right=0.5), random_run(50, seed=1, fail=0, right=0.52, identity="b")
    compared = compare(a, b, bootstrap=100)
    for run, side in ((a, "a"), (b, "b")):
        measured = measure_run(run, bootstrap=100)
        for name in ("clean", "average", "worst", "flips"):
            assert getattr(found(compared, name), side) == pytest.approx(getattr(measured.whole, name).value)


def test_missing_is_left_out_on_both_sides(fake_run):
    failed = fake_run.FAILED
    a = fake_run([("x", "x", [("p", 0, "same", failed), ("p", 1, "same", "x")]), ("x", failed, [])])
    b = fake_run([("x", "x", [("p", 0, "same", "y"), ("p", 1, "same", "x")]), ("x", "x", [])])
    compared = compare(a, b, bootstrap=50)
    assert (found(compared, "average").a, found(compared, "average").b) == (1.0, 1.0)
    assert found(compared, "average").missing == found(compared, "clean").missing == 1
    assert found(compared, "clean").n == 1


def test_a_clear_difference_and_one_that_may_be_chance(fake_run):
    def run(right, n=200):
        outputs = ["x" if i < right else "y" for i in range(n)]
        return fake_run([("x", o, [("p", 0, "same", o)]) for o in outputs])

    clear = found(compare(run(100), run(130)), "worst")
    assert clear.sentence.startswith("B's worst-average is 0.150 higher (0.1")
    assert clear.sentence.endswith(", p < 0.001).")
    lower = found(compare(run(130), run(100)), "worst")
    assert lower.sentence.startswith("B's worst-average is 0.150 lower (0.1")
    chance = found(compare(run(100), run(101)), "average")
    assert chance.sentence.endswith("the difference may be chance: the interval includes zero.")
    same = compare(run(100), run(100))
    assert {d.p for d in same.differences} == {1.0}
    assert found(same, "clean").sentence == "A and B have the same clean score on 200 examples."


def test_swapping_the_runs_swaps_the_sign(random_run):
    a, b = random_run(60, seed=1), random_run(60, seed=1, right=0.8, identity="b")
    one, other = compare(a, b, bootstrap=400), compare(b, a, bootstrap=400)
    for d, e in zip(one.differences, other.differences, strict=True):
        assert d.difference == pytest.approx(-e.difference)
        assert d.p == pytest.approx(e.p, abs=0.08)


def test_other_scores_and_texts_without_gold(random_run, fake_run):
    a, b = random_run(40, seed=1), random_run(40, seed=1, right=0.9, identity="b")
    macro = compare(a, b, ["macro_f1"], bootstrap=200)
    assert macro.score == "macro_f1"
    assert found(macro, "average").difference > 0
    texts = [fake_run([(None, "x", [("p", 0, "same", o)])] * 5, task="text") for o in "xy"]
    only = compare(*texts, bootstrap=50)
    assert [d.measure for d in only.differences] == ["flips"]
    assert only.differences[0].difference == 1.0


def test_different_suites_are_refused(fake_run):
    rows = [("x", "x", [("p", 0, "same", "x")])]
    with pytest.raises(UsageError, match="different suites"):
        compare(fake_run(rows), fake_run(rows, suite="s2"))


def test_nothing_in_common(fake_run):
    a = fake_run([("x", fake_run.FAILED, [("p", 0, "same", "x")])])
    b = fake_run([("x", "x", [("p", 0, "same", fake_run.FAILED)])])
    with pytest.raises(NothingEvaluated):
        compare(a, b)


def test_the_same_bytes_again_and_back_from_json(random_run):
    a, b = random_run(40, seed=1), random_run(40, seed=1, right=0.9, identity="b")
    one = msgspec.json.encode(compare(a, b, bootstrap=100))
    assert one == msgspec.json.encode(compare(a.shuffled(1), b.shuffled(2), bootstrap=100))
    assert isinstance(msgspec.json.decode(one, type=Comparison), Comparison)
    assert one != msgspec.json.encode(compare(a, b, bootstrap=100, correction="bonferroni"))


def test_holm_and_bonferroni_by_hand():
    p = [0.01, 0.04, 0.03, 0.005]
    assert bonferroni(p) == pytest.approx([0.04, 0.16, 0.12, 0.02])
    assert holm(p) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert correct([0.02, None, 0.5], "holm") == pytest.approx([0.04, None, 0.5])
    assert correct(p, "none") == p
    with pytest.raises(UnknownName, match="holm"):
        correct(p, "hol")


@given(st.lists(st.floats(0, 1), min_size=1, max_size=20))
def test_holm_lies_between_the_raw_and_bonferronis(p):
    for raw, one, other in zip(p, holm(p), bonferroni(p), strict=True):
        assert raw <= one <= other
