"""Untrained models as small as they come, one of each kind, for the contract tests."""

from __future__ import annotations

import atexit
import shutil
import tempfile
from pathlib import Path
from typing import Any

from unswayed.systems.device import require_torch, torch_seed

_WORDS = "play some loud jazz will it rain on monday when does the band ? what"
_MARKS = {"pad_token": "[PAD]", "unk_token": "[UNK]", "cls_token": "[CLS]", "sep_token": "[SEP]"}
_made: dict[str, Path] = {}


def sample_folder(kind: str) -> Path:
    """A folder with an untrained model of this kind; it goes with the process."""
    if kind not in _made:
        require_torch(kind, "transformers", "tokenizers")
        folder = Path(tempfile.mkdtemp(prefix="unswayed-sample-"))
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
        save_tiny(folder, kind, sorted({*_WORDS.split(), *(c for c in _WORDS if c != " ")}))
        _made[kind] = folder
    return _made[kind]


def save_tiny(folder: Path, kind: str, words: list[str], labels: list[str] | None = None, size: int = 16) -> None:
    """Saves an untrained model with a tokenizer that knows these words, and single letters after them."""
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
    from transformers import PreTrainedTokenizerFast

    from unswayed.systems.model_folder import no_bars

    letters = sorted({c for word in words for c in word})
    pieces = dict.fromkeys([*_MARKS.values(), *words, *letters, *(f"##{c}" for c in letters)])
    tokenizer = Tokenizer(models.WordPiece({p: n for n, p in enumerate(pieces)}, unk_token=_MARKS["unk_token"]))
    tokenizer.normalizer, tokenizer.pre_tokenizer = normalizers.BertNormalizer(), pre_tokenizers.BertPreTokenizer()
    ends = [(mark, tokenizer.token_to_id(mark)) for mark in ("[CLS]", "[SEP]")]
    if kind == "hf/seq2seq":
        tokenizer.post_processor = processors.TemplateProcessing(single="$A [SEP]", special_tokens=ends[1:])
    elif kind != "hf/causal":
        tokenizer.post_processor = processors.TemplateProcessing(
            single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=ends
        )
    with torch_seed(0), no_bars():
        _model(kind, tokenizer.get_vocab_size(), size, labels).save_pretrained(folder)
        extra = {"eos_token": "[SEP]"} if kind in ("hf/seq2seq", "hf/causal") else {}
        PreTrainedTokenizerFast(tokenizer_object=tokenizer, **_MARKS, **extra).save_pretrained(folder)


def _model(kind: str, pieces: int, size: int, labels: list[str] | None) -> Any:
    import transformers as t

    if kind == "hf/seq2seq":
        config = t.T5Config(
            vocab_size=pieces, d_model=size, d_kv=size // 2, d_ff=2 * size, num_layers=1, num_heads=2,
            pad_token_id=0, eos_token_id=3, dropout_rate=0.0,
        )  # fmt: skip
        config.decoder_start_token_id = 0
        return t.T5ForConditionalGeneration(config)
    if kind == "hf/causal":
        return t.GPT2LMHeadModel(
            t.GPT2Config(
                vocab_size=pieces, n_positions=64, n_embd=size, n_layer=1, n_head=2, bos_token_id=2, eos_token_id=3
            )
        )
    names = labels or {"hf/tag": ["O", "B-thing", "I-thing"]}.get(kind, ["yes", "no", "maybe"])
    named: dict[str, Any] = {} if kind == "hf/read" else {"id2label": dict(enumerate(names))}
    bert = t.BertConfig(
        vocab_size=pieces,
        hidden_size=size,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=2 * size,
        max_position_embeddings=64,
        initializer_range=0.2,  # so small a network hardly moves away from smaller weights
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
        **named,
    )
    classes: dict[str, Any] = {
        "hf/classify": t.BertForSequenceClassification,
        "hf/tag": t.BertForTokenClassification,
        "hf/read": t.BertForQuestionAnswering,
    }
    return classes[kind](bert)
