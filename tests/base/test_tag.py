"""The task tag: what answers may look like, how gold moves, and when two answers are the same."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, strategies as st

from unswayed.base.edits import Edit, LabelsLost, to_bio
from unswayed.base.task import task_named
from unswayed.base.text import spelled

TASK = task_named("tag")
TEXT = {"text": "Anna Berg in Wien"}
TAGS = ["B-PER", "I-PER", "O", "B-LOC"]
ENTITIES = [{"start": 0, "end": 9, "label": "PER"}, {"start": 13, "end": 17, "label": "LOC"}]


@pytest.mark.parametrize(
    "output",
    [
        TAGS,
        ["I-PER", "I-PER", "O", "I-LOC"],
        ["B-PER", "E-PER", "O", "S-LOC"],
        ["B-PER", "L-PER", "O", "U-LOC"],
        {"tags": TAGS},
        {"intent": "", "slots": TAGS},
        ENTITIES,
        ENTITIES[::-1],
        [[0, 9, "PER"], [13, 17, "LOC"]],
        {"entities": ENTITIES},
        {"tags": TAGS, "entities": ENTITIES},
        [{"entity_group": "PER", "start": 0, "end": 9, "score": 0.9}, {"entity_group": "LOC", "start": 13, "end": 17}],
        '{"entities": [[0, 9, "PER"], [13, 17, "LOC"]]}',
    ],
)
def test_answers_of_every_form_are_the_same(output: object) -> None:
    assert TASK.output_problem(output, TEXT) is None
    assert TASK.read(output, TEXT) == {"tags": TAGS, "entities": ENTITIES}
    assert TASK.read(TASK.read(output, TEXT), TEXT) == TASK.read(output, TEXT)


@pytest.mark.parametrize(
    ("output", "said"),
    [
        ("PER", "an output must be a list of tags or of entities"),
        (["O"], "an output has 1 tags for 4 tokens"),
        (["PER", "O", "O", "O"], "the tag 'PER', which is not O"),
        ([[0, 99, "X"]], "from character 0 to 99, but the text has 17"),
        ([{"start": 0, "end": 3}], "an entity must have a start, an end and a label"),
        ({"label": "x"}, "an output must have tags or entities"),
        (7, "an output must be a list"),
        ([1, 2], "an entity must be"),
    ],
)
def test_what_is_wrong_with_an_answer_is_said(output: object, said: str) -> None:
    assert said in str(TASK.output_problem(output, TEXT))
    assert TASK.read(output, TEXT) == output


def test_no_entities_are_an_answer() -> None:
    assert TASK.read([], TEXT) == {"tags": ["O"] * 4, "entities": []}


def test_an_added_word_is_no_flip_and_another_border_is() -> None:
    before = TASK.answer(TASK.read(TAGS, TEXT))
    later = {"text": f"well {TEXT['text']}"}
    assert TASK.answer(TASK.read(["O", *TAGS], later)) == before
    assert TASK.answer(TASK.read(["B-PER", "O", "O", "B-LOC"], TEXT)) != before
    assert TASK.answer(TASK.read(["B-LOC", "I-LOC", "O", "B-PER"], TEXT)) != before


def test_letters_at_the_border_belong_to_the_entity() -> None:
    gold = {"entities": [{"start": 3, "end": 7, "label": "LOC"}]}
    for edit, found in [
        (Edit(7, 7, "n"), "Wienn"),
        (Edit(3, 3, "W"), "WWien"),
        (Edit(7, 7, ","), "Wien"),
        (Edit(3, 3, "um "), "Wien"),
        (Edit(7, 7, " oh"), "Wien"),
        (Edit(2, 3, ""), "Wien"),
        (Edit(4, 6, "ei"), "Wein"),
    ]:
        text, moved = TASK.move(gold, "text", "in Wien.", [edit])
        assert text[moved["entities"][0]["start"] : moved["entities"][0]["end"]] == found
    for edit in (Edit(6, 8, "x"), Edit(3, 7, "")):
        with pytest.raises(LabelsLost):
            TASK.move(gold, "text", "in Wien.", [edit])


def test_tags_stay_on_tokens_that_are_merged_or_split() -> None:
    assert TASK.move({"tags": TAGS}, "text", TEXT["text"], [Edit(4, 5, "")]) == (
        "AnnaBerg in Wien",
        {"tags": ["B-PER", "O", "B-LOC"]},
    )
    assert TASK.move({"tags": TAGS}, "text", TEXT["text"], [Edit(15, 15, " ")]) == (
        "Anna Berg in Wi en",
        {"tags": ["B-PER", "I-PER", "O", "B-LOC", "I-LOC"]},
    )
    joined = TASK.move({"tags": TAGS}, "text", TEXT["text"], [Edit(12, 13, "")])
    assert joined == ("Anna Berg inWien", {"tags": ["B-PER", "I-PER", "B-LOC"]})


def test_people_read_entities_and_not_tags() -> None:
    for value in ({"tags": TAGS}, {"entities": ENTITIES}, {"tags": TAGS, "entities": ENTITIES}):
        assert spelled(value, TEXT) == "PER: Anna Berg, LOC: Wien"
    assert spelled({"tags": ["O"] * 4}, TEXT) == spelled({"entities": []}, TEXT) == "no entities"


@given(st.lists(st.sampled_from(["O", *(f"{prefix}-{kind}" for prefix in "BIESLUM" for kind in "xy"), "B", "I"])))
def test_bio_is_a_fixed_point(tags: list[str]) -> None:
    plain = to_bio(tags)
    assert len(plain) == len(tags)
    assert to_bio(plain) == plain
    pairs = pairwise(["O", *plain])
    assert all(before[2:] == tag[2:] for before, tag in pairs if tag[:1] == "I")
    assert [tag == "O" for tag in plain] == [tag == "O" for tag in tags]
