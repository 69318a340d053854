"""Graphs beside the models that they were exported from: the same answers, whatever is asked together."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("onnxruntime", reason="needs the extra onnx")
pytest.importorskip("torch", reason="graphs are made with the extra hf")

from samples.graphs import export
from samples.hf import save_tiny

from unswayed.base.errors import MissingExtra, StoredFileError, UsageError
from unswayed.run.making import make_suite
from unswayed.systems.opening import open_system
from unswayed.systems.system import Failed, System

WORDS = [*"花呗借怎么还款开通额度为什没有吗", "play", "jazz", "rock", "rain", "on", "monday", "a", "b", "?"]
TEXTS = [
    "花呗怎么还款",
    "play jazz",
    "借呗额度为什么没有",
    "rain on monday ?",
    "",
    "🙂 شلون",
    "rain " * 300,
    "\ud800 a",
]
PARTS = ("config.json", "tokenizer.json", "tokenizer_config.json")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model of each kind, and its graph beside it."""
    place = tmp_path_factory.mktemp("models")
    for kind in ("classify", "tag", "read"):
        save_tiny(place / kind, f"hf/{kind}", WORDS)
        stirred(place / kind / "model.safetensors")
        export(place / kind, place / "graphs" / kind)
    return place


def stirred(file: Path) -> None:
    """Larger weights, so that a model that has learnt nothing still says different things of different texts."""
    from safetensors.torch import load_file, save_file

    save_file({name: w * 4 if w.ndim == 2 else w for name, w in load_file(file).items()}, file, {"format": "pt"})


def both(made: Path, kind: str) -> tuple[System, System]:
    return open_system(f"hf:{made / kind}"), open_system(f"onnx:{made / 'graphs' / kind}")


def test_labels_of_texts_and_pairs(made: Path) -> None:
    model, graph = both(made, "classify")
    asked = [{"text": text} for text in TEXTS]
    asked += [{"premise": a, "hypothesis": b} for a, b in zip(TEXTS, TEXTS[::-1], strict=True)]
    answers = list(graph.predict(asked))
    assert answers == list(model.predict(asked))
    assert len(set(map(str, answers))) > 1
    assert answers[::-1] == [graph.predict([inputs])[0] for inputs in asked[::-1]]
    [failed] = graph.predict([{"a": "x", "b": "y", "c": "z"}])
    assert isinstance(failed, Failed)


def test_tags_of_tokens(made: Path) -> None:
    model, graph = both(made, "tag")
    asked = [{"text": text} for text in [*TEXTS, "play jazz on monday", "a  b", "\x00 play"]]
    assert list(graph.predict(asked)) == list(model.predict(asked))


def test_answers_in_contexts_of_any_length(made: Path) -> None:
    model, graph = both(made, "read")
    context = "花呗怎么还款，借呗额度。 play jazz on monday " * 20
    asked = [{"question": q, "context": context[:n]} for q in ("什么 ?", "a " * 200) for n in (0, 20, 200, 900)]
    assert list(graph.predict(asked)) == list(model.predict(asked))


def test_what_else_is_asked_changes_nothing_also_where_scales_come_from_the_batch(made: Path, tmp_path: Path) -> None:
    from onnxruntime.quantization import quantize_dynamic

    for kind in ("classify", "tag"):
        folder = shutil.copytree(made / "graphs" / kind, tmp_path / kind)
        quantize_dynamic(str(folder / "model.onnx"), str(folder / "model_quantized.onnx"))
        system = open_system(f"onnx:{folder}", file="model_quantized.onnx")
        rows = [system.tokenizer(text, truncation=True, max_length=60) for text in TEXTS[:-1]]  # type: ignore[attr-defined]
        together = system.model(**system.padded(rows)).logits  # type: ignore[attr-defined]
        for row, logits in zip(rows, together, strict=True):
            [alone] = system.model(**system.padded([row])).logits  # type: ignore[attr-defined]
            assert np.array_equal(alone, logits[: len(alone)])
        assert system.identity != open_system(f"onnx:{folder}").identity


def test_a_run_from_the_command_line_without_torch(made: Path, tmp_path: Path) -> None:
    (tmp_path / "data.jsonl").write_text('{"text": "play jazz on monday", "label": "yes"}\n')
    make_suite(tmp_path / "data.jsonl", ["keyboard/adjacent"], to=tmp_path / "suite")
    script = "import sys; sys.modules.update(torch=None, transformers=None); from unswayed.cli import main; main()"
    command = [sys.executable, "-c", script, "run", "suite", "--system", f"onnx:{made / 'graphs/classify'}"]
    done = subprocess.run(
        [*command, "-o", "run", "--format", "json"], cwd=tmp_path, check=False, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)


def test_identity_is_the_content_and_not_the_place(made: Path, tmp_path: Path) -> None:
    graph = made / "graphs" / "classify"
    copied = shutil.copytree(graph, tmp_path / "copied")
    before = open_system(str(copied)).identity  # a folder alone, where there is nothing but the graph
    assert before == open_system(f"onnx:{graph}").identity
    seen = {before, open_system(str(copied), max_length=8).identity}
    for name in (*PARTS, "model.onnx"):
        content = (copied / name).read_bytes()
        (copied / name).write_bytes(content + b"\n")
        seen.add(open_system(f"onnx:{copied}").identity)
        (copied / name).write_bytes(content)
    (copied / "model.onnx_data").write_bytes(b"weights")
    seen.add(open_system(f"onnx:{copied}").identity)
    assert len(seen) == 7


def test_what_can_not_be_opened_says_why(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    graph = shutil.copytree(made / "graphs" / "classify", tmp_path / "graph")
    config = json.loads((graph / "config.json").read_text())
    with pytest.raises(UsageError, match="no such folder"):
        open_system("onnx:nowhere")
    with pytest.raises(UsageError, match=r"has no other\.onnx\. It has model\.onnx: name one with the option file"):
        open_system(f"onnx:{graph}", file="other.onnx")
    with pytest.raises(UsageError, match="2 labels for the model's 3 outputs"):
        open_system(f"onnx:{graph}", labels="a,b").open()  # type: ignore[attr-defined]
    (graph / "config.json").write_text(json.dumps(config | {"architectures": ["T5ForConditionalGeneration"]}))
    with pytest.raises(UsageError, match="T5ForConditionalGeneration; of ONNX graphs"):
        open_system(f"onnx:{graph}")
    (graph / "config.json").write_text(json.dumps(config))
    (graph / "model.onnx").write_bytes(b"no graph")
    with pytest.raises(StoredFileError, match=r"model\.onnx: ONNX Runtime can't open this"):
        open_system(f"onnx:{graph}").predict([{"text": "a"}])
    shutil.copy(made / "graphs" / "classify" / "model.onnx", graph)
    (graph / "tokenizer.json").write_text("{")
    with pytest.raises(StoredFileError, match=r"tokenizer\.json: this can't be read"):
        open_system(f"onnx:{graph}").predict([{"text": "a"}])
    (graph / "tokenizer.json").unlink()
    with pytest.raises(UsageError, match=r"has no tokenizer\.json"):
        open_system(f"onnx:{graph}").predict([{"text": "a"}])
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    monkeypatch.setattr("unswayed.systems.onnx.find_spec", lambda name: None)
    with pytest.raises(MissingExtra, match=r"pip install 'onnxruntime"):
        open_system(f"onnx:{made / 'graphs/classify'}").predict([{"text": "a"}])
