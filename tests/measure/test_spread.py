"""The spread over prompts, from few calls: the command's numbers against the same prompts asked with every example."""

from __future__ import annotations

import json
import random
import re
from pathlib import Path
from typing import Any

import pytest

from tests.commands import unswayed

MY = '''
import hashlib, re

def answer(batch):
    """Right more often where the prompt has colons, and less often where it shouts; some sums are hard."""
    said = []
    for inputs in batch:
        prompt = inputs["prompt"]
        a, b = map(int, re.findall(r"[0-9]+", prompt))
        chance = 75 + 15 * (prompt.count(":") > 1) - 25 * ("QUESTION" in prompt) - 30 * (a % 5 == 0)
        luck = int(hashlib.md5(prompt.encode()).hexdigest(), 16) % 100
        said.append(f"That is {a + b if luck < chance else a}.")
    return said

def right(batch):
    return [str(sum(map(int, re.findall("[0-9]+", inputs["prompt"])))) for inputs in batch]
'''


@pytest.fixture
def place(tmp_path: Path) -> Path:
    rng = random.Random(1)
    pairs = rng.sample([(a, b) for a in range(2, 99) for b in range(2, 99)], 80)
    rows = [{"question": f"How much is {a} plus {b}?", "answer": str(a + b)} for a, b in pairs]
    (tmp_path / "sums.jsonl").write_text("\n".join(map(json.dumps, rows)))
    (tmp_path / "my_prompts.py").write_text(MY)
    (tmp_path / "p.txt").write_text("Solve this.\nQuestion: {question}\nAnswer:")
    return tmp_path


def made(place: Path, name: str, *options: str) -> Any:
    base = ("sums.jsonl", "--task", "generate", "--lang", "en", "--with", "prompt/format", "--seed", "3")
    done = unswayed("vary", *base, *options, "-o", name, cwd=place)
    assert done.returncode == 0, done.stderr
    asked = ("--system", "my_prompts:answer", "--prompt", "p.txt", "--no-sanity", "-o", f"{name}-run")
    done = unswayed("run", name, *asked, "--format", "json", cwd=place)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)["spread"]


def test_a_tenth_of_the_calls_gives_the_quantiles_of_all(place: Path) -> None:
    whole = made(place, "whole", "--draws", "40")["prompt/format"]
    assert (whole["prompts"], whole["examples"], whole["asked"]) == (40, 80, 1.0)
    few = made(place, "few", "--draws", "40", "--param", "share=0.1")["prompt/format"]
    assert few["asked"] == pytest.approx(0.1)
    assert whole["range"]["value"] > 0.2 > whole["by_chance"] > 0
    covered = 0
    for name, true in whole["quantiles"].items():
        found = few["quantiles"][name]
        for one in (true, found):  # other examples would give other scores, also if every prompt was asked with all
            assert one["low"] < one["value"] < one["high"]
        assert found["value"] == pytest.approx(true["value"], abs=0.1)
        assert found["over"] == "these prompts and examples like these"
        covered += found["low"] <= true["value"] <= found["high"]
    assert covered >= 4
    assert few["own"]["value"] == pytest.approx(whole["own"]["value"], abs=0.02), "it is asked with every example"
    assert whole["p"] < 0.001, "prompts with colons are better"
    assert whole["beaten"]["low"] < whole["beaten"]["value"] < whole["beaten"]["high"]
    assert few["beaten"]["value"] == pytest.approx(whole["beaten"]["value"], abs=0.25)
    assert {one["draw"] for one in few["scores"]} == set(range(40))
    assert sum(one["asked"] for one in few["scores"]) == 320
    assert [one["score"] for one in few["scores"]] == sorted((o["score"] for o in few["scores"]), reverse=True)
    assert any("case 'upper'" in one["prompt"] for one in few["scores"])
    table = unswayed("measure", "run", "few-run", "--no-sanity", cwd=place)
    said = " ".join(table.stdout.split())
    assert "Over 40 prompts of prompt/format, the score ranges from" in said
    assert re.search(r"better than [\d.]+% \[[\d.]+%, [\d.]+%\] of them", said)
    assert unswayed("report", "few-run", "--no-sanity", "-o", "r.html", cwd=place).returncode == 0
    assert "Scores over prompts" in (place / "r.html").read_text(encoding="utf-8")


def test_prompts_that_are_equally_good_are_not_beaten(place: Path) -> None:
    base = ("sums.jsonl", "--task", "generate", "--lang", "en", "--with", "prompt/format", "--draws", "6")
    unswayed("vary", *base, "-o", "suite", cwd=place, check=True)
    asked = ("--system", "my_prompts:right", "--prompt", "p.txt", "-o", "run")
    said = unswayed("run", "suite", *asked, cwd=place, check=True).stdout
    assert "All 6 prompts of prompt/format have the same score as your prompt: 1.00." in said
    assert "better than" not in said.partition("\n\n")[0]
    assert re.search(r"^prompt/format +6 .* –$", said, re.M), "no share of them is lower"


def test_four_prompts_have_no_quantiles_and_macro_f1_is_no_mean(place: Path) -> None:
    assert made(place, "four", "--draws", "4") == {}
    made(place, "some", "--draws", "6", "--param", "share=0.5")
    done = unswayed("measure", "run", "some-run", "--score", "macro_f1", "--no-sanity", "--format", "json", cwd=place)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["spread"] == {}


def test_equally_good_prompts_may_differ_by_chance(place: Path) -> None:
    """The same chance for all prompts: the range that is seen is one of chance, and the test says so."""
    text = (place / "my_prompts.py").read_text()
    equal = text.replace('+ 15 * (prompt.count(":") > 1) - 25 * ("QUESTION" in prompt) ', "")
    assert equal != text
    (place / "my_prompts.py").write_text(equal)
    found = made(place, "equal", "--draws", "12")["prompt/format"]
    assert found["p"] > 0.01
    assert found["range"]["low"] < found["by_chance"]
    assert found["range"]["high"] < 0.3
