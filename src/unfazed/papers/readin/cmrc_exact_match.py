"""Exact match as CMRC2018's official script counts it."""

from __future__ import annotations

from collections.abc import Hashable

from unfazed.core import Json, Task
from unfazed.papers.readin.cmrc import bare
from unfazed.score import MeanScorer, texts_of


class CmrcExactMatch(MeanScorer):
    """The answer is one of the gold answers, whatever their capitals and the punctuation that CMRC2018 drops."""

    name = "cmrc_exact_match"

    def key(self, value: Json, task: Task) -> Hashable:
        texts = texts_of(value)
        return None if texts is None else tuple(map(bare, texts))

    def item(self, output: Json, gold: Json, task: Task) -> float:
        said = texts_of(output) or ()
        return float(len(said) == 1 and bare(said[0]) in {bare(text) for text in texts_of(gold) or ()})
