"""Examples given in Python pass the same checks as those of a file."""

from __future__ import annotations

import pytest

from unfazed.core.errors import DataError
from unfazed.core.values import Example
from unfazed.data import ReadOptions, examples_of


def test_mappings_and_examples_are_numbered_anew() -> None:
    flat, native = examples_of([{"text": "a", "label": "x"}, Example(9, "kept", {"text": "b"}, "y")])
    assert (flat.row, flat.inputs, flat.gold) == (0, {"text": "a"}, "x")
    assert (native.row, native.id) == (1, "kept")


@pytest.mark.parametrize(
    ("records", "message"),
    [
        ([], "there are no examples"),
        ([{"text": "a", "label": "x"}, {"text": "b", "label": None}], "<examples>:2: gold must be one label"),
        ([{"text": "a", "label": float("nan")}], "<examples>:1: gold is nan"),
        ([{"text": "a\ud800"}], r"<examples>:1: a text holds half a character, \\ud800"),
        ([{"id": "1", "text": "a"}, {"id": 1, "text": "b"}], "<examples>:2: the id '1' is already that of row 1"),
    ],
)
def test_bad_records_are_named(records: list[dict], message: str) -> None:
    with pytest.raises(DataError, match=message):
        examples_of(records)


def test_options_choose_fields() -> None:
    (example,) = examples_of([{"a": "x", "b": "y"}], ReadOptions(inputs=("b",), gold="a"))
    assert (example.inputs, example.gold) == ({"b": "y"}, "x")
