"""NLU-ED's tables: slots become BIO tags, and a bad row is named by its file and line."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from unswayed.base.edits import slots_of
from unswayed.base.errors import DataError
from unswayed.base.values import Example
from unswayed.data import DataKind, ReadOptions, read_examples, task_and_language

HEADER = "answerid;scenario;intent;answer_annotation;answer_from_anno;answer_from_user\n"
CORPUS = Path(__file__).resolve().parents[3] / "../shared/data/nlu_ed/KFold_1"


def folder(place: Path, *annotated: str) -> Path:
    rows = "".join(f'{i};alarm;set;"{text}";"";""\n' for i, text in enumerate(annotated))
    (place / "set").mkdir()
    (place / "set" / "alarm_set.csv").write_text(HEADER + rows, encoding="utf-8")
    return place / "set"


def test_slots_become_tags_and_marks_stay_with_their_token(tmp_path: Path) -> None:
    place = folder(
        tmp_path, "wake me at [time : nine  am] [date : today]", "ask [person : bob], now", "[a : x] [a : y]"
    )
    one, two, three = read_examples(place)
    assert one.inputs == {"text": "wake me at nine am today"}
    assert one.gold == {"intent": "alarm_set", "slots": ["O", "O", "O", "B-time", "I-time", "B-date"]}
    assert two == Example(1, two.id, {"text": "ask bob, now"}, {"intent": "alarm_set", "slots": ["O", "B-person", "O"]})
    assert three.gold["slots"] == ["B-a", "B-a"]
    assert task_and_language(place) == DataKind("slu", "en", False)


@pytest.mark.parametrize(
    ("annotated", "message"),
    [
        ("set [time : nine", "a slot must be"),
        ("set nine]", "a slot must be"),
        ("set [ : nine]", "no name or no value"),
        ("set [time : ]", "no name or no value"),
        ("set [a : x][b : y]", "two slots share the token 'xy'"),
        (" ", "there is no utterance"),
    ],
)
def test_a_bad_row_is_named(tmp_path: Path, annotated: str, message: str) -> None:
    with pytest.raises(DataError, match=rf"alarm_set\.csv:3: .*{message}"):
        list(read_examples(folder(tmp_path, "fine", annotated)))


def test_wrong_tables_are_named(tmp_path: Path) -> None:
    place = folder(tmp_path, "fine")
    with (place / "alarm_set.csv").open("a") as file:
        file.write("9;alarm;set\n")
    with pytest.raises(DataError, match=r"alarm_set\.csv:3: this row has 3 cells"):
        list(read_examples(place))
    (place / "alarm_set.csv").write_text("a;b\n1;2\n")
    with pytest.raises(DataError, match=r"alarm_set\.csv:1: the header has no column scenario, intent"):
        list(read_examples(place, ReadOptions(format="nlu_ed")))


@pytest.mark.parametrize(("name", "size", "slots"), [("trainset", 9_960, 8_253), ("testset", 1_076, 880)])
def test_the_corpus(name: str, size: int, slots: int) -> None:
    if not CORPUS.is_dir():
        pytest.skip("the real corpora (../shared/data/nlu_ed) are not here")
    examples = list(read_examples(CORPUS / name))
    assert len(examples) == size
    assert len(Counter(e.gold["intent"] for e in examples)) == 64
    # as many as there are brackets in the files, counted with grep
    assert sum(len(slots_of(e.gold["slots"])) for e in examples) == slots
