"""Story 14, two logs: what Inspect, lm-evaluation-harness, promptfoo and others wrote, compared by sample without
a suite of ours, with a sentence, the texts, a page, and gates on repeats."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from commands import unswayed as run
from samples.logs import (
    DEEPEVAL,
    PROMPTFOO,
    QUESTIONS,
    deepeval_results,
    deflated,
    harness_log,
    inspect_log,
    openai_record,
    promptfoo_results,
)

import unswayed

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]


def test_two_logs_of_inspect(tmp_path: Path) -> None:
    pytest.importorskip("inspect_ai")
    base, new = tmp_path / "base.eval", tmp_path / "new.eval"
    deflated(inspect_log(tmp_path / "a", wrong=range(1, 31), n=60), base)  # as it was written until 2025
    inspect_log(tmp_path / "b", wrong=(*range(1, 4), 59, 60), n=60).rename(new)
    done = run("compare", "base.eval", "new.eval", "-o", "compare.html", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    first = done.stdout.splitlines()[0]
    found = re.fullmatch(
        r"new is better by (\d+\.\d) points \[(\d+\.\d), (\d+\.\d)\]; 2 answers lost, 27 gained\.", first
    )
    assert found, first
    assert float(found[1]) == pytest.approx(100 * 25 / 60, abs=0.05)
    assert float(found[2]) < float(found[1]) < float(found[3])
    page = (tmp_path / "compare.html").read_text()
    for text in ("What is 59 plus 59?", "I do not know", "118", "Lost answers", "Gained answers"):
        assert text in page
    assert page.count("right in A, wrong in B") == 2
    in_python = unswayed.compare(base, new)
    assert in_python.sentences[0] == first
    assert sorted(flip.example for flip in in_python.iter_flips() if flip.change == "lost") == ["q59", "q60"]


def test_epochs_are_repeats_and_clusters_are_taken_over(tmp_path: Path) -> None:
    pytest.importorskip("inspect_ai")
    base = inspect_log(tmp_path / "base", wrong=(-1, -2, 3), epochs=4, cluster="topic")
    new = inspect_log(tmp_path / "new", wrong=(-1,), epochs=4, cluster="topic")
    done = run("compare", str(base), str(new), "--each-at-least", "0.8", "--format", "json")
    found = json.loads(done.stdout)
    assert (found["samples"], found["repeats"], found["cluster"]) == (12, [4, 4], "topic")
    power = next(d for d in found["differences"] if d["measure"] == "pass^4")
    assert (power["a"], power["b"]) == pytest.approx((9 / 12, 11 / 12))  # by hand: a sample that failed once fails
    assert done.returncode == 1
    assert "1 of 12 samples of B pass less than 80% of their repeats (q1: 3 of 4): failed." in done.stderr


def test_two_folders_of_the_harness(tmp_path: Path) -> None:
    pytest.importorskip("lm_eval")
    right = {question: f"{2 * n}" for n, question in enumerate(QUESTIONS, 1)}
    base = harness_log(tmp_path / "old", {q: right[q] for q in QUESTIONS[:2]}, tasks=("sums", "others"))
    new = harness_log(tmp_path / "large", right, tasks=("sums", "others"))
    done = run("compare", str(base), str(new))
    assert done.returncode == 4
    assert f"{base} has several tasks: others, sums. Choose one, as in {base}#others." in done.stderr
    done = run("compare", f"{base}#sums", f"{new}#sums")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("large is better by 75.0 points [")
    assert "; 0 answers lost, 6 gained." in done.stdout.splitlines()[0]
    assert "What is 3 plus 3?" in done.stdout


@pytest.mark.parametrize("tool", ["promptfoo", "deepeval", "openai evals"])
def test_two_results_of_others(tmp_path: Path, tool: str) -> None:
    made: dict[str, Callable[[str, bool], Path]] = {
        "promptfoo": lambda name, good: promptfoo_results(
            tmp_path / name, f"return {{ output: {str(good).lower()} || number < 3 ? String(2 * number) : 'no' }};"
        ),
        "deepeval": lambda name, good: deepeval_results(tmp_path / name, () if good else range(3, 9)),
        "openai evals": lambda name, good: openai_record(
            tmp_path / f"{name}.jsonl", [good or n < 3 for n in range(1, 9)]
        ),
    }
    if (tool == "promptfoo" and not PROMPTFOO.exists()) or (tool == "deepeval" and not DEEPEVAL.exists()):
        pytest.skip(f"{tool} is not installed; `make test` installs it")
    found = unswayed.compare(made[tool]("old", False), made[tool]("good", True))
    assert found.differences[0].difference == pytest.approx(0.75)
    assert found.differences[0].shown
    assert "is better by 75.0 points" in found.sentences[0]
    assert "; 0 answers lost, 6 gained." in found.sentences[0]
    gained = sorted((flip.text, flip.answer_a, flip.answer_b, flip.gold) for flip in found.iter_flips())
    assert gained[0] == ("What is 3 plus 3?", "no", "6", "6")
