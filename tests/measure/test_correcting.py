"""A run's scores corrected by people: by hand where all have a label, and where no judge is needed."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from unswayed.base.errors import NothingEvaluated, UsageError
from unswayed.collect.run_items import answer_entries
from unswayed.measure.correcting import correct_runs, plan_labels
from unswayed.run.record import Run

JUDGE = "judge:my_bot:judge"
MODEL = """
def answer(batch):  # every third is equal to the gold, every third says the same, every third is wrong
    return [("It is {}.", "That is {}", "maybe {}")[len(b["question"]) % 3].format(b["question"][8]) for b in batch]
def equal(batch):
    return [f"It is {b['question'][8]}." for b in batch]
def judge(batch):
    return ["yes"] * len(batch)
"""


@pytest.fixture
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, unswayed: Callable[..., str]) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    Path("my_bot.py").write_text(MODEL)
    rows = [{"question": f"What is {n % 10}{'!' * (n // 10)}?", "answer": f"It is {n % 10}."} for n in range(60)]
    Path("rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    unswayed("vary", "rows.jsonl", "--with", "spoken/filler_end", "--draws", 2, "--lang", "en", "-o", "suite")
    for system in ("answer", "equal"):
        unswayed("run", "suite", "--system", f"my_bot:{system}", "--equivalent", JUDGE, "--no-sanity", "-o", system)
    with Path("people.jsonl").open("w") as file:
        for item in answer_entries(Run("answer")):
            a, b = str(item.content["a"]), str(item.content["b"])
            row = {"reference": a, "answer": b, "question": item.content["question"]}
            file.write(json.dumps({**row, "same": ("maybe" in a) == ("maybe" in b)}) + "\n")


@pytest.mark.usefixtures("runs")
def test_where_all_have_a_label_the_score_is_peoples() -> None:
    (found,), differences = correct_runs("people.jsonl", ["answer"], JUDGE)
    assert differences == []
    said = [
        (str(clean.value), [str(output.value) for _, output in varied]) for _, clean, varied in Run("answer").items()
    ]
    true = {
        "clean": sum("maybe" not in clean for clean, _ in said) / 60,
        "average": sum("maybe" not in one for _, varied in said for one in varied) / 120,
        "flips": sum(("maybe" in one) != ("maybe" in clean) for clean, varied in said for one in varied) / 120,
    }
    for name, value in true.items():
        score = found.scores[name]
        assert score.corrected.value == pytest.approx(value), name
        assert score.judge.value == (0.0 if name == "flips" else 1.0)
        assert score.known > 0, "equal answers need no judge"
        assert score.corrected.low < value < score.corrected.high  # type: ignore[operator]
        assert score.helps is False
    drop = found.scores["drop"].corrected
    assert drop.value == pytest.approx(true["clean"] - true["average"])
    assert any("too high" in text for text in found.sentences())


@pytest.mark.usefixtures("runs")
def test_a_run_differs_from_itself_by_nothing() -> None:
    _, differences = correct_runs("people.jsonl", ["answer", "answer"], JUDGE)
    assert {one.measure for one in differences} == {"clean", "average", "flips", "drop"}
    for one in differences:
        assert one.difference.value == 0.0
        assert one.difference.high == pytest.approx(0.0, abs=0.02)


@pytest.mark.usefixtures("runs")
def test_a_run_whose_answers_all_equal_the_gold_needs_no_judge() -> None:
    with pytest.raises(NothingEvaluated, match="needed for no pair"):
        plan_labels("equal", JUDGE)
    (found,), _ = correct_runs("people.jsonl", ["equal"], JUDGE)
    assert found.scores["average"].corrected.value == 1.0
    assert found.scores["average"].verdicts == 0
    assert "No judge is needed" in found.sentences()[0]


@pytest.mark.usefixtures("runs")
def test_what_is_asked_wrongly_is_refused() -> None:
    with pytest.raises(UsageError, match="one run, or two"):
        correct_runs("people.jsonl", ["answer"] * 3, JUDGE)
    with pytest.raises(UsageError, match="from 0 to 100"):
        correct_runs("people.jsonl", ["answer"], JUDGE, threshold=300)
    Path("few.jsonl").write_text("".join(Path("people.jsonl").read_text().splitlines(keepends=True)[:3]))
    with pytest.raises(NothingEvaluated, match="10 are needed"):
        correct_runs("few.jsonl", ["answer"], JUDGE)
