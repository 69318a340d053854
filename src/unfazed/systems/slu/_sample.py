"""Small enough for the contract tests: four sentences, and an encoder made on the spot."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from unfazed.core.values import Example
from unfazed.systems.slu._torch import need, seeded

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
    with TemporaryDirectory() as folder:
        make_tiny_bert(Path(folder), list(SAID))
        yield folder


def make_tiny_bert(folder: Path, texts: list[str]) -> None:
    """Saves an untrained encoder, and a tokenizer of these texts, as `save_pretrained` does."""
    need("a tiny BERT", "transformers", "tokenizers")
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors, trainers
    from transformers import BertConfig, BertModel, PreTrainedTokenizerFast

    from unfazed.systems.slu._encoder import no_bars

    marks = {"pad_token": "[PAD]", "unk_token": "[UNK]", "cls_token": "[CLS]", "sep_token": "[SEP]"}
    tokenizer = Tokenizer(models.WordPiece(unk_token=marks["unk_token"]))
    tokenizer.normalizer, tokenizer.pre_tokenizer = normalizers.BertNormalizer(), pre_tokenizers.BertPreTokenizer()
    trainer = trainers.WordPieceTrainer(vocab_size=200, special_tokens=list(marks.values()), show_progress=False)
    tokenizer.train_from_iterator(texts, trainer)
    ends = [(mark, tokenizer.token_to_id(mark)) for mark in ("[CLS]", "[SEP]")]
    tokenizer.post_processor = processors.TemplateProcessing(single="[CLS] $A [SEP]", special_tokens=ends)
    config = BertConfig(
        vocab_size=tokenizer.get_vocab_size(),
        hidden_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=64,
    )
    with seeded(0), no_bars():
        BertModel(config).save_pretrained(folder)
        PreTrainedTokenizerFast(tokenizer_object=tokenizer, **marks).save_pretrained(folder)
