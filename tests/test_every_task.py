"""Every page, export, table and comparison of a run, over every registered task: each works, or refuses with a reason.

A task that is added needs rows in ROWS.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from click.testing import CliRunner

import unswayed as package
from unswayed.base.errors import UnswayedError
from unswayed.base.task import task_named, tasks
from unswayed.cli import unswayed as command
from unswayed.cli._options import FORMATS
from unswayed.report.ci import write_first_check
from unswayed.report.export import exporters
from unswayed.report.junit import write_junit
from unswayed.systems import System

QUESTIONS = [
    "where did the old fisherman leave his green lantern", "who repaired the broken window of the library",
    "which station does the evening train leave from", "what did the children plant behind the school",
    "when will the new bridge across the river open", "why was the concert in the park moved to sunday",
    "how many chairs are needed for the meeting", "where can visitors return the borrowed umbrellas",
]  # fmt: skip
SHORT = [
    "on the pier",
    "the carpenter",
    "the north station",
    "apple trees",
    "in march",
    "rain",
    "twelve",
    "at the desk",
]
CALL = {"type": "function", "function": {"name": "find_answer", "arguments": '{"limit": 3}'}}
LIMIT = {"type": "object", "properties": {"limit": {"type": "integer"}}}
TOOL = {"type": "function", "function": {"name": "find_answer", "parameters": LIMIT}}


def chat(text: str, **more: object) -> dict[str, object]:
    return {"messages": [{"role": "user", "content": text}], **more}


PAIRS = list(zip(QUESTIONS, SHORT, strict=True))
TAGS = {q: ["B-what" if len(word) > 6 else "O" for word in q.split()] for q in QUESTIONS}
ROWS: dict[str, list[Any]] = {
    "text": [{"text": q} for q in QUESTIONS],
    "classify": [{"text": q, "label": q.split()[0]} for q in QUESTIONS],
    "generate": [{"question": q, "answer": a} for q, a in PAIRS],
    "chat": [chat(q, answer=a) for q, a in PAIRS],
    "tools": [
        {"messages": [{"role": "user", "content": q}, {"role": "assistant", "tool_calls": [CALL]}], "tools": [TOOL]}
        for q in QUESTIONS
    ],
    "tag": [{"tokens": q.split(), "tags": TAGS[q]} for q in QUESTIONS],
    "slu": [{"tokens": q.split(), "slots": TAGS[q], "intent": q.split()[0]} for q in QUESTIONS],
    "qa": [
        {"question": q, "context": f"It was known: {a}.", "answers": {"text": [a], "answer_start": [14]}}
        for q, a in PAIRS
    ],
    "translate": [{"source": q, "target": f"{a} it was, for all that is known"} for q, a in PAIRS],
    "sql": [
        package.Example(
            at,
            str(at),
            {"question": q, "db_id": "quay"},
            {
                "sql": f"SELECT name FROM boat WHERE id = {at}",
                "db_id": "quay",
                "schema": {"tables": {"boat": ["id", "name"]}, "keys": {}},
            },
        )
        for at, q in enumerate(QUESTIONS)
    ],
    "multilabel": [{"text": q, "labels": [q.split()[0], "question"]} for q in QUESTIONS],
    "score": [{"text": q, "score": round(0.31 + 0.07 * at, 2)} for at, q in enumerate(QUESTIONS)],
    "retrieve": [{"query": q, "relevant": [f"d{at}", f"d{at + 9}"]} for at, q in enumerate(QUESTIONS)],
    "structured": [
        {"text": q, "expected": {"topic": "abc"[at % 3], "at": {"day": at}}} for at, q in enumerate(QUESTIONS)
    ],
}


class Answering(System):
    """Answers clean inputs as the gold does, and every `steady`-th of the others; the rest it answers with nothing."""

    deterministic = True

    def __init__(self, suite: package.Suite, steady: int) -> None:
        task, known = suite.task, {}
        for example, variants in suite.groups():
            right = "the same" if example.gold is None else task.right(example.gold)
            known[json.dumps(example.inputs, sort_keys=True)] = right
            for at, variant in enumerate(variants):
                gold = "the same" if variant.gold is None else task.right(variant.gold)
                wrong = 0.0 if task.name == "score" else task.nothing(gold)  # where no number is no answer
                known.setdefault(json.dumps(variant.inputs, sort_keys=True), gold if at % steady == 0 else wrong)
        self.known, self.name, self._identity = known, f"answering {steady}", f"answering {steady} {suite.id}"

    @property
    def identity(self) -> str:
        return self._identity

    def predict(self, batch):
        return [self.known[json.dumps(inputs, sort_keys=True)] for inputs in batch]


def works(*words: object) -> str:
    """What a command prints, which must work."""
    done = CliRunner().invoke(command, [str(word) for word in words])
    assert done.exception is None or (isinstance(done.exception, SystemExit) and done.exit_code in (0, 1)), (
        words,
        done.exception,
    )
    return done.stdout


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Of a task: its suite and two runs in a folder, made once."""
    known: dict[str, Path] = {}

    def make(name: str) -> Path:
        if name in known:
            return known[name]
        assert name in ROWS, f"Add rows of the task {name} to ROWS, so that all pages are tried with it."
        folder = known[name] = tmp_path_factory.mktemp(name)
        suite = package.make_suite(ROWS[name], ["keyboard/adjacent", "spoken/filler_begin"], task=name, language="en",
                                   draws=2, seed=7, to=folder / "suite")  # fmt: skip
        assert suite.manifest.variants
        for run, steady in (("one", 2), ("two", 3)):
            package.run_system(suite, Answering(suite, steady), folder / run, name=run)
        return folder

    return make


