"""Scores with COMET: `python _comet_worker.py CHECKPOINT`. Runs in COMET's own environment, without unfazed."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from typing import Any


def requests() -> Iterator[list[dict[str, Any]]]:
    """Requests, a JSON object a line, as many together as have come."""
    rest = b""
    while piece := os.read(0, 1 << 20):
        *lines, rest = (rest + piece).split(b"\n")
        found = [json.loads(line) for line in lines if line.strip()]
        yield from (found[at : at + 16] for at in range(0, len(found), 16))


def main() -> None:
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what libraries print must not stand among the answers
    import torch
    from comet import load_from_checkpoint

    torch.set_num_threads(1)
    model = load_from_checkpoint(sys.argv[1])
    for batch in requests():
        items = [request["inputs"] for request in batch]
        found = model.predict(items, batch_size=16, gpus=0, progress_bar=False, num_workers=0)["scores"]
        for request, score in zip(batch, found, strict=True):
            answers.write(json.dumps({"id": request["id"], "output": float(score)}) + "\n")
        answers.flush()


if __name__ == "__main__":
    main()
