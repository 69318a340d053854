"""A run as columns of numbers: for each example and variant what its slices, answer and scores are.

Items stream through, and their columns lie in a temporary file that is read a part at a time. Examples are in the order
of the data and variants in the order example, draw, operator.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from unfazed.core.estimate import Ints
from unfazed.core.task import Task
from unfazed.core.values import Example, Inputs, Json, Output, Variant
from unfazed.measure.pair_scores import NO_GOLD, PairCodes, ScoredRows
from unfazed.measure.spill import Kept, Spill
from unfazed.run.record import NOT_ASKED
from unfazed.score import Array, Comparing, Scorer

Bools = npt.NDArray[np.bool_]
_NONE = np.zeros(0, dtype=np.int64)
AS_IT_WAS = 0  # the number of the example's own inputs among those of its variants
MISSING, LEFT_OUT = -1, -2  # instead of whether an answer changed: one of the two failed, or was not asked


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


class Fill(NamedTuple):
    """What stands for missing answers: right ones or wrong ones. A wrong answer to a variant differs from the clean."""

    clean: bool
    varied: bool


PersonOf = Callable[[Variant], str | None]
RunItem = tuple[Example, Output, list[tuple[Variant, Output]]]
VARIANTS_A_PART = 1 << 16


class RunTableReader:
    """Takes the items of a run one by one, in the order of the suite; `table` gives the columns once all are in."""

    def __init__(
        self, task: Task, pairs: PairCodes, spill: Spill, comparing: Comparing | None = None,
        fill: Fill | None = None, person: PersonOf | None = None,
    ) -> None:  # fmt: skip
        self.task, self.pairs, self.spill, self._fill, self._person_of = task, pairs, spill, fill, person
        self._people: dict[str, int] = {}
        self._compared = comparing or Comparing(task)
        self._kinds: dict[tuple[int, str, bool, str], int] = {}
        self._made = np.zeros(0, dtype=np.int64)
        self._values: dict[str, dict[str, int]] = {}
        self._stored: list[dict[Any, Kept]] = []
        self._last = -1
        self._most_tries = 0
        self._examples = self._clean_answers = self._answers = 0
        self._start()

    def _start(self) -> None:
        """Empties the block."""
        self._rows, self._clean_ok, self._variants = array("q"), array("b"), array("q")
        self._kind, self._ok, self._flip, self._text = array("q"), array("b"), array("b"), array("q")
        self._repeated = 0
        self._clean_codes, self._codes = self.pairs.columns(), self.pairs.columns()
        self._groups: dict[str, array[int]] = {}
        self._person = array("q")

    def add(self, example: Example, clean: Output, varied: Sequence[tuple[Variant, Output]]) -> None:
        at = len(self._rows)
        before = self._compared.answer(clean)
        self._rows.append(example.row)
        self._clean_ok.append(before is not None)
        self._clean_answers += before is not None and before != Comparing.unreadable
        self._variants.append(len(varied))
        right = self._fill is not None and self._fill.clean
        self._code(clean, before, example.gold, self._clean_codes, example.inputs, right)
        for key, value in example.groups.items():
            values = self._values.setdefault(key, {})
            codes = self._groups.setdefault(key, array("q"))
            codes.extend([-1] * (at - len(codes)))
            codes.append(values.setdefault(value, len(values)))
        kinds, right = self._kinds, self._fill is not None and self._fill.varied
        compared, codes_of, unreadable, inputs = self._compared, self.pairs.code, Comparing.unreadable, example.inputs
        texts: dict[tuple[str, ...], int] = {tuple(inputs.values()): AS_IT_WAS}
        tries: set[int] = set()
        for variant, output in varied:
            same = variant.inputs == inputs  # also where they come in another order
            text = AS_IT_WAS if same else texts.setdefault(tuple(variant.inputs.values()), len(texts))
            self._text.append(text)
            changed = variant.meaning == "changed"
            if not changed:
                tries.add(text)
            after = compared.varied(example, variant, output)
            kind = (variant.draw, variant.source, changed, variant.family)
            self._kind.append(kinds.setdefault(kind, len(kinds)))
            self._ok.append(after is not None)
            if after is None or after == unreadable:
                self._code(output, after, variant.gold, self._codes, inputs, right)
            else:
                self._answers += 1
                codes_of(output, True, variant.gold, self._codes, inputs)
            if before is None or after is None:
                self._flip.append(self._lost(clean, output))
            else:
                self._flip.append(0 if before == after else compared.flip(example.row, before, after))
            if self._person_of is not None:
                who = self._person_of(variant)
                self._person.append(-1 if who is None else self._people.setdefault(who, len(self._people)))
        self._repeated += len(varied) - len(set(self._text[len(self._text) - len(varied) :]))
        self._most_tries = max(self._most_tries, len(tries))
        if len(self._kind) + len(self._rows) >= VARIANTS_A_PART or self.pairs.full:
            self._put_aside()

    def _lost(self, clean: Output, output: Output) -> int:
        if NOT_ASKED.error in (clean.error, output.error):
            return LEFT_OUT
        return MISSING if self._fill is None else not self._fill.varied

    def _code(
        self, output: Output, answer: Hashable, gold: Json, into: list[array[int]], inputs: Inputs, right: bool
    ) -> None:
        """Appends what is scored: an answer as it is, an unreadable one as nothing, a missing one as it is filled."""
        if output.error == NOT_ASKED.error:
            gold = None  # no score is due
        elif gold is not None and (answer == Comparing.unreadable or (answer is None and self._fill is not None)):
            value = self.task.right(gold) if answer is None and right else self.task.nothing(gold)
            output, answer = Output(value), Comparing.unreadable
        self.pairs.code(output, answer is not None, gold, into, inputs)

    def _put_aside(self) -> None:
        """Sorts, scores and stores the block."""
        rows, sizes = _ints(self._rows), _ints(self._variants)
        order = np.argsort(rows, kind="stable")
        if len(rows) and rows[order[0]] <= self._last:
            raise ValueError(f"row {rows[order[0]]} of the suite comes after row {self._last}")
        self._last = int(rows[order[-1]]) if len(rows) else self._last
        place = np.empty_like(order)
        place[order] = np.arange(len(order))
        kind = _ints(self._kind)
        sort = np.lexsort((self._ranks()[kind], np.repeat(place, sizes)))
        ok, clean_ok = _ints(self._ok)[sort] == 1, _ints(self._clean_ok)[order] == 1
        columns: dict[Any, Any] = {
            "clean_ok": clean_ok,
            "variants": sizes[order].astype(np.int32),
            "kind": kind[sort].astype(np.int32),
            "ok": ok,
            "flip": _ints(self._flip)[sort].astype(np.int8),
            "text": _ints(self._text)[sort].astype(np.int32),
            "repeated": np.zeros(min(self._repeated, 1), dtype=np.int8),
        }
        if self._person_of is not None:
            columns["person"] = _ints(self._person)[sort].astype(np.int32)
        for key, codes in self._groups.items():
            codes.extend([-1] * (len(rows) - len(codes)))
            columns["group", key] = _ints(codes)[order].astype(np.int32)
        clean_codes = [_ints(codes)[order] for codes in self._clean_codes]
        columns |= self._scores(clean_codes, [_ints(codes)[sort] for codes in self._codes])
        self._stored.append({name: self.spill.put(column) for name, column in columns.items()})
        self._examples += len(rows)
        counts = np.bincount(kind, minlength=len(self._kinds))
        counts[: len(self._made)] += self._made
        self._made = counts
        self._start()

    def _scores(self, clean_codes: list[Ints], codes: list[Ints]) -> dict[Any, Any]:
        columns: dict[Any, Any] = {}
        self.pairs.score()
        for reader, (clean, varied) in enumerate(zip(clean_codes, codes, strict=True)):
            columns["clean due", reader], columns["due", reader] = clean != NO_GOLD, varied != NO_GOLD
        for scorer in self.pairs.scorers:
            reader = self.pairs.reader_of[scorer.name]
            columns["clean", scorer.name] = self.pairs.values(scorer, clean_codes[reader])
            columns["varied", scorer.name] = self.pairs.values(scorer, codes[reader])
        self.pairs.forget()
        return columns

    def _ranks(self) -> Ints:
        """The order of each kind of variant within its example: by draw, operator, then whether it is a control."""
        ranks = {key: rank for rank, key in enumerate(sorted({kind[:3] for kind in self._kinds}))}
        return np.array([ranks[kind[:3]] for kind in self._kinds], dtype=np.int64)

    def table(self) -> RunTable:
        if len(self._rows) or not self._stored:
            self._put_aside()
        found = {key: ordered(list(values)) for key, values in sorted(self._values.items())}
        return RunTable(
            task=self.task,
            pairs=self.pairs,
            spill=self.spill,
            kinds=list(self._kinds),
            values={key: names for key, (names, _) in found.items()},
            stored=self._stored,
            places={key: place for key, (_, place) in found.items()},
            examples=self._examples,
            clean_answers=self._clean_answers,
            answers=self._answers,
            made=self._made,
            most_tries=self._most_tries,
            people=list(self._people),
        )


def _ints(values: array[int]) -> Ints:
    return np.array(values, dtype=np.int64)


def read_table(
    items: Iterable[RunItem], task: Task, pairs: PairCodes, spill: Spill, comparing: Comparing | None = None,
    fill: Fill | None = None, person: PersonOf | None = None,
) -> RunTable:  # fmt: skip
    """The table of a run's items; `comparing` says which answers are the same, `person` who made a variant.

    With `fill`, it is as if nothing that was asked were missing.
    """
    reader = RunTableReader(task, pairs, spill, comparing, fill, person)
    for example, clean, varied in items if comparing is None else comparing.watch(items):
        reader.add(example, clean, varied)
    return reader.table()
