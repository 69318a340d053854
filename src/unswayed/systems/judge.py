"""A judge: another system that says yes or no to a rubric, which is filled with a question and two answers."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

from unswayed.base.errors import UsageError
from unswayed.base.values import Inputs, Json
from unswayed.storage.suite import Suite
from unswayed.systems.system import Failed, System, SystemAround
from unswayed.systems.template import Template
from unswayed.systems.url import PROMPTS, ChatSystem

YES, NO = "yes", "no"
_YES, _NO = (YES, "true", "same", "1"), (NO, "false", "different", "0")
_ASKED = ("question", "reference", "answer")
_SHOWN = 80


class JudgeSystem(SystemAround):
    """Answers yes or no for inputs of a reference and an answer, and the question where there is one."""

    def __init__(self, system: System, rubric: str | None = None) -> None:
        super().__init__(system)
        self.template = Template.read(rubric or "judge.txt", PROMPTS if rubric is None else None)
        self.template.require(_ASKED)
        self.name = f"judge:{system.name}"
        self._only_prompt = isinstance(system, ChatSystem)

    @property
    def identity(self) -> str:
        return f"judge {self.system.identity} rubric={self.template.id}"

    def prepare(self, suite: Suite) -> None:
        example = next(suite.examples(), None)
        missing = [name for name in _ASKED[1:] if example is not None and name not in example.inputs]
        if missing:
            raise UsageError(
                f"{self.name} compares two answers, and the examples have no input {missing[0]!r}. A row needs the "
                f"fields reference and answer, and may have a question."
            )

    def request(self, inputs: Inputs) -> Inputs:
        """The filled rubric; a system that is not a chat model also gets what was filled in, by name."""
        texts = {name: inputs.get(name, "") for name in _ASKED}
        prompt = self.template.fill(texts)
        return {"prompt": prompt} if self._only_prompt else {"prompt": prompt, **texts}

    def predict(self, batch: Sequence[Inputs]) -> Sequence[Json | Failed]:
        return [_label(said) for said in self.system.predict([self.request(inputs) for inputs in batch])]


def verdict(value: Json) -> bool | None:
    """Yes or no, also in words such as `Yes, both …`; None where it is neither."""
    if isinstance(value, dict):
        value = next((value[k] for k in ("same", "verdict", "label", "content", "text") if k in value), None)
    if isinstance(value, bool):
        return value
    words = re.findall(r"\w+", unicodedata.normalize("NFKC", str(value)).casefold())
    first = words[0] if words else ""
    return True if first in _YES else False if first in _NO else None


def _label(said: Json | Failed) -> Json | Failed:
    if isinstance(said, Failed):
        return said
    same = verdict(said)
    if same is None:
        return Failed(f"the judge said neither yes nor no: {str(said)!r:.{_SHOWN}}", final=True)
    return YES if same else NO
