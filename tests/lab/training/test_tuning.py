from __future__ import annotations

from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import pytest
import torch
from click.testing import CliRunner

from unswayed.base.errors import UsageError
from unswayed.base.values import Example
from unswayed.lab.training.loop import Checkpoint
from unswayed.lab.training.tuning import tune_model
from unswayed.systems.opening import open_system

Tiny = Callable[..., Path]
QUICK = {"epochs": 30, "patience": 30, "lr": 0.02, "batch_size": 8}
THINGS = ["jazz", "rock", "rain", "monday", "花", "呗"]


def examples(golds: Callable[[str, str], tuple[dict[str, str], Any]]) -> list[Example]:
    made = [golds(a, b) for a, b in product(THINGS, THINGS) if a != b]
    return [Example(i, str(i), inputs, gold) for i, (inputs, gold) in enumerate(made)]


def classified(a: str, b: str) -> tuple[dict[str, str], Any]:
    return {"a": f"play {a} on {b}", "b": f"{b} ?"}, a in ("jazz", "rock")


def tagged(a: str, b: str) -> tuple[dict[str, str], Any]:
    return {"text": f"play {a} on {b}"}, {"intent": "play", "slots": ["O", "B-what", "O", "B-when"]}


def read(a: str, b: str) -> tuple[dict[str, str], Any]:
    context = f"play {a} on {b} from a"
    return {"question": "play a ?", "context": context}, {"answers": [{"text": a, "start": context.index(a)}]}


def translated(a: str, b: str) -> tuple[dict[str, str], Any]:
    return {"source": f"play {a}"}, f"select {a}"


def queried(a: str, b: str) -> tuple[dict[str, str], Any]:
    gold = {"sql": f"select {a} from b", "db_id": "d", "schema": {"tables": {}, "keys": {}}}
    return {"question": f"play {a}", "db_id": "d", "schema": "a b"}, gold


CASES = {
    "classify": ("hf/classify", classified, lambda gold: "true" if gold else "false"),
    "slu": ("hf/tag", tagged, lambda gold: {"intent": "", "slots": gold["slots"]}),
    "qa": ("hf/read", read, lambda gold: gold["answers"][0]["text"]),
    "translate": ("hf/seq2seq", translated, lambda gold: gold),
    "sql": ("hf/seq2seq", queried, lambda gold: gold["sql"]),
}


@pytest.mark.parametrize("task", sorted(CASES))
def test_learns_what_it_is_shown(task: str, tiny: Tiny, tmp_path: Path) -> None:
    kind, golds, right = CASES[task]
    shown = examples(golds)
    start = tiny("hf/classify" if kind == "hf/read" else kind)  # any encoder will do: the head is a new one
    tune_model(start, shown, shown, task=task, kind=kind, to=tmp_path / "tuned", settings=QUICK, max_length=40)
    system = open_system(str(tmp_path / "tuned"))
    assert system.name == kind
    outputs = system.predict([e.inputs for e in shown])
    assert sum(o == right(e.gold) for o, e in zip(outputs, shown, strict=True)) >= 0.8 * len(shown)
    assert not list((tmp_path / "tuned").glob("training*"))


def test_mbart_learns_too(mbart: Path, tmp_path: Path) -> None:
    shown = [Example(i, str(i), {"source": f"play {t}"}, f"rain on {t}") for i, t in enumerate(THINGS[:4])]
    card = tune_model(
        mbart, shown, shown, task="translate", to=tmp_path / "tuned",
        settings=QUICK | {"lr": 0.01, "epochs": 80, "patience": 80},
        source_language="en_XX", target_language="zh_CN",
    )  # fmt: skip
    assert card.dev_scores[-1] > 2 * card.dev_scores[0]
    system = open_system(str(tmp_path / "tuned"))
    assert system.options.target_language == "zh_CN"  # type: ignore[attr-defined]
    assert system.predict([{"source": "play jazz"}]) == ["rain on jazz"]


def test_a_killed_training_goes_on_and_ends_the_same(
    tiny: Tiny, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    start, shown = tiny("hf/seq2seq"), examples(translated)  # its embeddings are one tensor under several names
    settings = QUICK | {"epochs": 4}

    def train(to: str) -> Path:
        tune_model(start, shown, shown, task="translate", to=tmp_path / to, settings=settings)
        return tmp_path / to / "model.safetensors"

    whole = train("whole").read_bytes()
    write = Checkpoint.write

    def killed(self: Checkpoint, tensors: Any, state: bytes) -> None:
        write(self, tensors, state)
        if state.count(b",") >= 2:  # after the second epoch
            raise KeyboardInterrupt

    monkeypatch.setattr(Checkpoint, "write", killed)
    with pytest.raises(KeyboardInterrupt):
        train("killed")
    monkeypatch.undo()
    with pytest.raises(UsageError, match="no system"):
        open_system(str(tmp_path / "killed"))
    asked = torch.get_num_threads()
    assert train("killed").read_bytes() == whole
    assert train("killed").read_bytes() == whole  # all is there already
    assert torch.get_num_threads() == asked


def test_from_the_command_line(tiny: Tiny, tmp_path: Path) -> None:
    from unswayed.cli.train import command

    lines = [f'{{"text": "play {a}", "label": "{a in ("jazz", "rock")}"}}\n' for a in THINGS]
    (tmp_path / "data.jsonl").write_text("".join(lines))
    base = ["hf", str(tmp_path / "data.jsonl"), "--model", str(tiny("hf/classify")), "--epochs", "1"]
    done = CliRunner().invoke(command, [*base, "-o", str(tmp_path / "tuned")], catch_exceptions=False)
    assert done.exit_code == 0
    assert open_system(str(tmp_path / "tuned")).predict([{"text": "play jazz"}])[0] in ("True", "False")
    with pytest.raises(UsageError, match="holds another system"):
        CliRunner().invoke(command, [*base, "--seed", "1", "-o", str(tmp_path / "tuned")], catch_exceptions=False)


def test_what_can_not_be_trained_says_why(tiny: Tiny, tmp_path: Path) -> None:
    start, shown = tiny("hf/classify"), examples(translated)
    with pytest.raises(UsageError, match="can't be opened"):
        tune_model(start, shown, task="translate", to=tmp_path / "t")
    with pytest.raises(UsageError, match="learns classify, not 'qa'"):
        tune_model(start, shown, task="qa", kind="hf/classify", to=tmp_path / "t")
