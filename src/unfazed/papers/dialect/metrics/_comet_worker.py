"""Scores with COMET: `python _comet_worker.py CHECKPOINT`. Runs in COMET's own environment, without unfazed."""

from __future__ import annotations

import json
import os
import sys


def main() -> None:
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what libraries print must not stand among the answers
    import torch
    from comet import load_from_checkpoint

    torch.set_num_threads(1)
    model = load_from_checkpoint(sys.argv[1])
    for line in sys.stdin:
        items = json.loads(line)
        found = model.predict(items, batch_size=16, gpus=0, progress_bar=False, num_workers=0)
        answers.write(json.dumps([float(score) for score in found["scores"]]) + "\n")
        answers.flush()


if __name__ == "__main__":
    main()
