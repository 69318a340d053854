"""Story 12, a chat product: a client, an `async def` or a URL as it is; users' turns vary, the system prompt never."""

from __future__ import annotations

import json
import re
import threading
from pathlib import Path
from typing import Any

import pytest

import unswayed
from tests.chat_server import chat_server
from tests.commands import unswayed as command
from unswayed.base.chat import TURNS
from unswayed.systems.http.client import Client

SYSTEM = "You work for a parcel service. Answer in one short sentence."
ORDERS = ("parcel", "refund", "address", "invoice")
ROWS = [
    {
        "messages": [
            {"role": "system", "content": SYSTEM},
            {"role": "user", "content": f"hello, I have a question about order number {i}"},
            {"role": "assistant", "content": "Of course. What is it about?"},
            {"role": "user", "content": f"it is about the {ORDERS[i % 4]} that you promised me last week"},
            {"role": "assistant", "content": f"I will look at the {ORDERS[i % 4]} for you."},
        ]
    }
    for i in range(40)
]


def says(request: dict[str, Any], times: int) -> str:
    """Thinks aloud, sometimes of something else, and knows its words only where they are spelt right."""
    text = request["messages"][-1]["content"].lower()
    topic = next((word for word in ORDERS if re.search(rf"\b{word}\b", text)), "matter")
    return f"<think>Is it the invoice, or the {topic}?</think>\nI will look at the {topic} for you."


@pytest.fixture
def chats(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("chats.jsonl").write_text("\n".join(map(json.dumps, ROWS)))
    return tmp_path


def test_the_team_passes_what_it_has(chats: Path) -> None:
    seen: list[list[dict[str, str]]] = []
    lock = threading.Lock()

    def answers(request: dict[str, Any], times: int) -> str:
        with lock:
            seen.append(request["messages"])
        return says(request, times)

    with chat_server(answers) as server:
        turn = "users" if "users" in TURNS else "last-user"
        varied = ("--with", "keyboard/typist", "--draws", "3", "--lang", "en", "-o", "chat/")
        made = command("vary", "chats.jsonl", "--turn", turn, *varied)
        assert made.returncode == 0, made.stderr
        run = command("run", "chat/", "--system", f"{server.url}#gpt-5-mini", "-o", "run/", "--format", "json")
        assert run.returncode == 0, run.stderr
        http = Client(server.url + "/chat/completions")

        async def answer(messages: list[dict[str, str]]) -> Any:
            return http.post({"model": "gpt-5-mini", "messages": messages}, lambda reply: reply)

        found = unswayed.check(answer, unswayed.Suite("chat/"), plan={"measure": {"sanity": False}})
        http.close()

    # the system prompt is never varied, and what the assistant said before is not either
    assert {messages[0]["content"] for messages in seen} == {SYSTEM}
    assert all(messages[2]["content"] == "Of course. What is it about?" for messages in seen)
    assert len({messages[-1]["content"] for messages in seen}) > 40

    # the answer behind the thoughts counts, and the thoughts are kept apart
    outputs = [output for _, output, _ in unswayed.Run("run/").items()]
    assert {output.reasoning[:25] for output in outputs} == {"Is it the invoice, or the"}
    assert all(output.value.startswith("I will look") for output in outputs)
    results = json.loads(run.stdout)
    assert results["clean"]["value"] == found.clean.value == 1
    assert results["flips"]["value"] > 0
    assert results["average"]["value"] == pytest.approx(found.average.value)

    # at the top: is it more than chance?
    page = command("report", "run/", "-o", "report.html")
    assert page.returncode == 0, page.stderr
    text = Path("report.html").read_text(encoding="utf-8")
    assert re.search(r"chance", text)
