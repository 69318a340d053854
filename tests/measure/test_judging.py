"""How far a judge agrees with people, and the judge itself under variation."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

from unswayed.base.errors import DataError, UnswayedError, UsageError
from unswayed.base.task import task_named
from unswayed.measure.judging import cited, judge_agreement, save_agreement
from unswayed.score import Comparing
from unswayed.stats.agreement import cohen_kappa
from unswayed.storage.suite import Suite

pytestmark = pytest.mark.usefixtures("asked_once")

JUDGE = """
def judge(batch):
    return [one(b["reference"], b["answer"]) for b in batch]
def one(reference, answer):
    return "well" if "odd" in answer else "Yes." if answer[:4] == reference[:4] else "No."
def first(batch):
    return ["yes" if len(b["reference"]) <= len(b["answer"]) else "no" for b in batch]
"""
RUBRIC = "{question}|{reference}|{answer}: same?"


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "my_judge.py").write_text(JUDGE)
    (tmp_path / "rubric.txt").write_text(RUBRIC)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    return tmp_path


# a text, another, who made it, and the ratings of three people
ROWS = [
    ("pay the bill", "pay that bill", "typist", (90, 80, 100)),
    ("pay the bill", "shred the bill", "typist", (10, 0, 20)),
    ("call my aunt", "call my uncle", "typist", (20, 90, 10)),
    ("stop the music", "halt the music", "rules", (95, 90, 70)),
    ("open the door", "open a door", "rules", (80, 70, 74)),
    ("wake me at six", "an odd sentence", "rules", (0, 0, 0)),
    ("lights off", "LIGHTS OFF!", "rules", (100, 100, 100)),
]
PEOPLE = ("anna", "ben", "chiara")


def people_file(rows: Sequence[Any] = ROWS, name: str = "people.jsonl") -> Path:
    lines = [
        {"reference": a, "answer": b, "source": source, "person": who, "similarity": rating}
        for a, b, source, ratings in rows
        for who, rating in zip(PEOPLE, ratings, strict=False)
    ]
    Path(name).write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return Path(name)


def test_agreement_by_hand() -> None:
    found = judge_agreement(people_file(), "judge:my_judge:judge")
    said = {"pay that bill": True, "shred the bill": False, "call my uncle": True, "halt the music": False,
            "open a door": True, "LIGHTS OFF!": True}  # fmt: skip
    judged = [(b, ratings) for _, b, _, ratings in ROWS if b in said]
    together = [sum(r) / 3 >= 75 for _, r in judged]
    assert (found.pairs, found.unjudged, found.persons) == (7, 1, 3)
    assert found.same == pytest.approx(3 / 7)
    whole = found.whole
    assert whole.pairs == 6
    assert whole.share.value == pytest.approx(3 / 6)
    assert whole.share.missing == 1
    assert whole.kappa.value == pytest.approx(cohen_kappa([said[b] for b, _ in judged], together))
    alone = [(r >= 75) == said[b] for b, ratings in judged for r in ratings]
    assert whole.one.value == pytest.approx(sum(alone) / len(alone))
    two = [(x >= 75) == (y >= 75) for _, _, _, ratings in ROWS for x, y in combinations(ratings, 2)]
    assert whole.people.value == pytest.approx(sum(two) / len(two))
    assert (whole.too_same, whole.too_different) == (2, 1)
    assert {name: block.pairs for name, block in found.by.items()} == {"all": 6, "typist": 3, "rules": 3}
    assert found.by["typist"].share.value == pytest.approx(2 / 3)
    for estimate in (whole.share, whole.kappa, whole.one, whole.people):
        assert estimate.low is not None
        assert estimate.low < estimate.value < estimate.high  # type: ignore[operator]
        assert estimate.over == "pairs like these"
    assert found.sentence().startswith("The judge agrees with people in 50% [")
    assert "of 6 pairs" in found.sentence()
    assert found.sentence().endswith("On 1 more it said neither yes nor no.")


def test_the_threshold_and_the_people_decide_the_signature() -> None:
    one = judge_agreement(people_file(), "judge:my_judge:judge").whole.share
    other = judge_agreement(people_file(), "judge:my_judge:judge", threshold=50).whole.share
    third = judge_agreement(people_file(ROWS[:-1]), "judge:my_judge:judge").whole.share
    assert len({one.signature, other.signature, third.signature}) == 3
    assert judge_agreement(people_file(), "judge:my_judge:judge").whole.share == one


def test_pairs_of_one_text_count_together() -> None:
    """Copies of a text add answers, and no certainty about other texts."""
    rows = [(f"text {n}", f"{'text' if n % 2 else 'other'} {n}x", "s", (100,)) for n in range(20)]
    copies = [(a, f"{b}{c}", s, r) for a, b, s, r in rows for c in "abcd"]
    alone, together = (judge_agreement(people_file(r), "judge:my_judge:judge").whole.share for r in (rows, copies))
    assert (alone.value, together.value) == (0.5, 0.5)
    assert (alone.n, together.n) == (20, 80)
    assert together.high - together.low > 0.9 * (alone.high - alone.low)  # type: ignore[operator]


def test_one_person_each_and_no_disagreement() -> None:
    rows = [(f"text {n}", f"text {n}!!x", "", (100,)) for n in range(9)]
    found = judge_agreement(people_file(rows), "judge:my_judge:judge")
    assert found.whole.share.value == 1
    assert found.whole.kappa.value is None  # chance alone would agree on all
    assert found.whole.people.value is None
    assert found.whole.alpha.value is None
    assert "two people" not in found.sentence()
    assert list(found.by) == ["all", "unknown"]
    assert len(found.rows()) == 1


def test_answers_that_change_places() -> None:
    """`first` says yes to the longer answer; the other judge is symmetric, but for the word that confuses it."""
    assert judge_agreement(people_file(), "judge:my_judge:first").whole.swapped is None
    biased = judge_agreement(people_file(), "judge:my_judge:first", swap=True)
    turned = [len(a) != len(b) for a, b, _, _ in ROWS[:-1]]  # the last is equal after normalising
    assert biased.whole.swapped is not None
    assert biased.whole.swapped.value == pytest.approx(sum(turned) / len(ROWS))
    assert "If the two answers change places" in biased.sentence()
    fair = judge_agreement(people_file(), "judge:my_judge:judge", swap=True).whole.swapped
    assert fair is not None
    assert (fair.value, fair.missing) == (0, 1)


@pytest.mark.parametrize("rule", ["exact", "contains", "rouge-l@0.5"])
def test_other_rules_are_compared_with_people_too(rule: str) -> None:
    assert judge_agreement(people_file(), rule).unjudged == 0


def test_what_was_judged_is_not_asked_again() -> None:
    found = [judge_agreement(people_file(), "judge:my_judge:judge", store="kept.sqlite") for _ in range(2)]
    assert found[0].used == {"judge calls": 6}  # not the pair that is equal after normalising
    assert found[1].used["judge calls"] < 18  # stored answers are checked, then used
    assert found[0].by == found[1].by


def test_a_table_by_hand() -> None:
    text = "reference,answer,same\npay the bill,pay the bills,yes\ncall my aunt,call an uncle,no\n"
    Path("people.csv").write_text(text, encoding="utf-8")
    found = judge_agreement("people.csv", "judge:my_judge:judge")
    assert (found.whole.share.value, found.same) == (0.5, 0.5)


BAD = {
    "empty": (b"", "there is no answer in it"),
    "encoding": ('{"reference": "é", "answer": "e", "same": true}\n'.encode("latin-1"), "UTF-8"),
    "neither": (b'{"reference": "a", "answer": "b", "same": "maybe"}\n', "same must be true or false"),
    "no rating": (b'{"reference": "a", "answer": "b"}\n', "same must be true or false, or similarity a number"),
    "too much": (b'{"reference": "a", "answer": "b", "similarity": 101}\n', "from 0 to 100"),
    "no answer": (b'{"reference": "a", "same": true}\n', "no 'answer'"),
    "another study": (
        b'{"person": "a", "kind": "labels", "item": "1", "asked": {}, "answer": {}}\n',
        "this is an answer in a labels study",
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_files(case: str) -> None:
    content, message = BAD[case]
    Path("people.jsonl").write_bytes(content)
    with pytest.raises(UnswayedError, match=message):
        judge_agreement("people.jsonl", "judge:my_judge:judge")


def test_a_bad_row_is_named_by_its_number() -> None:
    good = json.dumps({"reference": "مرحبا 👋", "answer": "أهلا", "same": True}) + "\n"
    Path("people.jsonl").write_text(good * 6 + '{"reference": "a", "answer": 5, "same": true}\n', encoding="utf-8")
    with pytest.raises(DataError, match=r"people\.jsonl:7: there is no 'answer'"):
        judge_agreement("people.jsonl", "judge:my_judge:judge")
    with pytest.raises(UsageError, match="from 0 to 100"):
        judge_agreement(people_file(), "judge:my_judge:judge", threshold=200)


def test_a_report_cites_it_and_no_other_judge(unswayed: Callable[..., str]) -> None:
    rows = [{"question": f"What is {n}?", "answer": f"It is the number {n}, a whole number."} for n in range(12)]
    Path("rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    Path("my_model.py").write_text(
        "def answer(batch):\n"
        "    return [f\"{'It is' if len(b['question']) % 3 else 'Hm,'} {b['question'][8:]}\" for b in batch]\n"
    )
    unswayed("vary", "rows.jsonl", "--with", "keyboard/adjacent", "--lang", "en", "-o", "suite")
    judged = ("--equivalent", "judge:my_judge:judge")
    unswayed("run", "suite", "--system", "my_model:answer", *judged, "--no-sanity", "-o", "run")
    unswayed("report", "run", *judged, "--no-sanity", "-o", "plain.html")
    assert "was not compared with people" in Path("plain.html").read_text()

    unswayed("measure", "judge", people_file(), *judged, "-o", "agreement.json")
    unswayed("report", "run", *judged, "--no-sanity", "--agreement", "agreement.json", "-o", "report.html")
    page = Path("report.html").read_text()
    assert "The judge agrees with people in 50% [" in page
    assert "was not compared with people" not in page
    assert "Does the answer say the same" in page, "the rubric is shown"

    other = ("--rubric", "rubric.txt", "--agreement", "agreement.json")
    unswayed("report", "run", *judged, *other, fails="the judge or its rubric differs")
    unswayed("report", "run", "--equivalent", "exact", *other[2:], fails="is of judge:my_judge:judge")
    unswayed("report", "run", *judged, "--agreement", "no.json", fails="can't be read")
    Path("broken.json").write_text('{"rule": 5}')
    unswayed("report", "run", *judged, "--agreement", "broken.json", fails="was not written by")
    Path("plan.toml").write_text(
        '[measure]\nequivalent = "judge:my_judge:judge"\nagreement = "agreement.json"\nsanity = false\n'
    )
    unswayed("report", "run", "--plan", "plan.toml", "-o", "planned.html")
    assert "The judge agrees with people in 50% [" in Path("planned.html").read_text()


def test_the_judge_itself_under_variation(unswayed: Callable[..., str]) -> None:
    rows = [(f"number {n}", f"{'number' if n % 2 else 'item'} {n}!x", "s", (100 * (n % 2),)) for n in range(40)]
    rows[4] = ("number 4", "an odd answer", "s", (0,))
    unswayed("measure", "judge", people_file(rows), "--equivalent", "judge:my_judge:judge", "--pairs", "pairs.jsonl")
    first = json.loads(Path("pairs.jsonl").read_text().splitlines()[0])
    assert first == {"reference": "number 0", "answer": "item 0!x", "label": "no", "judge": "no", "source": "s"}
    varied = ("--with", "keyboard/adjacent", "--draws", 2, "--seed", 7, "--lang", "en")
    unswayed("vary", "pairs.jsonl", "--field", "answer", *varied, "-o", "judged")
    asked = ("--system", "judge:my_judge:judge", "--allow-missing", 0.1)
    results = json.loads(unswayed("run", "judged", *asked, "-o", "out", "--format", "json"))
    assert results["clean"]["value"] == 1.0, "the judge agrees with people on all that it judged"
    flips, neither = [], 0
    for example, variants in Suite("judged").groups():
        texts = [example.inputs, *(v.inputs for v in variants)]
        neither += sum("odd" in one["answer"] for one in texts)
        if "odd" not in example.inputs["answer"]:
            flips += [(one["answer"][:4] == one["reference"][:4]) != (example.gold == "yes") for one in texts[1:]]
    assert results["validity"]["failed"] == neither > 0, "neither yes nor no is counted apart"
    assert 0 < sum(flips) < len(flips)
    assert results["flips"]["value"] == pytest.approx(sum(flips) / len(flips))


def test_a_judge_needs_two_answers(unswayed: Callable[..., str]) -> None:
    unswayed(
        "vary", people_file(), "--input", "answer", "--gold", "person", "--with", "keyboard/adjacent", "-o", "other"
    )
    unswayed("run", "other", "--system", "judge:my_judge:judge", "-o", "no", fails="have no input 'reference'")


def test_a_saved_agreement_is_read_again() -> None:
    found = judge_agreement(people_file(), "judge:my_judge:judge")
    save_agreement(found, "agreement.json")
    assert cited("agreement.json", Comparing(task_named("generate"), "last-line", "judge:my_judge:judge")) == found
