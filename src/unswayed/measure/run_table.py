"""A run as columns of numbers: for each example and variant what its slices, answer and scores are.

Items stream through, and their columns lie in a temporary file that is read a part at a time. Examples are in the order
of the data and variants in the order example, draw, operator."""

from __future__ import annotations

from array import array
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from unswayed.base.ids import canonical
from unswayed.base.task import Known, Task
from unswayed.base.values import Inputs, Json, Output
from unswayed.measure.spill import Kept, Spill
from unswayed.score import Array, Scorer, Stats, due_of, stats_here
from unswayed.stats import Ints

Bools = npt.NDArray[np.bool_]
_NONE = np.zeros(0, dtype=np.int64)


@dataclass(frozen=True)
class Scored:
    """The items' scores under one scorer, NaN without one; codes into `rows`, its statistics, where it is not linear.

    `clean_due` and `due` tell which items have gold, so that a score was due.
    """

    scorer: Scorer
    clean: Array
    varied: Array
    clean_due: Bools
    due: Bools
    clean_codes: Ints
    codes: Ints
    rows: Array

    @property
    def clean_known(self) -> Bools:
        """Which examples can be scored; an item without slots has no slot F1 of its own but still counts in a set."""
        return ~np.isnan(self.clean) if self.scorer.linear else self.clean_codes >= 0

    @property
    def known(self) -> Bools:
        return ~np.isnan(self.varied) if self.scorer.linear else self.codes >= 0


@dataclass(frozen=True)
class Part:
    """The columns of some examples, one after another, and of all their variants.

    `text` numbers the distinct inputs of an example's variants, 0 for those that equal the example's own; `repeated`
    says whether some are alike. `flip` is 1
    where a variant's answer differs from the clean one, -1 where either is missing, and -2 where either was not asked.
    `person` is the number of the person who made a variant, -1 if it was nobody. `beside` holds a second measure of the
    change of each answer by its name, such as `gained`, where the rule that compares answers has one.
    """

    first: int  # the number of the first example
    size: int  # examples
    clean_ok: Bools
    groups: dict[str, Ints]  # slice → the number of each example's value, -1 for none
    operators: list[str]
    families: list[str]
    example: Ints
    operator: Ints
    family: Ints
    draw: Ints
    changed: Bools
    text: Ints
    repeated: bool
    ok: Bools
    flip: Ints
    person: Ints
    scored: dict[str, Scored]
    beside: dict[str, Array]


class Parted(Protocol):
    """A table, or what is made of one part by part."""

    task: Task

    def parts(self) -> Iterator[Part]: ...


