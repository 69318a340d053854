"""Variants of many examples as columns, for those who want texts and labels in bulk, as whoever stores a suite does.

Making a Variant costs more than a quick operator needs for its text, so one is made only when it is asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from itertools import chain, compress
from typing import NamedTuple, TypeVar, overload

from unswayed.base.values import Example, Inputs, Json, Meaning, Variant

T = TypeVar("T")


class Maker(NamedTuple):
    """What made variants: an operator in one draw."""

    draw: int
    source: str
    family: str
    meaning: Meaning


class VariantColumn:
    """A variant of each example that differs from it in one text, or None, all by the same maker.

    `texts` has None where there is no variant. `notes` is called when notes are asked for, and not before.
    """

    __slots__ = ("examples", "fields", "golds", "maker", "notes", "texts")

    def __init__(
        self,
        maker: Maker,
        examples: Sequence[Example],
        fields: Sequence[str],
        texts: Sequence[str | None],
        golds: Sequence[Json],
        notes: Callable[[], Sequence[str]],
    ) -> None:
        self.maker, self.examples, self.fields = maker, examples, fields
        self.texts, self.golds, self.notes = texts, golds, notes

    def __len__(self) -> int:
        return len(self.texts)

    def __iter__(self) -> Iterator[Variant | None]:
        made = iter(Variants([self]))
        return (None if text is None else next(made) for text in self.texts)


class Variants(Sequence[Variant]):
    """The variants in columns of the same examples, in the examples' order, as columns of their own.

    Example: `zip(variants.rows, variants.texts, variants.golds)`.
    """

    def __init__(self, columns: Sequence[VariantColumn]) -> None:
        self._columns = columns
        texts = _in_turn([column.texts for column in columns])
        self._there = [text is not None for text in texts] if None in texts else None
        self.texts: list[str] = self._only(texts)

    def _only(self, values: list[T | None] | list[T]) -> list[T]:
        """Of a value for each example and column, those where there is a variant."""
        return values if self._there is None else list(compress(values, self._there))  # type: ignore[return-value,arg-type]

    def _for_each(self, of_examples: Sequence[T]) -> list[T]:
        return self._only(_in_turn([of_examples] * len(self._columns)))

    def _by_maker(self, of_makers: Sequence[T]) -> list[T]:
        return self._only(list(of_makers) * len(self._columns[0]))

    @property
    def varied(self) -> Sequence[Example]:
        """The examples, each once."""
        return self._columns[0].examples

    @property
    def examples(self) -> list[Example]:
        """The example of each variant."""
        return self._for_each(self.varied)

    @property
    def fields(self) -> list[str]:
        """The input that is varied in each."""
        return self._for_each(self._columns[0].fields)

    @property
    def rows(self) -> list[int]:
        return self._for_each([e.row for e in self.varied])

    @property
    def example_ids(self) -> list[str]:
        return self._for_each([e.id for e in self.varied])

    @property
    def draws(self) -> list[int]:
        return self._by_maker([column.maker.draw for column in self._columns])

    @property
    def sources(self) -> list[str]:
        return self._by_maker([column.maker.source for column in self._columns])

    @property
    def families(self) -> list[str]:
        return self._by_maker([column.maker.family for column in self._columns])

    @property
    def meanings(self) -> list[Meaning]:
        return self._by_maker([column.maker.meaning for column in self._columns])

    @property
    def inputs(self) -> list[Inputs]:
        both = zip(self.examples, self.fields, self.texts, strict=True)
        return [{**example.inputs, field: text} for example, field, text in both]

    @property
    def golds(self) -> list[Json]:
        return self._only(_in_turn([column.golds for column in self._columns]))

    @cached_property
    def notes(self) -> list[str]:
        return self._only(_in_turn([column.notes() for column in self._columns]))

    def __len__(self) -> int:
        return len(self.texts)

    @overload
    def __getitem__(self, at: int) -> Variant: ...
    @overload
    def __getitem__(self, at: slice) -> list[Variant]: ...
    def __getitem__(self, at: int | slice) -> Variant | list[Variant]:
        return self._made[at]

    def __iter__(self) -> Iterator[Variant]:
        return iter(self._made)

    @cached_property
    def _made(self) -> list[Variant]:
        makers = self.draws, self.sources, self.families, self.meanings
        return list(map(Variant, self.rows, self.example_ids, *makers, self.inputs, self.golds, self.notes))


def _in_turn(columns: Sequence[Sequence[T]]) -> list[T]:
    """The first value of each column, then the second, and so on."""
    return list(columns[0]) if len(columns) == 1 else list(chain.from_iterable(zip(*columns, strict=True)))
