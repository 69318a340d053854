"""What the fits share: events and their places, the cheapest alignment, and rounding."""

from __future__ import annotations

import pytest

from unswayed.lab.calibration import STEADY_SHAPE, EventCounts, cheapest_path, gamma_steps, round_numbers


def test_a_share_is_drawn_to_a_mean_by_its_weight() -> None:
    counts = EventCounts()
    for happened in (True, False, False, True):
        counts.add("lost", happened)
    assert counts.share("lost") == 0.5
    assert counts.share("lost", 4, 0.0) == 0.25
    assert counts.share("never") == 0.0
    assert counts.share("never", 10, 0.3) == pytest.approx(0.3)


def test_the_cheapest_path_goes_through_what_is_the_same() -> None:
    one, other = "kitten", "sitting"

    def steps(i: int, j: int) -> list[tuple[float, int, int, bool]]:
        ways = [(1.0, 1, 0, True)] if i else []
        ways += [(1.0, 0, 1, True)] if j else []
        same = i and j and one[i - 1] == other[j - 1]
        return [*ways, (0.0 if same else 1.0, 1, 1, not same)] if i and j else ways

    path = cheapest_path(len(one), len(other), steps)
    assert sum(mark for *_, mark in path) == 3  # the Levenshtein distance
    assert "".join(one[i:j] for i, j, *_ in path) == one
    assert "".join(other[k:m] for _, _, k, m, _ in path) == other
    assert cheapest_path(0, 0, steps) == []


def test_steps_of_a_gamma_have_the_mean_1() -> None:
    steps = gamma_steps(2.0)
    assert steps == sorted(steps)
    assert sum(steps) / len(steps) == pytest.approx(1.0, abs=1e-3)
    assert gamma_steps(STEADY_SHAPE) == [1.0]


def test_numbers_are_rounded_wherever_they_stand() -> None:
    assert round_numbers({"a": [0.123456, 7], "b": {"c": "x", "d": 1234.56}}) == {
        "a": [0.1235, 7],
        "b": {"c": "x", "d": 1235.0},
    }
    assert round_numbers(0.123456, lambda number: round(number, 2)) == 0.12
