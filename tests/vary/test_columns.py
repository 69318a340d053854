"""Whole blocks are varied as their texts are one by one."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from unswayed.base.options import OperatorSpec
from unswayed.base.values import Example
from unswayed.vary.engine import Variation, Varier

PIECES = [
    *("turn", "off", "The", "I", "I'm", "I'", "LIGHTS", "7pm", "17th", "table(s)", "in", "a", "x_y", "don't", "(see"),
    *(
        "ok.",
        "end!",
        "Really?",
        "a.b@c.org",
        "{name}",
        "café",
        "naïve",
        "İ",
        "😀",
        "1,234",
        "'quoted'",
        "",
        " ",
        "\n",
        "\t",
    ),
    "word" * 30,
]
texts = st.lists(st.sampled_from(PIECES), max_size=9).map(" ".join)
SPECS = [
    OperatorSpec("keyboard/adjacent"),
    *(OperatorSpec("keyboard/adjacent", {"rate": rate}) for rate in (0.01, 0.2, 1.0)),
    OperatorSpec("keyboard/adjacent", {"rate": 0.3, "protect": "none"}),
    OperatorSpec("keyboard/adjacent", {"rate": 0.3, "layout": "de"}),
    OperatorSpec("surface/case"),
    *(OperatorSpec("surface/case", {"kind": kind}) for kind in ("upper", "lower", "title", "sentence")),
    OperatorSpec("surface/punctuation"),
    OperatorSpec("surface/ocr"),
]


def varied(examples: list[Example], spec: OperatorSpec, task: str, **more: Any) -> list[Any]:
    return list(Varier(Variation(operators=(spec,), task=task, language="en", seed=2, **more)).block(examples)[0])


@pytest.mark.parametrize("spec", SPECS, ids=str)
@settings(max_examples=25)
@given(st.lists(texts, min_size=5, max_size=9))
def test_plain_texts(spec: OperatorSpec, written: list[str]) -> None:
    examples = [Example(i, f"e{i}", {"text": text}) for i, text in enumerate(written)]
    alone = [variant for example in examples for variant in varied([example], spec, "text", draws=2)]
    assert varied(examples, spec, "text", draws=2) == alone


@pytest.mark.parametrize("spec", SPECS, ids=str)
def test_labels_move_as_they_do_one_by_one(spec: OperatorSpec) -> None:
    rows = [
        ("Book a table at Joe's for 7 pm .", "O O O O B-name O B-time I-time O"),
        ("play Miles Davis now", "O B-artist I-artist O"),
        ("PLAY a.b@c.org twice", "O B-mail O"),
        ("Wake me up", "O O O"),
        ("stop", "B-do"),
    ]
    tagged = [Example(i, str(i), {"text": text}, {"intent": "x", "slots": tags.split()})
              for i, (text, tags) in enumerate(rows)]  # fmt: skip
    asked = [Example(i, str(i), {"question": "Who is it?", "context": f"{text} Then it ended."}, [text.split()[1]])
             for i, (text, _) in enumerate(rows[:4])]  # fmt: skip
    for task, examples in (("slu", tagged), ("qa", asked * 2)):
        alone = [variant for example in examples for variant in varied([example], spec, task)]
        assert varied(examples, spec, task) == alone
