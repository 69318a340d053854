"""Scores with BLEURT: `python _bleurt_worker.py FOLDER`. Runs in BLEURT's own environment, without unfazed."""

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
    from bleurt_pytorch import BleurtForSequenceClassification, BleurtTokenizer

    torch.set_num_threads(1)
    model = BleurtForSequenceClassification.from_pretrained(sys.argv[1]).eval()
    tokenizer = BleurtTokenizer.from_pretrained(sys.argv[1])
    for batch in requests():
        references, candidates = ([request["inputs"][side] for request in batch] for side in ("ref", "mt"))
        encoded = tokenizer(
            references, candidates, padding="longest", truncation=True, max_length=512, return_tensors="pt"
        )
        with torch.no_grad():
            found = model(**encoded).logits.flatten().tolist()
        for request, score in zip(batch, found, strict=True):
            answers.write(json.dumps({"id": request["id"], "output": float(score)}) + "\n")
        answers.flush()


if __name__ == "__main__":
    main()
