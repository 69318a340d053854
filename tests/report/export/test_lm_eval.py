"""Exports are run by the real lm-evaluation-harness, and what it finds is what unswayed finds."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from unswayed.measure.measuring import measure_run
from unswayed.report.export import export
from unswayed.run.engine import run_system
from unswayed.storage.suite import Suite

from .conftest import build

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]
pytest.importorskip("lm_eval")


def evaluate(folder: Path, model: Any, name: str = "homes", **options: Any) -> dict[str, Any]:
    import lm_eval
    from lm_eval.tasks import TaskManager

    tasks = TaskManager(include_path=str(folder), include_defaults=False)
    found = lm_eval.simple_evaluate(
        model=model, tasks=[name], task_manager=tasks, log_samples=True, bootstrap_iters=0, **options
    )
    assert found is not None
    return found


def writer(says: Callable[[str], str]) -> Any:
    """A language model of the harness that writes what a function says."""
    from lm_eval.api.model import LM

    class Writer(LM):
        def generate_until(self, requests: Any, disable_tqdm: bool = False) -> list[str]:
            return [says(request.args[0]) for request in requests]

        def loglikelihood(self, requests: Any, disable_tqdm: bool = False) -> list[tuple[float, bool]]:
            return [(-float(len(says(r.args[0]) + r.args[1]) % 7), False) for r in requests]

        def loglikelihood_rolling(self, requests: Any, disable_tqdm: bool = False) -> list[float]:
            raise NotImplementedError

    return Writer()


def log(found: dict[str, Any], folder: Path) -> Path:
    """The samples as `--log_samples --output_path` writes them."""
    from lm_eval.loggers import EvaluationTracker

    tracker = EvaluationTracker(output_path=str(folder))
    tracker.general_config_tracker.model_name_sanitized = "m"
    samples = found.pop("samples")
    tracker.save_results_aggregated(results=found, samples=samples)
    for task in found["configs"]:
        tracker.save_results_samples(task_name=task, samples=samples[task])
    return folder


def tiny_model(folder: Path) -> Path:
    """A GPT-2 of one layer whose tokens are bytes."""
    import torch
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers
    from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast

    pieces = {piece: i for i, piece in enumerate([*sorted(pre_tokenizers.ByteLevel.alphabet()), "<end>"])}
    tokenizer = Tokenizer(models.BPE(vocab=pieces, merges=[]))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    end = pieces["<end>"]
    with torch.random.fork_rng():
        torch.manual_seed(1)
        config = GPT2Config(
            vocab_size=len(pieces), n_positions=256, n_embd=16, n_layer=1, n_head=2, bos_token_id=end, eos_token_id=end,
            initializer_range=0.5,
        )  # fmt: skip
        GPT2LMHeadModel(config).save_pretrained(folder)
    marks = dict.fromkeys(("eos_token", "bos_token", "pad_token"), "<end>")
    PreTrainedTokenizerFast(tokenizer_object=tokenizer, **marks).save_pretrained(folder)
    return folder


def likeliest(folder: Path, labels: list[str]) -> Callable[[list[dict[str, str]]], list[str]]:
    """The same question asked of the same model without the harness."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    model, tokenizer = AutoModelForCausalLM.from_pretrained(folder), AutoTokenizer.from_pretrained(folder)

    def likelihood(prompt: str, label: str) -> float:
        context = tokenizer(prompt, add_special_tokens=False)["input_ids"]
        whole = tokenizer(f"{prompt} {label}", add_special_tokens=False)["input_ids"]
        with torch.inference_mode():
            logs = model(torch.tensor([whole])).logits[0].log_softmax(-1)
        return float(sum(logs[at - 1, whole[at]] for at in range(len(context), len(whole))))

    def predict(batch: list[dict[str, str]]) -> list[str]:
        prompts = [f"{inputs['text']}\n\nAnswer with one of: {', '.join(labels)}.\nAnswer:" for inputs in batch]
        return [max(labels, key=lambda label: likelihood(prompt, label)) for prompt in prompts]

    return predict


def test_a_real_model_scores_there_as_here(classify: Suite, tmp_path: Path) -> None:
    export(classify.path, "lm_eval", tmp_path / "tasks", name="homes")
    (tmp_path / "tasks").rename(tmp_path / "moved")
    model = tiny_model(tmp_path / "model")
    found = evaluate(tmp_path / "moved", "hf", model_args=f"pretrained={model},dtype=float32", device="cpu")
    there = {result["alias"]: result for result in found["results"].values()}
    run = run_system(classify, likeliest(model, ["lights", "music"]), tmp_path / "run")
    here = measure_run(run)
    assert 0 < here.clean.value < 1  # type: ignore[operator]
    assert there["clean"]["acc,none"] == pytest.approx(here.clean.value)
    for source in ("keyboard/adjacent", "anna, 李 {{x}}"):
        assert there[source]["acc,none"] == pytest.approx(here.sets["operator"][source].average.value)
    assert there["variants"]["acc,none"] == pytest.approx(here.average.value)
    assert "acc,none" not in there["meaning/replace"]
    assert there["clean"]["sample_len"] == 8  # of twelve, those that have gold

    logs = log(found, tmp_path / "logs")
    back = measure_run(run_system(classify, f"logged:{logs}", tmp_path / "back"))
    for measure in ("clean", "average", "worst", "drop", "flips", "consistency", "noticed"):
        one, other = getattr(back.whole, measure), getattr(here.whole, measure)
        assert (one.value, one.low, one.high, one.n, one.missing) == (
            other.value, other.low, other.high, other.n, other.missing,
        )  # fmt: skip


