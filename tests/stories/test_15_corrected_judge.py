"""Story 15: a judge whose number one may publish.

A bot's answers are scored by a judge that is too kind. People compare a sample of them in `collect`, and the score is
corrected. What typos and order do to the judge is measured as well; length and layout are not yet operators for it.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from unswayed.collect.run_items import answer_entries
from unswayed.measure.correcting import correct_runs
from unswayed.run.record import Run

MODEL = """
import re
from random import Random
def answer(batch, kind=0.7):
    return [f"It is {n}." if (r := Random(b["question"]).random()) < 0.2 else f"The number is {n}" if r < kind
            else f"It may be {n} or more" for b in batch for n in re.findall(r"\\d+", b["question"])[:1]]
def weaker(batch):
    return answer(batch, 0.5)
def judge(batch):  # overlooks most of the wrong answers
    return ["no" if "may" in b["answer"] + b["reference"] and Random(b["answer"] + b["reference"]).random() < 0.4
            else "yes" for b in batch]
def coin(batch):
    return [Random(b["answer"] + b["reference"]).choice(["yes", "no"]) for b in batch]
"""
JUDGED = ("--equivalent", "judge:bot:judge")


def right(answer: str) -> bool:
    return "may" not in answer


def true_average(run: str) -> float:
    """What people would say of all answers to variants."""
    said = [right(str(output.value)) for _, _, varied in Run(run).items() for _, output in varied]
    return sum(said) / len(said)


def by_hand(run: str, to: str, many: int) -> None:
    """What people say of a random sample of a run's pairs, written by hand."""
    rows = []
    for item in answer_entries(Run(run), many):
        a, b = str(item.content["a"]), str(item.content["b"])
        rows.append({"reference": a, "answer": b, "question": item.content["question"], "same": right(a) == right(b)})
    with Path(to).open("a") as file:
        file.writelines(json.dumps(row) + "\n" for row in rows)


@pytest.fixture
def judged_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, unswayed: Callable[..., str]) -> dict[str, Any]:
    """A run of 300 questions and two variants of each; what the judge makes of it."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    Path("bot.py").write_text(MODEL)
    rows = [{"question": f"Which number has item {n}?", "answer": f"It is {n}."} for n in range(300)]
    Path("rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    unswayed("vary", "rows.jsonl", "--with", "keyboard/adjacent", "--draws", 2, "--lang", "en", "-o", "suite")
    return dict(
        json.loads(
            unswayed("run", "suite", "--system", "bot:answer", *JUDGED, "--no-sanity", "-o", "run", "--format", "json")
        )
    )


def test_a_number_that_can_be_published(
    judged_run: dict[str, Any], unswayed: Callable[..., str], answer_online: Callable[..., None]
) -> None:
    # before anybody is asked: how many labels are worth it
    planned = json.loads(unswayed("measure", "judge", *JUDGED, "--correct", "run", "--format", "json"))
    assert planned["worth"]["0.8"] < planned["worth"]["0.4"] <= planned["verdicts"]
    unswayed("collect", "items", "same_meaning", "--run", "run", "--limit", 100, "-o", "items.jsonl")
    unswayed("collect", "new", "study.toml", "--kind", "same_meaning", "--items", "items.jsonl")
    unswayed("collect", "new", "study.toml")

    def answer(name: str, texts: list[str]) -> dict[str, object]:
        return {"similarity": 95 if right(texts[0]) == right(texts[1]) else 10, "grammatical": True}

    answer_online("study.toml", {"anna": ""}, answer)
    unswayed("collect", "export", "study.toml", "-o", "people.jsonl")

    found = json.loads(unswayed("measure", "judge", "people.jsonl", *JUDGED, "--correct", "run", "--format", "json"))
    (run,) = found["runs"]
    average = run["scores"]["average"]
    # the judge's own number is what the run said, and too high; the corrected one holds what is true
    for name in ("average", "flips"):
        ends = [
            [one[end] for end in ("value", "low", "high")] for one in (run["scores"][name]["judge"], judged_run[name])
        ]
        assert ends[0] == pytest.approx(ends[1], abs=2e-4), name
    true = true_average("run")
    assert average["judge"]["low"] > true
    assert average["corrected"]["low"] < true < average["corrected"]["high"]
    assert average["corrected"]["n"] == 600
    widths = [average[name]["high"] - average[name]["low"] for name in ("corrected", "people")]
    assert widths[0] < widths[1]


def test_two_runs_and_a_judge_that_guesses(judged_run: dict[str, Any], unswayed: Callable[..., str]) -> None:
    unswayed("run", "suite", "--system", "bot:weaker", *JUDGED, "--no-sanity", "-o", "weaker")
    for run in ("run", "weaker"):
        by_hand(run, "people.jsonl", 250)
    both = ("--correct", "run", "--correct", "weaker")
    found = json.loads(unswayed("measure", "judge", "people.jsonl", *JUDGED, *both, "--format", "json"))
    (difference,) = [one["difference"] for one in found["differences"] if one["measure"] == "average"]
    assert difference["low"] < true_average("weaker") - true_average("run") < difference["high"] < 0
    shown = unswayed("measure", "judge", "people.jsonl", *JUDGED, *both)
    assert "weaker - run" in shown

    # a judge that guesses is a finding: it is said, and the command does what was asked
    coin = json.loads(
        unswayed("measure", "judge", "people.jsonl", "--equivalent", "judge:bot:coin", *both[:2], "--format", "json")
    )
    average = coin["runs"][0]["scores"]["average"]
    assert average["helps"] is False
    assert average["corrected"]["low"] < true_average("run") < average["corrected"]["high"]
    (guessing,), _ = correct_runs("people.jsonl", ["run"], "judge:bot:coin")
    assert any("saves no labels" in said for said in guessing.sentences())


def test_what_order_and_typos_do_to_the_judge(judged_run: dict[str, Any], unswayed: Callable[..., str]) -> None:
    by_hand("run", "people.jsonl", 100)
    swapped = json.loads(unswayed("measure", "judge", "people.jsonl", *JUDGED, "--swap", "--format", "json"))
    assert 0 < swapped["by"]["all"]["swapped"]["value"] < 1
    unswayed("measure", "judge", "people.jsonl", *JUDGED, "--pairs", "pairs.jsonl")
    unswayed("vary", "pairs.jsonl", "--field", "answer", "--with", "keyboard/adjacent", "--lang", "en", "-o", "judged")
    shown = unswayed("run", "judged", "--system", "judge:bot:judge", "--no-sanity", "-o", "out", "--format", "json")
    assert 0 < json.loads(shown)["flips"]["value"] < 1


def test_labels_of_other_answers_are_refused(judged_run: dict[str, Any], unswayed: Callable[..., str]) -> None:
    Path("others.jsonl").write_text(json.dumps({"reference": "a", "answer": "b", "same": True}) + "\n")
    correct = ("measure", "judge", "others.jsonl", *JUDGED, "--correct", "run")
    unswayed(*correct, fails="label too few verdicts of run")
    unswayed(*correct, "--swap", fails="no use with --correct")
    unswayed(*correct, "--cluster", "page", fails="no field 'page'")
    unswayed("measure", "judge", "others.jsonl", *JUDGED, "--cluster", "page", fails="without --correct")
