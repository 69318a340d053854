"""Scores of files, good and bad."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from sklearn.metrics import f1_score

from unswayed.base.errors import DataError, NothingEvaluated, UnknownName
from unswayed.measure.files import score_files
from unswayed.papers.readin.spider_scores import score_sql_files
from unswayed.stats import Resampling

SHARED = Path(__file__).parents[2] / "../shared/data"
FEW = Resampling(bootstrap=50)
TABLES = [
    {
        "db_id": "music",
        "table_names_original": ["singer"],
        "column_names_original": [[-1, "*"], [0, "name"], [0, "age"]],
        "foreign_keys": [],
    }
]


@pytest.fixture
def write(tmp_path):
    def written(name, text):
        (tmp_path / name).write_text(text, encoding="utf-8")
        return tmp_path / name

    return written


def test_labels(write):
    golds, said = ["1", "0", "1", "1", "0", "0"], ["1", "1", "1", "0", "0", "0"]
    gold, predicted = write("g.txt", "\n".join(golds)), write("p.txt", "\n".join(said) + "\n")
    found = score_files("macro_f1", gold, predicted)
    assert found.value == pytest.approx(f1_score(golds, said, average="macro"))
    assert found.low < found.value < found.high
    assert (found.n, found.missing) == (6, 0)
    assert score_files("positive_accuracy", gold, predicted, FEW).n == 3


def test_json_lines_and_missing_outputs(write):
    gold = write("g.jsonl", '{"intent": "a", "slots": ["O"]}\n' * 2)
    predicted = write("p.jsonl", '{"intent": "a", "slots": ["O"]}\nnull\n')
    found = score_files("end_to_end", gold, predicted, FEW)
    assert (found.value, found.n, found.missing) == (1.0, 1, 1)
    with pytest.raises(DataError, match="p2.jsonl:1: this is not valid JSON"):
        score_files("end_to_end", gold, write("p2.jsonl", "{\nnull\n"), FEW)


def test_files_that_do_not_fit(write):
    gold = write("g.txt", "a\nb\n")
    with pytest.raises(DataError, match="p.txt: this has 1 lines, but .*g.txt has 2"):
        score_files("accuracy", gold, write("p.txt", "a\n"))
    with pytest.raises(UnknownName, match="Did you mean 'accuracy'"):
        score_files("acuracy", gold, gold)
    with pytest.raises(DataError, match="can't be read"):
        score_files("accuracy", gold, gold.with_name("absent.txt"))
    with pytest.raises(NothingEvaluated, match="slot_f1"):
        score_files("slot_f1", gold, gold)


@pytest.mark.skipif(not (SHARED / "spider_eval").is_dir(), reason="../shared/data is not here")
def test_spiders_own_files():
    folder, tables = SHARED / "spider_eval", SHARED / "cspider/tables.json"
    found = score_sql_files(folder / "gold_example.txt", folder / "pred_example.txt", tables, settings=FEW)
    assert round(found.exact, 3) == 0.697
    assert found.low < found.exact < found.high
    first = score_sql_files(folder / "gold_example.txt", folder / "pred_example.txt", tables, "first", FEW)
    assert round(first.exact, 3) == 0.725
    assert {name: (level.n, round(level.exact, 3)) for name, level in first.hardness.items()} == {
        "easy": (250, 0.968),
        "medium": (440, 0.720),
        "hard": (174, 0.718),
        "extra": (170, 0.388),
    }
    assert found.signature != first.signature


def test_sql_files(write):
    tables = write("tables.json", json.dumps(TABLES))
    gold = write("gold.txt", "SELECT name FROM singer\tmusic\nSELECT age FROM singer\tmusic\n\n")
    found = score_sql_files(gold, write("p.txt", "select name from singer\n\n\n"), tables, settings=FEW)
    assert (found.exact, found.n, found.unreadable) == (0.5, 2, 1)  # a blank line is an empty query
    assert found.hardness["hard"].exact is None


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("SELECT name FROM singer", "gold.txt:2: a line must be SQL, a tab and"),
        ("SELECT name FROM singer\tmusik", "has no database 'musik'. Did you mean 'music'"),
        ("SELECT nam FROM singer\tmusic", "gold.txt:2: this query can't be read .* no column 'nam'"),
    ],
)
def test_bad_gold_is_named_by_its_line(write, line, message):
    gold = write("gold.txt", f"SELECT name FROM singer\tmusic\n{line}\n")
    with pytest.raises(DataError, match=message):
        score_sql_files(gold, gold, write("tables.json", json.dumps(TABLES)))


def test_bad_tables(write):
    gold = write("gold.txt", "SELECT name FROM singer\tmusic\n")
    for content in ("[{}]", "{", "3", '[{"db_id": "a", "table_names_original": [1]}]'):
        with pytest.raises(DataError, match="tables.json"):
            score_sql_files(gold, gold, write("tables.json", content))
