"""Gates: which figure is held against the limit, and that nothing measured never passes."""

from __future__ import annotations

import msgspec
import pytest

from unfazed.core.errors import UnknownName, UsageError
from unfazed.core.values import Estimate
from unfazed.measure.gates import check_gates, gates_of
from unfazed.measure.measuring import measure_run


@pytest.fixture(scope="module")
def results(fake_run):
    rows = [("a", "a", [("p", 0, "same", "a" if i % 5 else "b")]) for i in range(50)]
    return measure_run(fake_run(rows), bootstrap=500)


def one(results, **wanted):
    (result,) = check_gates(results, gates_of(**wanted))
    return result


def test_scores_must_not_fall_under(results):
    passed = one(results, fail_under=["worst=0.80"])
    assert (passed.name, passed.bound, passed.limit, passed.passed) == ("worst", pytest.approx(0.8), 0.8, True)
    assert passed.sentence == "worst is 0.800; at least 0.8 was asked: passed."
    assert not one(results, fail_under={"worst": 0.81}).passed


def test_drops_and_flips_must_not_exceed(results):
    assert one(results, max_drop=0.2).passed
    assert not one(results, max_drop=0.19).passed
    assert one(results, max_flips=0.2).passed
    assert not one(results, max_flips=0.1).passed


def test_ci_lower_takes_the_unfavourable_end(results):
    assert one(results, fail_under=["worst=0.8"], on="ci-lower").bound == results.worst.low
    assert one(results, max_drop=0.2, on="ci-lower").bound == results.drop.high
    assert one(results, max_flips=0.2, on="ci-upper").bound == results.flip_rate.low
    assert not one(results, max_flips=0.2, on="ci-lower").passed
    assert one(results, max_flips=0.2, on="ci-upper").passed
    assert one(results, max_flips=0.2, on="ci-lower").sentence.startswith("the upper end of flips is 0.")


def test_a_figure_just_past_the_limit_is_shown_as_such(results):
    close = msgspec.structs.replace(results, worst=Estimate(0.5999, 0.5, 0.7, 9, 0, ""))
    assert one(close, fail_under=["worst=0.60"]).sentence == "worst is 0.5999; at least 0.6 was asked: failed."


def test_nothing_measured_fails(results):
    nothing = one(results, fail_under=["noticed=0.5"])
    assert (nothing.bound, nothing.passed) == (None, False)
    assert "nothing was measured" in nothing.sentence


def test_rounding_does_not_fail_a_gate(results):
    drop = Estimate(0.9 - 0.8, 0.0, 0.2, 9, 0, "")
    assert one(msgspec.structs.replace(results, drop=drop), max_drop=0.1).passed


@pytest.mark.parametrize("text", ["wurst=0.5", "signature=0.5"])
def test_unknown_names(text):
    with pytest.raises(UnknownName):
        gates_of([text])
    with pytest.raises(UnknownName, match="ci-lower"):
        gates_of([], on="ci-low")


@pytest.mark.parametrize("text", ["worst", "worst=", "worst=high", "worst=nan", "drop=0.1"])
def test_bad_limits(text):
    with pytest.raises(UsageError):
        gates_of([text])


def test_the_nearest_name_is_offered():
    with pytest.raises(UnknownName, match="Did you mean 'worst'"):
        gates_of(["wrst=0.5"])
