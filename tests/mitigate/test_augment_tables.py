"""`unswayed.augment` gives what it is given, longer; the command writes what the ending of its file says."""

from __future__ import annotations

import json
from inspect import signature

import pytest

import unswayed as package
from unswayed.base.errors import DataError, UsageError
from unswayed.base.values import Example
from unswayed.data import read_examples
from unswayed.mitigate.augment import BY, NOTE, write_examples

CITIES = ("boston", "denver", "new york", "rome", "oslo", "lima")
ROWS = [
    {"text": f"please book a cheap flight to {city} for me", "label": "ab"[n % 2], "price": 1.5 * n, "note": None}
    for n, city in enumerate(CITIES)
]
TAGGED = [
    {"tokens": f"fly from {city} to rome now".split(), "tags": ["O", "O", "B-city", "O", "B-city", "O"], "id": f"x{n}"}
    for n, city in enumerate(("boston", "denver", "oslo", "lima"))
]


def frames(rows):
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    return {"pandas": pandas.DataFrame(rows), "polars": polars.DataFrame(rows), "records": rows}


@pytest.mark.parametrize("kind", ["pandas", "polars", "records"])
def test_as_written(kind) -> None:
    """unswayed.augment(df, "keyboard/typist", input="text", gold="label", copies=2, seed=7): longer, same columns."""
    df = frames(ROWS)[kind]
    found = package.augment(df, "keyboard/typist", input="text", gold="label", copies=2, seed=7)
    assert type(found) is type(df)
    assert len(df) < len(found) <= 3 * len(df)
    if kind != "records":
        assert list(found.columns) == list(df.columns)
        assert list(found.dtypes) == list(df.dtypes)
    rows = found if kind == "records" else found.to_dict("records") if kind == "pandas" else found.to_dicts()
    assert [list(row) for row in rows] == [list(ROWS[0])] * len(rows)
    originals = [row["text"] for row in ROWS]
    assert [row["text"] for row in rows if row["text"] in originals] == originals  # in their order, each once
    at = -1
    for row in rows:  # a copy is below its own row, and has all else of it
        at += row["text"] in originals
        assert (row["label"], row["price"]) == (ROWS[at]["label"], ROWS[at]["price"])
    again = package.augment(df, "keyboard/typist", input="text", gold="label", copies=2, seed=7)
    assert again == found if kind == "records" else again.equals(found)


def test_the_three_kinds_have_the_same_copies() -> None:
    found = {kind: package.augment(df, "@typing", copies=2, seed=7) for kind, df in frames(ROWS).items()}
    texts = [row["text"] for row in found["records"]]
    assert len(texts) > 12
    assert found["pandas"]["text"].tolist() == found["polars"]["text"].to_list() == texts


@pytest.mark.parametrize("kind", ["pandas", "polars", "records"])
def test_words_and_their_tags_go_back_to_their_columns_and_ids_differ(kind) -> None:
    found = package.augment(frames(TAGGED)[kind], "spoken/filler_begin", language="en", seed=1)
    rows = found if kind == "records" else found.to_dict("records") if kind == "pandas" else found.to_dicts()
    assert len(rows) == 8
    assert [row["id"] for row in rows[:2]] == ["x0", "x0+1"]
    assert list(rows[1]["tokens"])[-6:] == TAGGED[0]["tokens"]
    assert list(rows[1]["tags"])[-6:] == TAGGED[0]["tags"]
    assert len(rows[1]["tags"]) == len(rows[1]["tokens"]) > 6
    assert package.make_suite(found, "keyboard/adjacent", language="en").manifest.examples == 8


def test_whole_numbers_as_ids_go_on() -> None:
    rows = [{"idx": n, "text": row["text"], "label": row["label"]} for n, row in enumerate(ROWS)]
    found = package.augment(frames(rows)["pandas"], "keyboard/adjacent", seed=1)
    assert found["idx"].tolist() == [0, 6, 1, 7, 2, 8, 3, 9, 4, 10, 5, 11]
    assert found["idx"].dtype == "int64"


