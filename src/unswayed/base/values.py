"""Example, Variant, Output, Failed and Estimate: the plain values that every part takes and gives.

Variants of many examples are also there as columns, for those who want texts and labels in bulk, as whoever stores a
suite does. Making a Variant costs more than a quick operator needs for its text, so one is made only when asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from itertools import chain, compress
from typing import Any, Literal, NamedTuple, TypeVar

import msgspec

T = TypeVar("T")
Json = Any
Inputs = dict[str, str]
Meaning = Literal["same", "changed"]
CUT_OFF, REFUSED = "the answer was cut off", "the model refused"  # how such failures begin, so that they are counted


class Example(msgspec.Struct, frozen=True, gc=False):
    """One labelled input of a task. `row` is its 0-based place in the data; `groups` are the slices it is in.

    Example: `unswayed.Example(0, "e0", {"text": "turn off the lights"}, "lights")`.
    """

    row: int
    id: str
    inputs: Inputs
    gold: Json = None
    groups: dict[str, str] = {}


class Variant(msgspec.Struct, frozen=True, gc=False):
    """An example said another way. `meaning` is `changed` for controls, after which the answer should differ.

    Example: `variant.inputs["text"]`.
    """

    row: int
    example_id: str
    draw: int
    source: str
    family: str
    meaning: Meaning
    inputs: Inputs
    gold: Json
    note: str

    def __repr__(self) -> str:
        texts = " | ".join(self.inputs.values())
        return f"<Variant {texts!r} ({self.source}, draw {self.draw}: {self.note})>"


UNREADABLE = "can't be read: "  # how the error of an answer begins that is there, but not in the task's form
KEPT = (UNREADABLE, CUT_OFF)  # of the errors of answers that are there


class Output(msgspec.Struct, frozen=True):
    """What a system answered to one request, or the error that it gave instead.

    Example: `[output.value for variant, output in run if output.ok]`.

    `seconds` is how long a server took for the answer; of other systems, the time of a batch shared out evenly. Tokens
    are None where the server counts none. `reasoning` is what a model thought aloud before the answer. An answer that
    was cut off, or that has not the task's form, has an error and is kept as `value`.
    """

    value: Json = None
    error: str | None = None
    seconds: float = 0.0
    attempts: int = 1
    tokens_in: int | None = None
    tokens_out: int | None = None
    reasoning: str = ""

    @property
    def ok(self) -> bool:
        return self.error is None

    @property
    def unreadable(self) -> bool:
        """Was there an answer, but not in the task's form? Such an answer is wrong, not missing."""
        return self.error is not None and self.error.startswith(UNREADABLE)

    @property
    def answered(self) -> bool:
        """Is there an answer, if only a part of one or one in another form? It was paid for, and is not asked again."""
        return self.error is None or self.error.startswith(KEPT)


class BatchOutputs(Sequence[Output]):
    """The outputs of a batch that was answered as a whole, at the first attempt and without a count of tokens.

    They are kept as values and the seconds that each took; an `Output` is made of those that are looked at.
    """

    __slots__ = ("seconds", "values")

    def __init__(self, values: Sequence[Json], seconds: float) -> None:
        self.values, self.seconds = values, seconds

    def __len__(self) -> int:
        return len(self.values)

    def __getitem__(self, at: int | slice) -> Any:
        if isinstance(at, slice):
            return BatchOutputs(self.values[at], self.seconds)
        return Output(self.values[at], None, self.seconds)


class Failed:
    """Stands in a batch's outputs for an item that has none, with the reason; the item may be asked again.

    Example: `return [Failed("no answer") for _ in batch]`.
    """

    __slots__ = ("error", "final", "value")

    def __init__(self, error: str, final: bool = False, value: Json = None) -> None:
        self.error = error
        self.final = final  # asking again can't help
        self.value = value  # what there is of an answer, where it was cut off or has another form than the task's

    def __repr__(self) -> str:
        return f"Failed({self.error!r}, final={self.final})"


