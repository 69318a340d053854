from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from unswayed.base.edits import Span, bio
from unswayed.base.task import task_named


@pytest.mark.parametrize(
    ("text", "spans", "tags"),
    [
        ("fly to new york city", [(7, 15, "to")], "O O B-to I-to O"),
        ("from boston, please", [(5, 11, "from")], "O B-from O"),  # a token with more than the stretch
        ("(new york)", [(1, 9, "to")], "B-to I-to"),
        ("rome rome", [(0, 4, "a"), (5, 9, "a")], "B-a B-a"),
        ("rome-oslo now", [(0, 4, "a"), (5, 9, "b")], "B-a O"),  # one token, two stretches
        ("a  b", [(0, 4, "x")], "B-x O I-x"),
        ("", [(0, 0, "x")], "O"),
        (" a", [(0, 2, "x")], "O B-x"),
    ],
)
def test_stretches_as_tags(text: str, spans: list[tuple[int, int, str]], tags: str) -> None:
    assert bio(text, [Span(*span) for span in spans]) == tags.split(" ")


@given(st.text(st.sampled_from("ab \t花"), max_size=30), st.lists(st.tuples(st.integers(0, 30), st.integers(0, 9))))
def test_a_tag_for_each_token_whatever_the_stretches(text: str, spans: list[tuple[int, int]]) -> None:
    tags = bio(text, [Span(start, start + length, "x") for start, length in spans])
    assert task_named("slu").output_problem({"intent": "", "slots": tags}, {"text": text}) is None
    assert all(tag == "O" for token, tag in zip(text.split(" "), tags, strict=True) if not token)
    assert all(
        before != "O"
        for before, tag in zip(["O", *_dense(text, tags)], _dense(text, tags), strict=False)
        if tag[0] == "I"
    )


def _dense(text: str, tags: list[str]) -> list[str]:
    return [tag for token, tag in zip(text.split(" "), tags, strict=True) if token]
