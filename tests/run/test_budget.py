"""Whatever a run does, answers, checks, repeats and a judge cost no more than the budget: the server itself counts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.chat_server import chat_server
from tests.commands import unswayed

PRICES = ("--price-in", "1000", "--price-out", "1000")


def says(request: dict[str, Any], times: int) -> str:
    """Another answer to each text, so that the judge has much to do; and yes to whatever it is asked as a judge."""
    text = request["messages"][-1]["content"]
    return "yes" if "eference" in text else f"I think that it is {len(text)} legs"


@pytest.mark.slow
@pytest.mark.parametrize("budget", [0.7, 1.5])
def test_no_more_is_spent_than_the_budget(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, budget: float) -> None:
    monkeypatch.chdir(tmp_path)
    rows = [
        {
            "question": f"How many legs have {i} spiders and {i} cats, in words",
            "answer": f"It is {12 * i} legs in all, I say.",
        }
        for i in range(30)
    ]
    Path("rows.jsonl").write_text("\n".join(map(json.dumps, rows)))
    made = unswayed("vary", "rows.jsonl", "--with", "keyboard/adjacent", "--draws", "2", "--lang", "en", "-o", "suite/")
    assert made.returncode == 0, made.stderr
    with chat_server(says) as server:
        url = server.url

        def spent(*more: str) -> float:
            told = ("--equivalent", f"judge:{url}", "--repeats", "1", "--no-sanity", "--concurrency", "2", "-o", "run/")
            run = unswayed("run", "suite/", "--system", f"{url}#m", *PRICES, *told, *more)
            assert run.returncode == 0, run.stderr
            assert "is spent" in run.stderr
            return sum(server.tokens.values()) * 1000 / 1e6

        first = spent("--budget", str(budget))
        assert 0.6 * budget < first <= budget
        assert spent("--budget", str(budget)) <= budget
        assert spent("--budget", str(1.3 * budget), "--canary", "10") <= 1.3 * budget
