"""BFCL's AST rules, case by case, on its own questions: answers that are right, and wrong in every way the rules name.

All answers of these kinds to all questions (`cases(100_000)`: 17,257) were once given to BFCL's own checker, of
bfcl-eval 2026.3.23 on PyPI: it agreed on each.
"""

from __future__ import annotations

import copy
import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from unswayed.base.chat import calls_of, chat_inputs
from unswayed.base.task import task_named
from unswayed.base.values import Json
from unswayed.score import WithInputs, scorers
from unswayed.score.tool_calls import calls_problem

BFCL = Path(__file__).parents[3] / "shared/data/bfcl"
here = pytest.mark.skipif(not BFCL.is_dir(), reason="BFCL's files are not here (../shared/data/bfcl)")
A_KIND = 8  # answers of each kind, from as many questions
Args = dict[str, Any]


class Row:
    """A question of BFCL: its functions, its right answers, and one right call of the first of these."""

    def __init__(self, question: Json, answer: Json) -> None:
        self.id, self.functions, self.gold = question["id"], question["function"], answer["ground_truth"]
        self.name, self.due = next(iter(self.gold[0].items()))
        function = next(f for f in self.functions if f["name"] == self.name)
        self.types = {name: p["type"] for name, p in function["parameters"]["properties"].items()}
        self.items = {name: p.get("items", {}).get("type") for name, p in function["parameters"]["properties"].items()}
        self.required = function["parameters"]["required"]

    def right(self) -> list[Json]:
        return [call(name, {a: pick(v) for a, v in due.items() if "" not in v}) for name, due in _pairs(self.gold)]

    def whole(self) -> list[Json]:
        given = ({a: pick(v) for a, v in due.items() if pick(v) != ""} for _, due in _pairs(self.gold))
        return [call(name, args) for (name, _), args in zip(_pairs(self.gold), given, strict=True)]

    def of_type(self, *types: str) -> list[str]:
        return [a for a in self.due if self.types.get(a) in types and "" not in self.due[a]]


def _pairs(gold: Json) -> list[tuple[str, Args]]:
    return [next(iter(one.items())) for one in gold]


def call(name: str, arguments: Args) -> Json:
    return {"name": name, "arguments": arguments}


def pick(values: list[Json], last: bool = False) -> Json:
    """One of the listed values; of an object, whose values are listed too, one of each."""
    given = [value for value in values if value != ""]
    value = (given[-1] if last else given[0]) if given else ""
    if isinstance(value, dict):
        return {key: pick(inner, last) for key, inner in value.items() if isinstance(inner, list) and inner != [""]}
    if isinstance(value, list) and value and isinstance(value[0], dict):
        return [{k: pick(v, last) for k, v in one.items() if isinstance(v, list)} for one in value]
    return copy.deepcopy(value)


