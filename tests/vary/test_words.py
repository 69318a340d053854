"""Picking with a probability picks as coins would; new words take the old ones' case."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from unswayed.base.seeds import Stream
from unswayed.vary.words import cased, checked_rate, picked, some, summed


@pytest.mark.parametrize("rate", [0.05, 0.3, 0.9])
def test_each_is_picked_as_often_as_the_rate_says(rate: float) -> None:
    n, rounds = 20, 4000
    rng = Stream(b"test")
    rounds_of = [picked(n, rate, rng) for _ in range(rounds)]
    sigma = (rate * (1 - rate) * rounds) ** 0.5
    for i in range(n):
        assert sum(i in found for found in rounds_of) == pytest.approx(rate * rounds, abs=4.5 * sigma)
    both = sum(0 in found and 1 in found for found in rounds_of)
    assert both == pytest.approx(rate**2 * rounds, abs=4.5 * (rate**2 * rounds) ** 0.5), "neighbours are independent"


@given(st.integers(0, 50), st.floats(0, 1), st.binary(min_size=1))
def test_picks_are_in_order_and_inside(count: int, rate: float, key: bytes) -> None:
    found = picked(count, rate, Stream(key))
    assert found == sorted(set(found))
    assert all(0 <= i < count for i in found)
    if rate == 1:
        assert len(found) == count


@given(st.lists(st.text(), max_size=9), st.floats(0, 1), st.binary(min_size=1))
def test_some_is_one_at_least_and_one_without_a_rate(places: list[str], rate: float, key: bytes) -> None:
    found = some(places, rate, Stream(key))
    assert bool(found) == bool(places)
    assert len(some(places, 0, Stream(key))) == min(1, len(places))


def test_case_and_rates() -> None:
    assert [cased("new", old) for old in ("old", "Old", "OLD", "O", "oLD")] == ["new", "New", "NEW", "New", "new"]
    with pytest.raises(ValueError, match="rate must be from 0 to 1, not 2"):
        checked_rate(2)


def test_a_sum_is_added_up_from_the_first_to_the_last() -> None:
    """As every version of Python does it: `sum` of 3.12 gives 1.0 here."""
    assert summed([0.1] * 10) == 0.9999999999999999
