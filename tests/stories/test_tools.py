"""Story 4, tools: BFCL's rows and an endpoint that calls functions. Another function or argument is a flip, another
order of arguments is not."""

from __future__ import annotations

import json
import random
import zlib
from pathlib import Path
from typing import Any

import pytest

from tests.chat_server import chat_server
from tests.commands import unswayed
from unswayed.run.record import Run

CITIES = ("Oslo", "Lima", "Cairo", "Paris", "Tokyo", "Quito", "Delhi", "Minsk")
FUNCTIONS = [
    {
        "name": "get_weather", "description": "The weather of a city on one of the next days.",
        "parameters": {"type": "dict", "required": ["city", "days"], "properties": {
            "city": {"type": "string"}, "days": {"type": "integer"}, "unit": {"type": "string"}}},
    },
    {
        "name": "find_flight", "description": "Flights to a city.",
        "parameters": {"type": "dict", "required": ["city", "days"], "properties": {
            "city": {"type": "string"}, "days": {"type": "integer"}}},
    },
]  # fmt: skip


def called(text: str) -> tuple[str, dict[str, Any]]:
    """What the model makes of a request: it needs the word `weather`, and a city that is spelt right."""
    city = next((city for city in CITIES if city.lower() in text.lower()), "London")
    days = next((int(word) for word in text.split() if word.isdigit()), 1)
    return ("get_weather" if "weather" in text.lower() else "find_flight"), {"city": city, "days": days}


def endpoint(request: dict[str, Any], times: int) -> dict[str, Any]:
    """As OpenAI answers. The order of the arguments depends on every letter; one request gets arguments cut short."""
    assert [tool["function"]["name"] for tool in request["tools"]] == ["get_weather", "find_flight"]
    text = request["messages"][-1]["content"]
    name, arguments = called(text)
    if zlib.crc32(text.encode()) % 2:
        arguments = dict(reversed(arguments.items()))
    said = '{"city": "Os' if text.startswith("Hello") else json.dumps(arguments)
    call = {"id": "call_1", "type": "function", "function": {"name": name, "arguments": said}}
    return {"content": None, "tool_calls": [call], "finish_reason": "tool_calls"}


@pytest.fixture
def place(tmp_path: Path) -> Path:
    rng = random.Random(4)
    asked, golds = [], []
    for i in range(40):
        city, days, weather = rng.choice(CITIES), rng.randint(2, 9), i % 2 == 0
        text = (
            f"What will the weather be like in {city} in {days} days" if weather else f"I fly to {city} in {days} days"
        )
        text = "Hello there in the machine" if i == 39 else text
        asked.append({"id": f"multiple_{i}", "question": [[{"role": "user", "content": text}]], "function": FUNCTIONS})
        gold = {"city": [city], "days": [days]} | ({"unit": ["C", ""]} if weather else {})
        golds.append({"id": f"multiple_{i}", "ground_truth": [{FUNCTIONS[1 - weather]["name"]: gold}]})
    (tmp_path / "possible_answer").mkdir()
    for folder, rows in (("", asked), ("possible_answer", golds)):
        (tmp_path / folder / "BFCL_v4_multiple.json").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    return tmp_path


def as_set(value: Any) -> Any:
    """A call without the order of its arguments; None where there is none that can be read."""
    try:
        return [(call["name"], sorted(call["arguments"].items())) for call in value]
    except (TypeError, KeyError, AttributeError):
        return None


def test_another_function_or_argument_is_a_flip_and_another_order_is_not(place: Path) -> None:
    line = "vary BFCL_v4_multiple.json --with keyboard/adjacent --draws 4 --seed 7 --lang en -o tools/"
    vary = unswayed(*line.split(), cwd=place)
    assert vary.returncode == 0, vary.stderr
    assert "(tools, en)" in vary.stdout + vary.stderr
    with chat_server(endpoint) as server:
        line = f"run tools/ --system {server.url} --model m -o run/ --format json"
        done = unswayed(*line.split(), cwd=place)
    assert done.returncode == 0, done.stderr
    results = json.loads(done.stdout)
    assert results["score"] == "tool_calls"
    assert results["clean"]["value"] == pytest.approx(39 / 40), "arguments that are no JSON are wrong, and not missing"
    assert results["validity"]["failed"] == 0

    kinds = {"function": 0, "argument": 0, "order": 0}
    shares = []
    for _, clean, varied in Run(place / "run").items():
        flips = []
        for _, output in varied:
            before, after = as_set(clean.value), as_set(output.value)
            flips.append(before != after)
            if before is not None and after is not None:
                kinds["function"] += before[0][0] != after[0][0]
                kinds["argument"] += before[0][0] == after[0][0] and before != after
                kinds["order"] += before == after and json.dumps(clean.value) != json.dumps(output.value)
        shares.append(sum(flips) / len(flips))
    assert all(kinds.values()), kinds
    assert results["flips"]["value"] == pytest.approx(sum(shares) / len(shares))
    assert 0.02 < results["flips"]["value"] < 0.5

    report = unswayed("report", "run/", "-o", "report.html", cwd=place)
    assert report.returncode == 0, report.stderr
    flipped = [json.loads(row) for row in (place / "report.flips.jsonl").read_text(encoding="utf-8").splitlines()]
    assert len(flipped) == round(sum(shares) * 4)
    page = (place / "report.html").read_text(encoding="utf-8")
    assert "get_weather" in page
    assert "find_flight" in page
