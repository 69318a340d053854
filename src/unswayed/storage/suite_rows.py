"""The rows of a suite as columns, encoded and hashed in pieces as they are written."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from operator import le, lt
from typing import Any, NamedTuple, TypeVar

from unswayed.base.errors import DataError
from unswayed.base.ids import canonical_each, json_texts
from unswayed.base.values import Example, Variant, Variants

T = TypeVar("T")
PIECE = 256  # rows that are encoded together
Hashed = Callable[[bytes], None]


def example_columns(examples: Iterable[Example], hashed: Hashed) -> Iterator[list[list[Any]]]:
    """The columns of examples, whose rows must ascend."""
    last = -1
    for some in pieces(examples):
        rows = [e.row for e in some]
        if not all(map(lt, (last, *rows), rows)):
            e, before = next((e, row) for e, row in zip(some, (last, *rows), strict=False) if e.row <= row)
            raise DataError(f"example {e.id!r} has row {e.row} after row {before}; rows must ascend")
        last = rows[-1]
        columns: list[list[Any]] = [
            rows,
            [e.id for e in some],
            json_texts([e.inputs for e in some]),
            json_texts([e.gold for e in some]),
            json_texts([e.groups for e in some]),
        ]
        hashed(canonical_each(zip(*columns, strict=True)))
        yield columns


class Piece(NamedTuple):
    """Some variants as columns, and the bytes that the content id is made of. Other processes may make them."""

    columns: list[list[Any]]
    hashed: bytes


def pieces_of(variants: Iterable[Variant]) -> Iterator[Piece]:
    if isinstance(variants, Variants):
        # Where all inputs have one text of the same name, their JSON is made without making them first.
        names = {name for example in variants.varied for name in example.inputs}
        inputs = json_texts(variants.texts, *names) if len(names) == 1 else json_texts(variants.inputs)
        every = [*variants.places, inputs, json_texts(variants.golds), variants.notes]
        parts = ([column[at : at + PIECE] for column in every] for at in range(0, len(variants), PIECE))
    else:
        parts = (
            [
                [v.row for v in some],
                [v.example_id for v in some],
                [v.draw for v in some],
                [v.source for v in some],
                [v.family for v in some],
                [v.meaning for v in some],
                json_texts([v.inputs for v in some]),
                json_texts([v.gold for v in some]),
                [v.note for v in some],
            ]
            for some in pieces(variants)
        )
    return (Piece(columns, canonical_each(zip(*columns, strict=True))) for columns in parts)


def variant_columns(variants: Iterable[Piece], hashed: Hashed) -> Iterator[list[list[Any]]]:
    """The columns of variants, which must follow the order of the examples."""
    last = -1
    for columns, content in variants:
        rows = columns[0]
        if not all(map(le, (last, *rows), rows)):
            row, before = next((row, before) for row, before in zip(rows, (last, *rows), strict=False) if row < before)
            raise DataError(f"a variant of row {row} comes after row {before}; variants must follow the examples")
        last = rows[-1]
        hashed(content)
        yield columns


class DistinctTexts:
    """Counts an example's different texts by operator, and its variants, as they come in the examples' order."""

    def __init__(self) -> None:
        self.distinct: Counter[str] = Counter()
        self.made: Counter[str] = Counter()
        self._open: set[tuple[int, str, str]] = set()  # those of the last example, which may go on

    def watch(self, batches: Iterable[list[list[Any]]]) -> Iterator[list[list[Any]]]:
        for columns in batches:
            rows, sources, inputs = columns[0], columns[3], columns[6]
            self.made.update(sources)
            there = set(zip(rows, sources, inputs, strict=True))
            self.distinct.update(source for _, source, _ in there - self._open)
            self._open = {one for one in there | self._open if one[0] == rows[-1]}
            yield columns

    def report(self) -> dict[str, tuple[int, int]]:
        """By operator whose draws repeat texts, how many texts differ and how many variants there are."""
        return {name: (n, made) for name, made in sorted(self.made.items()) if (n := self.distinct[name]) < made}


def pieces(items: Iterable[T]) -> Iterator[list[T]]:
    """The items, some at a time."""
    it = iter(items)
    return iter(lambda: list(islice(it, PIECE)), [])
