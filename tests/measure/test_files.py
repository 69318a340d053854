"""Scores of files, good and bad; error rates against a plain loop, and on suites."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy import stats
from sklearn.metrics import f1_score

from unswayed.base.errors import DataError, NothingEvaluated, UnknownName
from unswayed.base.values import Example, Variant
from unswayed.measure.files import distances, error_rates, score_files, suite_error_rates
from unswayed.papers.readin.spider_scores import score_sql_files
from unswayed.stats import Resampling
from unswayed.storage.suite import Manifest, write_suite

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


TEXT = st.text("ab花呗\U0001f600", max_size=6)


def levenshtein(a, b):
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        row, before = [i], row
        for j, y in enumerate(b, 1):
            row.append(min(before[j] + 1, row[-1] + 1, before[j - 1] + (x != y)))
    return row[-1]


@given(st.lists(st.tuples(TEXT, TEXT), min_size=1, max_size=10))
def test_distances_are_levenshteins_over_characters(pairs):
    found = distances([a for a, _ in pairs], [b for _, b in pairs])
    assert found.tolist() == [levenshtein(a, b) for a, b in pairs]


GROUPS = st.lists(
    st.tuples(TEXT.filter(bool), TEXT).flatmap(
        lambda texts: st.tuples(st.just(texts), st.lists(st.tuples(TEXT, TEXT), min_size=1, max_size=3))
    ),
    min_size=1,
    max_size=8,
)


@given(GROUPS)
def test_average_and_worst_are_those_of_a_loop(groups):
    rates = [
        [sum(map(levenshtein, texts, version)) / sum(map(len, texts)) for version in versions]
        for texts, versions in groups
    ]
    found = error_rates(groups)
    assert found.average.value == pytest.approx(np.mean([np.mean(r) for r in rates]))
    assert found.worst.value == pytest.approx(np.mean([max(r) for r in rates]))
    assert found.average.n == len(groups)


def test_known_rates_and_intervals():
    groups = [(("花呗提额",), [("花呗贴",), ("花呗提额",)]), (("余额宝",), [("余额",), ("余额包了",)])]
    found = error_rates(groups)
    assert found.average.value == pytest.approx((2 / 4 / 2 + (1 / 3 + 2 / 3) / 2) / 2)
    assert found.worst.value == pytest.approx((2 / 4 + 2 / 3) / 2)
    assert found.average.low <= found.average.value <= found.average.high
    assert found.average.signature != found.worst.signature
    assert found.average.signature != error_rates(groups[:1]).average.signature


def test_a_text_without_characters_has_no_rate():
    found = error_rates([(("",), [("x",)]), (("ab",), [("ac",)])])
    assert (found.average.value, found.average.n, found.average.missing) == (0.5, 1, 1)
    nothing = error_rates([])
    assert (nothing.average.value, nothing.average.n) == (None, 0)


def test_a_suite_counts_what_its_task_varies(tmp_path):
    answers = {"answers": [{"text": "context", "start": 7}]}
    example = Example(0, "q", {"question": "abcd", "context": "a long context"}, answers)

    def variant(draw, family, question):
        inputs = {"question": question, "context": "a long context"}
        return Variant(0, "q", draw, f"person/{family}", family, "same", inputs, answers, "")

    variants = [variant(0, "keyboard", "abcx"), variant(1, "keyboard", "abcd"), variant(0, "speech", "xxxx")]
    suite = write_suite(tmp_path / "suite", Manifest(task="qa", language="en"), lambda: [example], lambda: variants)
    keyboard = suite_error_rates(suite, "keyboard")
    assert (keyboard.average.value, keyboard.worst.value) == (0.125, 0.25)
    assert suite_error_rates(suite).worst.value == 1.0


def test_intervals_are_students():
    """As scipy makes them, but never below zero."""
    texts = [("abcdefghij",), ("abcdefghij",), ("abcdefghij",), ("abcdefghij",)]
    versions = [("abcdefghix",), ("abcdefgxxx",), ("abcdefghxx",), ("xxxxxxxxxj",)]
    found = error_rates([(text, [version]) for text, version in zip(texts, versions, strict=True)], 0.8).average
    rates = np.array([0.1, 0.3, 0.2, 0.9])
    by_scipy = stats.t.interval(0.8, 3, rates.mean(), stats.sem(rates))
    assert (found.low, found.high) == pytest.approx(by_scipy)
    wider = error_rates([(text, [version]) for text, version in zip(texts, versions, strict=True)], 0.99).average
    assert wider.low == 0.0
    assert wider.high > found.high
