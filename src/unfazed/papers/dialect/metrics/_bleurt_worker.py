"""Scores with BLEURT: `python _bleurt_worker.py FOLDER`. Runs in BLEURT's own environment, without unfazed."""

from __future__ import annotations

import json
import os
import sys


def main() -> None:
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what libraries print must not stand among the answers
    import torch
    from bleurt_pytorch import BleurtForSequenceClassification, BleurtTokenizer

    torch.set_num_threads(1)
    model = BleurtForSequenceClassification.from_pretrained(sys.argv[1]).eval()
    tokenizer = BleurtTokenizer.from_pretrained(sys.argv[1])
    for line in sys.stdin:
        items = json.loads(line)
        found: list[float] = []
        for at in range(0, len(items), 16):
            part = items[at : at + 16]
            references, candidates = [item["ref"] for item in part], [item["mt"] for item in part]
            batch = tokenizer(
                references, candidates, padding="longest", truncation=True, max_length=512, return_tensors="pt"
            )
            with torch.no_grad():
                found += model(**batch).logits.flatten().tolist()
        answers.write(json.dumps(found) + "\n")
        answers.flush()


if __name__ == "__main__":
    main()