every_task = pytest.mark.parametrize("name", tasks.names())


@every_task
def test_results_pages_and_tables(made, name, tmp_path) -> None:
    folder = made(name)
    run = package.Run(folder / "one")
    assert len(run.to_pandas()) == len(run.to_polars()) == len(run)
    results = package.measure_run(folder / "one")
    assert 0 < results.flip_rate.value <= 1
    assert len(results.flips()) == len(list(results.iter_flips())) == len(run.flips()) > 0
    assert len(results.to_pandas()) == len(results.to_polars()) == len(list(results)) > 0
    assert repr(results)
    assert "<table" in results._repr_html_()
    assert results.severity
    assert len(results.by("operator").to_pandas()) > 0
    assert len(results.by("family").to_polars()) > 0
    loaded = package.Results.load(results.save(tmp_path / "results.json"))
    assert len(loaded.flips()) == len(results.flips())
    for format in FORMATS:
        assert works("measure", "run", folder / "one", "--format", format).strip()
    if results.average.value is not None:  # `text` has no gold, which a score needs
        assert results.clean.value > results.average.value
    works("report", folder / "one", "-o", tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text()
    assert "keyboard/adjacent" in page
    flips = (tmp_path / "report.flips.jsonl").read_text().splitlines()
    assert len(flips) == len(results.flips())
    works("view", folder / "one", "-o", tmp_path / "view.html")
    write_junit(tmp_path / "junit.xml", results)
    assert ElementTree.parse(tmp_path / "junit.xml").getroot().tag == "testsuites"


@every_task
def test_comparisons(made, name, tmp_path) -> None:
    folder = made(name)
    compared = package.compare(folder / "one", folder / "two")
    assert compared.to_pandas().shape == compared.to_polars().shape
    assert package.compare(folder / "one", folder / "one").outcome().startswith("Identical")
    assert not compared.identical
    assert repr(compared)
    assert "<table" in compared._repr_html_()
    lost = compared.flips()
    has_score = package.measure_run(folder / "one").average.value is not None
    assert set(lost["change"]) == ({"lost", "gained"} if has_score else set())
    assert package.Comparison.load(compared.save(tmp_path / "compared.json")).differences == compared.differences
    for format in FORMATS:
        words = "compare", folder / "one", folder / "two", "--format", format
        assert works(*words, "-o", tmp_path / "compare.html", "--junit", tmp_path / "compare.xml").strip()
    assert ElementTree.parse(tmp_path / "compare.xml").getroot().tag == "testsuites"
    assert "compare" in (tmp_path / "compare.html").read_text().lower()
    works("view", folder / "one", folder / "two", "-o", tmp_path / "view.html")
    assert (tmp_path / "view.html").stat().st_size > 10_000
    works("compare", folder / "one", folder / "two", folder / "one", "-o", tmp_path / "three.html")


LOGGED = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]  # MLflow's own packages warn
TOOLS = [pytest.param(tool, marks=LOGGED if tool == "mlflow" else []) for tool in exporters.names()]


