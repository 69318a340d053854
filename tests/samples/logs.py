"""Logs of small tasks, each written by the real tool."""

from __future__ import annotations

import json
import os
import subprocess
import zipfile
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

VENV = Path(__file__).parents[2] / ".venv"
PROMPTFOO = VENV / "node" / "node_modules" / ".bin" / "promptfoo"
DEEPEVAL = VENV / "deepeval" / "bin" / "python"


def inspect_log(
    folder: Path, wrong: Collection[int], epochs: int = 1, n: int = 12, name: str = "sums", cluster: str = ""
) -> Path:
    """A log of sums. A number in `wrong` is answered wrongly in every epoch; if it is negative, in the first alone."""
    import inspect_ai
    from inspect_ai.dataset import Sample
    from inspect_ai.model import ModelOutput, ModelUsage, get_model
    from inspect_ai.scorer import accuracy, match, scorer, stderr
    from inspect_ai.solver import generate

    asked: dict[int, int] = {}

    def answer(messages: Any, *_: Any) -> ModelOutput:
        number = int(messages[-1].text.split()[2])
        asked[number] = asked.get(number, 0) + 1
        bad = number in wrong or (-number in wrong and asked[number] == 1)
        output = ModelOutput.from_content("mock", "I do not know" if bad else str(2 * number))
        output.usage = ModelUsage(total_tokens=1)  # it would fetch a tokenizer
        return output

    @scorer(metrics=[accuracy(), stderr(cluster=cluster) if cluster else stderr()], name="match")
    def clustered() -> Any:
        return match()

    samples = [
        Sample(f"What is {i} plus {i}?", target=str(2 * i), id=f"q{i}", metadata={"topic": f"t{i // 3}"})
        for i in range(1, n + 1)
    ]
    task = inspect_ai.Task(samples, solver=generate(), scorer=clustered(), epochs=epochs, name=name)
    model = get_model("mockllm/model", custom_outputs=answer, memoize=False)
    [log] = inspect_ai.eval(task, model=model, display="none", log_dir=str(folder), max_samples=1)
    assert log.status == "success", log.error
    return Path(log.location.removeprefix("file://"))


