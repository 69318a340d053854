"""A judge under variation: which changes of the input change its verdicts, more than asking it again does."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from commands import unswayed as run

from unswayed.base.errors import DataError, UsageError
from unswayed.measure.judge_variation import AGAIN, _default_rubric, _reworded, judge_variation
from unswayed.systems.template import Template

JUDGE = """
import random

def fair(batch):
    both = [(x["answer"] + x["reference"]).lower() for x in batch]
    return ["no" if "never" in text or "thirty days" not in text else "yes" for text in both]

def short(batch):  # likes short answers that speak of days
    return ["yes" if len(x["answer"]) < 70 and "days" in x["answer"] else "no" for x in batch]

def obedient(batch):  # goes by the wording of the rubric
    return ["yes" if "You compare" in x["prompt"] else "no" for x in batch]

luck = random.Random(3)

def wavering(batch):
    return ["yes" if luck.random() < 0.7 else "no" for x in batch]
"""


@pytest.fixture
def pairs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "judges.py").write_text(JUDGE)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.chdir(tmp_path)
    rows = [
        {"question": "When can I return it?", "reference": f"You have thirty days for order {n}.", "same": bool(n % 2),
         "answer": f"Within thirty days of buying it, order {n}." if n % 2 else "Never at all, and not in two days."}
        for n in range(40)
    ]  # fmt: skip
    file = tmp_path / "people.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return file


def test_what_changes_verdicts_is_named(pairs: Path) -> None:
    found = judge_variation(pairs, "judge:judges:short", store=pairs.with_suffix(".sqlite"))
    assert list(found.by) == [AGAIN, "order", "layout", "length", "politeness", "typos", "rubric wording"]
    assert found.by[AGAIN].changed.value == 0
    length = found.by["length"]
    assert length.changed.value == 1.0  # all said yes, and none does any more
    assert length.more_yes == -1.0
    assert length.p is not None
    assert length.p < 0.001
    assert length.agreement == 0.5
    assert length.example["after"].startswith(length.example["before"])
    assert found.by["rubric wording"].changed.value == 0
    assert "More than that change with length 100%" in found.sentences()[1]
    obedient = judge_variation(pairs, "judge:judges:obedient")
    assert {name for name, one in obedient.by.items() if one.changed.value} == {"rubric wording"}


def test_a_fair_judge_stays(pairs: Path) -> None:
    found = judge_variation(pairs, "judge:judges:fair")
    assert {name: one.changed.value for name, one in found.by.items() if name != "typos"} == dict.fromkeys(
        [AGAIN, "order", "layout", "length", "politeness", "rubric wording"], 0.0
    )
    assert found.by["order"].agreement == 1.0


def test_a_judge_that_wavers_is_compared_with_itself(pairs: Path) -> None:
    found = judge_variation(pairs, "judge:judges:wavering")
    again = found.by[AGAIN].changed.value
    assert again is not None
    assert 0.2 < again < 1
    assert all(one.p is None or one.p > 0.05 for one in found.by.values())
    assert found.sentences()[1] == "No change of the input is shown to change more than that."


def test_other_languages_and_pairs_without_people(pairs: Path) -> None:
    rows = [{"reference": f"Sie haben dreißig Tage Zeit für die Bestellung {n}.",
             "answer": f"Innerhalb von dreißig Tagen nach dem Kauf, Bestellung {n}."} for n in range(8)]  # fmt: skip
    file = pairs.with_name("german.jsonl")
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    found = judge_variation(file, "judge:judges:short")
    assert "length" not in found.by
    assert "typos" in found.by
    assert found.skipped == {"length and politeness": "their words are English, and the answers are not"}
    assert found.by["order"].agreement is None


def test_what_is_no_judge_or_no_pair_is_refused(pairs: Path) -> None:
    with pytest.raises(UsageError, match="is for a judge"):
        judge_variation(pairs, "contains")
    empty = pairs.with_name("empty.jsonl")
    empty.write_text('{"text": "x"}\n')
    with pytest.raises(DataError):
        judge_variation(empty, "judge:judges:fair")


def test_the_rubric_is_worded_differently_and_keeps_its_fields(tmp_path: Path) -> None:
    made = _reworded(_default_rubric())
    assert made != _default_rubric()
    assert re.findall(r"\{\w+\}", made) == re.findall(r"\{\w+\}", _default_rubric())
    file = tmp_path / "rubric.txt"
    file.write_text(made)
    assert "{answer}" in Template.read(str(file)).text


def test_the_command(pairs: Path) -> None:
    done = run(
        "measure", "judge", pairs, "--equivalent", "judge:judges:short", "--vary", "-o", "v.json", cwd=pairs.parent
    )
    assert done.returncode == 0, done.stderr
    assert re.search(r"length +40 +1\.000 \[", done.stdout)
    assert "Asked again, the judge changes 0% of 40 verdicts." in done.stderr
    assert json.loads((pairs.parent / "v.json").read_text())["by"]["order"]["changed"]["value"] == 0
    wrong = run("measure", "judge", pairs, "--equivalent", "judge:judges:short", "--vary", "--swap", cwd=pairs.parent)
    assert wrong.returncode == 4
