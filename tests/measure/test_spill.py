"""Numbers that are put aside come back as they were, however they were cut."""

from __future__ import annotations

import os

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from unswayed.base.errors import StoredFileError
from unswayed.measure import spill
from unswayed.measure.spill import Distinct, Spill, Tally
from unswayed.stats import count_rows


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.lists(st.sampled_from([0.0, 0.5, 1.0, 1 / 3]), min_size=2, max_size=2), min_size=1, max_size=120),
    st.integers(1, 50),
)
def test_a_tally_counts_as_all_at_once(rows, step):
    values = np.array(rows)
    kept = Tally(Spill())
    for at in range(0, len(values), step):
        kept.add(values[at : at + step])
    for found, expected in zip(kept.rows(), count_rows(values), strict=True):
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("levels", [3, 10**9])
def test_a_tally_of_many_rows(levels):
    values = np.random.default_rng(0).integers(0, levels, (20_000, 1)).astype(float)
    kept = Tally(Spill())
    for block in np.array_split(values, 7):
        kept.add(block)
    for found, expected in zip(kept.rows(), count_rows(values), strict=True):
        np.testing.assert_array_equal(found, expected)


@given(st.lists(st.integers(0, 300)))
def test_distinct_hashes_are_counted(numbers):
    seen = Distinct(Spill())
    for number in numbers:
        seen.add(np.array([number], dtype=np.uint64))
    assert seen.count() == len(set(numbers))


def test_distinct_hashes_are_counted_in_blocks(monkeypatch):
    monkeypatch.setattr(spill, "_BLOCK", 80)
    monkeypatch.setattr(spill, "_AT_ONCE", 30)
    seen = Distinct(Spill())
    for number in range(1000):
        seen.add(np.array([number % 700], dtype=np.uint64))
    assert (seen.n, seen.count()) == (1000, 700)


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no /dev/full here")
def test_no_room_is_told_with_the_way_out():
    kept = Spill()
    kept._file.close()
    with open("/dev/full", "wb", buffering=0) as full:
        kept._file = full
        with pytest.raises(StoredFileError, match="TMPDIR"):
            kept.put(np.zeros(10))