def test_meaning_is_kept_unless_it_is_asked_for() -> None:
    """Under its old label, "this film is evil" teaches what is false."""
    rows = [{"text": "what a good film this is, and how easy it was to find", "label": "pos"}] * 4
    opposite = package.augment(rows, "meaning/antonym", language="en", copies=2)
    assert len(opposite) > 4
    assert {row["label"] for row in opposite} == {"pos"}
    changed = {row["text"] for row in opposite} - {rows[0]["text"]}
    every = {row["text"] for row in package.augment(rows, "*", language="en", copies=40)}
    assert len(every) > 20
    assert not changed & every


def test_other_data_gives_records(tmp_path) -> None:
    file = tmp_path / "mine.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    found = package.augment(file, "keyboard/adjacent", seed=1)
    assert len(found) == 12
    assert found[0] == {"text": ROWS[0]["text"], "gold": "a"}
    assert package.augment([row["text"] for row in ROWS], "keyboard/adjacent")[0] == {"text": ROWS[0]["text"]}


def test_what_can_not_be_done_is_refused() -> None:
    assert len(signature(package.augment).parameters) <= 16
    with pytest.raises(UsageError, match="No operator was given"):
        package.augment(ROWS, [])
    with pytest.raises(UsageError, match="augment makes no use of"):
        package.augment(ROWS, "@typing", plan={"vary": {"set": "random"}})
    chats = [{"messages": [{"role": "user", "content": row["text"]}], "answer": "yes"} for row in ROWS]
    with pytest.raises(UsageError, match="can't be put back into a column: .* Augment a file instead"):
        package.augment(chats, "keyboard/adjacent", language="en")


@pytest.mark.parametrize("ending", ["jsonl", "csv", "tsv", "parquet", "json"])
def test_the_ending_decides_the_format(ending, unswayed, tmp_path) -> None:
    file, to = tmp_path / "mine.jsonl", tmp_path / f"more.{ending}"
    file.write_text("".join(json.dumps({"text": row["text"], "label": row["label"]}) + "\n" for row in ROWS))
    unswayed("augment", file, "--lang", "en", "--gold", "label", "--seed", "7", "-o", to)
    found = list(read_examples(to))
    assert len(found) == 12
    assert [e.gold for e in found[:4]] == ["a", "a", "b", "b"]
    assert {e.id for e in found} == {e.id for e in read_examples(file)} | {f"{e.id}+1" for e in read_examples(file)}
    start = to.read_bytes()[:4]
    assert start == {"jsonl": b'{"ro', "csv": b"id,t", "tsv": b"id\tt", "parquet": b"PAR1", "json": b'[{"r'}[ending]
    unswayed("augment", file, "--lang", "en", "--gold", "label", "--seed", "7", "-o", tmp_path / "again.jsonl")
    assert [e.inputs for e in found] == [e.inputs for e in read_examples(tmp_path / "again.jsonl")]
    made_by = {e.groups.get(BY) for e in read_examples(tmp_path / "again.jsonl")}
    assert made_by <= {None, "keyboard/adjacent", "keyboard/misspell", "spoken/synonym_any"}  # no antonyms by default


def test_what_a_file_can_not_hold_is_refused(tmp_path) -> None:
    with pytest.raises(
        UsageError, match=r"more.doc: the ending of the file says its format, and must be one of .jsonl"
    ):
        write_examples([Example(0, "a", {"text": "a"})], tmp_path / "more.doc")
    with pytest.raises(DataError, match="is no text or number. Write .jsonl"):
        write_examples([Example(0, "a", {"text": "a"}, {"answers": []})], tmp_path / "more.csv")
    with pytest.raises(DataError, match="has a tab or a line break, which TSV can't hold. Write .csv"):
        write_examples([Example(0, "a", {"text": "a\nb"}, "x")], tmp_path / "more.tsv")
    other = [Example(0, "a", {"text": "a"}, "x"), Example(1, "b", {"words": "a"}, "x")]
    with pytest.raises(DataError, match="has other inputs or groups than the first"):
        write_examples(other, tmp_path / "more.csv")
    assert list(tmp_path.iterdir()) == []
    counts = write_examples([Example(0, "a", {"text": 'a "b", c\nd'}, "x")], tmp_path / "more.csv", more=(BY, NOTE))
    assert counts == {"": 1}
    assert next(read_examples(tmp_path / "more.csv")).inputs == {"text": 'a "b", c\nd'}
