"""A run as columns of numbers: for each example and variant what its slices, answer and scores are.

Items stream through, and their columns lie in a temporary file that is read a part at a time. Examples are in the order
of the data and variants in the order example, draw, operator.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from unswayed.base.task import Task
from unswayed.measure.pair_scores import PairCodes, ScoredRows
from unswayed.measure.spill import Kept, Spill
from unswayed.score import Array, Scorer
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
    `person` is the number of the person who made a variant, -1 if it was nobody.
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
            part = self._part(stored, first)
            first += part.size
            if len(self.stored) == 1:
                self._only = part
            yield part

    def _part(self, stored: dict[Any, Kept], first: int) -> Part:
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
        return Part(
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
        )

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
