"""How a function is called follows from its code, and so does whether several threads may call it."""

from __future__ import annotations

import asyncio
import functools
import sqlite3
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import unswayed
from unswayed.base.errors import Interrupted, SystemBroken, UsageError
from unswayed.base.values import Inputs
from unswayed.systems.callable import CallableSystem
from unswayed.systems.signature import call_form, is_thread_safe

TEXTS = ["Where is my parcel?", "How do I return my shoes?"]
COUNTS = {"calls": 0}
LABELS = {"light": "lights"}
WEIGHTS = np.zeros(3)


def of_text(x: str) -> str:
    return x


def of_texts(x: list[str]) -> list[str]:
    return x


def of_items(x: list[dict[str, str]]) -> list[str]:
    return [item["text"] for item in x]


def of_one(x: dict[str, str]) -> str:
    return x["text"]


def of_chat(messages: list[dict[str, str]]) -> str:
    return messages[-1]["content"]


def of_two(premise: str, hypothesis: str, more: int = 0) -> str:
    return premise + hypothesis


async def coroutine(anything: Any) -> Any:
    return anything


async def coroutine_of_batch(questions: Any) -> Any:
    return questions


class Bot:
    def __call__(self, user_message: Any) -> Any:
        return user_message

    async def reply(self, message: Any) -> Any:
        return message


@pytest.mark.parametrize(
    ("function", "form"),
    [
        (of_text, "text"),
        (of_texts, "texts"),
        (of_items, "batch"),
        (of_one, "inputs"),
        (of_chat, "messages"),
        (of_two, "names"),
        (coroutine, "text"),
        (coroutine_of_batch, "batch"),
        (Bot(), "text"),
        (Bot().reply, "text"),
        (functools.partial(of_text, x="a"), "batch"),
        (lambda text: text, "text"),
        (lambda question, top=3: question, "text"),
        (lambda batch: batch, "batch"),
        (lambda inputs: inputs, "batch"),
        (lambda x: x, "batch"),
        (lambda messages: messages, "messages"),
        (len, "batch"),
    ],
)
def test_annotations_and_names_say_what_a_function_takes(function: Callable[..., Any], form: str) -> None:
    assert call_form(function)[0] == form


def reads_a_table(text: str) -> str:
    return LABELS.get(text, text)


def counts(text: str) -> str:
    COUNTS["calls"] += 1
    return text


def uses_weights(text: str) -> str:
    return text * int(WEIGHTS.sum())


def assigns_a_global(text: str) -> str:
    global LAST
    LAST = text
    return text


def assigns_itself(text: str) -> str:
    counts.last = text  # type: ignore[attr-defined]
    return text


def calls_a_helper(text: str) -> str:
    return counts(text)


def inner() -> list[Callable[[str], str]]:
    connection, seen, last = sqlite3.connect(":memory:"), list[str](), ""

    def of_connection(text: str) -> str:
        return str(connection.execute("SELECT ?", (text,)).fetchone()[0])

    def appends(text: str) -> str:
        seen.append(text)
        return text

    def assigns_outer(text: str) -> str:
        nonlocal last
        last = text
        return last

    return [of_connection, appends, assigns_outer]


def test_only_functions_whose_code_shows_it_may_be_called_from_several_threads() -> None:
    of_connection, appends, assigns_outer = inner()
    assert all(map(is_thread_safe, (reads_a_table, appends, of_text)))
    unsafe = (counts, uses_weights, assigns_a_global, assigns_itself, calls_a_helper, of_connection, assigns_outer)
    assert not any(map(is_thread_safe, (*unsafe, Bot(), Bot().reply, functools.partial(of_two, "a"))))


def test_calls_to_a_model_do_not_grow_so_that_its_batches_are_the_same_in_every_run() -> None:
    assert CallableSystem(of_text).grows
    assert not CallableSystem(uses_weights).grows
    assert not CallableSystem(of_text, deterministic=True).grows
    assert not CallableSystem(of_text, batch_size=8).grows


def most_at_once(function: Callable[[Callable[[], None]], Callable[..., Any]], plan: Any = None) -> int:
    """How many calls of a function were under way at the same time."""
    lock, now, most = threading.Lock(), [0], [0]

    def enter(by: int) -> None:
        with lock:
            now[0] += by
            most[0] = max(most[0], now[0])

    made = function(enter)
    rows = [{"text": f"turn on light number {i}"} for i in range(30)]
    unswayed.check(made, rows, "surface/case", language="en", plan=plan)
    return most[0]


def test_a_function_that_waits_is_called_from_several_threads_and_one_that_computes_is_not() -> None:
    def waiting(enter: Any) -> Any:
        def answer(text: str) -> str:
            enter(1)
            time.sleep(0.03)
            enter(-1)
            return "yes"

        return CallableSystem(answer, identity="a")

    def computing(enter: Any) -> Any:
        def answer(text: str) -> str:
            enter(1)
            until = time.process_time() + 0.02
            while time.process_time() < until:
                pass
            enter(-1)
            return "yes"

        return CallableSystem(answer, identity="b")

    def stateful(enter: Any) -> Any:
        system = waiting(enter)
        system.threads_if_waiting = 1  # as of a method, or of a function with a model
        return system

    def allowed(made: Any) -> Any:
        def of(enter: Any) -> Any:
            system = made(enter)
            system.threads_if_waiting = 8
            return system

        return of

    assert 2 < most_at_once(allowed(waiting)) <= 8
    assert most_at_once(allowed(computing)) == 1
    assert most_at_once(stateful) == 1
    assert most_at_once(allowed(waiting), {"run": {"asking": {"concurrency": 1}}}) == 1