def rows(name: str) -> list[Row]:
    questions, answers = (
        [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
        for file in (BFCL / f"BFCL_v4_{name}.json", BFCL / "possible_answer" / f"BFCL_v4_{name}.json")
    )
    by_id = {answer["id"]: answer for answer in answers}
    return [Row(question, by_id[question["id"]]) for question in questions]


def edited(row: Row, argument: str, value: Json) -> list[Json]:
    first, *rest = row.right()
    return [call(row.name, {**first["arguments"], argument: value}), *rest]


def _ways(row: Row) -> Iterator[tuple[str, Json, bool]]:
    """Answers to one question: the rule that each is about, the answer, and whether the rules find it right."""
    first, *rest = row.right()
    arguments = first["arguments"]
    yield "first listed values", row.right(), True
    yield "optional ones given", row.whole(), True
    yield "BFCL's own form", [{row.name: arguments}, *rest], True
    yield "OpenAI's form", openai(row.right()), True
    yield "JSON in a text", f"```json\n{json.dumps(row.right())}\n```", True
    if len(arguments) > 1:
        turned = dict(reversed(arguments.items()))
        yield "arguments in another order", [call(row.name, turned), *rest], True
    if rest:
        yield "calls in another order", list(reversed(row.right())), True
        yield "a call too few", row.right()[1:], False
    yield "a call too many", [*row.right(), first], False
    yield "no call", [], False
    yield "words", "I can't do that.", False
    yield "no JSON", '[{"name": "' + row.name + '", "arguments": {', False
    yield "another function", [call(row.name + "_2", arguments), *rest], False
    yield "name in capitals", [call(row.name.upper(), arguments), *rest], False
    yield "unexpected argument", edited(row, "colour", "red"), False
    absent = [a for a in row.due if "" not in row.due[a]]
    for argument in absent[:1]:
        less = {a: v for a, v in arguments.items() if a != argument}
        yield "required or listed argument absent", [call(row.name, less), *rest], False
    for argument in [a for a in row.due if "" in row.due[a] and a not in row.required][:1]:
        yield "optional argument wrong", edited(row, argument, {"odd": 1}), False
    yield from _texts(row)
    yield from _numbers(row)
    yield from _lists(row)


def _texts(row: Row) -> Iterator[tuple[str, Json, bool]]:
    for argument in row.of_type("string")[:1]:
        text = pick(row.due[argument])
        if not isinstance(text, str):
            continue
        yield "text in capitals, with marks", edited(row, argument, f" {text.upper()}.-_*^/,"), True
        yield "text with other quotation marks", edited(row, argument, text.replace("'", '"')), True
        yield "another text", edited(row, argument, text + " x"), False
        yield "a list for a text", edited(row, argument, [text]), False
        yield "null for a text", edited(row, argument, None), False


def _numbers(row: Row) -> Iterator[tuple[str, Json, bool]]:
    for argument in row.of_type("integer")[:1]:
        value = pick(row.due[argument])
        if type(value) is int:
            yield "text for an integer", edited(row, argument, str(value)), False
            yield "float for an integer", edited(row, argument, float(value)), False
            yield "another integer", edited(row, argument, value + 1234), False
            yield "a boolean for an integer", edited(row, argument, True), False
    for argument in row.of_type("float")[:1]:
        value = pick(row.due[argument])
        if type(value) in (int, float):
            yield "a float as it is listed", edited(row, argument, value), True
            yield "text for a float", edited(row, argument, str(value)), False
            yield "another float", edited(row, argument, value + 0.123), False
            if float(value).is_integer():
                yield "an integer for a float", edited(row, argument, int(value)), True
    for argument in row.of_type("boolean")[:1]:
        value = pick(row.due[argument])
        if type(value) is bool:
            yield "text for a boolean", edited(row, argument, str(value).lower()), False
            if (not value) not in row.due[argument]:
                yield "the other boolean", edited(row, argument, not value), False


def _lists(row: Row) -> Iterator[tuple[str, Json, bool]]:
    for argument in row.of_type("array", "tuple")[:1]:
        value = pick(row.due[argument])
        if not isinstance(value, list) or not value:
            continue
        listed = [v for v in row.due[argument] if isinstance(v, list)]
        if isinstance(value[0], str):
            yield "items in capitals", edited(row, argument, [str(item).upper() for item in value]), True
            yield "a number among texts", edited(row, argument, [*value[:-1], 7]), False
        if value[::-1] != value and value[::-1] not in listed and not isinstance(value[0], dict):
            yield "items in another order", edited(row, argument, value[::-1]), False
        yield "an item too many", edited(row, argument, [*value, value[0]]), False
        yield "a text for a list", edited(row, argument, json.dumps(value)), False
        if isinstance(value[0], dict):
            key = next(iter(value[0]))
            yield "an unknown key in a list", edited(row, argument, [{**value[0], "odd": 1}, *value[1:]]), False
            less = {k: v for k, v in value[0].items() if k != key}
            optional = "" in listed[0][0][key]
            yield "a key absent in a list", edited(row, argument, [less, *value[1:]]), optional
    for argument in row.of_type("dict")[:1]:
        value = pick(row.due[argument])
        if isinstance(value, dict) and value:
            yield "keys in another order", edited(row, argument, dict(reversed(value.items()))), True
            yield "an unknown key", edited(row, argument, {**value, "odd": 1}), False
            key = next(iter(value))
            yield "another value of a key", edited(row, argument, {**value, key: "quite odd"}), False
            inner = next(v for v in row.due[argument] if isinstance(v, dict))
            less = {k: v for k, v in value.items() if k != key}
            yield "a key absent", edited(row, argument, less), "" in inner[key]


def openai(calls: list[Json]) -> Json:
    functions = [{"name": c["name"], "arguments": json.dumps(c["arguments"])} for c in calls]
    return {"role": "assistant", "tool_calls": [{"type": "function", "function": f} for f in functions]}


def cases(a_kind: int = A_KIND) -> Iterator[tuple[Row, str, Json, bool]]:
    """Of each kind some answers, from each file in turn."""
    seen: Counter[tuple[str, str]] = Counter()
    for name in ("simple_python", "multiple", "parallel"):
        for row in rows(name):
            for kind, answer, right in _ways(row):
                seen[name, kind] += 1
                if seen[name, kind] <= a_kind:
                    yield row, kind, answer, right


def tools_of(row: Row) -> list[Json]:
    return [{"type": "function", "function": function} for function in row.functions]


@here
def test_two_hundred_answers_and_more_are_judged_as_bfcl_judges_them() -> None:
    found = list(cases())
    wrong = [
        (row.id, kind, problem)
        for row, kind, answer, right in found
        if ((problem := calls_problem(answer, row.gold, tools_of(row))) is None) != right
    ]
    assert wrong == []
    assert len(found) >= 200
    assert len({kind for _, kind, _, _ in found}) >= 40


@here
def test_the_rule_that_failed_is_named() -> None:
    row = rows("simple_python")[0]  # calculate_triangle_area(base=10, height=5, unit="units" or absent)
    named = {
        "count": [],
        "name": [call("area", {"base": 10, "height": 5})],
        "required": [call(row.name, {"base": 10})],
        "unexpected": edited(row, "colour", "red"),
        "type": edited(row, "base", "10"),
        "value": edited(row, "base", 11),
    }
    problems = {rule: calls_problem(answer, row.gold, tools_of(row)) for rule, answer in named.items()}
    assert {rule for rule, problem in problems.items() if problem and problem.startswith(rule)} == set(named)


@here
def test_irrelevance_wants_no_call() -> None:
    assert calls_problem("None of the functions can do that.", [], []) is None
    assert calls_problem('{"name": ', [], []) is None  # what can't be decoded is no call, says BFCL
    assert calls_problem([call("f", {})], [], []) == "count: 1 calls instead of 0"


def test_equal_calls_of_other_types_are_told_apart() -> None:
    gold = [{"f": {"n": [5]}}, {"f": {"n": [5]}}]
    tools = [{"name": "f", "parameters": {"properties": {"n": {"type": "integer"}}, "required": ["n"]}}]
    assert calls_problem([call("f", {"n": 5}), call("f", {"n": 5})], gold, tools) is None
    assert calls_problem([call("f", {"n": 5.0}), call("f", {"n": 5})], gold, tools) is not None


SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"when": {"type": "object", "properties": {}}, "n": {"type": "number"}},
    "required": [],
}


