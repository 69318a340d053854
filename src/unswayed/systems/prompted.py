"""A prompt for systems that have none of their own: the filled template is the input `prompt`, beside the others."""

from __future__ import annotations

from collections.abc import Sequence

from unswayed.base.chat import is_chat
from unswayed.base.errors import UsageError, option
from unswayed.base.values import Failed, Inputs, Json
from unswayed.storage.suite import Suite
from unswayed.systems.reprompt import prompt_of, texts_of
from unswayed.systems.system import System, SystemAround
from unswayed.systems.template import Template


class Prompted(SystemAround):
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
        return self.system.predict([{**texts_of(i), "prompt": prompt_of(self._template, i)} for i in batch])
