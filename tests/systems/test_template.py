"""Templates: what stands in braces is filled in once, and never looked at again."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from unswayed.base.errors import UsageError
from unswayed.systems.template import Template


def test_names_are_filled_in() -> None:
    template = Template('Say {{"a": 1}}: {text}, {text} and {the other}.')
    assert template.names == ["text", "the other"]
    assert template.fill({"text": "x", "the other": "y", "more": "z"}) == 'Say {"a": 1}: x, x and y.'


@given(st.text(), st.text())
def test_texts_stand_as_they_are(one: str, other: str) -> None:
    assert Template("{a}|{b}|{a}").fill({"a": one, "b": other}) == f"{one}|{other}|{one}"


@given(st.text())
def test_any_text_can_be_written(text: str) -> None:
    doubled = "{{" + text.replace("{", "{{").replace("}", "}}")
    assert Template(doubled).fill({}) == "{" + text


@pytest.mark.parametrize("name", ["text.__class__", "text[0]", "text!r", "text:>10", "Text", " text ", "your answer"])
def test_nothing_but_names_is_known(name: str) -> None:
    with pytest.raises(UsageError, match="there is no text for"):
        Template("{" + name + "}").fill({"text": "x"})


@pytest.mark.parametrize(
    "json",
    [
        '{"answer": 1}',
        '{"a": {"b": 1}}',
        "{'a': {text}}",
        "{A, B or C}",
        "{}",
        "{ }",
        "{0}",
        "a { b",
        "a } b",
        "\\frac{1}{2}",
        '{\n  "a": [{"b": {}}]\n}',
        "🙂{…}",
        "{\u05e9\u05dc: 1, 2}",
    ],
)
def test_json_and_stray_braces_are_text(json: str) -> None:
    assert Template(f"{json}\n{{text}}").fill({"text": "x"}) == json.replace("{text}", "x") + "\nx"


def test_a_name_of_the_data_is_a_field_whatever_it_looks_like() -> None:
    assert Template("{#1 Label} {2}").fill({"#1 Label": "x", "2": "y"}) == "x y"


def test_where_an_unknown_name_stands_is_told() -> None:
    with pytest.raises(UsageError, match=r"p.txt, line 2: .*{quesiton}. Did you mean {question}\?.*{{quesiton}}"):
        Template('{"a": 1}\n{quesiton}', "p.txt").require(["question"])


def test_the_nearest_name_is_told() -> None:
    with pytest.raises(UsageError, match=r"no text for {premiss}. Did you mean {premise}\? There is {premise}"):
        Template("{premiss}").require(["premise", "hypothesis"])


def test_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    shipped = tmp_path / "shipped"
    shipped.mkdir()
    (shipped / "a.txt").write_text("theirs {x}\n")
    assert Template.read("a.txt", shipped).text == "theirs {x}"
    Path("a.txt").write_bytes("\ufeffmine {x}\r\n".encode())
    assert Template.read("a.txt", shipped).text == "mine {x}"
    assert Template.read("a.txt").id != Template.read(str(shipped / "a.txt")).id
    Path("bad.txt").write_bytes(b"\xff\xfe{x}")
    for name, told in (
        ("none.txt", "There is no prompt none.txt. .* a.txt"),
        ("bad.txt", "not UTF-8"),
        (".", "can't be read"),
    ):
        with pytest.raises(UsageError, match=told):
            Template.read(name, shipped)
