"""Results and comparisons in a notebook: short text, small tables, DataFrames, changed answers, files."""

from __future__ import annotations

import sys
from pathlib import Path

import msgspec
import pytest

import unswayed
from unswayed.base.errors import MissingExtra, StoredFileError, UnknownName, UsageError
from unswayed.measure.comparison.outcome import Comparison
from unswayed.measure.results import Results
from unswayed.run.engine import run_system
from unswayed.run.making import make_suite


@pytest.fixture(scope="module")
def runs(tmp_path_factory) -> list[unswayed.Run]:
    folder = tmp_path_factory.mktemp("runs")
    rows = [
        {"inputs": {"text": f"{text} {i}"}, "gold": label, "groups": {"room": "hall" if i % 3 else "<b>kitchen</b>"}}
        for i, (text, label) in enumerate([("turn off the lights", "lights"), ("play some jazz", "music")] * 20)
    ]
    operators = ["keyboard/adjacent", "spoken/filler_end"]
    suite = make_suite(rows, operators, draws=2, seed=3, language="en", to=folder / "suite")
    words = ("light", "ligh")
    return [
        run_system(suite, lambda b, w=w: ["lights" if w in i["text"] else "music" for i in b], folder / f"run-{w}")
        for w in words
    ]


@pytest.fixture(scope="module")
def results(runs) -> Results:
    return unswayed.measure_run(runs[0], {"measure": {"bootstrap": 200}})


def test_a_path_is_a_run(runs, results) -> None:
    assert unswayed.measure_run(str(runs[0].path), {"measure": {"bootstrap": 200}}) == results
    assert unswayed.measure_run(runs[0].path, {"measure": {"bootstrap": 200}}) == results
    with pytest.raises(UsageError, match="run is expected, or the path of its folder, not int"):
        unswayed.measure_run(3)  # type: ignore[arg-type]


def test_the_text_is_short_and_says_the_verdict_first(results) -> None:
    text = repr(results)
    first, *lines = text.splitlines()
    assert "accuracy falls by 10.0 points" in first
    assert len(lines) < 12
    assert any(line.startswith("worst") and "[" in line for line in lines)
    assert "measure=" not in text
    assert "measure=" not in repr(results.by("operator"))


def test_the_table_of_a_notebook_is_escaped(results) -> None:
    page = results._repr_html_()
    assert "<table>" in page
    assert "measure=" not in page
    by_room = results.by("room")._repr_html_()
    assert "<b>kitchen" not in by_room
    assert "&lt;b&gt;kitchen" in by_room


def test_rows(results) -> None:
    rows = list(results)
    assert len(rows) == len(results)
    assert rows[0] == {
        "by": "all", "name": "", "score": "accuracy", "measure": "clean", "value": 1.0,
        "low": results.clean.low, "high": results.clean.high, "n": 40, "missing": 0,
    }  # fmt: skip
    assert {row["by"] for row in rows} == {"all", "operator", "family", "room"}
    assert {row["score"] for row in rows} == {"accuracy", "macro_f1", None}


def test_frames(results) -> None:
    pandas = pytest.importorskip("pandas")
    frame = results.to_pandas()
    assert isinstance(frame, pandas.DataFrame)
    assert len(frame) == len(results)
    by = results.by("operator").to_pandas()
    assert set(by["name"]) == {"keyboard/adjacent", "spoken/filler_end"}
    assert set(by["measure"]) >= {"clean", "average", "worst", "drop", "flips"}


def test_frames_of_polars(results) -> None:
    polars = pytest.importorskip("polars")
    assert isinstance(results.to_polars(), polars.DataFrame)
    assert results.by("room").to_polars().height == 2 * 7


def test_without_pandas_the_line_that_installs_it_is_shown(results, monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    monkeypatch.setitem(sys.modules, "polars", None)
    for wanted, extra in ((results.to_pandas, "pandas"), (results.flips, "pandas"), (results.to_polars, "polars")):
        with pytest.raises(MissingExtra, match=rf"pip install '{extra}"):
            wanted()
    assert len(list(results.iter_flips())) > 0


def test_by_what_there_is_not(results) -> None:
    with pytest.raises(UnknownName, match="Did you mean 'operator'"):
        results.by("operatr")
    assert results.by("operator")["keyboard/adjacent"].drop.value > 0
    assert list(results.by("family")) == ["keyboard", "spoken"]


def test_changed_answers(results) -> None:
    pytest.importorskip("pandas")
    frame = results.flips()
    assert list(frame.columns) == [
        "example", "operator", "draw", "before", "after", "change", "answer_before", "answer_after",
        "right_before", "right_after", "gold",
    ]  # fmt: skip
    first = frame.iloc[0]
    assert first["operator"] == "keyboard/adjacent"
    assert "light" in first["before"]
    assert "light" not in first["after"]
    assert (first["answer_before"], first["answer_after"], first["gold"]) == ("lights", "music", "lights")
    assert (first["right_before"], first["right_after"]) == (True, False)
    share = len(frame) / results.validity["variants"]
    assert share == pytest.approx(results.flip_rate.value)
    assert len(frame.head()) == 5


def test_changed_answers_of_results_without_a_run(results) -> None:
    alone = msgspec.json.decode(msgspec.json.encode(results), type=Results)
    assert alone == results
    with pytest.raises(UsageError, match="do not know their run"):
        alone.flips()


def test_results_are_saved_and_loaded(results, tmp_path: Path) -> None:
    results.save(tmp_path / "mine.json")
    again = Results.load(tmp_path / "mine.json")
    assert again == results
    assert [flip.variant for flip in again.iter_flips()] == [flip.variant for flip in results.iter_flips()]


@pytest.mark.parametrize(
    "content", [b"", b"{}", b"[1]", b'{"kind": "Comparison", "format": 1, "run": null, "content": 1}']
)
def test_a_file_of_something_else(content: bytes, tmp_path: Path) -> None:
    file = tmp_path / "other.json"
    file.write_bytes(content)
    with pytest.raises(StoredFileError, match=r"is not a file that Results.save\(\) wrote"):
        Results.load(file)
    with pytest.raises(StoredFileError, match="can't be read"):
        Results.load(tmp_path / "nothing.json")


def test_runs_paths_and_results_are_compared_alike(runs, tmp_path: Path) -> None:
    a, b = (unswayed.measure_run(run, {"measure": {"bootstrap": 200}}) for run in runs)
    compared = unswayed.compare(a, b, plan={"measure": {"bootstrap": 200}})
    assert compared == unswayed.compare(runs[0], str(runs[1].path), plan={"measure": {"bootstrap": 200}})
    first = repr(compared).splitlines()[0]
    assert first.startswith("No difference that these 40 examples could show: average ")
    assert "measure=" not in repr(compared)
    assert "<table>" in compared._repr_html_()
    assert len(compared) == len(compared.differences) == len(list(compared))
    pytest.importorskip("pandas")
    frame = compared.to_pandas()
    assert {"set", "measure", "difference", "low", "high", "p_corrected"} <= set(frame.columns)
    compared.save(tmp_path / "compared.json")
    assert Comparison.load(tmp_path / "compared.json") == compared


def test_results_of_different_scores_are_not_compared(runs) -> None:
    a, b = (
        unswayed.measure_run(runs[0], {"measure": {"bootstrap": 50}}),
        unswayed.measure_run(runs[1], {"measure": {"scores": ["macro_f1"], "bootstrap": 50}}),
    )
    with pytest.raises(UsageError, match="different main scores"):
        unswayed.compare(a, b)
    assert unswayed.compare(b, b, plan={"measure": {"bootstrap": 50}}).score == "macro_f1"
