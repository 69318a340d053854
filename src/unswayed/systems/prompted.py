"""Systems around another one that fill a template for it: a prompt, or the rubric of a judge."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

from unswayed.base.chat import is_chat
from unswayed.base.errors import UsageError, option
from unswayed.base.values import Inputs, Json
from unswayed.storage.suite import Suite
from unswayed.systems.system import Failed, System, SystemAround
from unswayed.systems.template import PROMPTS, Template, prompt_of, texts_of
from unswayed.systems.url import ChatSystem


class PromptedSystem(SystemAround):
    """Puts the prompt of each input into `prompt`, for a function, a program or a server."""

    def __init__(self, system: System, prompt: str) -> None:
        super().__init__(system)
        self._template = Template.read(prompt)

    @property
    def identity(self) -> str:
        return f"{self.system.identity} prompt={self._template.id}"

    @property
    def prompts(self) -> dict[str, str]:
        return {"prompt": self._template.text}

    def prepare(self, suite: Suite) -> None:
        example = next(suite.examples(), None)
        if example is not None and is_chat(example.inputs):
            raise UsageError(f"The suite's chats are sent as they are: leave out {option('prompt')}.")
        if example is not None:
            self._template.require(example.inputs)
        super().prepare(suite)

    def predict(self, batch: Sequence[Inputs]) -> Sequence[Json | Failed]:
        texts = [{**texts_of(inputs), "prompt": prompt_of(self._template, inputs)} for inputs in batch]
        return self.system.predict(texts)


YES, NO = "yes", "no"
_YES, _NO = (YES, "true", "same", "1"), (NO, "false", "different", "0")
_ASKED = ("question", "reference", "answer")
_SHOWN_LETTERS = 80


class JudgeSystem(SystemAround):
    """Answers yes or no for inputs of a reference and an answer, and the question where there is one."""

    def __init__(self, system: System, rubric: str | None = None) -> None:
        super().__init__(system)
        self.template = Template.read(rubric or "judge.txt", PROMPTS if rubric is None else None)
        self.template.require(_ASKED)
        self.name = f"judge:{system.name}"
        self._only_prompt = isinstance(system, ChatSystem)  # which takes one text

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
        found: list[Json | Failed] = []
        for answer in self.system.predict([self.request(inputs) for inputs in batch]):
            same = None if isinstance(answer, Failed) else verdict(answer)
            if same is not None:
                found.append(YES if same else NO)
            elif isinstance(answer, Failed):
                found.append(answer)
            else:
                problem = f"the judge said neither yes nor no: {str(answer)!r:.{_SHOWN_LETTERS}}"
                found.append(Failed(problem, final=True))
        return found


def verdict(value: Json) -> bool | None:
    """Yes or no, also in words such as `Yes, both …`; None where it is neither."""
    if isinstance(value, dict):
        value = next((value[k] for k in ("same", "verdict", "label", "content", "text") if k in value), None)
    if isinstance(value, bool):
        return value
    words = re.findall(r"\w+", unicodedata.normalize("NFKC", str(value)).casefold())
    first = words[0] if words else ""
    return True if first in _YES else False if first in _NO else None
