"""Labels move with the words, whatever the edits: proved for random texts, tags and edits."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import assume, given, strategies as st

from unswayed.base.edits import Edit, LabelsLost, OneEach, apply, move_spans, move_tags, move_tags_each, slots_of

words = st.text(st.characters(categories=["L", "N", "P", "S"]), min_size=1, max_size=6)


@st.composite
def tagged(draw: st.DrawFn) -> tuple[list[str], list[str]]:
    """Tokens with well-formed BIO tags."""
    tokens = draw(st.lists(words, min_size=1, max_size=10))
    tags: list[str] = []
    for _ in tokens:
        choices = ["O", "B-a", "B-b"]
        if tags and tags[-1] != "O":
            choices.append("I-" + tags[-1][2:])
        tags.append(draw(st.sampled_from(choices)))
    return tokens, tags


@st.composite
def edits_of(draw: st.DrawFn, text: str) -> list[Edit]:
    points = sorted(draw(st.lists(st.integers(0, len(text)), max_size=8)))
    pairs = list(zip(points[::2], points[1::2], strict=False))
    return [Edit(a, b, draw(st.text("ab c", max_size=5))) for a, b in pairs]


def values(tokens: list[str], tags: list[str]) -> list[tuple[str, str]]:
    return [(kind, " ".join(tokens[a:b])) for kind, a, b in slots_of(tags)]


@given(st.data())
def test_any_edits_keep_every_slot_or_say_that_they_cannot(data: st.DataObject) -> None:
    tokens, tags = data.draw(tagged())
    text = " ".join(tokens)
    edits = data.draw(edits_of(text))
    try:
        new_text, new_tags = move_tags(text, tags, edits)
    except LabelsLost:
        return
    assert new_text.split(" ") == apply(text, edits).split()
    assert len(new_tags) == len(new_text.split(" "))
    assert [kind for kind, _, _ in slots_of(new_tags)] == [kind for kind, _, _ in slots_of(tags)]
    for before, after in pairwise(new_tags):
        assert not after.startswith("I-") or before[2:] == after[2:], "a slot continues what never began"


@given(st.data())
def test_words_between_tokens_are_outside_and_values_stay(data: st.DataObject) -> None:
    tokens, tags = data.draw(tagged())
    text = " ".join(tokens)
    place = data.draw(st.integers(0, len(tokens)))
    at = len(" ".join(tokens[:place])) if place else 0
    edit = Edit(at, at, " you know") if place else Edit(0, 0, "you know ")
    if place < len(tokens) and tags[place].startswith("I-"):
        with pytest.raises(LabelsLost):
            move_tags(text, tags, [edit])
        return
    new_text, new_tags = move_tags(text, tags, [edit])
    assert new_tags == [*tags[:place], "O", "O", *tags[place:]]
    assert values(new_text.split(" "), new_tags) == values(tokens, tags)


@given(st.data())
def test_tags_of_many_texts_are_moved_as_those_of_each(data: st.DataObject) -> None:
    tokens, tags = data.draw(tagged())
    text = " ".join(tokens)
    places = [0, *(i for i, character in enumerate(text) if character == " "), len(text), len(text)]
    edges = st.sampled_from([*places, *(i + 1 for i in places[1:-2])]) | st.integers(0, len(text))
    start, end = sorted((data.draw(edges), data.draw(edges)))
    new = data.draw(st.text("ab ", max_size=5))
    [after], [moved] = move_tags_each([text], [tags], OneEach([start], [end], [new]))
    try:
        assert (after, moved) == move_tags(text, tags, [Edit(start, end, new)])
    except LabelsLost:
        assert after is None


@given(st.data())
def test_a_replaced_token_keeps_its_tag_and_a_longer_one_continues_its_slot(data: st.DataObject) -> None:
    tokens, tags = data.draw(tagged())
    place = data.draw(st.integers(0, len(tokens) - 1))
    new = data.draw(st.lists(words, min_size=1, max_size=3))
    start = len(" ".join(tokens[:place])) + (1 if place else 0)
    new_text, new_tags = move_tags(" ".join(tokens), tags, [Edit(start, start + len(tokens[place]), " ".join(new))])
    inner = "O" if tags[place] == "O" else "I-" + tags[place][2:]
    assert new_text.split(" ") == [*tokens[:place], *new, *tokens[place + 1 :]]
    assert new_tags == [*tags[:place], tags[place], *[inner] * (len(new) - 1), *tags[place + 1 :]]


@pytest.mark.parametrize(
    ("text", "tags", "edits", "expected"),
    [
        ("play new york", "O B-c I-c", [Edit(5, 13, "newyork")], ("play newyork", "O B-c")),
        ("play jazz", "O B-g", [Edit(4, 5, "")], ("playjazz", "B-g")),
        ("playjazz now", "B-g O", [Edit(4, 4, " ")], ("play jazz now", "B-g I-g O")),
        ("a b c", "O B-x O", [Edit(0, 2, ""), Edit(5, 5, "!")], ("b c!", "B-x O")),
        ("the new york", "B-c I-c I-c", [Edit(0, 0, "x "), Edit(0, 4, "")], ("x new york", "O B-c I-c")),
        ("set it", "O O", [Edit(0, 3, "put on"), Edit(4, 6, "them")], ("put on them", "O O O")),
    ],
)
def test_edits_that_join_split_and_delete(text: str, tags: str, edits: list[Edit], expected: tuple[str, str]) -> None:
    new_text, new_tags = move_tags(text, tags.split(), edits)
    assert (new_text, " ".join(new_tags)) == expected


@pytest.mark.parametrize(
    ("text", "tags", "edit"),
    [
        ("new york", "B-c I-c", Edit(3, 3, " um")),
        ("boston denver", "B-f B-t", Edit(6, 7, "")),
        ("to boston", "O B-c", Edit(2, 9, "")),
        ("boston", "B-c", Edit(0, 6, "")),
    ],
)
def test_edits_that_would_make_a_label_false_are_refused(text: str, tags: str, edit: Edit) -> None:
    with pytest.raises(LabelsLost):
        move_tags(text, tags.split(), [edit])


@given(st.text(max_size=40), st.data())
def test_spans_hold_the_same_text_when_edits_stay_outside(text: str, data: st.DataObject) -> None:
    assume(len(text) >= 2)
    start = data.draw(st.integers(0, len(text) - 1))
    end = data.draw(st.integers(start + 1, len(text)))
    edits = data.draw(edits_of(text))
    outside = [e for e in edits if e.end <= start or e.start >= end]
    ((new_start, new_end),) = move_spans([(start, end)], outside)
    assert apply(text, outside)[new_start:new_end] == text[start:end]


def test_a_span_grows_and_shrinks_with_edits_inside_it() -> None:
    text = "the answer is forty two today"
    edits = [Edit(0, 3, "an"), Edit(14, 19, "fourty"), Edit(24, 29, "now")]
    ((start, end),) = move_spans([(14, 23)], edits)
    assert apply(text, edits)[start:end] == "fourty two"
    with pytest.raises(LabelsLost):
        move_spans([(14, 23)], [Edit(10, 16, "x")])


def test_edits_out_of_order_are_an_error() -> None:
    for move in (lambda e: apply("abc def", e), lambda e: move_tags("abc def", ["O", "O"], e)):
        with pytest.raises(ValueError, match="out of order"):
            move([Edit(4, 6, "x y"), Edit(0, 1, "z")])


@pytest.mark.parametrize(
    ("tags", "expected"),
    [
        ("O B-a I-a O", [("a", 1, 3)]),
        ("B-a B-a I-b", [("a", 0, 1), ("a", 1, 2), ("b", 2, 3)]),
        ("I-a I-a O I-b", [("a", 0, 2), ("b", 3, 4)]),
    ],
)
def test_slots_by_conllevals_reading(tags: str, expected: list[tuple[str, int, int]]) -> None:
    assert slots_of(tags.split()) == expected
