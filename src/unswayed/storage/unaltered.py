"""Variants that equal their example, as a simulated person makes who types a text right."""

from __future__ import annotations

from collections import Counter
from itertools import chain, compress
from operator import eq
from typing import NamedTuple

from unswayed.storage.suite import Suite


class Counts(NamedTuple):
    """By operator or person: how many variants there are, and how many of them equal their example."""

    made: dict[str, int]
    unaltered: dict[str, int]  # without those that have none


def counts(suite: Suite) -> Counts:
    made: Counter[str] = Counter()
    same: Counter[str] = Counter()
    parts = suite.lists("examples", "row", "inputs")
    examples = chain.from_iterable(zip(*part, strict=True) for part in parts)
    texts: dict[int, str] = {}
    for rows, sources, varied in suite.lists("variants", "row", "source", "inputs"):
        last = rows[-1]
        if last not in texts:
            texts = {row: text for row, text in texts.items() if row >= rows[0]}
            for row, text in examples:
                texts[row] = text
                if row >= last:
                    break
        made.update(sources)
        same.update(compress(sources, map(eq, varied, map(texts.get, rows))))
    return Counts(dict(made), dict(same))
