"""Makes a tiny BLEURT model in a folder, and what the package says of two pairs. Runs in BLEURT's own environment."""

from __future__ import annotations

import json
import sys
from pathlib import Path

WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "the", "a", "cat", "dog", "sat", "ran", "on", "mat"]


def main(to: Path) -> None:
    import torch
    from bleurt_pytorch import BleurtConfig, BleurtForSequenceClassification, BleurtTokenizer

    to.mkdir(parents=True, exist_ok=True)
    (to / "vocab.txt").write_text("\n".join(WORDS) + "\n")
    tokenizer = BleurtTokenizer(str(to / "vocab.txt"))
    tokenizer.save_pretrained(to)
    torch.manual_seed(0)
    config = BleurtConfig(
        vocab_size=len(WORDS), hidden_size=16, num_hidden_layers=2, num_attention_heads=2, intermediate_size=32,
        max_position_embeddings=64, num_labels=1,
    )  # fmt: skip
    model = BleurtForSequenceClassification(config).eval()
    model.save_pretrained(to)
    batch = tokenizer(["a cat sat", "the mat"], ["the cat sat", "a dog"], padding="longest", return_tensors="pt")
    with torch.no_grad():
        (to / "expected.json").write_text(json.dumps(model(**batch).logits.flatten().tolist()))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
