"""Columns as DataFrames, and as a table in a notebook."""

from __future__ import annotations

import sys

import pytest

from unswayed.base.errors import MissingExtra
from unswayed.base.text import data_frame, html_table

COLUMNS = {"text": ["a <b>", "c"], "gold": ["x", None], "score": [0.123456, 1.0]}


def test_pandas() -> None:
    frame = data_frame("pandas", COLUMNS)
    assert list(frame.columns) == ["text", "gold", "score"]
    assert frame["text"].tolist() == ["a <b>", "c"]


def test_polars() -> None:
    pytest.importorskip("polars")
    assert data_frame("polars", COLUMNS).to_dicts()[1] == {"text": "c", "gold": None, "score": 1.0}
    assert data_frame("polars", {"gold": [{"a": 1}, {"a": 2}], "mixed": [1, "b"]}).height == 2


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_without_the_library_the_line_that_installs_it_is_shown(library: str, monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(MissingExtra, match=rf"to_{library}\(\) .* pip install '{library}"):
        data_frame(library, COLUMNS)


def test_a_table_is_short_and_escaped() -> None:
    page = html_table({"text": ["<script>"] * 3, "n": [1, 2, 3]}, "A & B", rows=2)
    assert "<script>" not in page
    assert "&lt;script&gt;" in page
    assert "A &amp; B" in page
    assert "1 more rows" in page
    assert page.count("<tr>") == 3
    assert html_table({"text": []}).count("<tr>") == 1