class Estimate(msgspec.Struct, frozen=True, omit_defaults=True):
    """A number with its proof: interval, examples it rests on, items without an output, and what decided it.

    Example: `results.worst.low`.

    `value` is None where nothing could be measured; a missing number is never zero. `bounds` are the least and the
    greatest that it would be with all outputs, whatever the missing ones are; None if none is missing. `over` is what
    the interval generalises to. `p` is the p-value that a difference, such as the drop, is zero.
    """

    value: float | None
    low: float | None
    high: float | None
    n: int
    missing: int
    signature: str
    bounds: tuple[float, float] | None = None
    over: str = "examples like these"
    p: float | None = None


class Maker(NamedTuple):
    """What made variants: an operator in one draw."""

    draw: int
    source: str
    family: str
    meaning: Meaning


class VariantColumn(msgspec.Struct, frozen=True):
    """A variant of each example that differs from it in one text, or None, all by the same maker.

    `texts` has None where there is no variant. `notes` is called when notes are asked for, and not before.
    """

    maker: Maker
    examples: Sequence[Example]
    fields: Sequence[str]
    texts: Sequence[str | None]
    golds: Sequence[Json]
    notes: Callable[[], Sequence[str]]

    def __len__(self) -> int:
        return len(self.texts)

    def __iter__(self) -> Iterator[Variant | None]:
        made = iter(Variants([self]))
        return (None if text is None else next(made) for text in self.texts)


class Variants(Sequence[Variant]):
    """The variants in columns of the same examples, in the examples' order, as columns of their own.

    Example: `zip(variants.texts, variants.golds)`.
    """

    def __init__(self, columns: Sequence[VariantColumn]) -> None:
        self._columns = columns
        self.varied: Sequence[Example] = columns[0].examples if columns else ()  # each once
        self._there: list[bool] | None = None  # of each example and column; None where all have a variant
        texts = self._in_turn([column.texts for column in columns])
        self._there = [text is not None for text in texts] if None in texts else None
        self.texts: list[str] = texts if self._there is None else list(compress(texts, self._there))  # type: ignore[assignment,arg-type]

    def _in_turn(self, columns: Sequence[Sequence[T]]) -> list[T]:
        """The first value of each column, then the second, and so on, where there is a variant."""
        values = list(columns[0]) if len(columns) == 1 else list(chain.from_iterable(zip(*columns, strict=True)))
        return values if self._there is None else list(compress(values, self._there))

    def _for_each(self, of_examples: Sequence[T]) -> list[T]:
        return self._in_turn([of_examples] * len(self._columns))

    @property
    def places(self) -> list[list[Any]]:
        """What says where each variant belongs, as columns: row, example id, draw, source, family and meaning."""
        examples, makers = self.varied, zip(*(column.maker for column in self._columns), strict=True)
        rows, ids = self._for_each([e.row for e in examples]), self._for_each([e.id for e in examples])
        return [rows, ids, *(self._in_turn([list(values) * len(examples)]) for values in makers)]

    @property
    def inputs(self) -> list[Inputs]:
        both = zip(self._for_each(self.varied), self._for_each(self._columns[0].fields), self.texts, strict=True)
        return [{**example.inputs, field: text} for example, field, text in both]

    @property
    def golds(self) -> list[Json]:
        return self._in_turn([column.golds for column in self._columns])

    @cached_property
    def notes(self) -> list[str]:
        return self._in_turn([column.notes() for column in self._columns])

    def __len__(self) -> int:
        return len(self.texts)

    def __getitem__(self, at: int | slice) -> Any:
        return self._made[at]

    def __iter__(self) -> Iterator[Variant]:
        return iter(self._made)

    @cached_property
    def _made(self) -> list[Variant]:
        return list(map(Variant, *self.places, self.inputs, self.golds, self.notes))
