"""Story 2, CI: a run is compared with the baseline's, and the build fails where people who mistype are served worse."""

from __future__ import annotations

import json
from itertools import product
from pathlib import Path
from xml.etree import ElementTree

import commands
import pytest

pytest.importorskip("sklearn")

CLF = """
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
import json

rows = [json.loads(line) for line in open("train.jsonl")]
model = make_pipeline(TfidfVectorizer({options}), LogisticRegression(C=100)).fit(
    [row["text"] for row in rows], [row["label"] for row in rows])

def predict(batch):
    return model.predict([inputs["text"] for inputs in batch]).tolist()
"""
ASKED = {
    "lights": ("turn on the lamp", "dim the lights", "switch the light off", "make it brighter"),
    "music": ("play some music", "next song", "put on my playlist", "skip this track"),
    "heating": ("turn up the heating", "make it warmer", "lower the thermostat", "it is too cold"),
}
PLACES = ("in the kitchen", "in the hall", "upstairs", "in the bedroom", "please", "now", "for me", "tonight")


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A suite of 96 utterances with typos, and runs of two models: of characters, and of three words in a row."""
    place = tmp_path_factory.mktemp("ci")
    rows = [
        {"text": f"{text} {where}", "label": label, "domain": "home" if where.startswith("in the") else "any"}
        for label, texts in ASKED.items()
        for text, where in product(texts, PLACES)
    ]
    for name in ("train", "test"):
        (place / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (place / "base_clf.py").write_text(CLF.format(options='analyzer="char_wb", ngram_range=(2, 4)'))
    (place / "new_clf.py").write_text(CLF.format(options="ngram_range=(3, 3)"))
    said(place, "vary", "test.jsonl", "--with", "keyboard/adjacent", "--with", "spoken/filler_end", "--draws", "3",
         "--group", "domain", "-o", "suite/")  # fmt: skip
    said(place, "run", "suite/", "--system", "base_clf:predict", "-o", "base/")
    said(place, "run", "suite/", "--system", "new_clf:predict", "-o", "new/")
    return place


def said(place: Path, *arguments: str, code: int = 0) -> str:
    done = commands.unswayed(*arguments, cwd=place)
    assert done.returncode == code, done.stderr
    return done.stdout


def test_a_worse_run_fails_the_build(place: Path) -> None:
    command = "compare base/ new/ --fail-if-worse worst:0.02 --format json"
    found = json.loads(said(place, *command.split(), code=1))
    (gate,) = found["gates"]
    assert (gate["name"], gate["status"], gate["passed"]) == ("worst", "worse", False)
    worst = {d["measure"]: d for d in found["differences"] if d["set"] == "all"}["worst"]
    assert gate["high"] < -0.02
    assert worst["difference"] == pytest.approx(gate["difference"]) == worst["b"] - worst["a"]
    assert worst["sentence"] in found["changes"]
    assert worst["sentence"].startswith("Worst falls by ")
    assert {d["set"] for d in found["differences"]} == {
        "all", "operator=keyboard/adjacent", "operator=spoken/filler_end", "domain=any", "domain=home",
    }  # fmt: skip
    answers = found["answers"]["variants"]
    assert answers["lost"] > answers["gained"]
    assert sum(answers.values()) == 96 * 2 * 3
    assert found["others"] == []


def test_the_other_way_round_it_passes(place: Path) -> None:
    found = json.loads(said(place, "compare", "new/", "base/", "--fail-if-worse", "worst:0.02", "--format", "json"))
    assert found["gates"][0]["status"] == "passed"


def test_a_page_that_can_not_be_written_does_not_hide_the_gate(place: Path) -> None:
    """A file in the place of the folder, which stops the superuser too."""
    for names, passed in ((("new/", "base/"), True), (("base/", "new/"), False)):
        for option in ("-o", "--junit"):
            done = commands.unswayed(
                "compare", *names, "--fail-if-worse", "worst:0.02", option, "test.jsonl/page.html", cwd=place
            )
            assert done.returncode == (3 if passed else 1), done.stderr
            assert "page" in done.stderr.splitlines()[-1]
            assert f": {'passed' if passed else 'failed'}." in done.stderr
            assert done.stdout.startswith("Better by " if passed else "Worse by ")
    done = commands.unswayed("run", "suite/", "--system", "new_clf:predict", "-o", "new/", "--max-flips", "0",
                             "--junit", "test.jsonl/out.xml", cwd=place)  # fmt: skip
    assert done.returncode == 1
    assert "out.xml" in done.stderr.splitlines()[-1]


def test_gates_by_set_a_plan_and_junit(place: Path) -> None:
    (place / "ci.toml").write_text(
        '[compare]\nprimary = "worst"\n[compare.fail_if_worse]\n"keyboard/*:worst" = 0.02\n"domain=home:drop" = 0.9\n'
    )
    shown = said(place, "compare", "base/", "new/", "--plan", "ci.toml", "--junit", "out.xml", code=1)
    assert "Worst is tested by itself" in shown
    suite = ElementTree.parse(place / "out.xml").getroot()[0]
    cases = [(case.get("name"), case.find("failure") is None) for case in suite.findall("testcase")]
    assert cases == [("keyboard/adjacent:worst", False), ("domain=home:drop", True)]
    assert said(place, "compare", "base/", "new/", "--junit", "plain.xml")
    suite = ElementTree.parse(place / "plain.xml").getroot()[0]
    assert {case.get("name") for case in suite.findall("testcase")} >= {"clean", "worst", "drop"}
    assert suite.get("failures") == "0"


def test_three_runs_and_bad_input(place: Path) -> None:
    shown = said(place, "compare", "base/", "new/", "base/", "--format", "table")
    assert shown.startswith("B: Worse by ")
    assert "\nA is base_clf:predict, B is new_clf:predict, C is base_clf:predict; accuracy." in shown
    assert "C: Identical: A and C gave the same answers." in shown
    said(place, "vary", "test.jsonl", "--with", "keyboard/adjacent", "--seed", "9", "-o", "other_suite/")
    (place / "light.py").write_text(
        "def predict(batch): return [['lights', 'music'][len(x['text']) % 2] for x in batch]"
    )
    said(place, "run", "other_suite/", "--system", "light:predict", "-o", "other/", "--no-sanity")
    done = commands.unswayed("compare", "base/", "other/", cwd=place)
    assert done.returncode == 4
    assert "different suites" in done.stderr
    assert "seed (0 and 9), draws (3 and 1)" in done.stderr
    assert "operators (only the first has spoken/filler_end)" in done.stderr
    assert "Run both systems on the same suite" in done.stderr
    for wrong, message in (
        (("base/",), "Missing argument"),
        (("base/", "new/", "--fail-if-worse", "worts:0.02"), "Did you mean 'worst'"),
        (("base/", "new/", "--fail-if-worse", "keyboard/adjacnt:worst:0.02"), "Did you mean 'keyboard/adjacent'"),
        (("base/", "new/", "--fail-if-worse", "worst"), "[SET:]MEASURE:MARGIN"),
        (("base/", "nowhere/"), "nowhere"),
        (("base/", "test.jsonl"), "test.jsonl"),
    ):
        done = commands.unswayed("compare", *wrong, cwd=place)
        assert done.returncode not in (0, 1), wrong
        assert message in done.stderr
