"""Tool calls: messages and the definitions of tools in, a list of calls out."""

from __future__ import annotations

from collections.abc import Hashable

from unswayed.base.chat import CHAT, calls_of, chat_problem, is_chat, standard
from unswayed.base.ids import canonical
from unswayed.base.task.chat import ChatTask
from unswayed.base.values import Example, Json


class ToolsTask(ChatTask):
    """Gold is as in BFCL: `[{name: {argument: [right values]}}, …]`, where `""` says that an argument may be absent.
    In chats that end in a text instead, it is that text.

    An output is `[{"name": …, "arguments": {…}}, …]`; OpenAI's `tool_calls` and JSON in a text are read too.
    """

    name = "tools"
    scores = ("tool_calls",)
    compared = ("", "calls")

    def fits(self, example: Example) -> bool:
        if not is_chat(example.inputs):
            return False
        return isinstance(example.gold, list) or (example.gold is None and '"tools":' in example.inputs[CHAT])

    def gold_problem(self, example: Example) -> str | None:
        gold, problem = example.gold, chat_problem(example.inputs)
        if problem or gold is None or isinstance(gold, str):
            return problem
        for call in gold if isinstance(gold, list) else [None]:
            (arguments,) = call.values() if isinstance(call, dict) and len(call) == 1 else (None,)
            if not isinstance(arguments, dict) or not all(isinstance(values, list) for values in arguments.values()):
                return f"gold must be [{{name: {{argument: [values]}}}}, …], not {call!r:.80}"
        return None

    def right(self, gold: Json) -> Json:
        """The calls, with the first of the right values of each argument that must be there."""
        return [{"name": name, "arguments": _first_values(due)} for call in gold for name, due in call.items()]

    def answer(self, output: Json) -> Hashable:
        """The calls in any order, with texts as BFCL compares them: neither is a change of the answer."""
        calls = calls_of(output)
        if calls is None:
            return "no tool calls that can be read"
        return tuple(sorted(canonical([name, standard(arguments)]) for name, arguments in calls))


def _first_values(due: Json) -> Json:
    """Of right values, listed under each name, the first; what may be absent is."""
    if not isinstance(due, dict):
        return [_first_values(item) for item in due] if isinstance(due, list) else due
    return {name: _first_values(values[0]) for name, values in due.items() if values and "" not in values}
