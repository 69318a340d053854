"""Sentence chrF, from sacreBLEU."""

from __future__ import annotations

from collections.abc import Sequence

from unswayed.systems.metrics import Metric, Segment, sacrebleu_metrics


class Chrf(Metric):
    """Sentence chrF2 from 0 to 100."""

    deterministic = True

    def scores(self, segments: Sequence[Segment]) -> Sequence[float]:
        chrf = sacrebleu_metrics().CHRF()
        return [chrf.sentence_score(item.candidate, [item.reference or ""]).score for item in segments]
