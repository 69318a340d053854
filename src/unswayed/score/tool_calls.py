"""Tool calls by the rules of BFCL's AST evaluation: names, types, values, and what may be absent."""

from __future__ import annotations

from typing import Any

from unswayed.base.chat import Call, calls_of, chat_of, is_chat, standard_text
from unswayed.base.task import Task
from unswayed.base.values import Json
from unswayed.score._equivalent import AnswerPair, ContainsRule
from unswayed.score._scorer import MeanScorer, WithInputs

_TYPES: dict[str, type] = {
    "string": str, "integer": int, "float": float, "number": float, "boolean": bool, "any": str,
    "array": list, "tuple": list, "dict": dict, "object": dict,
}  # fmt: skip
_NESTED = ("array", "tuple")


class ToolCalls(MeanScorer):
    """1 if the calls are the gold ones, in any order: each name, and each argument one of the values listed for it.

    Gold is `[{name: {argument: [values]}}, …]`; `""` among the values lets the argument be absent. The definitions of
    the tools, from the inputs, tell the types; without them, the gold values' own types do. If the gold is a text, the
    answer must make no call and contain that text.
    """

    name = "tool_calls"
    sees_inputs = True

    def item(self, output: Json, gold: Json, task: Task) -> float:
        due, inputs = (gold.gold, gold.inputs) if isinstance(gold, WithInputs) else (gold, {})
        if isinstance(due, str):
            said = calls_of(output) == [] and ContainsRule().alike(AnswerPair(output, due, inputs, True))
            return float(bool(said))
        tools = chat_of(inputs).get("tools", []) if is_chat(inputs) else []
        return float(calls_problem(output, due, tools) is None)


def calls_problem(output: Json, gold: list[Json], tools: list[Json]) -> str | None:
    """Why calls are wrong, in a few words that start with the rule's name; None where they are right."""
    calls = calls_of(output)
    if calls is None:
        return None if not gold else "unreadable: these are not tool calls"
    if len(calls) != len(gold):
        return f"count: {len(calls)} calls instead of {len(gold)}"
    functions = [f if isinstance(f := tool.get("function"), dict) else tool for tool in tools]
    definitions = {function["name"]: function.get("parameters") or {} for function in functions}
    left, problem = list(calls), None
    for due in gold:  # the first call that fits is taken, as BFCL does
        name, arguments = next(iter(due.items()))
        for at, call in enumerate(left):
            problem = _call_problem(call, name, arguments, definitions.get(name))
            if problem is None:
                del left[at]  # this one, and no other that is equal to it: 5 equals 5.0
                break
        else:
            return problem
    return None


def _call_problem(call: Call, name: str, due: dict[str, list[Json]], parameters: dict[str, Any] | None) -> str | None:
    if call.name != name:
        return f"name: {call.name} instead of {name}"
    known: dict[str, Any] = due if parameters is None else parameters.get("properties") or {}
    for argument in (parameters or {}).get("required") or ():
        if argument not in call.arguments:
            return f"required: {argument} is absent"
    for argument, value in call.arguments.items():
        if argument not in known or argument not in due:
            return f"unexpected: {argument}"
        kind = {} if parameters is None or not isinstance(known[argument], dict) else known[argument]
        if problem := _value_problem(value, due[argument], kind):
            return f"{problem} of {argument}"
    absent = next((a for a, values in due.items() if a not in call.arguments and "" not in values), None)
    return None if absent is None else f"absent: {absent}"


def _value_problem(value: Any, due: list[Json], kind: dict[str, Any]) -> str | None:
    like = next((type(one) for one in due if one != ""), None)  # the type that the gold values have
    stated = kind.get("type")
    wanted: type = _TYPES.get(stated, str) if isinstance(stated, str) else like or type(value)
    if wanted is float and type(value) is int:
        value = float(value)
    items = (kind.get("items") or {}).get("type") if stated in _NESTED else None
    inside = _TYPES.get(items, str) if isinstance(items, str) else None
    fits = type(value) is wanted
    if fits and inside is not None:  # do all items have the stated type, or that of the gold's, for some right value?
        kinds = {type(item) for item in value}
        fits = any(  # where it is no list, the argument may be absent: BFCL looks no further
            not isinstance(one, list) or kinds <= {inside, next((type(item) for item in one if item != ""), None)}
            for one in due
        )
    if not fits and (type(value) is wanted or type(value) is not like):
        return f"type: {type(value).__name__} instead of {wanted.__name__}"
    if not fits or like not in (None, wanted):  # another type than stated, as the gold has it: a variable's name
        return None if value in due else "value"
    if wanted is dict:
        return None if any(_dict_fits(value, one) for one in due if one != "") else "value"
    if wanted is list and inside is dict:
        same_length = [one for one in due if len(one) == len(value)]
        return None if any(all(map(_dict_fits, value, one)) for one in same_length) else "value"
    if wanted is str or wanted is list:
        listed = [one for one in due if type(one) in (wanted, str)]
        plain = [[] if wanted is list and one == "" else _standard_form(one) for one in listed]
        return None if _standard_form(value) in plain else "value"
    return None if value in due else "value"


def _standard_form(value: Json) -> Json:
    """A text, or a list's texts, in their standard form; an absent list is an empty one."""
    if isinstance(value, list):
        return [standard_text(item) if isinstance(item, str) else item for item in value]
    return standard_text(value) if isinstance(value, str) else value


def _dict_fits(value: Json, due: Json) -> bool:
    """Each key is known and its value one of those listed; what is absent may be."""
    if not isinstance(value, dict) or not isinstance(due, dict):
        return False
    if not all(key in due and _standard_form([item])[0] in _standard_form([*due[key]]) for key, item in value.items()):
        return False
    return all(key in value or "" in values for key, values in due.items())