@dataclass
class RunTable:
    """All of a run. `values` are each slice's, in alphabetical order."""

    task: Task
    pairs: PairCodes
    spill: Spill
    kinds: list[tuple[int, str, bool, str]]  # draw, operator, changed, family
    values: dict[str, list[str]]
    stored: list[dict[Any, Kept]]
    places: dict[str, Ints]  # slice → the place of each value in `values`, by the number it was stored with
    examples: int
    clean_answers: int
    answers: int
    made: Ints  # how many variants there are of each kind
    most_tries: int  # distinct variants of the same meaning that an example has at most
    people: list[str]  # who made variants, where people did
    beside: str = ""  # the name of the second measure of changes
    _corpora: dict[str, ScoredRows] = field(default_factory=dict)
    _only: Part | None = None

    @property
    def operators(self) -> list[str]:
        return sorted({kind[1] for kind in self.kinds})

    @property
    def families(self) -> list[str]:
        return sorted({kind[3] for kind in self.kinds})

    def sources(self) -> dict[str, int]:
        """How many variants each operator made."""
        counts = dict.fromkeys(self.operators, 0)
        for kind, made in zip(self.kinds, self.made.tolist(), strict=True):
            counts[kind[1]] += made
        return counts

    def sizes(self, key: str) -> Ints:
        """How many examples have each value of a slice."""
        sizes = np.zeros(len(self.values[key]), dtype=np.int64)
        for stored in self.stored:
            codes = self._group(stored, key)
            sizes += np.bincount(codes[codes >= 0], minlength=len(sizes))
        return sizes

    def parts(self) -> Iterator[Part]:
        if self._only is not None:
            yield self._only
            return
        first = 0
        for stored in self.stored:
            get, operators, families = self.spill.get, self.operators, self.families
            columns = [
                [draw for draw, *_ in self.kinds],
                [operators.index(operator) for _, operator, _, _ in self.kinds],
                [changed for *_, changed, _ in self.kinds],
                [families.index(family) for *_, family in self.kinds],
            ]
            kind = get(stored["kind"])
            draw, operator, changed, family = (np.array(column, dtype=np.int64)[kind] for column in columns)
            size = stored["clean_ok"].shape[0]
            text = get(stored["text"]).astype(np.int64)
            part = Part(
                first=first,
                size=size,
                clean_ok=get(stored["clean_ok"]),
                groups={key: self._group(stored, key) for key in self.values},
                operators=operators,
                families=families,
                example=np.repeat(np.arange(size), get(stored["variants"])),
                operator=operator,
                family=family,
                draw=draw,
                changed=changed == 1,
                text=text,
                repeated=bool(stored["repeated"].shape[0]),
                ok=get(stored["ok"]),
                flip=get(stored["flip"]).astype(np.int64),
                person=get(stored["person"]).astype(np.int64) if self.people else np.full(len(kind), -1),
                scored={scorer.name: self._scored(stored, scorer) for scorer in self.pairs.scorers},
                beside={self.beside: get(stored["beside"])} if self.beside else {},
            )
            first += part.size
            # A run that fits in one part is read from the file once, and kept.
            if len(self.stored) == 1:
                self._only = part
            yield part

    def _group(self, stored: dict[Any, Kept], key: str) -> Ints:
        if ("group", key) not in stored:
            return np.full(stored["clean_ok"].shape[0], -1)
        codes: Ints = self.places[key][self.spill.get(stored["group", key])]
        return codes

    def _scored(self, stored: dict[Any, Kept], scorer: Scorer) -> Scored:
        get, reader = self.spill.get, self.pairs.reader_of[scorer.name]
        clean_due, due = get(stored["clean due", reader]), get(stored["due", reader])
        clean, varied = get(stored["clean", scorer.name]), get(stored["varied", scorer.name])
        if scorer.linear and scorer.apart:
            return Scored(scorer, clean, varied, clean_due, due, _NONE, _NONE, np.zeros((0, 1)))
        # Statistics of a scorer that is no mean, such as BLEU's counts, are stored as numbers of distinct rows; those
        # of all parts get common numbers here, once.
        if scorer.name not in self._corpora:
            self._corpora[scorer.name] = self.pairs.corpus(scorer)
        rows, scores, place = self._corpora[scorer.name]
        clean, varied = place[clean], place[varied]
        return Scored(scorer, scores[clean], scores[varied], clean_due, due, clean, varied, rows)


def ordered(names: Sequence[str]) -> tuple[list[str], Ints]:
    """The names in alphabetical order, and the place there of each; the last, reached by -1, stays -1."""
    found = sorted(names)
    place = {name: i for i, name in enumerate(found)}
    return found, np.array([*(place[name] for name in names), -1], dtype=np.int64)


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
            rows, np.append(scorer.item_scores(rows), none), np.append(place.ravel(), [NO_OUTPUT, NO_OUTPUT])
        )


def _size(key: Hashable) -> int:
    """About how many bytes a key and what it was read from take."""
    if type(key) is str or type(key) is bytes:
        return 100 + 3 * len(key)
    return 100 + (sum(map(_size, key)) if isinstance(key, tuple) else 0)


def _key(reader: Scorer, task: Task, value: Json) -> Hashable:
    return reader.key(value, task)
