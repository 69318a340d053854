"""People's versions in columns and in parallel files become variants of the clean examples."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from unswayed.base.errors import DataError, UsageError
from unswayed.data import import_versions

NOISEQA = Path(__file__).resolve().parents[2].parent / "shared" / "data" / "noiseqa" / "people.jsonl"
ROWS = [
    {"id": "1", "context": "In Oslo.", "answers": ["Oslo"], "question": "Where?", "keyboard": "Wehre?"},
    {"id": "2", "context": "In May 🎷.", "answers": ["May"], "question": "When?", "keyboard": "When?"},
]


def put(file: Path, rows: list[dict]) -> Path:
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return file


def test_a_column(tmp_path: Path) -> None:
    suite = import_versions(put(tmp_path / "a.jsonl", ROWS), ["keyboard"], tmp_path / "s", language="en")
    assert (suite.manifest.task, suite.manifest.examples, suite.manifest.variants) == ("qa", 2, 2)
    first, second = suite.variants()
    assert first.inputs == {"question": "Wehre?", "context": "In Oslo."}
    assert (first.source, first.gold) == ("people/keyboard", {"answers": [{"text": "Oslo", "start": 3}]})
    assert second.inputs["question"] == "When?"  # a person who made no slip counts too


def test_parallel_files_by_id_or_by_order(tmp_path: Path) -> None:
    clean = put(tmp_path / "a.jsonl", ROWS)
    noisy = [{**row, "question": row["keyboard"]} for row in ROWS]
    by_id = put(tmp_path / "b.jsonl", noisy[::-1])
    by_row = put(tmp_path / "c.jsonl", [{**row, "id": f"x{row['id']}"} for row in noisy])
    suite = import_versions(clean, [f"ids={by_id}", f"order={by_row}"], tmp_path / "s", language="en")
    assert {v.source: v.inputs["question"] for v in suite.variants() if v.row == 0} == {
        "people/ids": "Wehre?",
        "people/order": "Wehre?",
    }


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([{**ROWS[0], "answers": ["Rome"]}, ROWS[1]], "b.jsonl:1: the gold of '1' is not that of the clean row"),
        ([ROWS[0], ROWS[1], {**ROWS[1], "id": "9"}], "b.jsonl:3: the id '9' is not in the clean data"),
        ([{**ROWS[0], "id": "9"}], "b.jsonl: there are 1 rows, but 2 clean ones, and their ids differ"),
        ([{"id": "1", "context": "x", "answers": ["x"]}], "b.jsonl:1: "),
        ([], "b.jsonl: is empty"),
    ],
)
def test_what_does_not_fit_is_refused(tmp_path: Path, rows: list[dict], said: str) -> None:
    clean, other = put(tmp_path / "a.jsonl", ROWS), put(tmp_path / "b.jsonl", rows)
    with pytest.raises(DataError) as error:
        import_versions(clean, [f"x={other}"], tmp_path / "s", language="en")
    assert said in str(error.value)


def test_a_column_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="there is no field 'asr'"):
        import_versions(put(tmp_path / "a.jsonl", ROWS), ["asr"], tmp_path / "s", language="en")
    with pytest.raises(UsageError, match="NAME or NAME=FILE, not 'x='"):
        import_versions(tmp_path / "a.jsonl", ["x="], tmp_path / "s", language="en")


@pytest.mark.skipif(not NOISEQA.is_file(), reason="the shared corpora are not here")
def test_noiseqa_is_clean_questions_and_three_versions(tmp_path: Path) -> None:
    suite = import_versions(NOISEQA, ["keyboard", "asr", "translated"], tmp_path / "s", language="en")
    assert (suite.manifest.task, suite.manifest.examples, suite.manifest.variants) == ("qa", 612, 3 * 612)
    first = next(iter(suite.variants()))
    assert first.inputs["question"] == "How many ooints did the Panthers defense surrender?"
