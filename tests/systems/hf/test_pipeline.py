"""Pipelines of transformers' as they are, and each kind of model from the command line, by its path."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from transformers import AutoTokenizer, pipeline

from unswayed.base.errors import UsageError
from unswayed.base.task import task_named
from unswayed.cli import unswayed as command
from unswayed.run.making import make_suite
from unswayed.systems.opening import open_system
from unswayed.systems.system import Failed

Tiny = Callable[..., Path]
TEXTS = ["花呗怎么还款", "play jazz", "rain on monday ?", "", "🙂 شلون"]


def opened(task: str, folder: Path, **options: Any) -> Any:
    return pipeline(task, model=str(folder), tokenizer=AutoTokenizer.from_pretrained(folder), device="cpu", **options)


def test_labels_are_those_of_the_pipeline(tiny: Tiny) -> None:
    pipe = opened("text-classification", tiny("hf/classify"))
    system = open_system(pipe)
    expected = [pipe({"text": text})["label"] for text in TEXTS]
    assert list(system.predict([{"text": text} for text in TEXTS])) == expected
    pair = pipe({"text": "rain", "text_pair": "play jazz"})
    assert list(system.predict([{"premise": "rain", "hypothesis": "play jazz"}])) == [pair["label"]]
    all_scores = open_system(opened("text-classification", tiny("hf/classify"), top_k=None))
    assert list(all_scores.predict([{"text": "rain"}])) == list(system.predict([{"text": "rain"}]))
    [failed] = system.predict([{"a": "x", "b": "y", "c": "z"}])
    assert isinstance(failed, Failed)


def test_numbered_labels_are_numbers(tiny: Tiny) -> None:
    folder = tiny("hf/classify", labels=["LABEL_0", "LABEL_1", "LABEL_2"])
    asked = [{"text": text} for text in TEXTS]
    assert list(open_system(opened("text-classification", folder)).predict(asked)) == list(
        open_system(str(folder)).predict(asked)
    )


def test_tags_are_those_of_the_folder_and_groups_are_laid_over_tokens(tiny: Tiny, tmp_path: Path) -> None:
    folder = tiny("hf/tag")
    asked = [{"text": text} for text in [*TEXTS, "play jazz on monday", "a  b"]]
    assert list(open_system(opened("token-classification", folder)).predict(asked)) == list(
        open_system(str(folder)).predict(asked)
    )
    grouped = open_system(opened("token-classification", folder, aggregation_strategy="simple"))
    for inputs, output in zip(asked, grouped.predict(asked), strict=True):
        assert task_named("slu").output_problem(output, inputs) is None
    assert any("B-thing" in output["slots"] for output in grouped.predict(asked))
    [failed] = grouped.predict([{"said": "a"}])
    assert isinstance(failed, Failed)
    (tmp_path / "a.jsonl").write_text('{"text": "play jazz", "slots": ["O", "B-thing"]}\n')
    grouped.prepare(make_suite(tmp_path / "a.jsonl", ["keyboard/adjacent"], to=tmp_path / "s", language="en"))
    outputs = [task_named("tag").read(o, i) for o, i in zip(grouped.predict(asked), asked, strict=True)]
    assert any(output["entities"] for output in outputs)


def test_what_is_written_is_the_folders(tiny: Tiny) -> None:
    folder = tiny("hf/causal")
    asked = [{"text": "play jazz"}, {"text": "rain on monday ?"}]
    pipe = opened("text-generation", folder)
    assert list(open_system(pipe, max_new_tokens=5).predict(asked)) == list(
        open_system(str(folder), max_new_tokens=5).predict(asked)
    )
    told = open_system(pipe, max_new_tokens=5, prompt="a {text} b")
    assert list(told.predict(asked)) == list(
        open_system(str(folder), max_new_tokens=5, prompt="a {text} b").predict(asked)
    )
    [failed] = open_system(pipe).predict([{"one": "a", "other": "b"}])
    assert isinstance(failed, Failed)


def test_identity_is_the_weights_and_the_settings(tiny: Tiny, tmp_path: Path) -> None:
    folder = tiny("hf/tag")
    pipe = opened("token-classification", folder)
    before = open_system(pipe).identity
    assert before == open_system(opened("token-classification", folder)).identity
    assert before != open_system(opened("token-classification", folder, aggregation_strategy="simple")).identity
    assert before != open_system(pipe, fields="text").identity
    next(iter(pipe.model.parameters())).data[0, 0] += 1
    assert before != open_system(pipe).identity
    assert open_system(pipe, identity="mine").identity == "mine"


def test_tasks_must_fit(tiny: Tiny, tmp_path: Path) -> None:
    folder = tiny("hf/classify")
    (tmp_path / "data.jsonl").write_text('{"text": "play jazz", "label": "yes"}\n')
    suite = make_suite(tmp_path / "data.jsonl", ["keyboard/adjacent"], to=tmp_path / "suite")
    open_system(opened("text-classification", folder)).prepare(suite)
    with pytest.raises(UsageError, match=r"token-classification, which answers the task tag or slu"):
        open_system(opened("token-classification", tiny("hf/tag", "tag"))).prepare(suite)
    with pytest.raises(UsageError, match=r"for feature-extraction can't be asked"):
        open_system(opened("feature-extraction", folder))


KINDS = {
    "hf/classify": ({"text": "play jazz", "label": "yes"}, []),
    "hf/tag": ({"text": "play jazz", "intent": "", "slots": ["O", "B-thing"]}, ["--score", "slot_f1"]),
    "hf/read": ({"question": "a ?", "context": "play jazz", "answers": [{"text": "jazz", "start": 5}]}, []),
    "hf/seq2seq": ({"source": "play jazz", "target": "to play some jazz"}, ["--option", "max_new_tokens=4"]),
    "hf/causal": ({"text": "play jazz"}, ["--option", "max_new_tokens=4", "--option", "prompt=a {text}"]),
}


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_from_the_command_line(kind: str, tiny: Tiny, tmp_path: Path) -> None:
    row, options = KINDS[kind]
    (tmp_path / "data.jsonl").write_text(json.dumps(row) + "\n")
    suite, run = str(tmp_path / "suite"), str(tmp_path / "run")
    varied = ["vary", str(tmp_path / "data.jsonl"), "--with", "keyboard/adjacent", "--lang", "en", "-o", suite]
    for told in (varied, ["run", suite, "--system", f"hf:{tiny(kind)}", *options, "-o", run, "--format", "json"]):
        done = CliRunner().invoke(command, told)
        assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)


def test_a_pipeline_of_a_module_from_the_command_line(
    tiny: Tiny, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    folder = tiny("hf/classify")
    Path("piped_here.py").write_text(
        f"import transformers\npipe = transformers.pipeline('text-classification', {str(folder)!r}, device='cpu')\n"
    )
    Path("data.jsonl").write_text('{"text": "play jazz", "label": "yes"}\n')
    make_suite("data.jsonl", ["keyboard/adjacent"], to="suite")
    done = CliRunner().invoke(command, ["run", "suite", "--system", "piped_here:pipe", "-o", "run"])
    assert done.exit_code == 0, done.output
