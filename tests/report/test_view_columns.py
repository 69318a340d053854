"""JSON that is made in pieces is the JSON of the whole; so is base64."""

from __future__ import annotations

from base64 import b64encode

import msgspec
import pytest
from hypothesis import given, settings, strategies as st

from unswayed.measure.spill import Spill
from unswayed.report import view_columns
from unswayed.report.view import _in_base64
from unswayed.report.view_columns import LongList, json_pieces

LEAF = st.one_of(st.text(max_size=3), st.integers(-9, 9), st.none(), st.booleans())
VALUE = st.recursive(
    LEAF, lambda part: st.one_of(st.lists(part, max_size=9), st.dictionaries(st.text(max_size=3), part, max_size=4))
)


@pytest.fixture(scope="module", autouse=True)
def _few_together():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(view_columns, "_VALUES", 3)
        yield


@settings(deadline=None)
@given(VALUE)
def test_pieces_are_the_whole(value):
    assert b"".join(json_pieces(value)) == msgspec.json.encode(value)


@settings(deadline=None)
@given(st.lists(st.lists(LEAF, max_size=5), max_size=6))
def test_a_long_list_is_a_list(added):
    kept = LongList(Spill())
    for i, values in enumerate(added):
        if i % 2:
            kept.extend(values)
        else:
            for value in values:
                kept.append(value)
        kept.put_aside()
        assert len(kept._new) < 3  # the rest is not in memory
    whole = [value for values in added for value in values]
    assert b"".join(json_pieces({"a": [kept], "b": 1})) == msgspec.json.encode({"a": [whole], "b": 1})


@given(st.lists(st.binary(max_size=7)))
def test_base64_in_pieces(pieces):
    assert b"".join(_in_base64(pieces)) == b64encode(b"".join(pieces))
