"""Exports are loaded by the real `datasets`, and read back as the same examples."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from unswayed.base.errors import UsageError
from unswayed.base.ids import canonical
from unswayed.base.values import Example, Json
from unswayed.data import ReadOptions, read_examples
from unswayed.report.export import export
from unswayed.report.export.datasets import _write, column_for
from unswayed.storage.parquet import read_batches
from unswayed.storage.suite import Manifest, Suite, write_suite

from .conftest import HOSTILE, build

pytestmark = pytest.mark.filterwarnings("ignore")


def load(folder: Path, cache: Path) -> Any:
    datasets = pytest.importorskip("datasets")
    datasets.disable_progress_bars()
    return datasets.load_dataset(str(folder), cache_dir=str(cache))


def test_datasets_loads_all_of_it(classify: Suite, tmp_path: Path) -> None:
    from datasets import ClassLabel, Value

    export(classify.path, "datasets", tmp_path / "out")
    loaded = load(tmp_path / "out", tmp_path / "cache")
    assert set(loaded) == {"clean", "variants"}
    features = loaded["clean"].features
    assert features == loaded["variants"].features
    assert features["gold"] == ClassLabel(names=["lights", "music"])
    assert features["inputs"] == {"text": Value("string")}
    names = [*features["gold"].names, None]
    for row, example in zip(loaded["clean"], classify.examples(), strict=True):
        assert (row["id"], row["inputs"], row["groups"]) == (example.id, example.inputs, example.groups)
        assert names[-1 if row["gold"] is None else row["gold"]] == example.gold
    for row, v in zip(loaded["variants"], classify.variants(), strict=True):
        told = (row["id"], row["source"], row["family"], row["meaning"], row["draw"], row["inputs"], row["note"])
        assert told == (v.example_id, v.source, v.family, v.meaning, v.draw, v.inputs, v.note)


@pytest.mark.parametrize("kind", ["classify", "qa", "translate", "slu", "numbers", "truth"])
def test_read_back_as_the_same_examples(kind: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    if kind == "qa":
        suite = request.getfixturevalue(kind)
    elif kind == "classify":
        suite = build(tmp_path / "s", kind, [({"text": text}, f"b{len(text) % 2}") for text in HOSTILE if text])
    elif kind == "translate":
        suite = build(
            tmp_path / "s", kind, [({"source": "Das Haus"}, ["the house", "a house"]), ({"source": "x"}, ["y"])]
        )
    elif kind == "slu":
        gold = {"intent": "play", "slots": ["O", "B-genre"]}
        suite = build(tmp_path / "s", kind, [({"text": "play jazz"}, gold)], sources={})
    else:
        golds: list[Json] = [1, 0, 3] if kind == "numbers" else [True, False, True]
        suite = build(tmp_path / "s", "classify", [({"text": f"t{g}"}, g) for g in golds])
    export(suite.path, "datasets", tmp_path / "out")
    back = list(read_examples(tmp_path / "out" / "clean.parquet", ReadOptions(task=suite.manifest.task)))
    assert back == list(suite.examples())


def test_labels_that_were_said_come_first(tmp_path: Path) -> None:
    suite = build(tmp_path / "s", "classify", [({"text": "a"}, "b"), ({"text": "c"}, "a")], labels=["z", "b", "a"])
    export(suite.path, "datasets", tmp_path / "out")
    assert load(tmp_path / "out", tmp_path / "cache")["clean"].features["gold"].names == ["z", "b", "a"]


def test_gold_of_no_common_form_is_json(tmp_path: Path) -> None:
    schemas: list[Json] = [{"tables": {"a": ["x"]}, "keys": {}}, {"tables": {"b": ["y"]}, "keys": {"b.y": "b.z"}}]
    golds = [{"sql": "select 1", "db_id": "d", "schema": schema} for schema in schemas]
    suite = build(tmp_path / "s", "sql", [({"question": "how many", "db_id": "d"}, gold) for gold in golds])
    assert "stands as JSON" in export(suite.path, "datasets", tmp_path / "out")
    assert '"tables":{"a":["x"]}' in load(tmp_path / "out", tmp_path / "cache")["clean"][0]["gold"]


def test_what_is_written_in_a_card_is_escaped(tmp_path: Path) -> None:
    suite = build(tmp_path / "s", "classify", [({"text": "a"}, "b")], sources={"a|b\n---\nlicense: evil <x>": "same"})
    export(suite.path, "datasets", tmp_path / "out")
    card = (tmp_path / "out" / "README.md").read_text(encoding="utf-8")
    assert card.count("\n---\n") == 1
    assert "<x>" not in card
    assert load(tmp_path / "out", tmp_path / "cache")["variants"][0]["source"] == "a|b\n---\nlicense: evil <x>"


@pytest.mark.parametrize("where", ["inputs", "groups"])
def test_a_name_with_a_nul_is_refused_by_name(tmp_path: Path, where: str) -> None:
    """Arrow's names end at a NUL, and its native code panics at one."""
    named = {"a\0b": "c"}
    inputs, groups = ({"text": "a"} | named, {}) if where == "inputs" else ({"text": "a"}, named)
    manifest = Manifest(task="classify", language="en")
    suite = write_suite(tmp_path / "s", manifest, lambda: [Example(0, "0", inputs, "b", groups)], list)
    with pytest.raises(UsageError, match=r"column 'a\\x00b' can't be written.*Rename it"):
        export(suite.path, "datasets", tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_gold_whose_names_have_a_nul_is_json() -> None:
    assert column_for([{"a\0": 1}]).kind == "json"
    assert column_for([[{"a": {"\0": "b"}}]]).kind == "json"


scalars = st.text() | st.integers(-(2**70), 2**70) | st.booleans() | st.none()
values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, min_size=1, max_size=2)
)


@settings(deadline=None)
@given(st.lists(values, min_size=1, max_size=5))
def test_columns_hold_any_values(tmp_path_factory: pytest.TempPathFactory, found: list[Json]) -> None:
    column = column_for(found)
    file = tmp_path_factory.mktemp("columns") / "x.parquet"
    _write(file, {"gold": column}, [(None, None, value) for value in found])
    [(_, batch)] = read_batches(file)
    assert batch["gold"] == [canonical(v).decode() if column.kind == "json" and v is not None else v for v in found]


def test_columns_are_as_plain_as_they_can_be() -> None:
    assert column_for([1, None, 2]).kind == "int64"
    assert column_for([["a"], []]).kind == "list"
    assert column_for([{"a": 1}, {"a": 2}]).kind == "struct"
    assert column_for([{"a": 1}, {"b": 2}]).kind == "json"
    assert column_for([1, "1"]).kind == "json"
