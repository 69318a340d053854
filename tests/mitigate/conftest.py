"""A masked language model so small that it is made on the spot."""

from __future__ import annotations

from pathlib import Path

import pytest

WORDS = "play stop some any jazz rock music by from to the a new old song album find show flight boston denver"


@pytest.fixture(scope="session")
def tiny_bert(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A BERT with random weights over a few whole words."""
    torch = pytest.importorskip("torch", reason="the extra hf is not installed")
    transformers = pytest.importorskip("transformers", reason="the extra hf is not installed")
    place = tmp_path_factory.mktemp("bert")
    words = WORDS.split(" ")
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    (place / "vocab.txt").write_text("\n".join([*special, *words, "##s", "42"]) + "\n")
    transformers.BertTokenizerFast(vocab=str(place / "vocab.txt")).save_pretrained(place)
    torch.manual_seed(0)
    sizes = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 16}
    config = transformers.BertConfig(vocab_size=len(special) + len(words) + 2, max_position_embeddings=32, **sizes)
    transformers.BertForMaskedLM(config).save_pretrained(place)
    return place
