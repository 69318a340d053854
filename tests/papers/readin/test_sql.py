"""Spider's exact set match against what its official script printed, item by item, and on hand-made cases."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st

from unswayed.base.task import task_named
from unswayed.base.values import Example
from unswayed.papers.readin.spider import schema_of
from unswayed.papers.readin.sql_compare import hardness, same
from unswayed.papers.readin.sql_parser import SqlQuery, Unparseable, parse, sql_words
from unswayed.score import scorers

SHARED = Path(__file__).parents[3] / "../shared/data"
needs_spider = pytest.mark.skipif(
    not (SHARED / "spider_eval").is_dir() or not (SHARED / "cspider").is_dir(), reason="../shared/data is not here"
)
ENTRY = {
    "db_id": "concert",
    "table_names_original": ["Stadium", "Concert", "Singer"],
    "column_names_original": [
        *([-1, "*"], [0, "Stadium_ID"], [0, "Name"], [0, "Capacity"], [1, "Concert_ID"], [1, "Stadium_ID"]),
        *([1, "Year"], [2, "Singer_ID"], [2, "Name"], [2, "Age"]),
    ],
    "foreign_keys": [[5, 1]],
}
SCHEMA = schema_of(ENTRY)


def matches(predicted, gold, rule="current"):
    return same(read(predicted), parse(gold, SCHEMA["tables"]), SCHEMA["keys"], rule)


def read(sql):
    try:
        return parse(sql, SCHEMA["tables"])
    except Unparseable:
        return SqlQuery()


@pytest.fixture(scope="module")
def official():
    """(predicted, gold, schema) of each item, and the items that the official script's first version called wrong."""
    folder = SHARED / "spider_eval"
    entries = json.loads((SHARED / "cspider/tables.json").read_text(encoding="utf-8"))
    schemas = {entry["db_id"]: schema_of(entry) for entry in entries}
    golds = [line.split("\t") for line in (folder / "gold_example.txt").read_text(encoding="utf-8").splitlines()]
    outputs = (folder / "pred_example.txt").read_text(encoding="utf-8").splitlines()
    items = [(output.strip(), sql.strip(), schemas[db]) for output, (sql, db) in zip(outputs, golds, strict=True)]
    printed = (folder / "eval_result_example.txt").read_text(encoding="utf-8")
    wrong = re.findall(r"^(easy|medium|hard|extra) pred: (.*)\n\1 gold: (.*)$", printed, re.M)
    return items, [(level, predicted.strip(), sql.strip()) for level, predicted, sql in wrong]


@needs_spider
@pytest.mark.parametrize(
    ("name", "value", "levels"),
    [
        ("sql_match", 0.697, {"easy": 0.852, "medium": 0.720, "hard": 0.718, "extra": 0.388}),
        ("sql_match_first", 0.725, {"easy": 0.968, "medium": 0.720, "hard": 0.718, "extra": 0.388}),
    ],
)
def test_the_official_scores(official, name, value, levels):
    items, _ = official
    golds = [{"sql": sql, "db_id": "", "schema": schema} for _, sql, schema in items]
    right = scorers.get(name)().stats([output for output, _, _ in items], golds, task_named("sql"))[:, 0]
    assert round(right.mean(), 3) == value
    of = [hardness(parse(sql, schema["tables"])) for _, sql, schema in items]
    assert Counter(of) == {"easy": 250, "medium": 440, "hard": 174, "extra": 170}
    for level, expected in levels.items():
        inside = [r for r, o in zip(right, of, strict=True) if o == level]
        assert round(sum(inside) / len(inside), 3) == expected


@needs_spider
def test_every_single_verdict_is_the_official_one(official):
    items, wrong = official
    ours = []
    for output, sql, schema in items:
        gold = parse(sql, schema["tables"])
        try:
            said = parse(output, schema["tables"])
        except Unparseable:
            said = SqlQuery()
        if not same(said, gold, schema["keys"], "first"):
            ours.append((hardness(gold), output, sql))
    assert Counter(ours) == Counter(wrong)


@pytest.mark.parametrize(
    ("predicted", "gold"),
    [
        ("select Name, Capacity from Stadium", "SELECT capacity , name FROM stadium"),  # order of columns
        ("select name from singer where age > 20", "SELECT name FROM singer WHERE age > 'terminal'"),  # values
        ("select distinct name from singer", "SELECT name FROM singer"),
        ("select count(distinct name) from singer", "SELECT count(name) FROM singer"),
        ("select name from singer where age ! = 3", "SELECT name FROM singer WHERE age != 3"),
        (
            "select T1.stadium_id from stadium as T1 join concert as T2 on T1.stadium_id = T2.stadium_id",
            "SELECT T2.stadium_id FROM concert AS T2 JOIN stadium AS T1 ON T1.name = T2.year",
        ),  # one key, and joins are not compared
        ("select name from singer order by age limit 3", "SELECT name FROM singer ORDER BY age LIMIT 1"),
        ("select name from singer limit 'value'", "SELECT name FROM singer LIMIT 1;"),
        (
            "select name from singer group by age where name = 'x'",
            "SELECT name FROM singer GROUP BY age",
        ),  # what follows the last clause is not seen
        ("select name from singer where age = 1 and name = 2", "SELECT name FROM singer WHERE name = 2 AND age = 1"),
        (
            "select name from singer union select name from stadium",
            "SELECT name FROM singer UNION SELECT name FROM stadium",
        ),
    ],
)
def test_the_same(predicted, gold):
    assert matches(predicted, gold)


