"""Corpus metrics from sacreBLEU: the counts of each segment are taken from it once, and summed here."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np

from unswayed.base.identify import by_script
from unswayed.base.task import Task
from unswayed.base.tasks.translate import references_of
from unswayed.base.values import Json
from unswayed.score._scorer import Array, Scorer
from unswayed.systems.metrics import sacrebleu_metrics


class SegmentScorer(Scorer):
    """Extend with `metric`. Outputs are texts; a gold is a reference or a list of them."""

    linear = False
    apart = True
    bounds = (0.0, 100.0)
    _metric: Any = None  # chosen by the first references

    def metric(self, metrics: Any, language: str) -> Any:
        """The metric, from the module `sacrebleu.metrics`, for references in that language."""
        raise NotImplementedError

    def key(self, value: Json, task: Task) -> Hashable:
        return value if isinstance(value, str) else None

    def gold_key(self, gold: Json, task: Task) -> Hashable:
        return tuple(references_of(gold)) or None

    def stats(self, outputs: Sequence[Json], golds: Sequence[Json], task: Task) -> Array:
        if not outputs:
            return np.zeros((0, 1))
        references = [references_of(gold) for gold in golds]
        if self._metric is None:
            language = by_script(text for texts in references for text in texts)
            self._metric = self.metric(sacrebleu_metrics(), language)
        most = max(map(len, references))
        streams = [[texts[i] if i < len(texts) else None for texts in references] for i in range(most)]
        # sacreBLEU's own significance tests resample what this gives; there is no public name for it.
        return np.array(self._metric._extract_corpus_statistics(list(outputs), streams), dtype=float)