def test_the_scorer_reads_the_definitions_from_the_inputs() -> None:
    scorer, task = scorers.get("tool_calls")(), task_named("tools")
    tools = [{"type": "function", "function": {"name": "f", "parameters": SCHEMA}}]
    inputs = chat_inputs([{"role": "user", "content": "do it"}], tools)
    gold = [{"f": {"when": [{"day": ["Monday"], "hour": [9, ""]}], "n": [3, ""]}}]
    answers = [
        [call("f", {"when": {"day": "monday"}, "n": 3})],
        [call("f", {"when": {"day": "Tuesday"}})],
        [call("f", {"when": {"day": "Monday", "hour": 9}})],
        [call("f", {"when": "Monday"})],
    ]
    due = [WithInputs(gold, inputs)] * len(answers)
    assert scorer.stats(answers, due, task)[:, 0].tolist() == [1, 0, 1, 0]
    assert scorer.stats(answers, [gold] * len(answers), task)[:, 0].tolist() == [1, 0, 1, 0]  # without definitions


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ([call("f", {"a": 1, "b": 2})], [call("f", {"b": 2, "a": 1})], True),
        ([call("f", {}), call("g", {})], [call("g", {}), call("f", {})], True),
        ([call("f", {"a": "New York"})], [call("f", {"a": "new york"})], True),
        ([call("f", {"a": 5})], [call("f", {"a": 5.0})], True),
        ([call("f", {"a": 5})], [call("f", {"a": 6})], False),
        ([call("f", {"a": 5})], [call("f", {})], False),
        ([call("f", {})], [call("g", {})], False),
        ([call("f", {})], [call("f", {}), call("f", {})], False),
        ([call("f", {})], "I can't.", False),
        ("I can't.", "Sorry, I can't.", True),
        ('[{"name": "f", ', "I can't.", False),
        ('{"name": "f", "arguments": {"a": 1}}', [call("f", {"a": 1})], True),
    ],
)
def test_another_function_or_argument_is_a_flip_and_another_order_is_not(one: Json, other: Json, same: bool) -> None:
    answer = task_named("tools").answer
    assert (answer(one) == answer(other)) is same


@pytest.mark.parametrize("odd", [3, True, [1], [{"a": 1, "b": 2}], {"name": 1}, [{"name": "f", "arguments": "{"}]])
def test_what_is_no_call_is_not_read_as_one(odd: Json) -> None:
    assert calls_of(odd) is None
