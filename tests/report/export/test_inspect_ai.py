"""Exports are run by the real Inspect AI, and what it finds is what unswayed finds."""

from __future__ import annotations

import gc
import json
import runpy
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from unswayed.measure.measuring import measure_run
from unswayed.report.export import export
from unswayed.run.engine import run_system
from unswayed.storage.suite import Suite

from .conftest import build

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]
pytest.importorskip("inspect_ai")


@pytest.fixture(autouse=True)
def swept() -> Iterator[None]:
    """Inspect leaves streams open; they are swept up here rather than in the midst of another test."""
    yield
    gc.collect()


def evaluate(folder: Path, says: Callable[[str], str], monkeypatch: pytest.MonkeyPatch) -> Any:
    """The log of the task, asked of Inspect's own mock of a model."""
    import inspect_ai
    from inspect_ai.model import ModelOutput, ModelUsage, get_model

    def answer(messages: Any, *_: Any) -> ModelOutput:
        output = ModelOutput.from_content("mock", says(messages[-1].text))
        output.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)  # it would fetch a tokenizer
        return output

    monkeypatch.chdir(folder)
    model = get_model("mockllm/model", custom_outputs=answer, memoize=False)
    [log] = inspect_ai.eval("task.py", model=model, display="none", log_dir=str(folder / "logs"))
    assert log.status == "success", log.error
    return log


def metrics(log: Any) -> dict[str, float]:
    return {name: metric.value for name, metric in log.results.scores[0].metrics.items()}


def test_a_model_scores_there_as_here(classify: Suite, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def says(prompt: str) -> str:
        assert prompt.endswith("\n\nAnswer with one of: lights, music.\nAnswer:")
        text = prompt.removesuffix("\n\nAnswer with one of: lights, music.\nAnswer:")
        return "**Lights**." if len(text) % 3 else " music"

    export(classify.path, "inspect_ai", tmp_path / "tasks")
    log = evaluate(tmp_path / "tasks", says, monkeypatch)
    run = run_system(
        classify, lambda batch: ["lights" if len(i["text"]) % 3 else "music" for i in batch], tmp_path / "run"
    )
    here, there = measure_run(run), metrics(log)
    assert 0 < here.clean.value < 1  # type: ignore[operator]
    assert there["clean"] == pytest.approx(here.clean.value)
    assert there["variants"] == pytest.approx(here.average.value)
    for source in ("keyboard/adjacent", "anna, 李 {{x}}"):
        assert there[source] == pytest.approx(here.sets["operator"][source].average.value)
        assert f"{source} stderr" in there
    assert "meaning/replace" not in there

    back = measure_run(run_system(classify, f"logged:{tmp_path / 'tasks' / 'logs'}", tmp_path / "back"))
    assert back.flip_rate.value == here.flip_rate.value
    assert back.noticed is not None
    assert here.noticed is not None
    assert (back.noticed.value, back.noticed.n) == (here.noticed.value, here.noticed.n)


def test_samples_say_what_they_are_of(classify: Suite, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    export(classify.path, "inspect_ai", tmp_path / "tasks")
    log = evaluate(tmp_path / "tasks", lambda prompt: "neither", monkeypatch)
    seen = {
        (s.metadata["example_id"], s.metadata["source"], s.metadata["draw"], json.loads(s.metadata["inputs"])["text"])
        for s in log.samples
    }
    wanted = {(e.id, "clean", 0, e.inputs["text"]) for e in classify.examples()}
    wanted |= {(v.example_id, v.source, v.draw, v.inputs["text"]) for v in classify.variants()}
    assert seen == wanted
    assert all(s.input.startswith(json.loads(s.metadata["inputs"])["text"]) for s in log.samples)
    assert metrics(log)["clean"] == 0  # an answer that is no label is not right
    assert log.eval.metadata["suite"] == classify.id


def test_questions_and_translations_score_there_as_here(
    qa: Suite, translate: Suite, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers = {"who": " anna ", "where": "IN  rome", "what": "sleeps"}
    export(qa.path, "inspect_ai", tmp_path / "qa_tasks")
    log = evaluate(
        tmp_path / "qa_tasks", lambda p: next(a for q, a in answers.items() if f"question: {q}" in p), monkeypatch
    )
    here = measure_run(run_system(qa, f"logged:{log.location}", tmp_path / "qa_run"))
    assert metrics(log)["clean"] == pytest.approx(2 / 3) == here.clean.value

    (tmp_path / "ask.txt").write_text("In English: {source}")
    export(translate.path, "inspect_ai", tmp_path / "tr_tasks", prompt=str(tmp_path / "ask.txt"))
    log = evaluate(
        tmp_path / "tr_tasks",
        lambda p: "the house by the sea is very old" if "Haus" in p else "today the sun shines brightly on us",
        monkeypatch,
    )
    here = measure_run(run_system(translate, f"logged:{log.location}", tmp_path / "tr_run"))
    assert 1 < here.clean.value < 99  # type: ignore[operator]
    assert metrics(log)["clean"] == pytest.approx(here.clean.value)


def test_texts_without_gold_are_asked_and_come_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    suite = build(tmp_path / "suite", "text", [({"text": text}, None) for text in ("one", "{{two}}", "three")])
    export(suite.path, "inspect_ai", tmp_path / "tasks")
    log = evaluate(tmp_path / "tasks", lambda prompt: prompt[:3], monkeypatch)
    here = measure_run(run_system(suite, f"logged:{log.location}", tmp_path / "run"))
    assert (here.flip_rate.value, here.flip_rate.n) == (0, 3)


@settings(max_examples=20, deadline=None)
@given(st.lists(st.text(), min_size=1, max_size=4), st.text(min_size=1), st.text(min_size=1))
def test_any_text_comes_through_as_text(
    tmp_path_factory: pytest.TempPathFactory, texts: list[str], name: str, person: str
) -> None:
    folder = tmp_path_factory.mktemp("any")
    person = "nobody" if person == "clean" else person
    suite = build(folder / "suite", "text", [({name: text}, None) for text in texts], sources={person: "same"})
    export(suite.path, "inspect_ai", folder / "tasks")
    task = runpy.run_path(str(folder / "tasks" / "task.py"))["unswayed"]()
    seen = [(sample.metadata["source"], sample.input) for sample in task.dataset]
    pairs = ((e, v) for e, varied in suite.groups() for v in varied)
    assert seen == [one for e, v in pairs for one in (("clean", e.inputs[name]), (person, v.inputs[name]))]
