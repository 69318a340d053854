"""Untrained models as graphs, one of each kind, for the contract tests."""

from __future__ import annotations

import atexit
import shutil
import tempfile
import warnings
from pathlib import Path

from samples.hf import sample_folder as torch_folder

_made: dict[str, Path] = {}


def sample_folder(kind: str) -> Path:
    """A folder with the graph of an untrained model of this kind; it goes with the process."""
    if kind not in _made:
        folder = Path(tempfile.mkdtemp(prefix="unswayed-sample-"))
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
        export(torch_folder(kind.replace("onnx/", "hf/")), folder)
        _made[kind] = folder
    return _made[kind]


def export(model: Path, to: Path) -> None:
    """Writes a model's graph, its configuration and its tokenizer, as Optimum's export does."""
    import torch

    from unswayed.systems import ModelFolder, systems

    folder = ModelFolder(model)
    names = ["input_ids", "attention_mask", "token_type_ids"]
    outputs = ["start_logits", "end_logits"] if folder.kind == "hf/read" else ["logits"]
    opened = folder.model(systems.get(str(folder.kind)).auto, return_dict=False)  # type: ignore[attr-defined]
    to.mkdir(parents=True, exist_ok=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the tracer warns of branches that these models do not take
        torch.onnx.export(
            opened,
            (torch.ones(2, 3, dtype=torch.int64),) * 3,
            str(to / "model.onnx"),
            input_names=names,
            output_names=outputs,
            dynamic_axes={name: {0: "texts", 1: "pieces"} for name in names},
            dynamo=False,  # the newer exporter needs onnxscript, and seconds instead of a blink
        )
    for name in ("config.json", "tokenizer.json", "tokenizer_config.json"):
        shutil.copy(model / name, to / name)
