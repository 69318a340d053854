"""Charts of results in notebooks: each kind is a whole SVG with the numbers' names, without another package."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import pytest

import unswayed
from unswayed import Results
from unswayed.base.errors import UnknownName, UsageError

ROWS = [{"text": f"turn off light number {n}", "label": "lights"} for n in range(12)]
ROWS += [{"text": f"play song number {n}", "label": "music"} for n in range(12)]


def predict(batch: list[dict[str, str]]) -> list[str]:
    return ["lights" if "light" in item["text"] else "music" for item in batch]


@pytest.fixture(scope="module")
def results() -> Results:
    return unswayed.check(predict, ROWS, ["keyboard/adjacent", "spoken/filler_end"], language="en", draws=3, seed=1)


@pytest.mark.parametrize("kind", ["forest", "heat", "worst"])
def test_each_kind_is_a_picture_that_a_notebook_shows_and_a_file_keeps(
    results: Results, kind: str, tmp_path: Path
) -> None:
    found = results.plot(kind)
    shown = "".join(ElementTree.fromstring(found.svg).itertext())
    assert ("worst of 2" if kind == "worst" else "keyboard/adjacent") in shown
    assert found.svg in found._repr_html_()
    saved = found.save(tmp_path / "plot.svg").read_text("utf-8")
    assert ElementTree.fromstring(saved).get("width", "").isdigit()


def test_other_kinds_and_people_that_are_not_there_are_refused(results: Results) -> None:
    with pytest.raises(UnknownName, match="forest"):
        results.plot("forrest")
    with pytest.raises(UsageError, match="people beside operators"):
        results.plot("people")


def test_people_are_set_beside_operators(make_results, make_block) -> None:
    sets = {"operator": {"keyboard/typist": make_block(0.9, 0.8, 0.7, 0.1), "anna": make_block(0.9, 0.7, 0.6, 0.2)}}
    text = make_results(sets=sets, roles={"anna": "person"}).plot("people").svg
    assert "anna (person)" in text
    assert "keyboard/typist" in text


def test_flips_have_the_index_and_the_columns_of_the_data_frame() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(ROWS, index=[f"m{n}" for n in range(len(ROWS))]).assign(user=range(len(ROWS)))
    flips = unswayed.check(predict, frame, "keyboard/adjacent", language="en", draws=4, seed=1).flips()
    assert len(flips)
    assert (frame.loc[flips.index, "text"] == flips["before"]).all()
    assert (flips["user"] == [int(name[1:]) for name in flips.index]).all()


def test_a_metric_is_checked_in_one_call() -> None:
    """By hand: of three pairs, one is right, one wrong, one a tie; BLEU's side is its own."""
    pandas = pytest.importorskip("pandas")
    pairs = pandas.DataFrame({"reference": ["a", "b", "c"], "dialect": ["2", "1", "1"], "changed": ["1", "2", "1"]})

    def length(items: list[dict[str, str]]) -> list[float]:
        return [float(item["candidate"]) for item in items]

    found = unswayed.metrics.check(length, pairs, beside=["chrf"])
    assert found.answer == "unclear"
    failing = found.failing()
    assert list(failing["reference"]) == ["b", "c"]
    assert list(failing["changed_score"] - failing["dialect_score"]) == [1.0, 0.0]
    assert "≥ 0.333 [" in repr(found), "a tie counts as a loss, so the share is a lower bound"
    assert "chrf" in found.better_than("chrf")
    with pytest.raises(UnknownName, match="chrf"):
        found.better_than("bleuu")
    with pytest.raises(unswayed.UnswayedError, match="there is no text in changed"):
        unswayed.metrics.check(length, pairs.drop(columns="changed"))
