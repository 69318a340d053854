"""The solver for Inspect AI and the metric for DeepEval, each run by the real tool."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest

from unswayed.run.texts import vary_text

DEEPEVAL = Path(__file__).parents[1] / ".venv" / "deepeval" / "bin" / "python"


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_inspects_samples_are_asked_differently_in_each_epoch(tmp_path: Path) -> None:
    inspect_ai = pytest.importorskip("inspect_ai")
    from inspect_ai.dataset import Sample
    from inspect_ai.model import ModelOutput, ModelUsage, get_model
    from inspect_ai.scorer import match
    from inspect_ai.solver import generate

    from unswayed.integrations.inspect_solver import varied

    asked = []

    def answer(messages: Any, *_: Any) -> ModelOutput:
        asked.append(messages[-1].text)
        output = ModelOutput.from_content("mock", "lights" if "light" in messages[-1].text else "music")
        output.usage = ModelUsage(total_tokens=1)
        return output

    texts = {"turn off the lights please": "lights", "play some jazz": "music", "42": "music"}
    operators = ["keyboard/adjacent", "spoken/filler_end"]
    task = inspect_ai.Task(
        [Sample(text, target=target) for text, target in texts.items()],
        solver=[varied(operators, seed=3, language="en"), generate()],
        scorer=match(),
        epochs=4,
    )
    model = get_model("mockllm/model", custom_outputs=answer, memoize=False)
    [log] = inspect_ai.eval(task, model=model, display="none", log_dir=str(tmp_path))
    assert log.status == "success", log.error
    for sample in log.samples:
        before, source = sample.metadata["unswayed_before"], sample.metadata["unswayed_source"]
        variants = [v.inputs["text"] for v in vary_text(before, operators, 4, seed=3, language="en")]
        assert sample.messages[0].text in (variants if source else [before])
        assert sample.messages[0].text in asked
    said = {s.messages[0].text for s in log.samples if s.metadata["unswayed_before"].startswith("turn")}
    assert len(said) == 4
    assert not any(text in asked for text in list(texts)[:2])


CASES = """
from deepeval import assert_test
from deepeval.test_case import LLMTestCase
from unswayed.integrations.deepeval_metric import Unswayed


def app(text):
    return "Sure! The lights." if "light" in text else "music"


metric = Unswayed(app, "keyboard/adjacent", draws=8, threshold=0.9, language="en")
steady = LLMTestCase(input="play some jazz", actual_output="music")
shaky = LLMTestCase(input="turn off the lights please", actual_output="the lights")
assert_test(steady, [metric])
try:
    assert_test(shaky, [metric])
except AssertionError as error:
    assert "Unswayed" in str(error)
else:
    raise SystemExit("the metric did not notice")
assert 0 < metric.measure(shaky) < 0.9
assert "variants got another answer. For example," in metric.reason
assert metric.measure(LLMTestCase(input="7", actual_output="music")) == 1
assert "nothing to change" in metric.reason
"""


@pytest.mark.slow
def test_deepeval_fails_a_case_whose_answer_changes(tmp_path: Path) -> None:
    if not DEEPEVAL.exists():
        pytest.skip("DeepEval is not installed; `make test` installs it in an environment of its own")
    (tmp_path / "cases.py").write_text(CASES)
    alone = {"DEEPEVAL_TELEMETRY_OPT_OUT": "YES", "HOME": str(tmp_path), "PATH": "/usr/bin:/bin"}
    done = subprocess.run(
        [str(DEEPEVAL), "cases.py"], cwd=tmp_path, env=alone, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stdout + done.stderr
