"""Typo correction before a system: the system is asked about what a corrector makes of its inputs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec

from unswayed.base.errors import SystemBroken
from unswayed.base.values import Inputs, Json
from unswayed.mitigate.noisy_channel import NAME as EMBEDDED
from unswayed.systems.asking import ask
from unswayed.systems.opening import open_system
from unswayed.systems.system import Failed, System, SystemAround

NAME = "mitigate/correct"
_QUESTION = "question"  # where there is one, the other inputs are the system's own: a paragraph, a schema


class Corrected(SystemAround):
    """Corrects the texts of each input, then asks `system`, which has all options that are not named here.

    A corrector is a system too: it takes `{"text": …}` and gives the text. `fields` are the inputs to correct; by
    default the question, or everything where there is none.
    """

    def __init__(
        self, system: str | Callable[..., Any] | System, corrector: str | Callable[..., Any] | System = EMBEDDED,
        fields: str | Sequence[str] = (), **options: Any,
    ) -> None:  # fmt: skip
        super().__init__(open_system(system, **options))
        self.corrector = open_system(corrector)
        self.fields = fields
        self.name = f"{self.system.name} after {self.corrector.name}"
        self.concurrency = min(self.system.concurrency, self.corrector.concurrency)

    @property
    def identity(self) -> str:
        fields = f" of {msgspec.json.encode(self.fields).decode()}" if self.fields else ""
        return f"{self.system.identity} after correction{fields} by {self.corrector.identity}"

    def predict(self, batch: Sequence[Inputs]) -> Sequence[Json | Failed]:
        texts = list(dict.fromkeys(text for inputs in batch for text in chosen(inputs, self.fields).values()))
        corrected = dict(zip(texts, correct_texts(self.corrector, texts), strict=True))
        changed = [{name: corrected[text] for name, text in chosen(inputs, self.fields).items()} for inputs in batch]
        failed = [next((text for text in texts.values() if isinstance(text, Failed)), None) for texts in changed]
        zipped = zip(batch, changed, failed, strict=True)
        asked: list[Any] = [{**inputs, **texts} for inputs, texts, failure in zipped if failure is None]
        answers = iter(self.system.predict(asked) if asked else ())
        return [next(answers) if failure is None else failure for failure in failed]

    def used(self) -> dict[str, float]:
        used = super().used()
        for name, amount in self.corrector.used().items():
            used[name] = used.get(name, 0) + amount
        return used

    def close(self) -> None:
        super().close()
        self.corrector.close()


def chosen(inputs: Inputs, fields: str | Sequence[str]) -> Inputs:
    """The inputs to change: those named, as a list or with commas; or the question, or all where there is none."""
    if not fields:
        return {_QUESTION: inputs[_QUESTION]} if _QUESTION in inputs else inputs
    names = [name.strip() for name in fields.split(",")] if isinstance(fields, str) else fields
    return {name: inputs[name] for name in names if name in inputs}


def correct_texts(corrector: System, texts: Sequence[str]) -> list[str | Failed]:
    """The corrected texts. A corrector may also answer with a mapping whose `target` is the text, as pycorrector."""
    found: list[str | Failed] = []
    for output in ask(corrector, ({"text": text} for text in texts)):
        answer = output.value
        if isinstance(answer, Mapping):
            answer = answer.get("target")
        if not output.ok:
            found.append(Failed(str(output.error), final=True))
        elif isinstance(answer, str):
            found.append(answer)
        else:
            found.append(Failed(f"the corrector answered {answer!r:.80}, which is not a text", final=True))
    return found


def required_texts(corrector: System, texts: Sequence[str]) -> list[str]:
    """The corrected texts; raises where one can't be had."""
    found: list[str] = []
    for number, answer in enumerate(correct_texts(corrector, texts), 1):
        if isinstance(answer, Failed):
            raise SystemBroken(f"{corrector.name} did not correct text {number}: {answer.error}.")
        found.append(answer)
    return found
