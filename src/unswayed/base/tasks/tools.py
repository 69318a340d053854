"""Tool calls: messages and the definitions of tools in, a list of calls out."""

from __future__ import annotations

from collections.abc import Hashable

from unswayed.base.chat import CHAT, calls_of, chat_problem, is_chat, standard
from unswayed.base.ids import canonical
from unswayed.base.task import Task
from unswayed.base.values import Example, Inputs, Json


class Tools(Task):
    """Gold is as in BFCL: `[{name: {argument: [right values]}}, …]`, where `""` says that an argument may be absent.

    An output is `[{"name": …, "arguments": {…}}, …]`; OpenAI's `tool_calls` and JSON in a text are read too.
    """

    name = "tools"
    fields = (CHAT,)
    scores = ("tool_calls",)

    def fits(self, example: Example) -> bool:
        if not is_chat(example.inputs):
            return False
        return isinstance(example.gold, list) or (example.gold is None and '"tools":' in example.inputs[CHAT])

    def texts(self, inputs: Inputs) -> tuple[str, ...]:
        return tuple(name for name in inputs if name != CHAT)

    def gold_problem(self, example: Example) -> str | None:
        problem = chat_problem(example.inputs)
        if problem or example.gold is None:
            return problem
        calls = example.gold if isinstance(example.gold, list) else [None]
        wrong = next((call for call in calls if not _is_gold(call)), calls)
        return None if wrong is calls else f"gold must be [{{name: {{argument: [values]}}}}, …], not {wrong!r:.80}"

    def answer(self, output: Json) -> Hashable:
        """The calls in any order, with texts as BFCL compares them: neither is a change of the answer."""
        calls = calls_of(output)
        if calls is None:
            return "no tool calls that can be read"
        return tuple(sorted(canonical([name, standard(arguments)]) for name, arguments in calls))


def _is_gold(call: Json) -> bool:
    if not isinstance(call, dict) or len(call) != 1:
        return False
    arguments = next(iter(call.values()))
    return isinstance(arguments, dict) and all(isinstance(values, list) for values in arguments.values())