@pytest.mark.parametrize(
    ("predicted", "gold"),
    [
        ("select name from singer", "SELECT name , age FROM singer"),
        ("select max(age) from singer", "SELECT min(age) FROM singer"),
        ("select name from singer where age > 3", "SELECT name FROM singer WHERE age < 3"),
        ("select name from singer where age not in 3", "SELECT name FROM singer WHERE age in 3"),
        ("select name from singer where age = 1 or age = 2", "SELECT name FROM singer WHERE age = 1 AND age = 2"),
        ("select name from singer order by age desc", "SELECT name FROM singer ORDER BY age"),
        ("select name from singer order by age limit 1", "SELECT name FROM singer ORDER BY age"),
        ("select name from singer group by age", "SELECT name FROM singer GROUP BY name"),
        (
            "select name from singer group by age having count(*) > 1",
            "SELECT name FROM singer GROUP BY age HAVING count(*) < 1",
        ),
        (
            "select name from singer union select name from stadium",
            "SELECT name FROM singer EXCEPT SELECT name FROM stadium",
        ),
        (
            "select name from singer where age > (select distinct age from singer)",
            "SELECT name FROM singer WHERE age > (SELECT age FROM singer)",
        ),  # inside a condition, word for word but for values
        ("select name from", "SELECT name FROM singer"),
        ("select name from singer where age=3", "SELECT name FROM singer WHERE age = 3"),  # one word to the script
        ("select name from singer where name = 'it", "SELECT name FROM singer"),
        ("", "SELECT name FROM singer"),
    ],
)
def test_not_the_same(predicted, gold):
    assert not matches(predicted, gold)


def test_the_first_rule_does_not_see_a_wrong_single_table():
    assert not matches("select count(*) from stadium", "SELECT count(*) FROM singer")
    assert matches("select count(*) from stadium", "SELECT count(*) FROM singer", "first")
    joined = "SELECT count(*) FROM singer JOIN stadium ON singer.name = stadium.name"
    assert not matches("select count(*) from singer", joined, "first")


@pytest.mark.parametrize(
    ("sql", "level"),
    [
        ("select name from singer", "easy"),
        ("select name , age from singer", "medium"),
        ("select name from singer where age = 1 and name = 2 order by age", "medium"),
        ("select name from singer where age = (select max(age) from singer)", "hard"),
        ("select name from singer where age in (select age from singer) order by age limit 1", "extra"),
    ],
)
def test_hardness(sql, level):
    assert hardness(parse(sql, SCHEMA["tables"])) == level


def test_keys_lead_to_the_first_column_of_their_group():
    assert SCHEMA["keys"] == {"stadium.stadium_id": "stadium.stadium_id", "concert.stadium_id": "stadium.stadium_id"}
    assert SCHEMA["tables"]["singer"] == ["singer_id", "name", "age"]


SOME_WORDS = """
select from where group by order having limit union intersect except join on as ( ) , ; * . = ! < > and or not in like
between is null distinct count max none singer concert T1 T1.name name age 1 2.5 'x' " nan -- + - /
"""
WORDS = st.sampled_from(SOME_WORDS.split())


@settings(max_examples=300)
@given(st.lists(WORDS, max_size=30).map(" ".join) | st.text(max_size=60))
def test_junk_is_unparseable_and_nothing_worse(junk):
    try:
        words = sql_words(junk)
        assert all(words)
        parsed = parse("select " + junk, SCHEMA["tables"])
    except Unparseable:
        return
    assert same(parsed, parsed, SCHEMA["keys"])
    assert hardness(parsed) in ("easy", "medium", "hard", "extra")


def test_deep_nesting_is_unparseable():
    with pytest.raises(Unparseable):
        parse("select name from (" * 5000, SCHEMA["tables"])


def test_the_task_says_what_is_wrong_with_gold():
    task = task_named("sql")
    inputs = {"question": "how many", "db_id": "concert"}
    assert task.gold_problem(Example(0, "0", inputs, {"sql": "select", "schema": SCHEMA})) is None
    assert "sql" in task.gold_problem(Example(0, "0", inputs, "select"))
    assert "schema" in task.gold_problem(Example(0, "0", inputs, {"sql": "select"}))
    assert task.answer("SELECT  a FROM b ;") == task.answer("select a from b")
    assert task.output_problem(3, inputs)
