"""Corpus chrF, equal to sacreBLEU's."""

from __future__ import annotations

from typing import Any

import numpy as np

from unswayed.score._scorer import Array, SegmentScorer, ratio

_RECALL_WEIGHT = 2**2  # recall counts β² = 4 times as much as precision


class CorpusChrf(SegmentScorer):
    """Corpus chrF2 from 0 to 100. A row is (n-grams said, in the reference, right) for characters, n = 1…6."""

    name = "chrf"

    def metric(self, metrics: Any, language: str) -> Any:
        return metrics.CHRF()

    def aggregate(self, sums: Array) -> Array:
        said, reference, right = sums[..., 0::3], sums[..., 1::3], sums[..., 2::3]
        both = (said > 0) & (reference > 0)  # orders that both texts are long enough for
        orders = both.sum(axis=-1).astype(float)
        precision = ratio(np.where(both, ratio(right, said), 0.0).sum(axis=-1), orders)
        recall = ratio(np.where(both, ratio(right, reference), 0.0).sum(axis=-1), orders)
        score = 100 * ratio((1 + _RECALL_WEIGHT) * precision * recall, _RECALL_WEIGHT * precision + recall)
        any_text = (said + reference).sum(axis=-1) > 0
        return np.where(any_text, np.nan_to_num(score), np.nan)
