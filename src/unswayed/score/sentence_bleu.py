"""Sentence BLEU: the mean of the BLEU of each sentence by itself."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from unswayed.base.task import Task
from unswayed.base.values import Json
from unswayed.score._scorer import Array, ratio
from unswayed.score.bleu import CorpusBleu


class SentenceBleu(CorpusBleu):
    """Mean sentence BLEU from 0 to 100, without effective order; its worst is the worst BLEU that READIN reports.

    A sentence of fewer than four words has no 4-grams, so its BLEU is 0 even where it is right.
    """

    name = "sentence_bleu"
    linear = True

    def stats(self, outputs: Sequence[Json], golds: Sequence[Json], task: Task) -> Array:
        rows = super().stats(outputs, golds, task)
        return np.column_stack([super().aggregate(rows), np.ones(len(rows))]) if len(rows) else np.zeros((0, 2))

    def aggregate(self, sums: Array) -> Array:
        return ratio(sums[..., 0], sums[..., 1])
