"""Sentence BLEU, from sacreBLEU."""

from __future__ import annotations

import re
from collections.abc import Sequence

from unswayed.systems.metrics import Metric, Segment, sacrebleu_metrics

TOKENIZERS = {"zh": "zh", "ja": "char", "": "13a"}
_HAN, _KANA = re.compile(r"[\u3400-\u9fff]"), re.compile(r"[\u3040-\u30ff]")


class Bleu(Metric):
    """Sentence BLEU from 0 to 100, with effective order: a text shorter than four words can be right."""

    deterministic = True

    def scores(self, segments: Sequence[Segment]) -> Sequence[float]:
        made = {}
        found = []
        for item in segments:
            assert item.reference is not None
            # By script: Chinese that is full of Latin names is Chinese all the same.
            written = "ja" if _KANA.search(item.reference) else "zh" if _HAN.search(item.reference) else ""
            tokenize = TOKENIZERS[written]
            if tokenize not in made:
                made[tokenize] = sacrebleu_metrics().BLEU(effective_order=True, tokenize=tokenize)
            found.append(made[tokenize].sentence_score(item.candidate, [item.reference]).score)
        return found
