"""From a plan to a suite: the source is read once, in bounded memory, and what is there already is kept."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path

import pytest

from unswayed.base.errors import UsageError
from unswayed.data.jsonl import Jsonl
from unswayed.run.making import make_suite, suite_of, variants_of
from unswayed.run.plan import DataPlan, Plan, VaryPlan
from unswayed.storage.suite import Suite
from unswayed.systems.opening import open_system


@pytest.fixture
def data(tmp_path: Path) -> Path:
    file = tmp_path / "data.jsonl"
    rows = [f'{{"inputs": {{"b": "text number {i}", "a": "another {i}"}}, "gold": "x"}}\n' for i in range(700)]
    file.write_text("".join(rows))
    return file


@pytest.fixture
def readings(monkeypatch) -> Counter[str]:
    """How often a reader begins to read, by file, and how many rows it reads."""
    count: Counter[str] = Counter()
    blocks = Jsonl.blocks

    def counted(self, path, options):
        count[path.name] += 1
        for block in blocks(self, path, options):
            count["rows"] += len(block.examples)
            yield block

    monkeypatch.setattr(Jsonl, "blocks", counted)
    return count


def plan(data: Path, **varied) -> Plan:
    return Plan(data=DataPlan(path=str(data)), vary=VaryPlan(operators=("keyboard/adjacent",), **varied))


def test_the_source_is_read_once(data: Path, tmp_path: Path, readings: Counter[str]) -> None:
    suite = make_suite(data, "keyboard/adjacent", to=tmp_path / "suite")
    assert readings == {"data.jsonl": 1, "rows": 700}
    assert (suite.manifest.examples, suite.manifest.variants) == (700, 700)
    first = next(iter(suite))
    assert first.note.startswith("b: "), "the fields keep the order that they have in the file"
    assert sorted(os.listdir(tmp_path)) == ["data.jsonl", "suite"]


def test_for_a_hard_set_and_for_a_stream_as_well(data: Path, tmp_path: Path, readings: Counter[str]) -> None:
    always = open_system(lambda batch: ["x" for _ in batch])
    make_suite(
        data,
        ["keyboard/adjacent", "spoken/filler_end"],
        selector=always,
        to=tmp_path / "hard",
        plan={"vary": {"set": "hard"}},
    )
    assert readings == {"data.jsonl": 1, "rows": 700}
    readings.clear()
    assert len(list(variants_of(plan(data), Counter()))) == 700
    assert readings == {"data.jsonl": 1, "rows": 700}


def test_a_suite_of_the_same_plan_is_recognised_before_the_source_is_parsed(
    data: Path, tmp_path: Path, readings: Counter[str]
) -> None:
    first = suite_of(plan(data), tmp_path / "suite")
    written = (tmp_path / "suite" / "variants.parquet").stat().st_mtime_ns
    readings.clear()
    again = suite_of(plan(data), tmp_path / "suite")
    assert readings["rows"] <= 200, "only the first rows are looked at, for the task and the language"
    assert again.id == first.id
    assert (tmp_path / "suite" / "variants.parquet").stat().st_mtime_ns == written
    with pytest.raises(UsageError, match="holds another suite"):
        suite_of(plan(data, seed=1), tmp_path / "suite")


def test_all_ways_to_give_data_and_operators() -> None:
    rows = [{"text": "turn it off", "label": "a"}, {"text": "turn it on", "label": "b"}]
    suites = [make_suite(rows, "keyboard/adjacent"), make_suite(iter(rows), ["keyboard/adjacent"])]
    assert len({suite.id for suite in suites}) == 1
    assert all(isinstance(suite, Suite) and suite.path is None for suite in suites)
    named = make_suite([{"t": "turn it off", "q": "a", "r": "x"}], "keyboard/adjacent", input="t", gold="q", groups="r")
    (example,) = named.examples()
    assert (example.inputs, example.gold, example.groups) == ({"t": "turn it off"}, "a", {"r": "x"})
