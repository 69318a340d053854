"""Means of independent estimates against the textbook interval."""

from __future__ import annotations

from math import sqrt

import pytest
from hypothesis import given, strategies as st

from unswayed.base.values import Estimate
from unswayed.stats import mean_of

Z = 1.959963984540054


@given(st.lists(st.tuples(st.floats(-1, 1), st.floats(1e-3, 0.2)), min_size=1, max_size=5))
def test_for_symmetric_intervals_it_is_the_normal_interval(found: list[tuple[float, float]]) -> None:
    given = [Estimate(v, v - Z * se, v + Z * se, 10, 1, str(i)) for i, (v, se) in enumerate(found)]
    mean = mean_of(given)
    se = sqrt(sum(s * s for _, s in found)) / len(found)
    middle = sum(v for v, _ in found) / len(found)
    assert mean.value == pytest.approx(middle)
    assert (mean.low, mean.high) == (pytest.approx(middle - Z * se), pytest.approx(middle + Z * se))
    assert (mean.n, mean.missing) == (10 * len(found), len(found))


def test_what_is_not_known_stays_unknown() -> None:
    known = Estimate(0.5, 0.4, 0.6, 9, 0, "a")
    assert mean_of([known, Estimate(None, None, None, 0, 3, "b")]).value is None
    half = mean_of([known, Estimate(0.7, None, None, 1, 0, "b")])
    assert (half.value, half.low, half.high) == (pytest.approx(0.6), None, None)
    assert mean_of([known, known]).signature != mean_of([known]).signature