def test_samples_say_what_they_are_of(classify: Suite, tmp_path: Path) -> None:
    export(classify.path, "lm_eval", tmp_path / "tasks", name="homes")
    found = evaluate(tmp_path / "tasks", writer(lambda prompt: prompt))
    seen = set()
    for samples in found["samples"].values():
        for sample in samples:
            doc = sample["doc"]
            inputs = json.loads(doc["inputs"])
            seen.add((doc["example_id"], doc["source"], doc["draw"], inputs["text"]))
            assert sample["arguments"][0][0] == f"{inputs['text']}\n\nAnswer with one of: lights, music.\nAnswer:"
    wanted = {(e.id, "clean", 0, e.inputs["text"]) for e in classify.examples()}
    wanted |= {(v.example_id, v.source, v.draw, v.inputs["text"]) for v in classify.variants()}
    assert seen == wanted


def test_words_stand_for_labels(tmp_path: Path) -> None:
    suite = build(tmp_path / "suite", "classify", [({"text": "a"}, 1), ({"text": "bb"}, 0), ({"text": "c"}, 1)])
    (tmp_path / "ask.txt").write_text("Is {text} good?")
    export(
        suite.path, "lm_eval", tmp_path / "tasks", name="homes", prompt=str(tmp_path / "ask.txt"), answers="yes=1,no=0"
    )
    found = evaluate(tmp_path / "tasks", writer(lambda prompt: prompt))
    first = found["samples"]["homes_clean"][0]
    assert [arguments[1] for arguments in first["arguments"]] == [" no", " yes"]
    assert first["arguments"][0][0] == "Is a good?"
    here = measure_run(run_system(suite, f"logged:{log(found, tmp_path / 'logs')}", tmp_path / "run"))
    assert found["results"]["homes_clean"]["acc,none"] == pytest.approx(here.clean.value)


def test_questions_and_translations_score_there_as_here(qa: Suite, translate: Suite, tmp_path: Path) -> None:
    answers = {"who": " anna ", "where": "IN  rome", "what": "sleeps"}
    export(qa.path, "lm_eval", tmp_path / "qa_tasks", name="questions")
    asked = evaluate(
        tmp_path / "qa_tasks",
        writer(lambda p: next(a for q, a in answers.items() if f"question: {q}" in p)),
        "questions",
    )
    here = measure_run(run_system(qa, f"logged:{log(asked, tmp_path / 'qa_logs')}", tmp_path / "qa_run"))
    assert asked["results"]["questions_clean"]["exact_match,none"] == pytest.approx(2 / 3) == here.clean.value

    (tmp_path / "ask.txt").write_text("In English: {source}")
    export(translate.path, "lm_eval", tmp_path / "tr_tasks", name="texts", prompt=str(tmp_path / "ask.txt"))

    def english(prompt: str) -> str:
        return "the house by the sea is very old" if "Haus" in prompt else "today the sun shines brightly on us"

    said = evaluate(tmp_path / "tr_tasks", writer(english), "texts")
    here = measure_run(run_system(translate, f"logged:{log(said, tmp_path / 'tr_logs')}", tmp_path / "tr_run"))
    assert 1 < here.clean.value < 99  # type: ignore[operator]
    assert said["results"]["texts_clean"]["bleu,none"] == pytest.approx(here.clean.value)
    assert said["results"]["texts_spoken_filler_end"]["bleu,none"] == pytest.approx(here.average.value)


def test_texts_without_gold_are_asked_and_come_back(tmp_path: Path) -> None:
    suite = build(tmp_path / "suite", "text", [({"text": text}, None) for text in ("one", "{{two}}", "three")])
    export(suite.path, "lm_eval", tmp_path / "tasks", name="homes")
    found = evaluate(tmp_path / "tasks", writer(lambda prompt: f"{prompt[:3]} "))
    here = measure_run(run_system(suite, f"logged:{log(found, tmp_path / 'logs')}", tmp_path / "run"))
    assert here.flip_rate.value == 0
    assert here.flip_rate.n == 3


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.text(), min_size=1, max_size=4), st.text(min_size=1), st.text(min_size=1), st.text(min_size=1))
def test_any_text_comes_through_as_text(
    tmp_path_factory: pytest.TempPathFactory, texts: list[str], label: str, name: str, person: str
) -> None:
    from lm_eval.tasks import TaskManager

    folder = tmp_path_factory.mktemp("any")
    label = label.strip() or "x"
    person = "nobody" if person == "clean" else person
    suite = build(folder / "suite", "classify", [({name: text}, label) for text in texts], sources={person: "same"})
    export(suite.path, "lm_eval", folder / "tasks", name="homes")
    tasks = TaskManager(include_path=str(folder / "tasks"), include_defaults=False).load(["homes"])["tasks"]
    seen = set()
    for task in tasks.values():
        for doc in task.test_docs():
            assert (
                task.doc_to_text(doc) == f"{json.loads(doc['inputs'])[name]}\n\nAnswer with one of: {label}.\nAnswer:"
            )
            assert task.doc_to_choice(doc) == [label]
            assert task.doc_to_target(doc) == 0
            seen.add((doc["source"], json.loads(doc["inputs"])[name]))
    assert seen == {("clean", text) for text in texts} | {(person, v.inputs[name]) for v in suite.variants()}
