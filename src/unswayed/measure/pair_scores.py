"""Scores of outputs: each distinct pair of output and gold is scored once, in blocks, and its texts are then let go."""

from __future__ import annotations

from array import array
from collections.abc import Hashable, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np

from unswayed.base.ids import canonical
from unswayed.base.task import Known, Task
from unswayed.base.values import Inputs, Json, Output
from unswayed.score import Array, Scorer, Stats, due_of, stats_here
from unswayed.stats import Ints

NO_GOLD, NO_OUTPUT = -2, -1
_PAIRS, _BYTES = 1 << 16, 32 << 20  # distinct pairs, and about how much of them, that are remembered


class ScoredRows(NamedTuple):
    """The distinct rows of a scorer's statistics in ascending order, each one's score, and the row of each number that
    `PairCodes.values` gave. Scores and places end with two for items without gold and without an output."""

    rows: Array
    scores: Array
    place: Ints


class PairCodes:
    """Numbers the distinct pairs of output and gold, once for all scorers that look at the same thing.

    Two runs that are compared share one, so that their statistics have the same columns.
    """

    def __init__(self, scorers: Sequence[Scorer], task: Task, stats: Stats = stats_here) -> None:
        self.task, self._stats = task, stats
        self.scorers = scorers
        readers = {(type(scorer).key, type(scorer).gold_key): scorer for scorer in scorers}
        self._readers = list(readers.values())
        self._keys = [Known(partial(_key, reader, task)) for reader in self._readers]
        self.reader_of = {s.name: list(readers).index((type(s).key, type(s).gold_key)) for s in scorers}
        self._codes: list[dict[tuple[Hashable, Hashable], int]] = [{} for _ in self._readers]
        self._pairs: list[list[tuple[Json, Json]]] = [[] for _ in self._readers]
        self._gold: Json = None
        self._gold_keys: list[Hashable] = [None for _ in self._readers]
        self._bytes = 0
        self._values: dict[str, Array] = {s.name: np.zeros(0) for s in scorers}
        self._rows: dict[str, list[Array]] = {s.name: [] for s in scorers}
        self._made = dict.fromkeys(self._rows, 0)

    @property
    def see_inputs(self) -> bool:
        """Does a score depend on more than output and gold?"""
        return any(reader.sees_inputs for reader in self._readers)

    @property
    def full(self) -> bool:
        """Is it time to score what was seen?"""
        return self._bytes > _BYTES

    def code(self, output: Output, ok: bool, gold: Json, into: list[array[int]], inputs: Inputs) -> None:
        """Appends the item's code for each way of reading it; `inputs` are the example's."""
        last = self._gold  # a variant's gold is most often its example's; 1 and True are equal but not the same label
        if gold is not last and (type(gold) is not type(last) or gold != last):
            self._gold = gold
            self._gold_keys = [None if gold is None else r.gold_key(gold, self.task) for r in self._readers]
        for i, true in enumerate(self._gold_keys):
            if true is None:
                into[i].append(NO_GOLD)
                continue
            said = self._keys[i](output.value) if ok else None
            if said is None:
                into[i].append(NO_OUTPUT)
                continue
            codes, reader = self._codes[i], self._readers[i]
            pair = (said, (true, canonical(inputs)) if reader.sees_inputs else true)
            code = codes.get(pair)
            if code is None:
                code = codes[pair] = len(codes)
                self._pairs[i].append((output.value, due_of(reader, gold, inputs)))
                self._bytes += _size(said) + _size(true)
            into[i].append(code)

    def columns(self) -> list[array[int]]:
        return [array("q") for _ in self._readers]

    def score(self) -> None:
        """Scores the pairs that are new."""
        for scorer in self.scorers:
            if scorer.apart:
                pairs = self._pairs[self.reader_of[scorer.name]]
                values = self._values[scorer.name]
                if len(values) < len(pairs):
                    self._values[scorer.name] = np.append(values, self._scored(scorer, pairs[len(values) :]))

    def _scored(self, scorer: Scorer, pairs: Sequence[tuple[Json, Json]]) -> Array:
        """A score for each pair; or, where sets are not scored by their mean, the number of its row of statistics."""
        rows = self._stats(scorer, pairs, self.task)
        if scorer.linear:
            return scorer.aggregate(rows)
        rows, place = np.unique(rows, axis=0, return_inverse=True)
        first = self._made[scorer.name]
        self._rows[scorer.name].append(rows)
        self._made[scorer.name] += len(rows)
        return (first + place.ravel()).astype(float)

    def values(self, scorer: Scorer, codes: Ints) -> Array | Ints:
        """What `score` made of each item: its score, NaN without one, or the number of its row, negative without."""
        if not scorer.apart:
            return codes
        values = self._values[scorer.name]
        if scorer.linear:
            return np.append(values, [np.nan, np.nan])[codes]
        return np.append(values, [NO_GOLD, NO_OUTPUT])[codes].astype(np.int64)

    def forget(self) -> None:
        """Lets go of pairs that are scored, if there are many; those that must be scored together stay."""
        if self._bytes <= _BYTES and all(len(pairs) <= _PAIRS for pairs in self._pairs):
            return
        self._bytes = 0
        together = {self.reader_of[s.name] for s in self.scorers if not s.apart}
        for scorer in self.scorers:
            if self.reader_of[scorer.name] not in together:
                self._values[scorer.name] = np.zeros(0)
        for i in set(range(len(self._readers))) - together:
            self._codes[i], self._pairs[i] = {}, []

    def corpus(self, scorer: Scorer) -> ScoredRows:
        """Of all pairs: the same statistics get the same number, whatever came first."""
        if not scorer.apart:
            pairs = self._pairs[self.reader_of[scorer.name]]
            classes = scorer.classes([output for output, _ in pairs], [gold for _, gold in pairs], self.task)
            if classes is not None and len(classes):
                rows, place = np.unique(classes, axis=0, return_inverse=True)
                right = (rows[:, 0] == rows[:, 1]).astype(np.float64)
                return ScoredRows(rows, np.append(right, [np.nan] * 2), np.append(place.ravel(), [NO_OUTPUT] * 2))
            found = [self._stats(scorer, pairs, self.task)] if pairs else []
        else:
            found = self._rows[scorer.name]
        none = [np.nan, np.nan]
        if not found:
            return ScoredRows(np.zeros((0, 1)), np.array(none), np.array([NO_GOLD, NO_OUTPUT]))
        rows, place = np.unique(np.concatenate(found), axis=0, return_inverse=True)
        return ScoredRows(
            rows, np.append(scorer.aggregate(rows), none), np.append(place.ravel(), [NO_OUTPUT, NO_OUTPUT])
        )


def _size(key: Hashable) -> int:
    """About how many bytes a key and what it was read from take."""
    if type(key) is str or type(key) is bytes:
        return 100 + 3 * len(key)
    return 100 + (sum(map(_size, key)) if isinstance(key, tuple) else 0)


def _key(reader: Scorer, task: Task, value: Json) -> Hashable:
    return reader.key(value, task)