@every_task
@pytest.mark.parametrize("tool", TOOLS)
def test_exports(made, name, tool, tmp_path, tmp_path_factory, monkeypatch) -> None:
    """An export is written, or refused by a message."""
    if tool == "mlflow":
        pytest.importorskip("mlflow.tracking")
    monkeypatch.chdir(tmp_path)  # where a local store of MLflow puts its files
    store = f"sqlite:///{tmp_path_factory.getbasetemp()}/mlflow.db"  # one for all, as it takes seconds to make
    what, to = (made(name) / "one", store) if tool == "mlflow" else (made(name) / "suite", "export")
    done = CliRunner().invoke(command, ["export", str(what), "--as", tool, "-o", to])
    if done.exception is None:
        assert "Logged to MLflow" in done.stderr if tool == "mlflow" else any(tmp_path.iterdir())
    else:
        assert isinstance(done.exception, UnswayedError), done.exception
        refused = "so the task must be|can't answer the task|Translations need --prompt|holds chats. Export it for"
        assert tool != "mlflow", done.exception
        assert re.search(refused, str(done.exception))
        assert not any(tmp_path.iterdir())


@every_task
def test_suites_are_shown_and_come_back(made, name, tmp_path) -> None:
    folder = made(name)
    suite = package.Suite(folder / "suite")
    assert task_named(suite.manifest.task).name == name
    for format in FORMATS:
        assert works("suite", "show", folder / "suite", "--format", format).strip()
    assert len(suite.to_pandas()) == len(suite.to_polars()) == suite.manifest.variants


@pytest.mark.parametrize("name", [name for name in tasks.names() if name != "sql"])  # no file of ours is read as sql
def test_the_gates_of_init_can_be_measured(name, tmp_path) -> None:
    """For each task, with gold and without: what the plan of a first check asks for has a value in its run."""
    gold = {"label", "answer", "answers", "target", "labels", "score", "relevant"}
    for with_gold in (True, False):
        if not with_gold and name not in ("classify", "generate", "chat", "multilabel", "score"):
            continue  # others need gold, or have none anyway
        data = tmp_path / f"{with_gold}.jsonl"
        rows = [{key: value for key, value in row.items() if with_gold or key not in gold} for row in ROWS[name]]
        data.write_text("".join(json.dumps(row) + "\n" for row in rows))
        folder = tmp_path / f"in {with_gold}"
        started = write_first_check(data, "mine:predict", folder, "none", lang="en")
        plan = package.read_plan(folder / "unswayed.toml")
        suite = package.make_suite(data, plan=plan)
        verdict = package.carry_out(plan, tmp_path / f"run {with_gold}", system=Answering(suite, 2), suite=suite)
        assert [gate.name for gate in verdict.gates if gate.bound is None] == []
        assert [gate.passed for gate in verdict.gates] == [False], started.gate
        again = write_first_check(data, "mine:predict", folder, "none", True, "en", run=tmp_path / f"run {with_gold}")
        plan = package.read_plan(folder / "unswayed.toml")
        verdict = package.carry_out(plan, tmp_path / f"run {with_gold}", system=Answering(suite, 2), suite=suite)
        assert verdict.gates[0].passed, again.gate
        compared = package.compare(verdict.results, verdict.results, plan=plan)
        assert [gate.difference for gate in compared.gates] == [0.0]
