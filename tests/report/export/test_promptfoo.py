"""Exports are run by the real promptfoo, and what it finds is what unswayed finds."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from unswayed.base.errors import DataError, UsageError
from unswayed.data.logs import LoggedSystem
from unswayed.measure.measuring import measure_run
from unswayed.report.export import export
from unswayed.run.engine import run_system
from unswayed.storage.suite import Suite

from .conftest import build

pytestmark = pytest.mark.slow
VENV = Path(__file__).parents[3] / ".venv"
TOOL = VENV / "node" / "node_modules" / ".bin" / "promptfoo"

# A provider of promptfoo: the first line of the prompt decides what it says.
PROVIDER = """
module.exports = class {
  id() { return 'toy'; }
  async callApi(prompt) { return say(prompt); }
};
"""


@pytest.fixture
def promptfoo(tmp_path: Path) -> Callable[[Path, str], Path]:
    if not TOOL.exists():
        pytest.skip("promptfoo is not installed; `make test` installs it from npm")

    def evaluate(folder: Path, say: str, more: tuple[str, ...] = ()) -> Path:
        (folder / "toy.cjs").write_text(PROVIDER + f"function say(prompt) {{ {say} }}\n", "utf-8")
        answers = folder / "answers.json"
        command = [str(TOOL), "eval", "-c", "promptfooconfig.json", "-r", "file://toy.cjs", *more, "-o", str(answers)]
        quiet = {"PROMPTFOO_DISABLE_TELEMETRY": "1", "PROMPTFOO_DISABLE_UPDATE": "1", "HOME": str(tmp_path)}
        quiet |= {"PROMPTFOO_CONFIG_DIR": str(tmp_path / "promptfoo"), "PATH": f"{VENV / 'bin'}:{os.environ['PATH']}"}
        command += ["--no-cache", "--no-progress-bar", "--no-table"]
        done = subprocess.run(command, cwd=folder, env=quiet, capture_output=True, text=True, timeout=300)
        assert answers.exists(), done.stdout + done.stderr
        return answers

    return evaluate


def results(answers: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(answers.read_text("utf-8"))["results"]["results"]
    return found


def test_a_model_scores_there_as_here(classify: Suite, tmp_path: Path, promptfoo: Any) -> None:
    """Also with texts that promptfoo would take for templates or files, were they not written as texts."""
    export(classify.path, "promptfoo", tmp_path / "tests")
    answers = promptfoo(
        tmp_path / "tests",
        r"const text = prompt.split('\n\nAnswer with one of: lights, music.\nAnswer:')[0];"
        "return { output: Array.from(text).length % 3 ? '**Lights**.' : ' music' };",
    )
    asked = [one["prompt"]["raw"].split("\n\nAnswer with one of")[0] for one in results(answers)]
    texts = [e.inputs["text"] for e in classify.examples()] + [v.inputs["text"] for v in classify.variants()]
    assert sorted(asked) == sorted(texts)

    run = run_system(
        classify, lambda batch: ["lights" if len(i["text"]) % 3 else "music" for i in batch], tmp_path / "run"
    )
    here = measure_run(run)
    there = [r["success"] for r in results(answers) if r["metadata"]["part"] == "clean" and r["metadata"]["targets"]]
    assert 0 < here.clean.value < 1  # type: ignore[operator]
    assert sum(there) / len(there) == pytest.approx(here.clean.value)

    back = measure_run(run_system(classify, f"logged:{answers}", tmp_path / "back"))
    assert back.clean.value == here.clean.value
    assert back.flip_rate.value == here.flip_rate.value


def test_files_that_texts_name_are_not_opened(tmp_path: Path, promptfoo: Any) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("never")
    hostile = [f"file://{secret}", f"{{{{ env.HOME }}}} file://{secret}", "{{prompt}} #} %} }} {#", "[1, 2]", "@x"]
    suite = build(tmp_path / "suite", "text", [({"text": text}, None) for text in hostile])
    export(suite.path, "promptfoo", tmp_path / "tests")
    answers = promptfoo(tmp_path / "tests", "return { output: prompt };")
    said = {json.loads(one["metadata"]["inputs"])["text"]: one["response"]["output"] for one in results(answers)}
    assert len(said) == 10
    assert all(text == output for text, output in said.items())


def test_questions_and_chats_from_file_to_number(tmp_path: Path, promptfoo: Any, unswayed: Callable[..., str]) -> None:
    """The whole chain: data, suite, promptfoo, and back to a run with intervals."""
    rows = [{"question": f"What is {n} plus {n}?", "answer": f"It is twice {n}. #### {2 * n}"} for n in range(11, 31)]
    chats = [
        {"messages": [{"role": "user", "content": row["question"]}], "answer": str(2 * n)}
        for n, row in enumerate(rows, 11)
    ]
    for name, data in (("sums", rows), ("chats", chats)):
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in data))
        suite, tests, run = (str(tmp_path / f"{name}_{part}") for part in ("suite", "tests", "run"))
        unswayed("vary", tmp_path / f"{name}.jsonl", "--lang", "en", "--with", "keyboard/adjacent", "-o", suite)
        unswayed("export", suite, "--as", "promptfoo", "-o", tests)
        answers = promptfoo(
            Path(tests),
            "const text = prompt.startsWith('[{') ? JSON.parse(prompt)[0].content : prompt;"
            "const n = /is (\\d+) plus/.exec(text);"
            "return { output: n ? `That makes ${2 * n[1]}.` : 'I do not know.' };",
        )
        told = json.loads(unswayed("run", suite, "--system", f"logged:{answers}", "-o", run, "--format", "json"))
        assert told["clean"]["value"] == 1
        assert 0 < told["average"]["value"] < 1


def test_answers_that_can_not_come_back_are_told(tmp_path: Path, promptfoo: Any) -> None:
    suite = build(tmp_path / "suite", "text", [({"text": text}, None) for text in ("one", "two")])
    export(suite.path, "promptfoo", tmp_path / "tests")
    answers = promptfoo(
        tmp_path / "tests", "return prompt.startsWith('one') ? { error: 'too busy' } : { output: prompt };"
    )
    outputs = LoggedSystem(str(answers)).predict([example.inputs for example in suite.examples()])
    assert "too busy" in outputs[0].error  # type: ignore[union-attr]
    assert outputs[1] == "two"

    both = promptfoo(tmp_path / "tests", "return { output: prompt };", ("file://toy.cjs", "echo"))
    with pytest.raises(DataError, match="several systems answered here .*Choose one, as in logged:"):
        LoggedSystem(str(both))
    both.write_text('{"evalId": "x", "results": {"results": [{"provider": {"id": "a"}, "promptIdx": 0}]}}')
    with pytest.raises(DataError, match="answers.json:1: this is not a logged answer"):
        LoggedSystem(str(both))
    both.write_text('{"evalId": 7')
    with pytest.raises(DataError, match="this is not what promptfoo writes"):
        LoggedSystem(str(both))


def test_chats_are_for_tools_that_take_messages(tmp_path: Path, unswayed: Callable[..., str]) -> None:
    (tmp_path / "chats.jsonl").write_text('{"messages": [{"role": "user", "content": "who is there"}]}\n')
    unswayed("vary", tmp_path / "chats.jsonl", "--lang", "en", "--with", "keyboard/adjacent", "-o", tmp_path / "s")
    with pytest.raises(UsageError, match="Export it for inspect_ai or promptfoo"):
        export(tmp_path / "s", "lm_eval", tmp_path / "t")
