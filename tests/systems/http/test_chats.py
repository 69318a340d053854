"""Chats over HTTP: messages and tools as they are sent, calls as they come back, and answers that are none."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from unswayed.base.chat import chat_inputs
from unswayed.base.errors import UsageError
from unswayed.base.values import Example, Inputs, Json, Variant
from unswayed.measure.measuring import measure_run
from unswayed.run.engine import run_system
from unswayed.storage.suite import Manifest, Suite, write_suite
from unswayed.systems.opening import open_system
from unswayed.systems.system import Failed, System

Make = Callable[..., Any]
TOOL = {
    "name": "math.factorial",
    "parameters": {"type": "dict", "properties": {"n": {"type": "float"}, "any": {"type": "any"}}, "required": ["n"]},
}
MESSAGES = [{"role": "system", "content": "Be short."}, {"role": "user", "content": "The factorial of 5?"}]
CALLS: Inputs = chat_inputs(MESSAGES, [{"type": "function", "function": TOOL}])


@pytest.fixture
def ask(scripted: Make, tmp_path: Path) -> Iterator[Make]:
    made: list[System] = []

    def make(task: str, inputs: Inputs, *replies: Any, **options: Any) -> tuple[Any, System]:
        server = scripted(*replies)
        system = open_system(server.url, model="m", backoff=0.001, **options)
        made.append(system)
        system.prepare(suite(tmp_path / f"suite{len(made)}", task, inputs))
        return server, system

    yield make
    for system in made:
        system.close()


def suite(place: Path, task: str, inputs: Inputs, gold: Json = None) -> Suite:
    examples = [Example(0, "e", inputs, gold)]
    variants = [
        Variant(0, "e", draw, "p", "p", "same", {**inputs, "user": inputs["user"] + "!" * draw}, gold, "")
        for draw in range(1, 4)
    ]
    return write_suite(place, Manifest(task=task, language="en"), lambda: examples, lambda: variants)


def message(scripted: Make, **fields: Json) -> bytes:
    return scripted.reply({"choices": [{"message": {"role": "assistant", **fields}, "finish_reason": "stop"}]})


def test_messages_and_tools_are_sent_and_calls_come_back(ask: Make, scripted: Make) -> None:
    called = [{"id": "1", "type": "function", "function": {"name": "math_factorial", "arguments": '{"n": 5}'}}]
    server, system = ask("tools", CALLS, message(scripted, content=None, tool_calls=called), scripted.chat("No."))
    assert system.predict([CALLS]) == [[{"name": "math.factorial", "arguments": {"n": 5}}]]
    sent = server.bodies[0]
    assert sent["messages"] == MESSAGES
    (tool,) = sent["tools"]
    assert tool["function"]["name"] == "math_factorial"  # a dot is not allowed there
    assert tool["function"]["parameters"]["type"] == "object"
    assert tool["function"]["parameters"]["properties"] == {"n": {"type": "number"}, "any": {"type": "string"}}
    assert system.predict([CALLS]) == ["No."]  # words instead of a call


def test_a_call_that_is_no_json_is_kept_as_it_came(ask: Make, scripted: Make) -> None:
    called = [{"function": {"name": "math_factorial", "arguments": '{"n": '}}]
    _, system = ask("tools", CALLS, message(scripted, content=None, tool_calls=called))
    assert system.predict([CALLS]) == [called]


def test_a_chat_without_tools(ask: Make, scripted: Make) -> None:
    inputs = chat_inputs(MESSAGES)
    server, system = ask("chat", inputs, scripted.chat(" 120\n"), system_message="Reply in English.")
    assert system.predict([inputs]) == ["120"]
    assert "tools" not in server.bodies[0]
    assert server.bodies[0]["messages"][0] == {"role": "system", "content": "Reply in English."}


def test_a_prompt_is_not_for_chats(ask: Make, scripted: Make, tmp_path: Path) -> None:
    (tmp_path / "p.txt").write_text("{user}")
    with pytest.raises(UsageError, match="sent as they are: leave out prompt="):
        ask("chat", chat_inputs(MESSAGES), scripted.chat("x"), prompt=str(tmp_path / "p.txt"))


def test_refusals_and_cut_answers_fail_and_are_counted_apart(scripted: Make, tmp_path: Path) -> None:
    inputs = chat_inputs(MESSAGES)
    refused = message(scripted, content=None, refusal="I can't help with that.")
    server = scripted(scripted.chat("120"), refused, scripted.chat("It is 1", "length"), scripted.chat(""))
    made = suite(tmp_path / "suite", "chat", inputs, "120")
    system = open_system(server.url, model="m", backoff=0.001)
    system.deterministic = True  # else the clean chat is asked twice, and gets one of the four replies for nothing
    try:
        run = run_system(made, system, tmp_path / "run")
    finally:
        system.close()
    found = measure_run(run, {"measure": {"sanity": False}}).validity
    assert (found["failed"], found["refused"], found["cut_off"], found["empty"]) == (2, 1, 1, 1)
    warnings = " ".join(found["warnings"])
    assert "cut off by the token limit" in warnings
    assert "refusals of the model" in warnings
    assert "are empty" in warnings


def test_what_a_content_filter_let_through_is_no_answer(ask: Make, scripted: Make) -> None:
    inputs = chat_inputs(MESSAGES)
    _, system = ask("chat", inputs, scripted.chat("To do that, first", "content_filter"))
    (failed,) = system.predict([inputs])
    assert isinstance(failed, Failed)
    assert "its content filter" in failed.error


def test_a_refusal_says_why(ask: Make, scripted: Make) -> None:
    inputs = chat_inputs(MESSAGES)
    _, system = ask("chat", inputs, message(scripted, content=None, refusal="I can't."))
    (failed,) = system.predict([inputs])
    assert isinstance(failed, Failed)
    assert failed.error == """the model refused: "I can't.\""""
    assert failed.final
