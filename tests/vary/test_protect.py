"""What must stay whole does, under every registered operator."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

import pytest
import regex

from benchmarks._http_server import Server
from hard_lines import LINES
from unswayed import vary_text
from unswayed.base.language import knows
from unswayed.base.options import OperatorSpec
from unswayed.base.protect import protected_spans
from unswayed.base.values import Example, Variant
from unswayed.vary import operators
from unswayed.vary.engine import Variation, vary

# These need programs or weights, or change no text of an example.
NAMES = [
    name
    for name in operators.names()
    if name not in ("speech/roundtrip", "paraphrase/seq2seq") and not name.startswith("prompt/")
]
PARAMS: dict[str, dict[str, str]] = {}


@pytest.fixture(scope="module", autouse=True)
def server() -> Iterator[None]:
    with Server() as server:
        PARAMS.update({name: {"url": server.url, "model": "m"} for name in ("meaning/chat", "paraphrase/chat")})
        yield


def variants(name: str, language: str, texts: list[str], draws: int, **params: object) -> list[Variant]:
    spec = OperatorSpec(name, {**PARAMS.get(name, {}), **params})
    examples = [Example(i, f"e{i}", {"text": text}) for i, text in enumerate(texts)]
    pools = {name: tuple(examples)} if operators.get(name).pool else {}
    plan = Variation(operators=(spec,), task="text", language=language, draws=draws, pools=pools)
    return list(vary(examples, plan))


def pieces(text: str) -> Counter[str]:
    return Counter(regex.findall(r"\X", text))


def split_graphemes(before: str, after: str) -> list[str]:
    """The graphemes of a text of which only a part is there after."""
    here, there = pieces(before), pieces(after)
    found = []
    for one, count in here.items():
        if len(one) > 1 and there[one] < count:
            parts = [one[:k] for k in range(1, len(one))] + [one[k:] for k in range(1, len(one))]
            new = [part for part in parts if there[part] > here[part]]
            # without accents, which `surface/accents` leaves out, a letter is whole; a slip may write the bare letter
            found += [one for part in new if not part[0].isalpha() or len(part) > 1]
    return found


def damaged(name: str, draws: int) -> list[str]:
    found = []
    for language in sorted({line.language for line in LINES}):
        if not knows(operators.get(name).languages, language):
            continue
        lines = [line for line in LINES if line.language == language]
        for variant in variants(name, language, [line.text for line in lines], draws):
            before, after = lines[variant.row], variant.inputs["text"]
            emoji = operators.get(name).alters == ("emoji",)
            for thing in before.whole:
                changed = emoji and not re.search(r"\w\w", thing)
                if not changed and after.count(thing) < before.text.count(thing):
                    found.append(f"{thing!r} in {after!r} ({variant.note})")
            found += [f"{one!r} in {after!r} ({variant.note})" for one in split_graphemes(before.text, after)]
    return found


def test_there_are_enough_hard_lines() -> None:
    assert len(LINES) >= 61
    assert len({line.text for line in LINES}) == len(LINES)


@pytest.mark.parametrize("name", NAMES)
def test_what_must_stay_whole_does(name: str) -> None:
    assert not damaged(name, 5)


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_what_must_stay_whole_does_in_a_hundred_draws(name: str) -> None:
    assert not damaged(name, 100)
