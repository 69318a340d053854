"""Example, Variant, Output, Failed and Estimate: the plain values that every part takes and gives."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, overload

import msgspec

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


class Output(msgspec.Struct, frozen=True):
    """What a system answered to one request, or the error that it gave instead.

    Example: `[output.value for variant, output in run if output.ok]`.

    `seconds` is how long a server took for the answer; of other systems, the time of a batch shared out evenly. Tokens
    are None where the server counts none.
    """

    value: Json = None
    error: str | None = None
    seconds: float = 0.0
    attempts: int = 1
    tokens_in: int | None = None
    tokens_out: int | None = None

    @property
    def ok(self) -> bool:
        return self.error is None

    @property
    def unreadable(self) -> bool:
        """Was there an answer, but not in the task's form? Such an answer is wrong, not missing."""
        return self.error is not None and self.error.startswith(UNREADABLE)


class BatchOutputs(Sequence[Output]):
    """The outputs of a batch that was answered as a whole, at the first attempt and without a count of tokens.

    They are kept as values and the seconds that each took; an `Output` is made of those that are looked at.
    """

    __slots__ = ("seconds", "values")

    def __init__(self, values: Sequence[Json], seconds: float) -> None:
        self.values, self.seconds = values, seconds

    def __len__(self) -> int:
        return len(self.values)

    @overload
    def __getitem__(self, at: int) -> Output: ...
    @overload
    def __getitem__(self, at: slice) -> BatchOutputs: ...
    def __getitem__(self, at: int | slice) -> Output | BatchOutputs:
        if isinstance(at, slice):
            return BatchOutputs(self.values[at], self.seconds)
        return Output(self.values[at], None, self.seconds)


class Failed:
    """Stands in a batch's outputs for an item that has none, with the reason; the item may be asked again.

    Example: `return [Failed("no answer") for _ in batch]`.
    """

    __slots__ = ("error", "final")

    def __init__(self, error: str, final: bool = False) -> None:
        self.error = error
        self.final = final  # asking again can't help

    def __repr__(self) -> str:
        return f"Failed({self.error!r}, final={self.final})"


class Estimate(msgspec.Struct, frozen=True, omit_defaults=True):
    """A number with its proof: interval, examples it rests on, items without an output, and what decided it.

    Example: `results.worst.low`.

    `value` is None where nothing could be measured; a missing number is never zero. `bounds` are the least and the
    greatest that it would be with all outputs, whatever the missing ones are; None if none is missing. `over` is what
    the interval generalises to.
    """

    value: float | None
    low: float | None
    high: float | None
    n: int
    missing: int
    signature: str
    bounds: tuple[float, float] | None = None
    over: str = "examples like these"