def test_coroutines_run_side_by_side_and_are_bounded() -> None:
    def made(enter: Any) -> Any:
        async def answer(text: str) -> str:
            enter(1)
            await asyncio.sleep(0.03)
            enter(-1)
            return text.lower()

        return answer

    assert 2 < most_at_once(made) <= 8


def test_plain_texts_and_a_function_of_one_text_are_enough() -> None:
    got: list[str] = []

    def answer(text):  # type: ignore[no-untyped-def]
        got.append(text)
        return "ok"

    results = unswayed.check(answer, [*TEXTS, "I want my money back, please."], "@typing", language="en")
    assert results.consistency.value == 1
    assert set(TEXTS) < set(got)
    assert all(type(text) is str for text in got)


def test_what_a_function_can_not_be_given_is_said_before_it_is_called() -> None:
    pairs = [{"premise": "It rains.", "hypothesis": "It is wet.", "label": "yes"}] * 2

    def refused(function: Callable[..., Any], rows: Any, match: str) -> None:
        inputs = [name for name in rows[0] if name != "label"] if "label" in rows[0] else None
        with pytest.raises(UsageError, match=match):
            unswayed.check(function, rows, "surface/case", language="en", groups=[], input=inputs)

    refused(of_text, pairs, "takes one text")
    refused(lambda premise, conclusion: "yes", pairs, "no input 'conclusion'")
    titled = [{"question": "What is it about?", "document": "It is about rain.", "label": "yes"}] * 2
    refused(lambda question: "yes", titled, "does not see 'document'")
    chats = [{"messages": [{"role": "user", "content": "Hello, are you there?"}]}] * 2
    refused(of_text, chats, "messages")
    assert unswayed.check(of_two, pairs, "surface/case", language="en", plan={"measure": {"sanity": False}}).asked


def test_one_bad_item_of_a_function_of_one_text_leaves_the_others() -> None:
    calls: list[str] = []

    def answer(text: str) -> str:
        calls.append(text)
        if "bad" in text:
            raise RuntimeError("no")
        return text

    system = CallableSystem(answer)
    outputs = system.predict([{"text": "good"}, {"text": "bad"}, {"text": "better"}])
    assert (outputs[0], outputs[2]) == ("good", "better")
    assert "RuntimeError: no" in outputs[1].error  # type: ignore[union-attr]
    assert len(calls) == 3


def test_replies_of_chat_objects_are_read() -> None:
    class Message:
        def model_dump(self) -> dict[str, Any]:
            return {"type": "ai", "content": [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "Yes"}]}

    def answer(text: str) -> Any:
        completion = {"choices": [{"message": {"content": "<think>hm</think> No"}, "finish_reason": "stop"}]}
        return Message() if text == "a" else completion if text == "b" else "<think>\nhm\n</think>\n\nPerhaps"

    assert CallableSystem(answer).predict([{"text": t} for t in "abc"]) == ["Yes", "No", "Perhaps"]


def test_streams_and_the_states_of_agents_are_read() -> None:
    def pieces(text: str) -> Any:
        if text == "a":
            return iter(["<think>hm</think>", "Y", "es"])
        if text == "b":
            return iter([{"choices": [{"delta": {"content": piece}}]} for piece in ("N", "o")])
        return {"messages": [{"role": "user", "content": text}, {"role": "assistant", "content": "Perhaps"}]}

    assert CallableSystem(pieces).predict([{"text": t} for t in "abc"]) == ["Yes", "No", "Perhaps"]


def test_a_function_of_one_text_whose_parameter_does_not_say_so_is_told_what_to_do() -> None:
    with pytest.raises(SystemBroken, match="name its parameter text"):
        unswayed.check(lambda s: s.upper(), TEXTS, "@typing", language="en")
    assert CallableSystem(lambda s: s.upper(), takes="text").predict([{"text": "a"}]) == ["A"]


def test_what_was_answered_before_an_interruption_is_kept(tmp_path: Path) -> None:
    done = [0]

    def answer(batch: list[Inputs]) -> list[str]:
        for _ in batch:
            time.sleep(0.05)
            done[0] += 1
            if done[0] == 25:
                raise KeyboardInterrupt
        return ["yes"] * len(batch)

    rows = [{"text": f"turn on light number {i}"} for i in range(64)]
    with pytest.raises(Interrupted, match=r"^Stopped\. (1[5-9]|2\d) new answers are kept"):  # of 24 that there were
        unswayed.check(CallableSystem(answer, identity="a"), rows, "surface/case", language="en", to=tmp_path / "run")
