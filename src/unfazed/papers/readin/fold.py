"""Characters that sound or look the same made one before a system, as sub-character tokens without an index do."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import msgspec

from unfazed.core import Example, Inputs, Json, Suite
from unfazed.mitigate import chosen_inputs
from unfazed.papers.readin.codes import Codes
from unfazed.systems import Failed, Intent, System, open_system

NAME = "mitigate/fold"
VERSION = 1


class Folded(System):
    """Writes each character as the commonest with its code, then asks `system`, which has all other options.

    The system should have been trained on texts folded the same way. `fields` are as for mitigate/correct.
    """

    def __init__(
        self,
        system: str | Callable[..., Any] | System,
        encoding: str = "pinyin",
        fields: str | Sequence[str] = (),
        **options: Any,
    ) -> None:
        self.system = open_system(system, **options)
        self.codes = Codes(encoding, index=False)
        self.fields = fields
        self.name = f"{self.system.name} by {encoding}"
        self.batch_size, self.concurrency = self.system.batch_size, self.system.concurrency

    @property
    def identity(self) -> str:
        fields = "" if not self.fields else f" of {msgspec.json.encode(self.fields).decode()}"
        return f"{self.system.identity} after folding{fields} by {self.codes.encoding} {self.codes.digest} {VERSION}"

    def prepare(self, suite: Suite) -> None:
        self.system.prepare(suite)

    def predict(self, batch: Sequence[Inputs]) -> Sequence[Json | Failed]:
        return self.system.predict([folded_inputs(inputs, self.codes, self.fields) for inputs in batch])

    def used(self) -> dict[str, float]:
        return self.system.used()

    def close(self) -> None:
        self.system.close()

    @classmethod
    def sample(cls) -> Folded:
        return cls(Intent.sample())


def fold_examples(examples: Iterable[Example], codes: Codes, fields: str | Sequence[str] = ()) -> Iterator[Example]:
    """The examples with folded inputs, to train a system with that is asked about folded ones."""
    for example in examples:
        yield msgspec.structs.replace(example, inputs=folded_inputs(example.inputs, codes, fields))


def folded_inputs(inputs: Inputs, codes: Codes, fields: str | Sequence[str] = ()) -> Inputs:
    return inputs | {name: codes.fold(text) for name, text in chosen_inputs(inputs, fields).items()}
