"""Encoder and decoder, T5 and mBART among them: translation, questions to SQL, any text to a text."""

from __future__ import annotations

from unfazed.systems.hf._generating import GeneratingSystem


class Seq2Seq(GeneratingSystem):
    """For mBART and its kin give source_language and target_language as the tokenizer has them."""

    name = "hf/seq2seq"
    auto = "AutoModelForSeq2SeqLM"
