"""Answers given elsewhere, in JSON lines; the harnesses' logs are tested where suites are exported to them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from unswayed.base.errors import DataError, UsageError
from unswayed.data.logs import LoggedSystem
from unswayed.measure.measuring import measure_run
from unswayed.run.engine import run_system
from unswayed.run.making import make_suite
from unswayed.systems.opening import open_system
from unswayed.systems.system import Failed


def write(file: Path, *records: Any) -> Path:
    file.write_text("\n".join(r if isinstance(r, str) else json.dumps(r) for r in records) + "\n", encoding="utf-8")
    return file


def test_says_what_the_log_says(tmp_path: Path) -> None:
    data = write(tmp_path / "data.jsonl", *({"text": text, "label": text[0]} for text in ("apple", "bean", "cherry")))
    suite = make_suite(data, ["keyboard/adjacent"], language="en", draws=2, to=tmp_path / "suite")
    inputs = [thing.inputs for e, varied in suite.groups() for thing in (e, *varied)]
    log = write(tmp_path / "log.jsonl", *({"inputs": i, "output": i["text"][0]} for i in inputs))
    here = measure_run(run_system(suite, f"logged:{log}", tmp_path / "run"))
    there = measure_run(run_system(suite, lambda batch: [i["text"][0] for i in batch], tmp_path / "other"))
    assert (here.clean.value, here.average.value, here.flip_rate.value) == (
        1,
        there.average.value,
        there.flip_rate.value,
    )

    short = write(tmp_path / "short.jsonl", *({"inputs": i, "output": "a"} for i in inputs[1:]))
    with pytest.raises(UsageError, match=r"no answer to 1 of the 9 inputs.*'apple'"):
        run_system(suite, f"logged:{short}", tmp_path / "short")
    assert not (tmp_path / "short").exists()


def test_failures_stay_failures_and_the_first_answer_counts(tmp_path: Path) -> None:
    one, two = {"text": "a"}, {"text": "b 🙂"}
    log = write(
        tmp_path / "x.jsonl",
        {"inputs": one, "error": "out of memory"},
        {"inputs": two, "output": {"label": "y"}},
        "",
        {"inputs": two, "output": "z"},
    )
    system = LoggedSystem(str(log))
    failed, said, unknown = system.predict([one, two, {"text": "c"}])
    assert isinstance(failed, Failed)
    assert (failed.error, failed.final) == ("out of memory", True)
    assert said == {"label": "y"}
    assert isinstance(unknown, Failed)


def test_identity_is_of_the_answers_and_not_of_their_order(tmp_path: Path) -> None:
    lines = [{"inputs": {"text": text}, "output": text} for text in "abc"]
    first = open_system(f"logged:{write(tmp_path / 'a.jsonl', *lines)}").identity
    assert open_system(f"logged:{write(tmp_path / 'b.jsonl', *lines[::-1])}").identity == first
    lines[0]["output"] = "x"
    assert open_system(f"logged:{write(tmp_path / 'c.jsonl', *lines)}").identity != first


@pytest.mark.parametrize(
    "line", ["{", "[]", "7", '{"inputs": "a", "output": 1}', '{"inputs": {"a": 1}, "output": 1}', '{"inputs": {}}',
             '{"doc": {}, "filtered_resps": []}', '{"doc": {"inputs": "{"}, "filtered_resps": ["x"]}',
             '{"doc": {"inputs": "{}"}, "filtered_resps": [7]}',
             '{"doc": {"inputs": "{}", "labels": ["a"]}, "filtered_resps": [["x"]]}'],
)  # fmt: skip
def test_a_bad_line_is_named(tmp_path: Path, line: str) -> None:
    log = write(tmp_path / "x.jsonl", {"inputs": {"text": "a"}, "output": "b"}, line)
    with pytest.raises(DataError, match=r"x\.jsonl:2: "):
        LoggedSystem(str(log))


def test_the_likeliest_label_is_the_answer(tmp_path: Path) -> None:
    def sample(text: str, *likelihoods: str) -> Any:
        doc = {"inputs": json.dumps({"text": text}), "labels": ["no", "yes"]}
        return {"doc": doc, "filtered_resps": [[likelihood, "False"] for likelihood in likelihoods]}

    log = write(tmp_path / "x.jsonl", sample("a", "-3.5", "-12"), sample("b", "-9", "-2e-1"), sample("c", "nan", "-1"))
    no, yes, failed = LoggedSystem(str(log)).predict([{"text": text} for text in "abc"])
    assert (no, yes) == ("no", "yes")
    assert isinstance(failed, Failed)


def test_logs_that_disagree_or_are_not_there(tmp_path: Path) -> None:
    for model in ("a", "b"):
        (tmp_path / model).mkdir()
        doc = {"inputs": '{"text":"t"}'}
        write(tmp_path / model / "samples_task_2026.jsonl", {"doc": doc, "filtered_resps": [model]})
    with pytest.raises(DataError, match="another answer to 't'"):
        LoggedSystem(str(tmp_path))
    assert LoggedSystem(str(tmp_path / "a")).predict([{"text": "t"}]) == ["a"]
    (tmp_path / "empty").mkdir()
    for path in (tmp_path / "empty", tmp_path / "no.jsonl"):
        with pytest.raises(DataError, match="there is no log here"):
            LoggedSystem(str(path))
    (tmp_path / "bad.eval").write_bytes(b"not a log")
    with pytest.raises(DataError, match="not a whole log of Inspect AI"):
        LoggedSystem(str(tmp_path / "bad.eval"))
