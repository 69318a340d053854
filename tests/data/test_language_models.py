"""Rows as people have them for language models: questions and answers, chats, tool calls, promptfoo's tests."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from unswayed.base.chat import as_sent, chat_of
from unswayed.base.errors import DataError, UsageError
from unswayed.base.values import Example, Json
from unswayed.data import ReadOptions, read_examples, task_and_language
from unswayed.run.making import make_suite
from unswayed.storage.suite import Suite

BFCL = Path(__file__).parents[3] / "shared/data/bfcl"
here = pytest.mark.skipif(not BFCL.is_dir(), reason="BFCL's files are not here (../shared/data/bfcl)")


def kind(folder: Path, rows: list[Json], **options: Any) -> tuple[str, dict[str, str]]:
    found = task_and_language(written(folder, rows), ReadOptions(**options))
    return found.task, found.compared


def written(folder: Path, rows: list[Json]) -> Path:
    file = folder / "rows.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return file


def asked(answers: list[Json], gold: str = "answer", text: str = "question") -> list[Json]:
    return [{text: f"what about {i}?", gold: answer} for i, answer in enumerate(answers)]


NUMBER = {"extract": "number"}


@pytest.mark.parametrize(
    ("rows", "task", "compared"),
    [
        (asked(["so 24\n#### 72", "#### 1,010"]), "generate", NUMBER),  # GSM8K
        (asked(["7", "12", "-3.5"]), "generate", NUMBER),
        (asked([7, 12, 2.5]), "generate", NUMBER),
        (asked(["You can return it within thirty days.", "No."]), "generate", {}),
        (asked([f"city {i}" for i in range(20)]), "generate", {}),
        (asked(["Paris", "Rome"] + [f"Town{i}" for i in range(10)]), "generate", {}),
        (asked(["yes", "no"] * 5), "classify", {}),
        (asked(["A", "B", "C", "D"] * 4), "classify", {}),
        (asked([True, False]), "classify", {}),
        (asked([0, 1] * 10, "target", "text"), "classify", {}),
        (asked(["on", "off", "dim"], "label", "text"), "classify", {}),  # a label by its name
        (asked([f"intent {i}" for i in range(9)], "intent", "text"), "classify", {}),
        (asked(["Paris", "Rome"], "target", "input") * 4, "classify", {}),  # Inspect's names
        (asked([["Paris", "Paris, France"], ["Rome"]], "target", "input"), "generate", {}),
        ([{"prompt": "Say hi."}], "generate", {}),
        ([{"text": "wake me up"}], "text", {}),
        ([{"inputs": {"text": "a"}, "gold": "x"}, {"inputs": {"text": "b"}, "gold": "y"}], "classify", {}),
        (
            [{"inputs": {"text": "a"}, "gold": "An answer in words that no label has"}],
            "generate",
            {},
        ),
    ],
)
def test_what_is_certain_is_guessed(tmp_path: Path, rows: list[Json], task: str, compared: dict[str, str]) -> None:
    assert kind(tmp_path, rows) == (task, compared)


@pytest.mark.parametrize("answers", [["Paris", "Rome"], ["yes", "no", "yes"], ["a", "b", "c", "a", "b", "d", "c", "a"]])
def test_what_is_not_certain_is_asked(tmp_path: Path, answers: list[str]) -> None:
    rows = asked(answers)
    with pytest.raises(UsageError, match="labels or free answers.*classify or generate"):
        kind(tmp_path, rows)
    assert kind(tmp_path, rows, task="generate") == ("generate", {})
    assert kind(tmp_path, rows, task="classify") == ("classify", {})


TOOLS = [{"type": "function", "function": {"name": "f", "parameters": {"type": "object", "properties": {}}}}]
CHAT = [
    {"role": "system", "content": "Be short."},
    {"role": "user", "content": "hello there"},
    {"role": "assistant", "content": "Hi."},
    {"role": "user", "content": "can I return it?"},
]
YES = {"role": "assistant", "content": "Yes, you can."}
CALLED = {
    "role": "assistant",
    "content": None,
    "tool_calls": [{"id": "1", "type": "function", "function": {"name": "f", "arguments": '{"a": {"b": 1}, "c": 2}'}}],
}


def only(folder: Path, row: Json, **options: Any) -> Example:
    (example,) = read_examples(written(folder, [row]), ReadOptions(**options))
    return example


def test_the_last_message_of_the_assistant_is_the_gold(tmp_path: Path) -> None:
    example = only(tmp_path, {"messages": [*CHAT, YES]})
    assert example.gold == "Yes, you can."
    assert example.inputs["user"] == "can I return it?"
    assert chat_of(example.inputs) == {"messages": CHAT}
    assert kind(tmp_path, [{"messages": [*CHAT, YES]}]) == ("chat", {})
    assert only(tmp_path, {"messages": CHAT}).gold is None


def test_calls_of_the_assistant_are_gold_as_bfcl_has_it(tmp_path: Path) -> None:
    row = {"messages": [*CHAT, CALLED], "tools": TOOLS}
    example = only(tmp_path, row)
    assert example.gold == [{"f": {"a": [{"b": [1]}], "c": [2]}}]
    assert as_sent(example.inputs) == {"messages": CHAT, "tools": TOOLS}
    assert kind(tmp_path, [row])[0] == "tools"
    assert kind(tmp_path, [{"messages": CHAT, "tools": TOOLS}])[0] == "tools"
    assert kind(tmp_path, [{"messages": [*CHAT, YES], "tools": TOOLS}])[0] == "chat"


@pytest.mark.parametrize(
    ("turn", "texts"),
    [
        ("last-user", {"user": "can I return it?"}),
        ("first-user", {"user": "hello there"}),
        ("users", {"user": "hello there", "user_2": "can I return it?"}),
        ("system", {"system": "Be short."}),
        ("all", {"system": "Be short.", "user": "hello there", "user_2": "can I return it?"}),
    ],
)
def test_a_turn_says_which_texts_are_varied(tmp_path: Path, turn: str, texts: dict[str, str]) -> None:
    example = only(tmp_path, {"messages": CHAT}, turn=turn)
    assert {name: text for name, text in example.inputs.items() if name != "chat"} == texts
    assert as_sent(example.inputs) == {"messages": CHAT}
    file = written(tmp_path, [{"messages": CHAT}])
    suite = make_suite(file, "keyboard/adjacent", seed=1, language="en", plan={"data": {"turn": turn}})  # type: ignore[arg-type]
    for variant in suite:
        sent = as_sent(variant.inputs)["messages"]
        assert [m["role"] for m in sent] == [m["role"] for m in CHAT]
        changed = [old["content"] for old, new in zip(CHAT, sent, strict=True) if old != new]
        assert changed
        assert set(changed) <= set(texts.values())


def test_parts_of_a_message_are_kept(tmp_path: Path) -> None:
    image = {"type": "image_url", "image_url": {"url": "data:,"}}
    messages = [{"role": "user", "content": [image, {"type": "text", "text": "what is this?"}]}]
    example = only(tmp_path, {"messages": messages})
    assert example.inputs["user"] == "what is this?"
    assert chat_of(example.inputs) == {"messages": messages}


@pytest.mark.parametrize(
    ("row", "options", "problem"),
    [
        ({"messages": [{"role": "assistant", "content": "Hi."}]}, {}, "no text to vary"),
        ({"messages": CHAT[1:]}, {"turn": "system"}, "no text to vary in the turn 'system'"),
        ({"messages": [{"role": "user", "content": 7}]}, {}, "must be a text, not 7"),
        ({"messages": [{"role": "user"}, "hello"]}, {}, "message 2 must be"),
        (
            {"messages": [*CHAT, {**CALLED, "tool_calls": [{"function": {"name": "f", "arguments": "{"}}]}]},
            {},
            "can't be read",
        ),
        ({"question": [[CHAT[1]], [CHAT[3]]], "function": [], "id": "x"}, {}, "multi-turn"),
        ({"question": [[CHAT[1]]], "function": "f", "id": "x"}, {}, "list of definitions"),
    ],
)
def test_bad_chats_are_named(tmp_path: Path, row: Json, options: dict[str, Any], problem: str) -> None:
    with pytest.raises(DataError, match=problem) as error:
        only(tmp_path, row, **options)
    assert "rows.jsonl:1" in str(error.value)


def test_a_turn_is_for_chats(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is for chats"):
        make_suite(["wake me up"], "keyboard/adjacent", plan={"data": {"turn": "all"}})


@here
def test_bfcl_with_its_answers(tmp_path: Path) -> None:
    examples = list(read_examples(BFCL / "BFCL_v4_simple_python.json"))
    assert len(examples) == 400
    first = examples[0]
    assert first.id == "simple_python_0"
    assert first.gold == [{"calculate_triangle_area": {"base": [10], "height": [5], "unit": ["units", ""]}}]
    assert first.inputs["user"].startswith("Find the area of a triangle")
    assert as_sent(first.inputs)["tools"][0]["function"]["name"] == "calculate_triangle_area"
    assert all(example.gold == [] for example in read_examples(BFCL / "BFCL_v4_irrelevance.json"))
    for name in ("multiple", "parallel"):
        assert task_and_language(BFCL / f"BFCL_v4_{name}.json").task == "tools"


def test_an_answer_that_bfcl_lacks_is_named(tmp_path: Path) -> None:
    row = {"id": "simple_1", "question": [[CHAT[1]]], "function": [{"name": "f", "parameters": {}}]}
    file = written(tmp_path, [row])
    (tmp_path / "possible_answer").mkdir()
    (tmp_path / "possible_answer" / file.name).write_text('{"id": "simple_2", "ground_truth": []}\n')
    with pytest.raises(DataError, match="no row with the id 'simple_1'"):
        list(read_examples(file))
    (tmp_path / "possible_answer" / file.name).write_text('{"id": "simple_1"}\n')
    with pytest.raises(DataError, match="ground_truth"):
        list(read_examples(file))


PROMPTFOO = """
prompts: [a.txt]
tests:
  - vars: {question: 'What is the capital of France?', style: 1}
    assert: [{type: icontains, value: Paris}, {type: cost, threshold: 1}]
  - vars: {question: 'And of Italy?', style: 2}
    assert:
      - type: equals
        value: Rome
  - vars: {question: 'Who are you?', style: 3}
    assert: [{type: llm-rubric, value: is polite}]
