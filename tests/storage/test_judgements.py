"""The record of what a person said: files of it are read as they were written, and bad rows are named."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
import pytest
from hypothesis import given, strategies as st

from unswayed.base.errors import DataError
from unswayed.storage.judgements import Judgement, read_judgements, write_judgements

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
facts = st.dictionaries(texts, st.none() | st.booleans() | st.integers(-99, 99) | texts | st.lists(texts), max_size=3)
milliseconds = st.none() | st.integers(0, 2**31).map(lambda ms: ms / 1000)
answers = st.builds(
    Judgement,
    person=texts, kind=st.just("choice"), item=texts, asked=facts, answer=facts, counted=st.booleans(), why_not=texts,
    stratum=texts, origin=facts, gold=st.none() | facts, correct=st.none() | st.booleans(), flags=st.lists(texts),
    seconds=milliseconds, received=milliseconds, shown=facts, about=st.dictionaries(texts, texts),
    errors=st.lists(facts), heard=st.dictionaries(texts, texts), log=st.none() | st.lists(facts),
)  # fmt: skip


@given(st.lists(answers, max_size=4, unique_by=lambda j: (j.person, j.item)), st.sampled_from(["jsonl", "parquet"]))
def test_what_is_written_is_read(tmp_path_factory, judgements, suffix):
    file = tmp_path_factory.mktemp("judgements") / f"j.{suffix}"
    write_judgements(judgements, file)
    assert read_judgements(file, "choice") == judgements


RECORD = {"person": "anna", "kind": "choice", "item": "i", "asked": {"text": "x"}, "answer": {"choice": ["yes"]}}


class Choice(msgspec.Struct):
    choice: list[str]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (json.dumps(RECORD), "'anna' answers item 'i' twice"),
        (json.dumps(RECORD | {"kind": "labels"}), "an answer in a labels study, not in a choice study"),
        (json.dumps(RECORD | {"counted": "yes"}), "not a record of `unswayed collect export`: .*counted"),
        (json.dumps(RECORD | {"person": "b", "answer": {"choice": 3}}), "answer: .*array"),
        ('{"id": "i"}', "not a record of `unswayed collect export`: .*missing required field `person`"),
        ("[]", "not a JSON object"),
    ],
)
def test_a_bad_record_is_named_by_line(tmp_path: Path, line: str, message: str) -> None:
    file = tmp_path / "j.jsonl"
    file.write_text(json.dumps(RECORD) + "\n\n" + line)
    with pytest.raises(DataError, match=rf"j\.jsonl:3: .*{message}"):
        read_judgements(file, "choice", answer=Choice)


def test_rows_of_another_form_become_records_at_the_door(tmp_path: Path) -> None:
    (tmp_path / "j.csv").write_text("name,says\nanna,yes\nben,no\n")

    def by_hand(row):
        return Judgement(person=row["name"], kind="choice", item="i", asked={}, answer={"choice": [row["says"]]})

    found = read_judgements(tmp_path / "j.csv", "choice", by_hand)
    assert [(j.person, j.answer["choice"], j.counted) for j in found] == [
        ("anna", ["yes"], True),
        ("ben", ["no"], True),
    ]


def test_every_field_is_documented() -> None:
    page = (Path(__file__).parents[2] / "docs/collect.md").read_text(encoding="utf-8")
    table = page.partition("| field |")[2].partition("\n\n")[0]
    for field in Judgement.__struct_fields__:
        assert f"`{field}`" in table, field
