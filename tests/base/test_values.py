"""Variants as columns are the variants that they stand for, and a suite stores the same bytes of either."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given, strategies as st

from unswayed.base.values import Example, Json, Maker, Meaning, Variant, VariantColumn, Variants
from unswayed.storage.suite_rows import pieces_of

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
golds: st.SearchStrategy[Json] = st.none() | texts | st.lists(texts, max_size=2)


@st.composite
def columns(draw: st.DrawFn) -> tuple[list[VariantColumn], list[Variant]]:
    """Columns of some examples, and the variants in them one by one."""
    names = draw(st.lists(st.sampled_from(["text", "other", 'a "name"\n']), min_size=1, max_size=2, unique=True))
    count = draw(st.integers(1, 5))
    examples = [Example(3 * i, f"id {i}", {name: draw(texts) for name in names}) for i in range(count)]
    fields = [draw(st.sampled_from(names)) for _ in examples]
    made: list[VariantColumn] = []
    for number in range(draw(st.integers(1, 3))):
        meaning: Meaning = draw(st.sampled_from(["same", "changed"]))
        maker = Maker(number, f"f/{number}", "f", meaning)
        cells = [(draw(st.none() | texts), draw(golds), draw(texts)) for _ in examples]
        afters, moved, notes = map(list, zip(*cells, strict=True))
        made.append(VariantColumn(maker, examples, fields, afters, moved, lambda notes=notes: notes))
    plain = []
    for i, (example, field) in enumerate(zip(examples, fields, strict=True)):
        for column in made:
            text = column.texts[i]
            if text is not None:
                inputs = {**example.inputs, field: text}
                note = column.notes()[i]
                plain.append(Variant(example.row, example.id, *column.maker, inputs, column.golds[i], note))
    return made, plain


@given(columns())
def test_columns_are_the_variants_one_by_one(drawn: tuple[list[VariantColumn], list[Variant]]) -> None:
    made, plain = drawn
    variants = Variants(made)
    assert list(variants) == plain
    assert len(variants) == len(plain)
    assert [variants[i] for i in range(len(plain))] == plain
    assert variants.inputs == [v.inputs for v in plain]
    assert variants.golds == [v.gold for v in plain]
    assert variants.places[:2] == [[v.row for v in plain], [v.example_id for v in plain]]
    assert [v for column in made for v in column if v] == sorted(plain, key=lambda v: v.draw)


@given(columns())
def test_a_suite_stores_the_same_of_both(drawn: tuple[list[VariantColumn], list[Variant]]) -> None:
    made, plain = drawn
    assert list(pieces_of(Variants(made))) == list(pieces_of(plain))


def test_notes_are_made_when_they_are_asked_for() -> None:
    asked = []

    def notes() -> Sequence[str]:
        asked.append("notes")
        return ["a note"]

    example = Example(0, "a", {"text": "one"})
    variants = Variants([VariantColumn(Maker(0, "f/a", "f", "same"), [example], ["text"], ["two"], ["x"], notes)])
    assert (variants.texts, variants.golds, variants.places[0], asked) == (["two"], ["x"], [0], [])
    assert (variants[0].note, asked) == ("a note", ["notes"])


def test_a_missing_place_is_an_error() -> None:
    with pytest.raises(IndexError):
        Variants([VariantColumn(Maker(0, "f/a", "f", "same"), [], [], [], [], list)])[0]
