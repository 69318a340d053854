"""Fixtures of untrained models that are as small as they come, for the tests of answers and of tuning."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="needs the extra hf")

_ENGLISH = "play jazz rock rain on monday select from a b ?"
WORDS = [*"花呗借怎么还款开通额度为什没有吗", *_ENGLISH.split()]
Tiny = Callable[..., Path]


@pytest.fixture
def tiny(tmp_path: Path) -> Tiny:
    """Untrained models whose tokenizer cuts Chinese into letters, as BERT's does."""

    def make(kind: str, name: str = "model", **options: object) -> Path:
        from samples.hf import save_tiny

        save_tiny(tmp_path / name, kind, WORDS, **options)  # type: ignore[arg-type]
        return tmp_path / name

    return make


@pytest.fixture
def mbart(tmp_path: Path) -> Path:
    """An untrained mBART with mBART50's tokenizer, which is told its languages, over six words."""
    from transformers import MBart50Tokenizer, MBartConfig, MBartForConditionalGeneration

    from unswayed.systems.device import torch_seed
    from unswayed.systems.model_folder import no_bars

    words = ["play", "jazz", "rock", "rain", "on", "monday"]
    letters = sorted({c for word in words for c in word})
    marks = [(mark, 0.0) for mark in ("<s>", "<pad>", "</s>", "<unk>")]
    pieces = [*marks, *((f"▁{word}", -2.0) for word in words), *((c, -5.0) for c in ["▁", *letters])]
    tokenizer = MBart50Tokenizer(vocab=pieces, src_lang="en_XX", tgt_lang="zh_CN")
    config = MBartConfig(
        vocab_size=len(tokenizer), d_model=16, encoder_layers=1, decoder_layers=1, encoder_attention_heads=2,
        decoder_attention_heads=2, encoder_ffn_dim=32, decoder_ffn_dim=32, max_position_embeddings=64,
        pad_token_id=1, bos_token_id=0, eos_token_id=2, decoder_start_token_id=2, init_std=0.2, dropout=0.0,
    )  # fmt: skip
    with torch_seed(0), no_bars():
        MBartForConditionalGeneration(config).save_pretrained(tmp_path / "mbart")
    tokenizer.save_pretrained(tmp_path / "mbart")
    return tmp_path / "mbart"
