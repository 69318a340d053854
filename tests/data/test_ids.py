"""Remembered ids beside a plain dict."""

from __future__ import annotations

from hypothesis import given, strategies as st

from unswayed.data import _ids
from unswayed.data._ids import Ids


@given(st.lists(st.tuples(st.text(max_size=3), st.integers(0, 10**9))))
def test_they_are_a_dict(rows):
    ids, lines = Ids(), {}
    for id, line in rows:
        assert ids.add(id, line) == lines.get(id)
        lines.setdefault(id, line)


def test_they_grow(monkeypatch):
    monkeypatch.setattr(_ids, "_SMALLEST", 4)
    ids = Ids()
    assert [ids.add(f"id {i}", i) for i in range(2000)] == [None] * 2000
    assert [ids.add(f"id {i}", -1) for i in range(2000)] == list(range(2000))


def test_half_a_character_and_line_0():
    ids = Ids()
    assert ids.add("\ud800", 0) is None
    assert ids.add("\ud800", 1) == 0
