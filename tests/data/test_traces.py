"""Production traces become data: each input once, the same sample for the same seed, and masked where asked."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from commands import unswayed as run
from hypothesis import given, strategies as st

import unswayed
from unswayed.base.errors import DataError, UnknownName, UsageError
from unswayed.data._traces import KINDS, Traces, _digits, read_traces


def write(file: Path, rows: list[Any]) -> Path:
    text = "".join(json.dumps(row) + "\n" for row in rows) if file.suffix == ".jsonl" else json.dumps(rows)
    file.write_text(text, encoding="utf-8")
    return file


def chat(*texts: str, role: str = "role") -> list[dict[str, str]]:
    return [{role: ("user", "assistant")[at % 2], "content": text} for at, text in enumerate(texts)]


SHAPES: dict[str, Any] = {
    "messages": {"messages": chat("where is it?", "Here.")},
    "request": {"request": {"model": "m", "messages": chat("where is it?")}, "response": {"choices": []}},
    "langsmith": {"run_type": "llm", "outputs": {}, "inputs": {"messages": [
        [{"type": "human", "content": "where is it?"}]]}},
    "langchain": {"run_type": "chain", "inputs": {"messages": [
        {"id": ["HumanMessage"], "kwargs": {"content": "where is it?", "type": "human"}}]}, "outputs": {"x": "y"}},
    "langfuse": {"id": "t", "projectId": "p", "input": {"messages": chat("where is it?", "Here.")}, "output": "Here."},
}  # fmt: skip


@pytest.mark.parametrize("name", list(SHAPES))
def test_chats_in_their_usual_forms(tmp_path: Path, name: str) -> None:
    found = read_traces(write(tmp_path / "x.jsonl", [SHAPES[name]]))
    assert found.rows == [{"messages": [{"role": "user", "content": "where is it?"}]}]


@pytest.mark.parametrize(
    ("row", "wanted"),
    [
        ({"question": " where is it? ", "answer": "Here."}, {"question": "where is it?"}),
        ({"run_type": "chain", "inputs": {"topic": "a", "who": "b"}, "outputs": {}}, {"topic": "a", "who": "b"}),
        ({"projectId": "p", "input": "where is it?", "output": "x"}, {"text": "where is it?"}),
        ({"prompt": "where is it?", "completion": "x", "latency": 3}, {"prompt": "where is it?"}),
    ],
)  # fmt: skip
def test_texts_keep_their_names(tmp_path: Path, row: Any, wanted: Any) -> None:
    for file in ("x.jsonl", "x.json"):
        assert read_traces(write(tmp_path / file, [row])).rows == [wanted]


def test_what_is_left_out_is_counted(tmp_path: Path) -> None:
    rows = [{"query": "One  thing"}, {"query": "one thing"}, {"query": "two"}, {"query": ""}, {"latency": 3},
            {"messages": chat("hello")}]  # fmt: skip
    found = read_traces(write(tmp_path / "x.jsonl", rows))
    assert found.rows == [{"query": "One  thing"}, {"query": "two"}]
    assert found.sentences == [
        "2 examples of 6 traces",
        "Left out: 1 duplicates, 2 without a text, 1 with other fields than query",
    ]


def test_a_sample_is_that_of_its_seed_whatever_the_order(tmp_path: Path) -> None:
    rows = [{"query": f"question {n}"} for n in range(200)]
    first = read_traces(write(tmp_path / "a.jsonl", rows), sample=20, seed=3)
    assert [row["query"] for row in first.rows] == sorted(
        (row["query"] for row in first.rows), key=lambda q: int(q.split()[1])
    )
    other = read_traces(write(tmp_path / "b.jsonl", rows[::-1]), sample=20, seed=3)
    assert {r["query"] for r in first.rows} == {r["query"] for r in other.rows}
    assert len(first.rows) == 20
    assert read_traces(tmp_path / "a.jsonl", sample=20, seed=4).rows != first.rows
    assert len(read_traces(tmp_path / "a.jsonl", sample=500).rows) == 200


PERSONAL = (
    "I am ann.o'hara+x@mail.example.org, call +49 (0)151 2345-6789 or 030/1234567, my IBAN is DE89 3704 0044 0532 "
    "0130 00, order 123456789 from https://shop.example.com/u/ann?id=7 at 203.0.113.9"
)  # fmt: skip


def test_personal_data_are_masked_by_the_same_kind(tmp_path: Path) -> None:
    row = {"messages": chat(PERSONAL, "Thanks!", "again: ann.o'hara+x@mail.example.org")}
    found = read_traces(write(tmp_path / "x.jsonl", [row]), mask=["all"])
    [first, _, last] = found.rows[0]["messages"]
    for secret in ("hara", "2345", "1234567", "DE89", "3704", "123456789", "shop.", "203.0.113"):
        assert secret not in first["content"]
    assert re.search(r"call \+\d\d \(\d\)\d{3} \d{4}-\d{4} or \d{3}/\d{7}, my IBAN is XX\d\d ", first["content"])
    assert last["content"].split(": ")[1] == re.search(r"user\d+@example\.com", first["content"])[0]
    assert found.masked == {"email": 2, "url": 1, "ip": 1, "iban": 1, "phone": 3}
    only = read_traces(tmp_path / "x.jsonl", mask=["email"], pattern=[r"order \d+"])
    assert "[masked 1]" in only.rows[0]["messages"][0]["content"]
    assert "DE89" in only.rows[0]["messages"][0]["content"]
    assert read_traces(tmp_path / "x.jsonl").rows[0]["messages"][0]["content"] == PERSONAL
    plain = [
        {"query": text} for text in ("room 12 at 10:30 for 4 people", "2 + 2 = 4", "order from 2026-11-19", "v1.2.3")
    ]
    assert read_traces(write(tmp_path / "y.jsonl", plain[:2]), mask=["all"]).rows == plain[:2]


@given(st.text(min_size=1), st.integers(0, 999))
def test_digits_keep_their_places(text: str, n: int) -> None:
    made = _digits(n, text)
    assert len(made) == len(text)
    assert [c.isdigit() for c in made] == [c.isdigit() for c in text]


def test_what_is_wrong_is_said(tmp_path: Path) -> None:
    file = write(tmp_path / "x.jsonl", [{"query": "a"}])
    with pytest.raises(UnknownName, match="kind of personal data named 'mail'"):
        read_traces(file, mask=["mail"])
    with pytest.raises(UsageError, match="regular expression"):
        read_traces(file, pattern=["("])
    with pytest.raises(UsageError, match="1 or more"):
        read_traces(file, sample=0)
    for wrong in (write(tmp_path / "y.jsonl", [{"latency": 1}]), tmp_path / "none.jsonl", tmp_path):
        with pytest.raises(DataError):
            read_traces(wrong)
    assert {"email", "phone"} < set(KINDS)
    assert Traces([{}], 1, {}, {}).sentences == ["1 example of 1 trace"]


def test_the_command_and_the_suite_that_comes_of_it(tmp_path: Path) -> None:
    rows = [{"messages": chat(f"please tell me where my parcel number {n} is", "Here.", "thank you")} for n in range(6)]
    write(tmp_path / "export.jsonl", [*rows, rows[0]])
    done = run("data", "traces", "export.jsonl", "--sample", "4", "--seed", "7", "-o", "mine.jsonl", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stderr.splitlines() == [
        "4 examples of 7 traces in mine.jsonl",
        "Left out: 1 duplicates, 2 not sampled",
    ]
    assert run("data", "traces", "export.jsonl", "-o", "mine.jsonl", cwd=tmp_path).returncode == 4
    suite = unswayed.make_suite(
        tmp_path / "mine.jsonl", "keyboard/adjacent", language="en", plan={"data": {"turn": "users"}}
    )
    assert suite.manifest.examples == 4
    assert all(variant.inputs["user_2"] != "thank you" for variant in suite)
