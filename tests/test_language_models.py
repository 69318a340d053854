"""From data to the last number with language models: free answers, chats and tool calls, as a user would."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import unswayed as unswayed_package
from tests.commands import unswayed
from unswayed.run.record import Run

BFCL = Path(__file__).parents[2] / "shared/data/bfcl"

GSM = [
    ("Natalia sold clips to 48 friends in April and half as many in May. How many altogether?", "48+24\n#### 72"),
    ("Weng earns twelve dollars an hour and worked for fifty minutes. How much did she earn?", "12/60*50\n#### 10"),
    ("Betty needs a hundred dollars and has half of that. How much more does she need?", "100/2\n#### 50"),
    ("A robe takes two bolts of blue fibre and half that much white. How many bolts in total?", "2+1\n#### 3"),
]
MY = '''
RIGHT = {"Nat": 72, "Wen": 10, "Bet": 50, "A r": 3}

def answer(batch):
    """Right, in other words each time; asked in lower case, it is 1 too many."""
    said = []
    for inputs in batch:
        text = inputs["question"]
        n = next((n for name, n in RIGHT.items() if text[:2] == name[:2]), 0) + (text == text.lower())
        said.append(f"The answer is {n}." if sum(map(ord, text)) % 2 else f"Sure! Let me see.\\n#### {n}")
    return said

def judge(batch):
    last = [[b[name].split()[-1].strip(".") for name in ("answer", "reference")] for b in batch]
    return ["yes" if answer == reference else "no" for answer, reference in last]

def polite(batch):
    return [("Sure! " if "like" in str(b) or "um" in str(b) else "") + "You can return it" for b in batch]

def chats(batch):
    for chat in batch:
        assert [m["role"] for m in chat["messages"]] == ["system", "user"], chat
        assert chat["messages"][0]["content"] == "Be short."
    return ["Yes." if chat["messages"][1]["content"].startswith("can") else "Sure! Yes." for chat in batch]

def call(batch):
    """The right call where the words are whole, else with another argument; one answer is no JSON."""
    calls = []
    for chat in batch:
        text, function = chat["messages"][-1]["content"], chat["tools"][0]["function"]
        good = "triangle" in text and "base of 10 units" in text
        calls.append([{"name": function["name"], "arguments": {"height": 5, "base": 10 if good else 11}}])
    return calls
'''


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / "my.py").write_text(MY)
    rows = [{"question": question, "answer": answer} for question, answer in GSM]
    (tmp_path / "gsm.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return tmp_path


def run(place: Path, command: str, code: int = 0) -> Any:
    done = unswayed(*command.split(), cwd=place)
    assert done.returncode == code, done.stderr
    return json.loads(done.stdout) if "--format json" in command else done


def test_gsm8k_is_scored_by_its_number_without_flags(place: Path) -> None:
    run(place, "vary gsm.jsonl --with keyboard/adjacent --draws 3 --seed 7 -o suite/")
    manifest = json.loads((place / "suite/manifest.json").read_text())
    assert (manifest["task"], manifest["compared"]) == ("generate", {"extract": "number"})
    found = run(place, "run suite/ --system my:answer -o run/ --format json --no-sanity")
    assert found["score"] == "match(number then exact)"
    assert found["clean"]["value"] == 1.0
    assert found["compared"] == {"extract": "number", "equivalent": "exact"}
    flipped = run(place, "measure run run/ --extract none --equivalent exact --format json --no-sanity")
    assert flipped["clean"]["value"] == 0.0  # whole answers are never the whole solution
    assert flipped["flips"]["value"] > found["flips"]["value"]


def test_a_judge_compares_and_is_counted(place: Path) -> None:
    run(place, "vary gsm.jsonl --with keyboard/adjacent --draws 3 --seed 7 -o suite/")
    command = "run suite/ --system my:answer --equivalent judge:my:judge -o run/ --format json --no-sanity"
    found = run(place, command)
    assert found["score"] == "match(judge:my:judge)"
    assert found["clean"]["value"] == 1.0
    assert "Reply with one word: yes or no." in found["compared"]["rubric"]
    calls = Run(place / "run").used()["judge calls"]
    assert calls > 0
    run(place, command)
    assert Run(place / "run").used()["judge calls"] == calls  # nothing is asked twice
    run(place, "report run/ --equivalent judge:my:judge --no-sanity -o report.html")
    page = (place / "report.html").read_text()
    assert "The judge’s rubric" in page
    assert "You compare two answers to the same question." in page


def test_politeness_is_no_flip(place: Path) -> None:
    (place / "shop.jsonl").write_text('{"prompt": "can I return the shoes that I bought?"}\n')
    run(place, "vary shop.jsonl --with spoken/filler_begin --draws 4 --seed 1 -o suite/")
    found = run(place, "run suite/ --system my:polite -o run/ --format json --no-sanity")
    assert found["compared"] == {"equivalent": "contains"}
    assert found["flips"]["value"] == 0.0


def test_a_chat_keeps_its_other_messages(place: Path) -> None:
    messages = [{"role": "system", "content": "Be short."}, {"role": "user", "content": "can I return the shoes?"}]
    gold = {"role": "assistant", "content": "Yes"}
    (place / "chats.jsonl").write_text(json.dumps({"messages": [*messages, gold]}) + "\n")
    run(place, "vary chats.jsonl --turn last-user --with spoken/filler_begin -o chat/")
    found = run(place, "run chat/ --system my:chats -o run/ --format json --no-sanity")
    assert found["task"] == "chat"
    assert (found["clean"]["value"], found["average"]["value"], found["flips"]["value"]) == (1.0, 1.0, 0.0)


@pytest.mark.skipif(not BFCL.is_dir(), reason="BFCL's files are not here (../shared/data/bfcl)")
def test_bfcl_from_its_file_to_the_score(place: Path) -> None:
    run(place, f"vary {BFCL}/BFCL_v4_simple_python.json --with keyboard/adjacent -o tools/")
    manifest = json.loads((place / "tools/manifest.json").read_text())
    assert (manifest["task"], manifest["examples"]) == ("tools", 400)
    found = run(place, "run tools/ --system my:call -o run/ --format json --no-sanity")
    assert found["score"] == "tool_calls"
    assert found["clean"]["value"] == pytest.approx(2 / 400)  # two questions are about this triangle
    assert found["validity"]["failed"] == 0


def test_a_scorer_of_ones_own_decides_what_the_page_says(place: Path) -> None:
    (place / "mine.py").write_text(
        "from unswayed.score import MeanScorer\n\n\n"
        "class Fine(MeanScorer):\n    name = 'fine'\n\n"
        "    def item(self, output, gold, task):\n        return 1.0\n"
    )
    run(place, "vary gsm.jsonl --with keyboard/adjacent --draws 3 --seed 7 -o suite/")
    run(place, "run suite/ --system my:answer --score mine:Fine --extract none --equivalent exact --no-sanity -o run/")
    run(place, "report run/ --score mine:Fine --extract none --equivalent exact --no-sanity -o report.html")
    page = (place / "report.html").read_text()
    assert "right, then differently right" in page
    assert "differently wrong" not in page


def test_what_is_not_known_is_refused_before_anything_is_asked(place: Path) -> None:
    run(place, "vary gsm.jsonl --with keyboard/adjacent -o suite/")
    for options in ("--extract numbr", "--equivalent exat", "--extract regex:(", "--rubric none.txt"):
        done = run(place, f"run suite/ --system my:answer {options} -o run/", 4)
        assert "extract" in done.stderr or "equivalent" in done.stderr
    assert not (place / "run").exists()
    done = run(place, "run suite/ --system my:answer --equivalent judge:my:judge --rubric none.txt -o run/", 4)
    assert "There is no prompt none.txt" in done.stderr


def test_a_plan_and_python_say_the_same_as_options(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(place)
    (place / "plan.toml").write_text(
        '[data]\npath = "gsm.jsonl"\n[vary]\noperators = ["keyboard/adjacent"]\nseed = 7\n'
        '[run]\nsystem = "my:answer"\n[measure]\nextract = "last-line"\nequivalent = "contains"\nsanity = false\n'
    )
    planned = run(place, "run --plan plan.toml -o planned/ --format json")
    said = "--extract last-line --equivalent contains --no-sanity --format json"
    told = run(place, f"run planned/suite --system my:answer {said} -o told/")
    checked = unswayed_package.check(
        "my:answer",
        "gsm.jsonl",
        "keyboard/adjacent",
        seed=7,
        plan={"measure": {"extract": "last-line", "equivalent": "contains", "sanity": False}},
    )
    assert planned["score"] == told["score"] == checked.score == "match(last-line then contains)"
    assert planned["flips"]["value"] == told["flips"]["value"] == checked.flip_rate.value
