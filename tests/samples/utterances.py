"""Small enough for the contract tests: four sentences, and an encoder made on the spot."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from unswayed.base import Example
from unswayed.systems.device import require_torch, torch_seed

MARKS = {"pad_token": "[PAD]", "unk_token": "[UNK]", "cls_token": "[CLS]", "sep_token": "[SEP]"}
SAID = {
    "play some jazz": ("play", "O O B-genre"),
    "play loud rock": ("play", "O O B-genre"),
    "will it rain today": ("weather", "O O O B-day"),
    "rain on monday": ("weather", "O O B-day"),
}


def sample_examples() -> list[Example]:
    golds = [{"intent": intent, "slots": tags.split(" ")} for intent, tags in SAID.values()]
    return [Example(i, str(i), {"text": text}, golds[i]) for i, text in enumerate(SAID)]


@contextmanager
def tiny(wanted: bool) -> Iterator[str | None]:
    """The folder of a BERT with random weights and a WordPiece tokenizer, while it is needed."""
    if not wanted:
        yield None
        return
    require_torch("a tiny BERT", "transformers", "tokenizers")
    from tokenizers import models

    # Not trained, as training breaks ties at random: whole words, and letters for all others.
    letters = sorted({letter for text in SAID for letter in text if letter != " "})
    words = sorted({word for text in SAID for word in text.split(" ")})
    pieces = [*MARKS.values(), *letters, *(f"##{letter}" for letter in letters), *words]
    vocabulary = {piece: n for n, piece in enumerate(dict.fromkeys(pieces))}
    with TemporaryDirectory() as folder:
        save_tiny_bert(Path(folder), models.WordPiece(vocabulary, unk_token=MARKS["unk_token"]))
        yield folder


def save_tiny_bert(folder: Path, pieces: Any) -> None:
    """Saves an untrained encoder, with a tokenizer of these word pieces, as `save_pretrained` does."""
    from tokenizers import Tokenizer, normalizers, pre_tokenizers, processors
    from transformers import BertConfig, BertModel, PreTrainedTokenizerFast

    from unswayed.systems.model_folder import no_bars

    tokenizer = Tokenizer(pieces)
    tokenizer.normalizer, tokenizer.pre_tokenizer = normalizers.BertNormalizer(), pre_tokenizers.BertPreTokenizer()
    ends = [(mark, tokenizer.token_to_id(mark)) for mark in ("[CLS]", "[SEP]")]
    tokenizer.post_processor = processors.TemplateProcessing(single="[CLS] $A [SEP]", special_tokens=ends)
    config = BertConfig(
        vocab_size=tokenizer.get_vocab_size(),
        hidden_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=64,
        initializer_range=0.2,  # so small a network hardly moves away from smaller weights
    )
    with torch_seed(0), no_bars():
        BertModel(config).save_pretrained(folder)
        PreTrainedTokenizerFast(tokenizer_object=tokenizer, **MARKS).save_pretrained(folder)
