"""Some examples of a run with their variants and answers as columns, in which what comes again is a number.

What holds of an answer or a gold is then found once for each distinct one, and for all items by its number.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from hashlib import blake2b
from itertools import compress, islice, repeat
from operator import contains
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from unswayed.base.chat import CHOICES
from unswayed.base.ids import canonical
from unswayed.base.values import Example, Inputs, Json, Meaning, Output, Variant

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]
Answered = tuple[Example, Output, list[tuple[Variant, Output]]]  # an example and its variants, with what was answered
AS_IT_WAS = 0  # the number of the example's own inputs among those of its variants
_EXAMPLES = 400  # put together, where items come one by one; `Comparing` remembers what it compared of 800


class Kind(NamedTuple):
    """What variants have in common."""

    draw: int
    source: str
    meaning: Meaning
    family: str


@dataclass(frozen=True)
class Block:
    """Columns of examples, and of all their variants, example by example.

    `clean_gold` and `gold` are numbers in `golds`, `clean_out` and `out` in `outputs`, `kind` in `kinds` and `group` in
    `groups`. `text` numbers the distinct inputs of an example's variants, 0 for those that equal the example's own.
    """

    rows: list[int]
    ids: list[str]
    inputs: list[Inputs]
    digest: npt.NDArray[np.uint64]  # of each example's inputs
    group: Ints
    clean_gold: Ints
    clean_out: Ints
    sizes: Ints  # variants of each example
    kind: Ints
    varied: list[Inputs]
    text: Ints
    gold: Ints
    out: Ints
    notes: list[str]
    kinds: list[Kind]
    groups: list[dict[str, str]]
    golds: list[Json]
    outputs: list[Output]

    @property
    def owner(self) -> Ints:
        """The place of each variant's example."""
        return np.repeat(np.arange(len(self.rows)), self.sizes)

    def in_turn(self, clean: npt.NDArray[Any], varied: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """A column of examples and one of variants as one: each example, then its variants."""
        # Each example's place among all items is its number plus the variants before it; what is left is the variants'.
        both = np.empty(len(clean) + len(varied), dtype=np.result_type(clean, varied))
        own = np.cumsum(self.sizes + 1) - self.sizes - 1
        both[own] = clean
        others = np.ones(len(both), dtype=bool)
        others[own] = False
        both[others] = varied
        return both

    def only(self, chosen: Bools) -> Block:
        """The chosen examples, with their variants."""
        varied = np.repeat(chosen, self.sizes)
        own, theirs = chosen.tolist(), varied.tolist()
        return replace(
            self,
            rows=list(compress(self.rows, own)),
            ids=list(compress(self.ids, own)),
            inputs=list(compress(self.inputs, own)),
            varied=list(compress(self.varied, theirs)),
            notes=list(compress(self.notes, theirs)),
            digest=self.digest[chosen],
            sizes=self.sizes[chosen],
            text=self.text[varied],
            **_only_used("kinds", self.kinds, kind=self.kind[varied]),
            **_only_used("groups", self.groups, group=self.group[chosen]),
            **_only_used("golds", self.golds, clean_gold=self.clean_gold[chosen], gold=self.gold[varied]),
            **_only_used("outputs", self.outputs, clean_out=self.clean_out[chosen], out=self.out[varied]),
        )

    def example(self, at: int) -> Example:
        group, gold = self.groups[self.group[at]], self.golds[self.clean_gold[at]]
        return Example(self.rows[at], self.ids[at], self.inputs[at], gold, group)

    def examples(self, places: Iterable[int]) -> dict[int, Example]:
        """The examples at these places, each once."""
        each = list(dict.fromkeys(places))
        rows, ids, inputs, golds, groups = self.rows, self.ids, self.inputs, self.golds, self.groups
        gold, group = self.clean_gold[each].tolist(), self.group[each].tolist()
        return {
            at: Example(rows[at], ids[at], inputs[at], golds[true], groups[of])
            for at, true, of in zip(each, gold, group, strict=True)
        }

    def variant(self, at: int, owner: int) -> Variant:
        draw, source, meaning, family = self.kinds[self.kind[at]]
        row, id, gold = self.rows[owner], self.ids[owner], self.golds[self.gold[at]]
        return Variant(row, id, draw, source, family, meaning, self.varied[at], gold, self.notes[at])

    def moved(self) -> list[tuple[int, int]]:
        """The variants whose choices may have changed places, each with the place of its example."""
        if not any(map(contains, self.varied, repeat(CHOICES))):
            return []
        pairs = enumerate(self.owner.tolist())
        choices = [inputs.get(CHOICES) for inputs in self.inputs]
        return [(at, of) for at, of in pairs if self.varied[at].get(CHOICES) not in (None, choices[of])]


def _only_used(name: str, values: list[Any], **columns: Ints) -> dict[str, Any]:
    """Columns of numbers in a list, and the list, without what no number stands for."""
    there = np.zeros(len(values), dtype=bool)
    there[np.concatenate(list(columns.values()))] = True
    kept, place = list(compress(values, there.tolist())), np.cumsum(there) - 1
    return {name: kept, **{column: place[numbers] for column, numbers in columns.items()}}


def first_of_each(numbers: Ints, size: int) -> tuple[Ints, Ints]:
    """Where each number below `size` comes first, in the order in which they come; and the place there of each."""
    # As in a table of all numbers, which is quick while they are not many times more than the items.
    if size > 4 * len(numbers):
        numbers, size = np.unique(numbers, return_inverse=True)[1].ravel(), len(numbers)
    first = np.full(size, -1)
    first[numbers[::-1]] = np.arange(len(numbers))[::-1]
    found = np.sort(first[first >= 0])
    place = np.empty(size, dtype=np.int64)
    place[numbers[found]] = np.arange(len(found))
    return found, place[numbers]


def numbered(texts: Iterable[Any]) -> tuple[list[Any], Ints]:
    """The distinct ones in the order in which they come, and the number of each."""
    texts = list(texts)
    place = {text: at for at, text in enumerate(dict.fromkeys(texts))}
    return list(place), np.fromiter(map(place.__getitem__, texts), dtype=np.int64, count=len(texts))


def text_numbers(own: Iterable[Any], sizes: Iterable[int], varied: list[Any]) -> Ints:
    """The column `text`, of anything by which inputs can be told apart."""
    found: list[int] = []
    at = 0
    for text, size in zip(own, sizes, strict=True):
        known = {text: AS_IT_WAS}
        found += [known.setdefault(other, len(known)) for other in varied[at : at + size]]
        at += size
    return np.array(found, dtype=np.int64)


def in_blocks(items: Iterable[Answered]) -> Iterator[Block]:
    """Items that come one by one as blocks."""
    stream = iter(items)
    while some := list(islice(stream, _EXAMPLES)):
        examples = [example for example, _, _ in some]
        variants = [variant for _, _, varied in some for variant, _ in varied]
        sizes = [len(varied) for _, _, varied in some]
        outputs = [clean for _, clean, _ in some] + [output for _, _, varied in some for _, output in varied]
        # Systems return the same object for the same answer again and again; two equal answers need not be one here.
        by_id = {id(output): output for output in outputs}
        _, out = numbered(map(id, outputs))
        golds = [e.gold for e in examples] + [v.gold for v in variants]
        known = [_known(gold) for gold in golds]
        by_key = dict(zip(known, golds, strict=True))
        distinct, gold = numbered(known)
        kinds, kind = numbered(Kind(v.draw, v.source, v.meaning, v.family) for v in variants)
        groups, group = numbered(tuple(e.groups.items()) for e in examples)
        varied = [v.inputs for v in variants]
        n = len(some)
        own, owner = [tuple(e.inputs.values()) for e in examples], np.repeat(np.arange(n), sizes).tolist()
        theirs = [  # an example's own also where they come in another order
            own[of] if inputs == examples[of].inputs else tuple(inputs.values())
            for inputs, of in zip(varied, owner, strict=True)
        ]
        digests = [blake2b(canonical(e.inputs), digest_size=8).digest() for e in examples]
        yield Block(
            rows=[e.row for e in examples],
            ids=[e.id for e in examples],
            inputs=[e.inputs for e in examples],
            digest=np.frombuffer(b"".join(digests), dtype=np.uint64),
            group=group,
            clean_gold=gold[:n],
            clean_out=out[:n],
            sizes=np.array(sizes, dtype=np.int64),
            kind=kind,
            varied=varied,
            text=text_numbers(own, sizes, theirs),
            gold=gold[n:],
            out=out[n:],
            notes=[v.note for v in variants],
            kinds=kinds,
            groups=[dict(pairs) for pairs in groups],
            golds=[by_key[key] for key in distinct],
            outputs=list(by_id.values()),
        )


def _known(gold: Json) -> Any:
    """What tells a gold from others: 1 and True are equal but not the same label."""
    if type(gold) is str or gold is None:
        return gold
    try:
        return canonical(gold)
    except (TypeError, ValueError, RecursionError):  # as no suite holds it
        return id(gold)
