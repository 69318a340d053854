"""Means over data sets against the textbook interval, and shares of operators against counting."""

from __future__ import annotations

from collections import Counter
from math import sqrt
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unfazed.core.values import Estimate
from unfazed.measure.intervals import Settings
from unfazed.papers.nature.averaging import mean_of
from unfazed.papers.nature.shares import shares
from unfazed.run.making import make_suite

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


def test_shares_are_those_counted(tmp_path: Path) -> None:
    said = [{"text": f"play song number {i}", "label": "play"} for i in range(40)]
    suite = make_suite(
        said, ["spoken/filler_end", "spoken/filler_begin"], to=tmp_path / "s", set="random", draws=3, language="en"
    )
    counted = Counter(variant.source for variant in suite.variants())
    found = shares(suite, ["spoken/filler_begin", "spoken/filler_end", "spoken/speako"], Settings(bootstrap=500))
    for name, estimate in found.items():
        assert estimate.value == pytest.approx(counted[name] / 120)
        assert estimate.n == 40
        assert estimate.low is not None
        assert estimate.low <= counted[name] / 120 <= (estimate.high or 0)
    assert found["spoken/speako"].high == pytest.approx(1 - 0.025 ** (1 / 40))
