"""Controls by a chat model: what is asked, and which answers count."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from unswayed.base.errors import UsageError
from unswayed.base.options import OperatorSpec
from unswayed.base.values import Example, Variant
from unswayed.vary.engine import Variation, make_operator, vary
from unswayed.vary.meaning.chat import PROMPTS, WAYS, one_stretch

Make = Callable[..., Any]


def varied(url: str, text: str, **params: Any) -> list[Variant]:
    spec = OperatorSpec("meaning/chat", {"url": url, "model": "m", "retries": 0, **params})
    return list(vary([Example(0, "e", {"text": text})], Variation(operators=(spec,), task="text", language="en")))


def answer(text: str) -> str:
    return json.dumps({"paraphrases": [text]})


def test_five_examples_are_shown_and_the_change_is_taken(scripted: Make) -> None:
    server = scripted(scripted.chat(answer("the shop closes at nine")))
    (variant,) = varied(server.url, "the shop opens at nine", way="replace")
    assert variant.inputs["text"] == "the shop closes at nine"
    assert (variant.meaning, variant.note) == ("changed", "replace, as m says it")
    (body,) = server.bodies
    content = body["messages"][0]["content"]
    assert content.count("Before: ") == content.count("After: ") == 5
    assert content.endswith("Text: the shop opens at nine")
    assert body["temperature"] == 0.0


@pytest.mark.parametrize("way", WAYS)
def test_our_examples_are_what_would_count(way: str) -> None:
    lines = (PROMPTS / f"{way}.txt").read_text(encoding="utf-8").splitlines()
    before = [line.removeprefix("Before: ") for line in lines if line.startswith("Before: ")]
    after = [line.removeprefix("After: ") for line in lines if line.startswith("After: ")]
    assert len(before) == 5
    assert all(one_stretch(one, other, 4) for one, other in zip(before, after, strict=True))


def test_answers_that_change_too_much_or_nothing_do_not_count(scripted: Make) -> None:
    server = scripted(*[scripted.chat(answer("a bar and a very different story there"))] * 3)
    assert varied(server.url, "the shop opens at nine") == []
    assert len(server.bodies) == 3
    server = scripted(*[scripted.chat(answer("The shop opens at nine"))] * 3)
    assert varied(server.url, "the shop opens at nine") == []


@pytest.mark.parametrize(
    ("new", "counts"),
    [("a b x d", True), ("a b d", True), ("a b c y d", True), ("x b c y z w", False), ("a b c d", False), ("", True)],
)
def test_one_stretch(new: str, counts: bool) -> None:
    assert one_stretch("a b c d", new, 4) is counts


def test_it_needs_a_server_and_a_way() -> None:
    with pytest.raises(UsageError, match="meaning/chat needs a server and a model"):
        make_operator(OperatorSpec("meaning/chat"))
    with pytest.raises(UsageError, match="way must be one of replace, insert, delete, not 'swap'"):
        make_operator(OperatorSpec("meaning/chat", {"url": "http://127.0.0.1:1", "model": "m", "way": "swap"}))
