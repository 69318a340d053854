"""In which order the words of many texts are tried: what `Stream.sample` makes of each text's, found with arrays."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from unswayed.base.seeds import Streams, below
from unswayed.vary.block_tagger import Numbers

_FEW = 8  # groups, up to which one by one is quicker


class Tried(NamedTuple):
    """Places in the order in which they are tried, and their texts and classes; and a number of each text's stream that
    decided nothing yet."""

    places: Numbers
    texts: Numbers
    kinds: Numbers
    numbers: list[int]


def in_random_order(places: Numbers, texts: Numbers, kinds: Numbers, mixed: int, streams: Streams) -> Tried:
    """Orders the places of each text, where texts ascend: one of the first `mixed` classes at random, then the others
    of these, each in random order; the class behind these comes last."""
    count = mixed + 1
    sizes = np.bincount(texts * count + kinds, minlength=len(streams) * count).reshape(-1, count)
    last = sizes.sum(1) + count
    numbers, starts = streams.first((last + 1).tolist())
    classes = _classes(numbers, starts, mixed)
    turns = np.argsort(classes, 1)
    sizes = np.take_along_axis(sizes, classes, 1)
    used = mixed + np.cumsum(sizes, 1) - sizes  # numbers, before it is a class's turn
    used[:, mixed] += 1
    groups = texts * count + turns[texts, kinds]
    order = np.argsort(groups, kind="stable")
    _shuffle(order, sizes.ravel(), (starts[:, None] + used).ravel(), numbers)
    return Tried(places[order], texts[order], kinds[order], numbers[starts + last].tolist())


def _classes(numbers: Any, starts: Any, mixed: int) -> Numbers:
    """The classes of each text in random order, but the last."""
    found = np.tile(np.arange(mixed + 1), (len(starts), 1))
    rows = np.arange(len(starts))
    for n in range(mixed - 1):
        other = n + below(numbers[starts + n], np.full(len(starts), mixed - n, np.uint64)).astype(np.intp)
        found[rows, other], found[:, n] = found[:, n], found[rows, other]
    return found


def _shuffle(items: Numbers, sizes: Numbers, used: Numbers, numbers: Any) -> None:
    """Shuffles groups of items, of these sizes and one after the other, each with the numbers from this place on."""
    starts = np.cumsum(sizes) - sizes
    groups, n = np.flatnonzero(sizes > 1), 0
    while len(groups) > _FEW:
        one = starts[groups] + n
        other = one + below(numbers[used[groups] + n], (sizes[groups] - n).astype(np.uint64)).astype(np.intp)
        items[one], items[other] = items[other], items[one]
        n += 1
        groups = groups[sizes[groups] > n + 1]
    for group in groups.tolist():
        start, end = int(starts[group]), int(starts[group] + sizes[group])
        its = items[start:end].tolist()
        for i, number in enumerate(numbers[used[group] + n : used[group] + len(its) - 1].tolist(), n):
            j = i + (number * (len(its) - i) >> 64)
            its[i], its[j] = its[j], its[i]
        items[start:end] = its
