"""Slips in numbers, dates, units, negations and names: what counts as one, and where they are left out."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest
from commands import unswayed

from unswayed import vary_text
from unswayed.base.edits import Edit
from unswayed.base.errors import UsageError
from unswayed.base.options import OperatorSpec
from unswayed.base.values import Example
from unswayed.run.making import keeps_facts, make_suite
from unswayed.run.plan import MeasurePlan, Plan, VaryPlan
from unswayed.storage.suite import Suite
from unswayed.vary.engine import Variation, Varier
from unswayed.vary.facts import changed_fact, touched_facts

QUESTIONS = [
    "How many apples does Mary have in 1915 if she can not buy 24 more for 3 dollars?",
    "A train takes 2 hours and 15 minutes for 180 km. How far does it get in 7 hours?",
    "Tom didn't sell 12 of his 36 cards on Monday. How many cards are left on Friday?",
]


def run(*arguments: str) -> str:
    done = unswayed(*arguments, cwd=".", check=True)
    return done.stderr


@pytest.mark.parametrize(
    ("old", "new", "language", "kind"),
    [
        ("2", "3", "en", "number"),
        ("1915", "1985", "en", "date"),
        ("fifteen", "fifty", "en", "number"),
        ("12:30", "13:30", "en", "date"),
        ("Monday", "Sunday", "en", "date"),
        ("5km", "5cm", "en", "unit"),
        ("km", "cm", "en", "unit"),
        ("Can", "Can't", "en", "negation"),
        ("not", "now", "en", "negation"),
        ("Mary", "Gary", "en", "name"),
        ("2 ", "", "en", "number"),
        ("Montag", "Sonntag", "de", "date"),
        ("deux", "douze", "fr", "number"),
        ("не", "на", "ru", "negation"),
        ("三", "四", "zh", "number"),
        ("不", "部", "zh", "negation"),
    ],
)
def test_another_valid_fact(old: str, new: str, language: str, kind: str) -> None:
    assert changed_fact(old, new, language) == kind


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("two", "too"),  # a reader sees the slip
        ("1915", "19i5"),
        ("not", "nto"),
        ("can't", "cant"),
        ("twenty five", "25"),  # a recogniser's numerals say the same
        ("nineteen fifteen", "1915"),
        ("two hundred five", "205"),
        ("1,000", "1000"),
        ("2 hours", "2hours"),
        ("hours", "hour"),
        ("Paris", "Pairs"),
        ("kitchen", "kithcen"),
    ],
)
def test_the_same_fact_or_a_slip_that_shows(old: str, new: str) -> None:
    assert changed_fact(old, new, "en") == ""


def test_edits_of_one_word_are_read_together() -> None:
    text = "born in 1915 here"
    assert touched_facts(text, [Edit(10, 11, "2"), Edit(11, 12, "7")], "en") == ["date", "date"]
    assert touched_facts(text, [Edit(8, 9, "2"), Edit(14, 15, "")], "en") == ["date", ""]


def typed(keep_facts: bool, mode: str = "uncorrected", draws: int = 40) -> tuple[list[str], Counter[str]]:
    spec = OperatorSpec("keyboard/typist", {"mode": mode})
    varier = Varier(Variation(operators=(spec,), task="qa", language="en", draws=draws, keep_facts=keep_facts))
    examples = [Example(i, f"e{i}", {"question": text, "context": ""}) for i, text in enumerate(QUESTIONS)]
    return [v.note for v in varier.block(examples)[0]], varier.left_out


def test_slips_say_what_they_touched_and_can_be_left_out() -> None:
    notes, left_out = typed(keep_facts=False)
    assert not left_out
    assert any("; touches: " in note for note in notes)
    kept, left_out = typed(keep_facts=True)
    assert len(kept) == len(notes)
    assert not any("touches" in note for note in kept)
    assert left_out["number"] + left_out["date"] > 0


def test_columns_say_what_they_touched() -> None:
    texts = [f"do not touch the lamp of room {i}" for i in range(400)]
    examples = [Example(i, f"e{i}", {"text": text}) for i, text in enumerate(texts)]
    spec = OperatorSpec("keyboard/adjacent")
    made = {}
    for keep in (False, True):
        varier = Varier(Variation(operators=(spec,), task="text", language="en", keep_facts=keep))
        made[keep] = [(v.inputs["text"], v.note) for v in varier.block(examples)[0]]
        assert varier.left_out == (Counter(negation=sum("touches" in n for _, n in made[False])) if keep else Counter())
    touched = [i for i, (_, note) in enumerate(made[False]) if note.endswith("; touches: negation")]
    assert touched
    assert not any("touches" in note for _, note in made[True])
    assert [one for i, one in enumerate(made[True]) if i not in touched] == [
        one for i, one in enumerate(made[False]) if i not in touched
    ]


@pytest.mark.parametrize(
    ("task", "compared", "measured", "kept"),
    [
        ("qa", {}, {}, True),
        ("tools", {}, {}, True),
        ("generate", {"extract": "number"}, {}, True),
        ("generate", {}, {"equivalent": "exact"}, True),
        ("chat", {"extract": "choice"}, {}, True),
        ("generate", {}, {}, False),
        ("generate", {"extract": "number"}, {"extract": "none"}, False),
        ("classify", {}, {}, False),
        ("tag", {}, {}, False),
    ],
)
def test_where_the_answer_depends_on_facts(
    task: str, compared: dict[str, str], measured: dict[str, str], kept: bool
) -> None:
    assert keeps_facts(Plan(measure=MeasurePlan(**measured)), task, compared) is kept
    assert keeps_facts(Plan(vary=VaryPlan(keep_facts="no")), task, compared) is False
    assert keeps_facts(Plan(vary=VaryPlan(keep_facts="yes")), task, compared) is True


def test_the_command_counts_what_was_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    texts = [f"{text} ({i})" for i in range(12) for text in QUESTIONS]
    rows = [{"question": text, "answer": str(7 * i)} for i, text in enumerate(texts)]
    Path("sums.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    options = ["--with", "keyboard/typist", "--param", "mode=uncorrected", "--draws", "4"]
    told = run("vary", "sums.jsonl", *options, "-o", "suite")
    counts = Suite("suite").manifest.left_out
    assert counts["number"] > 0
    assert f"{counts['number']:,} slips in numbers were left out" in told
    assert not any("touches" in v.note for v in Suite("suite"))
    two = run("vary", "sums.jsonl", *options, "--workers", "2", "-o", "two")
    assert Suite("two").manifest.left_out == counts
    assert two.splitlines()[-1] == told.splitlines()[-1]
    told = run("vary", "sums.jsonl", *options, "--keep-facts", "no", "-o", "all")
    assert "left out" not in told
    assert any("touches: number" in v.note for v in Suite("all"))
    assert "slips in numbers were left out" in run("vary", "sums.jsonl", *options, "-o", "-")


def test_the_option_in_python() -> None:
    plan = {"vary": {"keep_facts": "yes"}}
    kept = vary_text(QUESTIONS[0], "keyboard/typist", n=60, seed=1, language="en", plan=plan)
    free = vary_text(QUESTIONS[0], "keyboard/typist", n=60, seed=1, language="en")
    assert not any("touches" in v.note for v in kept)
    assert any("touches" in v.note for v in free)
    rows = [{"question": text, "answer": "7"} for text in QUESTIONS]
    with pytest.raises(UsageError, match="keep_facts"):
        make_suite(rows, "keyboard/typist", plan={"vary": {"keep_facts": "maybe"}})
