"""Scores with a learned metric, in its own environment: `_worker.py comet FILE SHA256` or `bleurt FOLDER FORM`."""

from __future__ import annotations

import hashlib
import json
import os
import pickle
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

Score = Callable[[list[dict[str, Any]]], list[float]]


def requests() -> Iterator[list[dict[str, Any]]]:
    """Requests, one JSON object per line, up to 16 of those that are there together."""
    rest = b""
    while piece := os.read(0, 1 << 20):
        *lines, rest = (rest + piece).split(b"\n")
        read = [json.loads(line) for line in lines if line.strip()]
        yield from (read[at : at + 16] for at in range(0, len(read), 16))


def device() -> str:
    """The device that was chosen; without a choice the CPU, as the environment has a build of torch for that."""
    import torch

    kind = os.environ.get("UNSWAYED_DEVICE", "auto")
    there = {"cpu": True, "cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available()}
    if kind == "auto":
        return "cpu"
    if not there.get(kind):
        names = ", ".join(name for name, is_there in there.items() if is_there)
        raise SystemExit(f"PyTorch finds no {kind} in the metric's environment. Available: {names}.")
    return kind


def comet(checkpoint: str, trusted: str) -> Score:
    """A checkpoint whose hash the user trusts. Its settings are not trusted, so they must be plain data."""
    import yaml
    from comet import load_from_checkpoint

    with open(checkpoint, "rb") as file:
        if hashlib.file_digest(file, "sha256").hexdigest() != trusted:
            raise SystemExit(f"{checkpoint} changed after it was checked.")
    settings = Path(checkpoint).parents[1] / "hparams.yaml"
    if settings.is_file():
        yaml.safe_load(settings.read_bytes())
    try:
        model = load_from_checkpoint(checkpoint)  # torch unpickles weights and plain data, and nothing else
    except pickle.UnpicklingError:  # an old checkpoint, with objects of other kinds in it
        os.environ["TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD"] = "1"
        model = load_from_checkpoint(checkpoint)
    kind = device()
    gpus = {"cpu": 0}.get(kind, 1)
    told = {"accelerator": kind} if kind == "mps" else {}
    return lambda items: model.predict(items, batch_size=16, gpus=gpus, **told, progress_bar=False, num_workers=0)[
        "scores"
    ]


def bleurt(folder: str, form: str) -> Score:
    import torch
    from bleurt_pytorch import BleurtForSequenceClassification, BleurtTokenizer

    safe = {"local_files_only": True, "use_safetensors": form == "safetensors"}
    model = BleurtForSequenceClassification.from_pretrained(folder, **safe).eval().to(device())
    tokenizer = BleurtTokenizer.from_pretrained(folder, local_files_only=True)

    def score(items: list[dict[str, Any]]) -> list[float]:
        references, candidates = ([item[side] for item in items] for side in ("ref", "mt"))
        encoded = tokenizer(
            references, candidates, padding="longest", truncation=True, max_length=512, return_tensors="pt"
        ).to(device())
        with torch.no_grad():
            return model(**encoded).logits.flatten().tolist()

    return score


def main() -> None:
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what libraries print must not stand among the answers
    import torch

    torch.set_num_threads(1)
    score = {"comet": comet, "bleurt": bleurt}[sys.argv[1]](*sys.argv[2:])
    for batch in requests():
        for request, value in zip(batch, score([request["inputs"] for request in batch]), strict=True):
            answers.write(json.dumps({"id": request["id"], "output": float(value)}) + "\n")
        answers.flush()


if __name__ == "__main__":
    main()
