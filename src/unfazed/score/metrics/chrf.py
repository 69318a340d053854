"""Sentence chrF, from sacreBLEU."""

from __future__ import annotations

from collections.abc import Sequence

from unfazed.score._sacrebleu import sacrebleu_metrics
from unfazed.score.metrics._metric import Item, Metric


class Chrf(Metric):
    """Sentence chrF2 from 0 to 100."""

    def scores(self, items: Sequence[Item]) -> Sequence[float]:
        chrf = sacrebleu_metrics().CHRF()
        return [chrf.sentence_score(item.candidate, [item.reference or ""]).score for item in items]
