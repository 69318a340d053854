"""The papers' human parts end to end: made by one command, served, answered, and read with the paper's numbers."""

from __future__ import annotations

import json
import re
from pathlib import Path

import crowd
import pytest
from commands import unswayed

from unswayed import Example, Variant, make_suite
from unswayed.collect import read_study
from unswayed.run import NATURE
from unswayed.storage.suite import Manifest, write_suite

SPOKEN = "book a cheap table near the {} station for five"
ADJECTIVES = ["old", "new", "big", "quiet", "royal", "small", "grand", "nice", "pretty", "modern", "famous", "central"]
NOUNS = ["bus", "train", "river", "park", "hill", "town", "north", "south", "east", "west", "beach", "market"]
PLACES = [f"{a} {b}" for a in ADJECTIVES for b in NOUNS]  # no utterance is judged twice, so 132 are needed
CONTACT = ("--contact", "me@example.net")


def test_natures_survey_is_served_and_read(tmp_path: Path) -> None:
    rows = [
        Example(n, f"e{n}", {"text": SPOKEN.format(place)}, {"intent": "book", "slots": ["O"] * 10 + ["B-size"]})
        for n, place in enumerate(PLACES)
    ]
    make_suite(rows, NATURE, language="en", task="slu", to=tmp_path / "atis")
    done = unswayed("survey", "make", "nature", "atis", *CONTACT, "--people", 2, "-o", "survey", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    study = read_study(tmp_path / "survey/study.toml")
    assert (study.contact, study.assign.k, study.assign.by) == ("me@example.net", 1, "group")
    with crowd.served(tmp_path / "survey/study.toml") as url:
        for group, reasonable in (("1", True), ("2", False)):
            with crowd.Participant(url, "join") as person:
                person.begin(group=group)
                seen = 0
                while person.fact("item"):
                    person.answer({"slots": True, "intent": reasonable})
                    seen += 1
                assert seen == 72, "60 altered utterances and 12 controls, as in the paper"
    done = unswayed("survey", "read", "survey/study.toml", "--format", "json", cwd=tmp_path, check=True)
    found = {(row["set"], row["name"]): row for row in json.loads(done.stdout)["sets"]}
    assert found["group", "1 altered"]["items"] == 60
    assert found["group", "1 altered"]["intent"]["value"] == 1.0
    assert found["group", "2 controls"]["intent"]["value"] == 0.0
    assert len([name for kind, name in found if kind == "operator"]) == 10
    shown = unswayed("survey", "read", "survey/study.toml", cwd=tmp_path, check=True).stdout
    assert "paper: intent" in shown
    assert "0.859" in shown
    again = unswayed("survey", "make", "nature", "atis", *CONTACT, "-o", "survey", cwd=tmp_path)
    assert again.returncode == 4
    assert "exists. Choose another folder" in again.stderr


@pytest.fixture
def pairs(tmp_path: Path) -> Path:
    texts = [f"第{n}句话说的是天气" for n in range(8)]
    examples = [Example(i, str(i), {"text": text}, None) for i, text in enumerate(texts)]
    for name, source, ending in (("human", "person/keyboard-1", "呀"), ("simulated", "keyboard/homophone", "哦")):
        made = [
            Variant(i, str(i), 0, source, "keyboard", "same", {"text": text + ending}, None, "")
            for i, text in enumerate(texts)
        ]
        manifest = Manifest(task="text", language="zh")
        write_suite(tmp_path / name, manifest, lambda: examples, lambda made=made: made)
    return tmp_path


def test_readins_pairs_are_served_and_read(pairs: Path) -> None:
    command = ["survey", "make", "readin", "human", "simulated", *CONTACT, "--people", 2, "-o", "survey"]
    done = unswayed(*command, cwd=pairs)
    assert done.returncode == 0, done.stderr
    with crowd.served(pairs / "survey/study.toml") as url:
        for _ in range(2):
            with crowd.Participant(url, "join") as person:
                person.begin()
                for _ in range(8):
                    sides = re.findall(r'value="(\w)"> <span class="text">(.*?)</span>', person.page.text)
                    person.answer({"choice": next(value for value, text in sides if text.endswith("呀"))})
    done = unswayed("survey", "prefer", "survey/study.toml", "--format", "json", cwd=pairs, check=True)
    (row,) = json.loads(done.stdout)
    assert (row["pairs"], row["judges"], row["paper"]) == (8, 2, 0.875)
    assert row["human"]["value"] == 1.0
    assert unswayed("survey", "make", "readin", "human", *CONTACT, "-o", "x", cwd=pairs).returncode == 4


@pytest.mark.parametrize(("what", "by", "stratum"), [("typing", "ime", "sogou"), ("speech", "origin", "yue")])
def test_readins_people_choose_an_input_method_or_a_dialect(pairs: Path, what: str, by: str, stratum: str) -> None:
    command = ["survey", "make", f"readin-{what}", "human", *CONTACT, "-o", what]
    done = unswayed(*command, cwd=pairs)
    assert done.returncode == 0, done.stderr
    study = read_study(pairs / what / "study.toml")
    assert study.assign.by == by
    assert stratum in study.assign.strata
    questions = {question.name: question.answers for question in study.questions}
    assert {"zh", "en"} <= set(questions["origin"]["yue"])
    assert set(questions[by]) == set(study.assign.strata)
    assert study.assign.k == 3, "three people a text, each of another stratum"
    assert study.assign.distinct
