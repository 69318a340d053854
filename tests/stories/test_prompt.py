"""Story 3, a prompt: questions, an endpoint that allows 100 requests a second, a prompt file and 5 dollars."""

from __future__ import annotations

import json
import random
import re
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from tests.chat_server import chat_server
from tests.commands import unswayed

PROMPT = "Answer in one sentence.\n\nQuestion: {question}\n"
WORDS = {"buys", "more", "market", "this", "morning."}  # without one of these, the model loses count
FRUIT = ("apples", "pears", "plums", "cherries", "melons")


class Endpoint:
    """Answers sums in words, wavers on some questions when it is asked again, and errs on some misspelt words."""

    def __init__(self, limit: float) -> None:
        self.limit = self.tokens = limit
        self.filled, self.refused, self.lock = time.monotonic(), 0, threading.Lock()

    def __call__(self, request: dict[str, Any], times: int) -> str | dict[str, Any]:
        with self.lock:
            now = time.monotonic()
            self.tokens = min(self.limit, self.tokens + (now - self.filled) * self.limit)
            self.filled = now
            if self.tokens < 1:
                self.refused += 1
                return {"status": 429, "content": ""}
            self.tokens -= 1
        text = request["messages"][-1]["content"]
        if "Question: " not in text or "eference" in text:
            return self.judge(text)
        numbers = [int(n) for n in re.findall(r"\d+", text)]
        wavers = times in (2, 3) and sum(numbers) % 11 == 0
        lost = not any(fruit in text.lower() for fruit in FRUIT) or not WORDS.issubset(text.lower().split())
        return f"Sure! That makes {sum(numbers) + wavers + lost} pieces of fruit."

    def judge(self, text: str) -> str:
        """Are the last two numbers the same?"""
        numbers = re.findall(r"\d+", text.split("have now?")[-1])
        return "yes" if len(numbers) >= 2 and numbers[-1] == numbers[-2] else "no"


@pytest.fixture
def place(tmp_path: Path) -> Path:
    rng = random.Random(8)
    rows = []
    for i in range(60):
        a, b, fruit = rng.randint(2, 90), rng.randint(2, 90), FRUIT[i % 5]
        question = f"Anna has {a} {fruit} and buys {b} more at the market this morning. How many does she have now?"
        rows.append({"question": question, "answer": f"She now has {a + b} {fruit} in all, at the end."})
    (tmp_path / "questions.jsonl").write_text("\n".join(map(json.dumps, rows)))
    (tmp_path / "p.txt").write_text(PROMPT)
    return tmp_path


def test_what_typos_do_beyond_the_models_own_wavering_for_five_dollars(place: Path) -> None:
    line = "vary questions.jsonl --with @typing --with prompt/format -o suite/"
    vary = unswayed(*line.split(), cwd=place)
    assert vary.returncode == 0, vary.stderr
    endpoint = Endpoint(100)
    with chat_server(endpoint) as server:
        line = f"run suite/ --system {server.url} --model m --prompt p.txt --repeats 3 --budget 5.00"
        line += f" --price-in 0.15 --price-out 0.60 --equivalent judge:{server.url} -o run/ --format json"
        done = unswayed(*line.split(), cwd=place)
        table = unswayed("measure", "run", "run/", "--equivalent", f"judge:{server.url}#m", cwd=place)
    assert done.returncode == 0, done.stderr
    results = json.loads(done.stdout)

    said = re.search(r"Estimate from 15 examples: ([\d,]+) more requests.* cost [\d.]+ \[[\d.]+, [\d.]+\]", done.stderr)
    assert said, "before the rest is asked, it says what that will cost"
    used = results["used"]
    spent = server.tokens["prompt_tokens"] * 0.15e-6 + server.tokens["completion_tokens"] * 0.60e-6
    assert used["cost"] + used["judge cost"] <= spent * (1 + 1e-9) < 5.00
    assert used["judge calls"] > 0

    assert results["validity"]["failed"] == 0, "the rate limit costs no answer"
    assert endpoint.refused <= 0.25 * sum(server.asked.values())

    again = results["repeats"]
    own, beyond = again["disagreement"], again["flips"]
    assert 0 < own["value"] < results["flips"]["value"], "typos change more answers than asking again"
    assert beyond["value"] == pytest.approx(results["flips"]["value"] - own["value"], abs=0.02)
    assert beyond["low"] > 0, "and that is more than chance"
    assert table.returncode == 0, table.stderr
    sentence = (
        rf"{100 * own['value']:.1f}% of answers change when the same text is asked again, "
        rf"{100 * results['flips']['value']:.1f}% when it is varied: "
        rf"{100 * beyond['value']:.1f} points \[{100 * beyond['low']:.1f}, {100 * beyond['high']:.1f}\] beyond chance"
    )
    assert re.search(sentence, " ".join(table.stdout.split())), table.stdout