"""


def test_promptfoo(tmp_path: Path) -> None:
    pytest.importorskip("yaml", reason="needs the extra yaml")
    file = tmp_path / "promptfooconfig.yaml"
    file.write_text(PROMPTFOO)
    examples = list(read_examples(file))
    assert [example.gold for example in examples] == ["Paris", "Rome", None]
    assert examples[0].inputs == {"question": "What is the capital of France?", "style": "1"}
    found = task_and_language(file)
    assert (found.task, found.compared) == ("generate", {"equivalent": "contains"})
    suite = make_suite(file, "keyboard/adjacent", seed=3, plan={"vary": {"fields": "question"}})
    assert suite.manifest.compared == {"equivalent": "contains"}
    file.write_text("- vars: {q: hello there}\n  assert: [{type: equals, value: hi}]\n")
    assert task_and_language(file).compared == {"equivalent": "exact"}


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("tests: file://tests.csv\n", "must be a list"),
        ("tests: [\n", "not YAML"),
        ("tests: [{assert: []}]\n", "has no vars"),
        ("tests: [{vars: {q: [a, b]}}]\n", "must be one text"),
        ("tests: [{vars: {q: 'file://a.txt'}}]\n", "is in a file"),
    ],
)
def test_bad_promptfoo(tmp_path: Path, text: str, problem: str) -> None:
    pytest.importorskip("yaml", reason="needs the extra yaml")
    file = tmp_path / "tests.yaml"
    file.write_text(text)
    with pytest.raises(DataError, match=problem):
        list(read_examples(file))


def test_a_suite_of_chats_is_read_again(tmp_path: Path) -> None:
    made = make_suite(
        written(tmp_path, [{"messages": [*CHAT, YES]}]), "keyboard/adjacent", to=tmp_path / "suite", seed=1
    )
    again = Suite.load(tmp_path / "suite")
    assert [v.inputs for v in again] == [v.inputs for v in made]
    assert again.manifest.task == "chat"
