"""Logs of tests, cases and samples that no suite of ours made, each written by the real tool."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path

import pytest
from samples.logs import (
    DEEPEVAL,
    PROMPTFOO,
    QUESTIONS,
    deepeval_results,
    harness_log,
    openai_record,
    promptfoo_results,
)

from unswayed.base.errors import DataError
from unswayed.data.logs import Log, LogEntry, LoggedSystem, open_log
from unswayed.systems.system import Failed


def entries(path: Path | str) -> list[LogEntry]:
    return [entry for _, _, entry in Log(path).entries()]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_samples_of_any_task_of_the_harness(tmp_path: Path) -> None:
    pytest.importorskip("lm_eval")
    folder = harness_log(tmp_path / "m", {QUESTIONS[0]: "2", QUESTIONS[1]: "4"}, tasks=("sums", "others"))
    found = entries(f"{folder}#sums")
    assert [(e.id, e.text, e.output, e.gold, dict(e.scores)) for e in found[1:3]] == [
        ("1", QUESTIONS[1], "4", "4", {"exact_match": 1.0}),
        ("2", QUESTIONS[2], "no", "6", {"exact_match": 0.0}),
    ]
    assert {(e.task, e.system) for e in found} == {("sums", "m")}
    assert {e.task for e in entries(f"{folder}#s*")} == {"sums"}
    assert Log(folder).direction("exact_match") is True
    assert Log(folder).direction("word_perplexity") is False
    assert LoggedSystem(f"{folder}#sums").predict([{"question": QUESTIONS[1]}]) == ["4"]


@pytest.mark.slow
@pytest.mark.parametrize("form", ["json", "jsonl"])
def test_results_of_any_tests_of_promptfoo(tmp_path: Path, form: str) -> None:
    if not PROMPTFOO.exists():
        pytest.skip("promptfoo is not installed; `make test` installs it from npm")
    say = "if (number === 3) throw new Error('out of tea'); return { output: n % 2 ? String(2 * number) : 'no' };"
    found = entries(promptfoo_results(tmp_path / "p", say, repeat=2, form=form))
    assert len(found) == 16
    assert len({e.id for e in found}) == 8
    assert {e.system for e in found} == {"toy"}
    failed = [e for e in found if e.text == QUESTIONS[2]]
    assert all(isinstance(e.output, Failed) and "out of tea" in e.output.error and not e.scores for e in failed)
    assert all(e.scores["pass"] == float(e.output == e.gold) for e in found if e not in failed)
    assert {e.output for e in found if e not in failed} >= {"no", "2"} or {"no", "4"}


@pytest.mark.slow
def test_test_cases_of_deepeval(tmp_path: Path) -> None:
    if not DEEPEVAL.exists():
        pytest.skip("DeepEval is not installed; `make test` installs it")
    found = entries(deepeval_results(tmp_path / "d", wrong=(2, 5)))
    assert [(e.text, e.output, e.gold, dict(e.scores)) for e in found[:2]] == [
        (QUESTIONS[0], "2", "2", {"pass": 1.0, "Exact": 1.0}),
        (QUESTIONS[1], "no", "4", {"pass": 0.0, "Exact": 0.0}),
    ]
    latest = entries(tmp_path / "d" / ".deepeval" / ".latest_test_run.json")
    assert [e.id for e in latest] == [e.id for e in found]


def test_records_of_openai_evals(tmp_path: Path) -> None:
    found = entries(openai_record(tmp_path / "r.jsonl", [True, False]))
    assert [(e.id, e.text, e.output, e.gold, dict(e.scores), e.task, e.system) for e in found] == [
        ("sums.dev.1", "What is 1 plus 1?", "2", "2", {"correct": 1.0}, "sums", "gpt"),
        ("sums.dev.2", "What is 2 plus 2?", "no", "4", {"correct": 0.0}, "sums", "gpt"),
    ]


RUN = {
    "id": "a", "name": "bot", "run_type": "chain", "inputs": {"question": "Where is it?"},
    "outputs": {"answer": "here"}, "error": None, "reference_example_id": "e1", "session_name": "first",
    "parent_run_id": None, "feedback_stats": {"correct": {"n": 2, "avg": 0.5}}, "trace_id": "a", "dotted_order": "x",
}  # fmt: skip
TRACE = {
    "id": "t", "timestamp": "2026-11-19T00:00:00Z", "name": "bot", "projectId": "p", "sessionId": "s",
    "input": [{"role": "user", "content": "Where is it?"}], "output": {"role": "assistant", "content": "here"},
    "metadata": {"dataset_item_id": "e1"}, "scores": [{"name": "correct", "value": 1, "dataType": "BOOLEAN"}],
}  # fmt: skip


@pytest.mark.parametrize("form", ["lines", "list", "api"])
@pytest.mark.parametrize("record", [RUN, TRACE])
def test_exports_in_the_documented_schemas(tmp_path: Path, record: dict[str, object], form: str) -> None:
    inner = {**record, "id": "b", "parent_run_id": "a"} if record is RUN else {**record, "parentObservationId": "t"}
    broken = {**record, "outputs": None, "output": None, "error": "out of tea", "statusMessage": "out of tea"}
    broken |= {"reference_example_id": "e2", "metadata": {"dataset_item_id": "e2"}}
    rows = [record, inner, broken]
    file = tmp_path / ("x.jsonl" if form == "lines" else "x.json")
    text = {
        "lines": "\n".join(map(json.dumps, rows)),
        "list": json.dumps(rows, indent=1),
        "api": json.dumps({"data": rows}),
    }
    file.write_text(text[form])
    first, second = entries(file)
    assert (first.id, first.text, first.output) == ("e1", "Where is it?", "here")
    assert first.scores == {"correct": 0.5 if record is RUN else 1.0}
    assert second.id == "e2"
    assert isinstance(second.output, Failed)
    assert second.output.error == "out of tea"


def test_ones_own_lines_may_have_ids_and_scores(tmp_path: Path) -> None:
    file = tmp_path / "own.jsonl"
    file.write_text('{"id": 7, "inputs": {"q": "a"}, "output": "b", "gold": "c", "scores": {"f1": 0.5, "bad": "x"}}\n')
    [entry] = entries(file)
    assert (entry.id, entry.text, entry.gold, entry.scores["f1"]) == ("7", "a", "c", 0.5)
    assert entry.scores["bad"] != entry.scores["bad"]


@pytest.mark.parametrize(
    "content", ["", "{", "[]", "[1, 2]", '{"results": {}}', "null", '{"testCases": 3}', '{"a": NaN}']
)
def test_what_is_no_log_is_an_error_and_no_crash(tmp_path: Path, content: str) -> None:
    for name in ("x.json", "x.jsonl", "x.eval"):
        (tmp_path / name).write_text(content)
        if (found := open_log(tmp_path / name)) is not None:
            with contextlib.suppress(DataError):
                assert list(found.entries()) == []
