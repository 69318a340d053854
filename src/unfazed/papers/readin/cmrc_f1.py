"""F1 as CMRC2018's official script counts it: by the longest stretch that answer and gold share."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from unfazed.core import Json, Task
from unfazed.papers.readin.cmrc import units
from unfazed.score import MeanScorer, texts_of


class CmrcF1(MeanScorer):
    """The F1 of the longest shared stretch of characters and words, with the gold answer that gives the most."""

    name = "cmrc_f1"

    def key(self, value: Json, task: Task) -> Hashable:
        return texts_of(value)

    def item(self, output: Json, gold: Json, task: Task) -> float:
        said = texts_of(output) or ()
        if len(said) != 1:
            return 0.0
        words = units(said[0])
        return max((_f1(words, units(text)) for text in texts_of(gold) or ()), default=0.0)


def _f1(said: Sequence[str], gold: Sequence[str]) -> float:
    shared = _longest_shared(said, gold)
    return 2 * shared / (len(said) + len(gold)) if shared else 0.0


def _longest_shared(a: Sequence[str], b: Sequence[str]) -> int:
    """The length of the longest stretch that stands in both."""
    longest, before = 0, [0] * (len(b) + 1)
    for x in a:
        here = [0]
        here += [before[j] + 1 if x == y else 0 for j, y in enumerate(b)]
        longest, before = max(longest, max(here)), here
    return longest
