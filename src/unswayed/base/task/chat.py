"""Messages in, a message out: the chat of a language model."""

from __future__ import annotations

from unswayed.base.chat import CHAT, chat_problem, is_chat
from unswayed.base.task.generate import GenerateTask
from unswayed.base.values import Example, Inputs


class ChatTask(GenerateTask):
    """The varied texts are inputs by role, and the input `chat` holds the rest; gold and outputs are as of generate."""

    name = "chat"
    fields = (CHAT,)

    def fits(self, example: Example) -> bool:
        return is_chat(example.inputs) and not isinstance(example.gold, (list, dict))

    def texts(self, inputs: Inputs) -> tuple[str, ...]:
        return tuple(name for name in inputs if name != CHAT)

    def gold_problem(self, example: Example) -> str | None:
        return chat_problem(example.inputs) or super().gold_problem(example)
