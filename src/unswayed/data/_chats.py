"""Rows that hold a chat: OpenAI's messages, Inspect's messages as input, and BFCL's questions with functions."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from unswayed.base.chat import chat_inputs
from unswayed.base.errors import DataError, option
from unswayed.base.tool_calls import calls_of
from unswayed.base.values import Example, Inputs, Json
from unswayed.data._guess import FREE_GOLDS
from unswayed.data._reader import Problem, ReadOptions, read_lines

Record = Mapping[str, Any]
GOLDS = FREE_GOLDS | {"gold", "label", "expected_output", "reference"}  # names of a column with the right answer
ANSWERS = "possible_answer"  # BFCL's folder of golds, beside its files of questions


def is_chat_record(record: Record) -> bool:
    """Does the row hold messages, in one of the known forms?"""
    return _is_messages(record.get("messages")) or _is_messages(record.get("input")) or _is_bfcl(record)


def _is_messages(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and isinstance(value[0], dict) and "role" in value[0]


def _is_bfcl(record: Record) -> bool:
    question = record.get("question")
    return isinstance(question, list) and bool(question) and _is_messages(question[0]) and "function" in record


class ChatForm:
    """Makes examples of rows with chats; what `record` is like decides for all rows."""

    def __init__(self, record: Record, options: ReadOptions, path: Path) -> None:
        self._options = options
        self._bfcl = _is_bfcl(record)
        self._golds = _possible_answers(path) if self._bfcl and options.gold is None else None
        self._messages = "messages" if "messages" in record else "input"

    def example(self, row: int, record: Record) -> Example:
        messages, tools, gold = self._bfcl_row(record) if self._bfcl else self._chat_row(record)
        if self._options.gold:
            gold = record.get(self._options.gold)
        id = record.get(self._options.id or "id", "")
        if not isinstance(id, str | int | None):
            raise Problem(f"an id must be a text or a whole number, not {id!r:.60}.")
        groups = {name: str(record[name]) for name in self._options.groups if record.get(name) is not None}
        return Example(row, "" if id is None else str(id), self._inputs(messages, tools), gold, groups)

    def _inputs(self, messages: Json, tools: Json) -> Inputs:
        try:
            return chat_inputs(messages, tools, self._options.turn)
        except ValueError as error:
            raise Problem(f"{error}. Fix the row, or choose another turn with {option('turn')}.") from None

    def _bfcl_row(self, record: Record) -> tuple[Json, Json, Json]:
        question, id = record.get("question"), record.get("id")
        if not isinstance(question, list) or len(question) != 1:
            raise Problem("question must be one turn, [[{'role': …, 'content': …}]]: multi-turn tests are not read.")
        functions = record.get("function")
        if not isinstance(functions, list) or not all(isinstance(f, dict) and "name" in f for f in functions):
            raise Problem(f"function must be a list of definitions, not {functions!r:.60}.")
        tools = [{"type": "function", "function": function} for function in functions]
        if self._golds is not None and id not in self._golds:
            raise Problem(f"{ANSWERS} has no row with the id {id!r}.")
        no_call: Json = [] if str(id).startswith(("irrelevance", "live_irrelevance")) else None
        return question[0], tools, self._golds[str(id)] if self._golds is not None else no_call

    def _chat_row(self, record: Record) -> tuple[Json, Json, Json]:
        messages = record.get(self._messages)
        gold = next((value for name, value in record.items() if name in GOLDS and value is not None), None)
        if self._messages == "messages" and _is_messages(messages):
            assert isinstance(messages, list)
            last = messages[-1]
            if isinstance(last, dict) and last.get("role") == "assistant" and len(messages) > 1:
                messages, gold = messages[:-1], _said(last) if gold is None else gold
        return messages, record.get("tools") or record.get("functions"), gold


def _said(message: Mapping[str, Any]) -> Json:
    """The gold that the last message of the assistant is: its calls, as BFCL has golds, or its text."""
    if not message.get("tool_calls"):
        return message.get("content")
    calls = calls_of({"tool_calls": message["tool_calls"]})
    if calls is None:
        raise Problem(f"the assistant's tool_calls can't be read: {message['tool_calls']!r:.60}.")
    return [{call.name: {name: [_listed(value)] for name, value in call.arguments.items()}} for call in calls]


def _listed(value: Json) -> Json:
    """An object, or a list's objects, with each value as the only right one; golds have them so one level deep."""
    if isinstance(value, dict):
        return {key: [item] for key, item in value.items()}
    return [_listed(item) if isinstance(item, dict) else item for item in value] if isinstance(value, list) else value


def _possible_answers(path: Path) -> dict[str, Json] | None:
    """BFCL's golds by id, from the file of the same name in the folder beside the questions."""
    from unswayed.data.jsonl import json_object

    file = path.parent / ANSWERS / path.name
    if not file.is_file():
        return None
    found = {}
    for number, line in enumerate(read_lines(file), 1):
        if not line.isspace():
            row = json_object(line, file, number)
            if not isinstance(row.get("id"), str) or not isinstance(row.get("ground_truth"), list):
                raise DataError("a row must have an id and a list ground_truth.", file, number)
            found[row["id"]] = row["ground_truth"]
    return found
