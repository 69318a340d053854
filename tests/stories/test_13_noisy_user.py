"""Story 13, an agent with a simulated user: the team has its own loop, in which what the user says is mistyped."""

from __future__ import annotations

import random
import re
from collections.abc import Mapping
from typing import Any

import pytest

import unswayed

ORDERS = {str(4000 + n): status for n, status in enumerate(["sent", "packed", "lost", "sent", "packed"] * 8)}
SCRIPTS = [
    {
        "id": f"order {order}",
        "user": [f"hello, I would like to know where my order {order} is", "thanks, please cancel the order then"],
        "calls": [{"name": "find_order", "arguments": {"order": order}},
                  {"name": "cancel_order", "arguments": {"order": order}}],
    }
    for order in ORDERS
]  # fmt: skip
LUCK = random.Random(7)


def agent(messages: list[dict[str, Any]]) -> dict[str, Any]:
    """Finds an order if it sees the words, cancels it if it is asked to, and now and then forgets to."""
    said = messages[-1]["content"]
    orders = [number for message in messages for number in re.findall(r"\d{4}", message["content"])]
    name = "find_order" if "where" in said and "order" in said else "cancel_order" if "cancel" in said else None
    if name is None or not orders or (name == "cancel_order" and LUCK.random() < 0.01):
        return {"role": "assistant", "content": "I did not get that."}
    call = {"type": "function", "function": {"name": name, "arguments": f'{{"order": "{orders[-1]}"}}'}}
    return {"role": "assistant", "content": "One moment.", "tool_calls": [call]}


def play(user: Any, script: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The team's loop: the user and the agent in turns, until the user stops."""
    messages: list[dict[str, Any]] = []
    while "###STOP###" not in (said := user(messages)):
        messages.append({"role": "user", "content": said})
        messages.append(agent(messages))
    return messages


def test_dialogues_with_a_user_who_mistypes() -> None:
    found = unswayed.compare_dialogues(
        play, SCRIPTS, operators=["keyboard/typist", "keyboard/adjacent"], trials=4, draws=3, seed=2
    )
    clean, varied, difference = found.measures["pass^4"]
    assert clean > varied
    by_hand = [sum(one.reached for one in first) == 4 for first, _ in found.__dict__["played"].values()]
    assert clean == pytest.approx(sum(by_hand) / len(by_hand))
    power = [
        sum(one.reached for one in trials) == 4 for _, draws in found.__dict__["played"].values() for trials in draws
    ]
    assert varied == pytest.approx(sum(power) / len(power))
    assert difference.high is not None
    assert difference.high < 0  # beyond chance
    assert found.parted["noisy"][1] + found.parted["noisy"].get(2, 0) > 0
    said = " ".join(found.sentences)
    assert re.search(
        r"the goal is reached in \d+% of dialogues, with the clean one in \d+%: [\d.]+ points less \[", said
    )
    assert re.search(
        r"more than the loop's own chance\. Where calls part, it is most often at the agent's turn \d\.", said
    )
    first, draws = next(iter(found.__dict__["played"].values()))
    heard = {
        message["content"] for draw in draws for one in draw for message in one.messages if message["role"] == "user"
    }
    assert len(heard) > 2  # three people, who mistype differently
    assert {m["content"] for one in first for m in one.messages if m["role"] == "user"} == set(SCRIPTS[0]["user"])


def test_the_same_user_misheard() -> None:
    user = unswayed.noisy(lambda history: "where is the parcel that I ordered on monday", "@speech", seed=1)
    said = {user([]) for _ in range(3)}
    assert len(said) == 1