def deflated(file: Path, to: Path, without: Sequence[str] = ()) -> Path:
    """The same log as Inspect wrote it until 2025, with deflate."""
    import inspect_ai.log  # noqa: F401 - it teaches zipfile zstd

    with zipfile.ZipFile(file) as old, zipfile.ZipFile(to, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            if name not in without:
                new.writestr(name, old.read(name))
    return to


def harness_log(folder: Path, says: Mapping[str, str], tasks: Sequence[str] = ("sums",)) -> Path:
    """The folder that lm-evaluation-harness writes with --log_samples, for a model that says that."""
    import lm_eval
    from lm_eval.api.model import LM
    from lm_eval.loggers import EvaluationTracker
    from lm_eval.tasks import TaskManager

    class Writer(LM):  # type: ignore[misc]
        def generate_until(self, requests: Any, disable_tqdm: bool = False) -> list[str]:
            return [says.get(request.args[0], "no") for request in requests]

        loglikelihood = loglikelihood_rolling = None

    place = folder / "tasks"
    place.mkdir(parents=True)
    rows = [{"question": question, "answer": f"{2 * n}"} for n, question in enumerate(QUESTIONS, 1)]
    (place / "data.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    for task in tasks:
        config = {
            "task": task, "dataset_path": "json", "dataset_kwargs": {"data_files": {"test": str(place / "data.jsonl")}},
            "test_split": "test", "output_type": "generate_until", "doc_to_text": "{{question}}",
            "doc_to_target": "{{answer}}", "generation_kwargs": {"until": ["\n"]},
            "metric_list": [{"metric": "exact_match", "aggregation": "mean", "higher_is_better": True}],
        }  # fmt: skip
        (place / f"{task}.yaml").write_text(json.dumps(config))
    found = lm_eval.simple_evaluate(
        model=Writer(), tasks=list(tasks), log_samples=True, bootstrap_iters=0,
        task_manager=TaskManager(include_path=str(place), include_defaults=False),
    )  # fmt: skip
    tracker = EvaluationTracker(output_path=str(folder / "out"))
    tracker.general_config_tracker.model_name_sanitized = folder.name
    samples = found.pop("samples")
    tracker.save_results_aggregated(results=found, samples=samples)
    for task in found["configs"]:
        tracker.save_results_samples(task_name=task, samples=samples[task])
    return folder / "out"


QUESTIONS = [f"What is {n} plus {n}?" for n in range(1, 9)]


def promptfoo_results(folder: Path, say: str, repeat: int = 1, form: str = "json") -> Path:
    """What `promptfoo eval` writes for a provider that says that; `n` counts its calls."""
    folder.mkdir(parents=True)
    tests = [{"vars": {"question": q}, "assert": [{"type": "equals", "value": f"{2 * n}"}]}
             for n, q in enumerate(QUESTIONS, 1)]  # fmt: skip
    config = {"prompts": ["{{question}}"], "providers": ["file://toy.cjs"], "tests": tests}
    (folder / "promptfooconfig.json").write_text(json.dumps(config))
    (folder / "toy.cjs").write_text(
        "let n = 0;\nmodule.exports = class { id() { return 'toy'; } async callApi(prompt) { n += 1;"
        f" const number = Number(prompt.split(' ')[2]); {say} }} }};\n"
    )
    to = folder / f"results.{form}"
    command = [str(PROMPTFOO), "eval", "-c", "promptfooconfig.json", "--repeat", str(repeat), "-j", "1", "-o", str(to)]
    quiet = {"PROMPTFOO_DISABLE_TELEMETRY": "1", "PROMPTFOO_DISABLE_UPDATE": "1", "HOME": str(folder)}
    quiet |= {"PROMPTFOO_CONFIG_DIR": str(folder / "own"), "PATH": f"{VENV / 'bin'}:{os.environ['PATH']}"}
    command += ["--no-cache", "--no-progress-bar", "--no-table"]
    done = subprocess.run(command, cwd=folder, env=quiet, capture_output=True, text=True, timeout=300)
    assert to.exists(), done.stdout + done.stderr
    return to


_CASES = """
import sys
from deepeval import evaluate
from deepeval.evaluate.configs import AsyncConfig, DisplayConfig
from deepeval.metrics import BaseMetric
from deepeval.test_case import LLMTestCase
class Exact(BaseMetric):
    def __init__(self):
        self.threshold, self.async_mode = 1.0, False
    def measure(self, case, *a, **k):
        self.score = float(case.actual_output == case.expected_output)
        self.success, self.reason = self.score >= 1, "compared"
        return self.score
    async def a_measure(self, case, *a, **k):
        return self.measure(case)
    def is_successful(self):
        return self.success
    @property
    def __name__(self):
        return "Exact"
wrong = set(map(int, sys.argv[2].split()))
cases = [LLMTestCase(input=f"What is {n} plus {n}?", actual_output="no" if n in wrong else str(2 * n),
                     expected_output=str(2 * n)) for n in range(1, 9)]
evaluate(cases, [Exact()], async_config=AsyncConfig(run_async=False),
         display_config=DisplayConfig(show_indicator=False, print_results=False, results_folder=sys.argv[1]))
"""


def deepeval_results(folder: Path, wrong: Collection[int]) -> Path:
    """The results folder of DeepEval, which runs in an environment of its own."""
    folder.mkdir(parents=True)
    environment = {**os.environ, "DEEPEVAL_TELEMETRY_OPT_OUT": "1", "HOME": str(folder)}
    command = [str(DEEPEVAL), "-c", _CASES, str(folder / "results"), " ".join(map(str, wrong))]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=300)
    assert list((folder / "results").glob("*.json")), done.stdout + done.stderr
    return folder / "results"


def openai_record(file: Path, right: Sequence[bool], prompt: str = "What is {} plus {}?") -> Path:
    """A record in the form of OpenAI Evals' LocalRecorder: its package can't be installed beside ours."""
    lines: list[dict[str, Any]] = [
        {"spec": {"completion_fns": ["gpt"], "eval_name": "sums.dev.v0", "base_eval": "sums", "split": "dev",
                  "run_config": {}, "created_by": "", "run_id": "r", "created_at": "2026-11-19 00:00:00"}}
    ]  # fmt: skip
    for n, correct in enumerate(right, 1):
        said = str(2 * n) if correct else "no"
        asked = [{"role": "user", "content": prompt.format(n, n)}]
        event = {"run_id": "r", "event_id": 2 * n, "sample_id": f"sums.dev.{n}", "created_by": "", "created_at": "x"}
        lines.append({**event, "type": "sampling", "data": {"prompt": asked, "sampled": [said]}})
        data = {"correct": correct, "expected": str(2 * n), "picked": said if correct else None, "sampled": said}
        lines.append({**event, "event_id": 2 * n + 1, "type": "match", "data": data})
    lines.append({"final_report": {"accuracy": sum(right) / len(right)}, "run_id": "r"})
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return file
