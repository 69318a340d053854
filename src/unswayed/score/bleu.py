"""Corpus BLEU, equal to sacreBLEU's."""

from __future__ import annotations

from typing import Any

import numpy as np

from unswayed.score._scorer import Array, SegmentScorer, ratio

NGRAM_ORDERS = 4
TOKENIZERS = {"zh": "zh", "ja": "char", "ko": "char"}  # by language; MeCab, which sacreBLEU prefers, is not required


class CorpusBleu(SegmentScorer):
    """Corpus BLEU from 0 to 100. A row is (length, reference length, right n-grams, n-grams; these for n = 1…4)."""

    name = "bleu"

    def metric(self, metrics: Any, language: str) -> Any:
        return metrics.BLEU(tokenize=TOKENIZERS.get(language, "13a"), force=True)

    def aggregate(self, sums: Array) -> Array:
        """With exponential smoothing: the first order without a match counts half a match, the next a quarter. Zero
        where nothing matches or some order has no n-grams; NaN where there are no words at all.
        """
        length, reference = sums[..., 0], sums[..., 1]
        right, total = sums[..., 2 : 2 + NGRAM_ORDERS], sums[..., 2 + NGRAM_ORDERS : 2 + 2 * NGRAM_ORDERS]
        halved = 0.5 ** np.cumsum(right == 0, axis=-1)
        precision = ratio(100 * np.where(right > 0, right, halved), total)
        brevity = np.exp(np.minimum(0.0, 1 - ratio(reference, length)))
        score = brevity * np.exp(np.log(precision).sum(axis=-1) / NGRAM_ORDERS)
        score = np.where(right.any(axis=-1) & (total > 0).all(axis=-1), score, 0.0)
        return np.where(length + reference > 0, score, np.nan)
