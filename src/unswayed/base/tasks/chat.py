"""Messages in, a message out: the chat of a language model."""

from __future__ import annotations

from collections.abc import Hashable

from unswayed.base.chat import CHAT, chat_problem, is_chat
from unswayed.base.ids import canonical
from unswayed.base.task import Task
from unswayed.base.tasks.generate import free_gold_problem
from unswayed.base.values import Example, Inputs, Json


class Chat(Task):
    """The varied texts are inputs by role, and the input `chat` holds the rest; gold and outputs are as of generate."""

    name = "chat"
    fields = (CHAT,)
    scores = ("match",)
    compared = ("", "contains")

    def fits(self, example: Example) -> bool:
        return is_chat(example.inputs) and not isinstance(example.gold, (list, dict))

    def texts(self, inputs: Inputs) -> tuple[str, ...]:
        return tuple(name for name in inputs if name != CHAT)

    def gold_problem(self, example: Example) -> str | None:
        return chat_problem(example.inputs) or free_gold_problem(example.gold)

    def answer(self, output: Json) -> Hashable:
        return " ".join(output.split()).casefold() if isinstance(output, str) else canonical(output)
