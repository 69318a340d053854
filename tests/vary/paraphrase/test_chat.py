"""Paraphrases by a chat model: what is asked, which answers count, and that none is asked for twice."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies as st

from unswayed.base.errors import StoredFileError, SystemBroken, UsageError
from unswayed.base.options import OperatorSpec
from unswayed.base.values import Example, Variant
from unswayed.vary.engine import Variation, describe_operator, vary
from unswayed.vary.paraphrase.chat import read_paraphrases

Make = Callable[..., Any]


def varied(url: str, texts: list[str], draws: int = 1, seed: int = 0, **params: Any) -> list[Variant]:
    spec = OperatorSpec("paraphrase/chat", {"url": url, "model": "m", "n": 2, "retries": 0, **params})
    examples = [Example(i, f"e{i}", {"text": text}) for i, text in enumerate(texts)]
    return list(vary(examples, Variation(operators=(spec,), task="text", language="en", draws=draws, seed=seed)))


def listed(*texts: str) -> str:
    return json.dumps({"paraphrases": texts})


def test_the_model_is_asked_for_json(scripted: Make) -> None:
    server = scripted(scripted.chat(listed("please close it", "shut it please")))
    (variant,) = varied(server.url + "/v1", ["close it, please"])
    assert variant.inputs["text"] in ("please close it", "shut it please")
    assert variant.note == "as m says it"
    (body,) = server.bodies
    assert body["response_format"] == {"type": "json_object"}
    assert body["temperature"] == 1.0
    assert 0 <= body["seed"] < 2**31
    content = body["messages"][0]["content"]
    assert content.endswith('{"paraphrases": ["…", "…"]}, a list of 2 texts.\n\nText: close it, please')


def test_seeds_and_draws_ask_anew_and_the_same_plan_the_same(scripted: Make) -> None:
    server = scripted(scripted.chat(listed("b", "c")))
    first = varied(server.url, ["a", "d"], draws=2)
    seeds = [body["seed"] for body in server.bodies]
    assert len(set(seeds)) == 4
    server.bodies.clear()
    assert varied(server.url, ["a", "d"], draws=2) == first
    assert {body["seed"] for body in server.bodies} == set(seeds)
    server.bodies.clear()
    varied(server.url, ["a"], seed=1)
    assert server.bodies[0]["seed"] not in seeds


@pytest.mark.parametrize(
    ("answer", "found"),
    [
        (listed("a", "b"), ["a", "b"]),
        ('["a", " b "]', ["a", "b"]),
        (f"```json\n{listed('a', 'b')}\n```\n", ["a", "b"]),
        (listed("a", "b", "c"), ["a", "b"]),
        (listed("a", "a"), ["a"]),
        (listed("a"), []),
        (listed("a", " "), []),
        ('["a", 1]', []),
        ('{"paraphrases": "a, b"}', []),
        ('{"other": ["a", "b"]}', []),
        ("Sure! Here are two: a, b", []),
        ('["a", "b"', []),
        ('["a", "\\ud800"]', []),
        ("[" * 5000, []),
        ("", []),
        ("null", []),
    ],
)
def test_answers_are_checked(answer: str, found: list[str]) -> None:
    assert read_paraphrases(answer, 2) == found


@given(st.text(), st.integers(1, 5))
def test_no_answer_breaks_it(answer: str, n: int) -> None:
    assert len(read_paraphrases(answer, n)) <= n


def test_a_bad_answer_is_asked_for_again_and_the_text_left_alone_in_the_end(scripted: Make) -> None:
    server = scripted(scripted.chat("Sure!"), scripted.chat(None), scripted.chat(listed("b", "c")))
    assert len(varied(server.url, ["a"])) == 1
    assert len({body["seed"] for body in server.bodies}) == 3
    server = scripted(scripted.chat("Sure!"))
    assert varied(server.url, ["a"]) == []
    assert len(server.bodies) == 3
    assert varied(scripted(scripted.reply({"error": "I will not"}, 400)).url, ["a"]) == []


def test_a_server_that_refuses_everything_is_told_of(scripted: Make) -> None:
    refused = scripted.reply({"error": {"message": "unknown field seed"}}, 400)
    server = scripted(refused)
    with pytest.raises(SystemBroken, match=r"first 10 texts.*'unknown field seed'.*body="):
        varied(server.url, [f"t{i}" for i in range(30)], concurrency=1)
    server = scripted(scripted.chat(listed("b", "c")), refused)
    assert len(varied(server.url, [f"t{i}" for i in range(30)], concurrency=1)) == 1


def test_the_same_words_are_no_paraphrase(scripted: Make) -> None:
    assert varied(scripted(scripted.chat(listed("Close it!", "close  it"))).url, ["close it"]) == []
    assert varied(scripted(scripted.chat("no")).url, ["", " \n"]) == []


def test_what_was_answered_is_not_asked_again(scripted: Make, tmp_path: Path) -> None:
    memory = str(tmp_path / "memory.sqlite")
    server = scripted(scripted.chat(listed("b", "c")), scripted.chat(listed("d", "e")), scripted.reply({}, 500))
    texts = ["one", "two", "three"]
    with pytest.raises(SystemBroken, match=r"answered 500.*What was answered is kept"):
        varied(server.url, texts, memory=memory, canary=0, concurrency=1)
    server.replies = [scripted.chat(listed("f", "g"))]
    server.bodies.clear()
    made = varied(server.url, texts, memory=memory, canary=0, concurrency=1)
    assert len(made) == 3
    assert len(server.bodies) == 1
    assert varied(server.url, texts, memory=memory, canary=0) == made
    assert len(server.bodies) == 1
    varied(server.url, texts[:1], memory=memory, canary=0, temperature=0.5)
    assert len(server.bodies) == 2, "another setting is another question"


def test_a_refused_text_is_not_asked_again(scripted: Make, tmp_path: Path) -> None:
    server = scripted(scripted.reply({"error": "I will not"}, 400), scripted.chat(listed("b", "c")))
    for _ in range(2):
        assert len(varied(server.url, ["one", "two"], memory=str(tmp_path / "m.sqlite"), concurrency=1, canary=0)) == 1
    assert len(server.bodies) == 2


def test_a_file_that_is_no_store_is_refused_by_name(tmp_path: Path) -> None:
    file = tmp_path / "memory.jsonl"
    file.write_text('["key", "answer"]\n' * 100)
    with pytest.raises(StoredFileError, match=r"memory\.jsonl: the store is damaged or not a store"):
        varied("http://127.0.0.1:1", ["a"], memory=str(file))


def test_any_system_can_rewrite(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "saying.py").write_text(
        "asked = []\n"
        "def again(batch):\n    asked.extend(batch)\n"
        "    return [['again: ' + i['text']] * int(i['n']) for i in batch]\n"
        "def refuses(batch):\n    return [None for _ in batch]\n"
    )
    monkeypatch.chdir(tmp_path)
    (variant,) = varied("saying:again", ["close it"], model="", memory="kept.sqlite")
    assert variant.inputs["text"] == "again: close it"
    from saying import asked  # type: ignore[import-not-found]

    assert [set(inputs) for inputs in asked] == [{"text", "n", "language", "seed"}]
    varied("saying:again", ["close it"], model="", memory="kept.sqlite", canary=0)
    assert len(asked) == 1
    varied("saying:again", ["close it"], model="", memory="kept.sqlite")
    assert len(asked) == 1, "all that decides the stored answer is known"
    varied("saying:again", ["close it"], model="", memory="kept.sqlite", canary=1)
    assert len(asked) == 2, "the stored answer is checked"
    assert varied("saying:refuses", ["close it"], model="") == []


def test_what_is_missing_is_told(tmp_path: Path) -> None:
    for params, told in (
        ({"url": ""}, 'params={"url": '),
        ({"model": ""}, '"model": "NAME"'),
        ({"n": 0}, "1 or more"),
        ({"memory": str(tmp_path)}, "can't be kept"),
        ({"memory": str(tmp_path / "none" / "x.sqlite")}, "can't be kept"),
        ({"url": "ftp://x"}, "begins with http"),
        ({"prompt": "none.txt"}, "no prompt none.txt.*paraphrase.txt"),
    ):
        with pytest.raises(UsageError, match=told):
            varied(**{"url": "http://127.0.0.1:1", "texts": ["a"], **params})  # type: ignore[arg-type]
    file = tmp_path / "p.txt"
    for text, told in (("{txt}", r"Did you mean \{text\}"), ("Say it {n} times", "has no {text}")):
        file.write_text(text)
        with pytest.raises(UsageError, match=told):
            varied("http://127.0.0.1:1", ["a"], prompt=str(file))


def test_the_prompts_content_is_part_of_the_plan(tmp_path: Path) -> None:
    file = tmp_path / "p.txt"
    seen = []
    for text in ("{text}", "{text}!"):
        file.write_text(text)
        seen.append(describe_operator(OperatorSpec("paraphrase/chat", {"prompt": str(file)}))["params"])
    assert seen[0]["prompt_id"] != seen[1]["prompt_id"]
