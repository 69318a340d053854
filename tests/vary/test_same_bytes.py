"""Each operator still makes the variants that it made before: texts, golds and notes, by an id of them all.

An operator that makes others on purpose gets a new `version`. Then run `python tests/vary/test_same_bytes.py`.
"""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path

import pytest

from unfazed.core.errors import UnfazedError
from unfazed.core.ids import content_id
from unfazed.core.values import Example
from unfazed.vary import operators
from unfazed.vary.engine import OperatorSpec, Variation, vary
from unfazed.vary.guard import LabelGuard

FILE = Path(__file__).with_name("same_bytes.json")
MODELS = ("meaning/chat", "paraphrase/chat", "paraphrase/seq2seq", "speech/roundtrip")  # systems of the user's
ENGLISH = [
    "turn off the lights in the kitchen",
    "play some jazz by miles davis please",
    "show me the flights from boston to new york tomorrow morning",
    "What's the weather like today?",
    "I would like to book a really nice table for two people .",
    "she said that the movie which we watched was not very good",
    "is there a cheap hotel near the station",
    "like it  or not",
    "Don't STOP me now, 24 7 !",
    "the café naïvely moved to İstanbul 😀",
    "",
    "a",
    "can you tell my brother that i am going to be late",
    "does it stop in chicago",
    "add this tune to my playlist",
]
WRITTEN = [  # as people write rather than speak: marks, capitals, addresses, spaces, articles, names and titles
    "Find a <b>cheap hotel</b> near www.rome.it or mail me@inn.co.uk",
    "An old MAN bought an Apple, a big Car and 12.5 litres of milk .",
    "play the song called morning light from the album big city",
    " i  need the earliest flight to fort worth ",
    "Show me all the cheap fares. Which is the best one?",
    "It’s a really cafe\u0301 for 3 < 5 people!",
    "please give me the small list of early flights from new york",
    "quickly reserve an inexpensive room,\tthen call my brother",
    "what is the weather like in the large town this morning",
    "turn down the very loud music and then turn it off",
    "BOOK A TABLE NOW",
    "book",
]
CHINESE = [
    "请帮我查一下明天的高铁票",
    "双十一花呗提额在哪",
    "我的借呗为什么不能用了，能不能再开通",
    "今天天气怎么样",
    "abc 好 123",
    "这部电影真的很好看但是票价太贵了",
]
OTHERS = {
    "de": ["Schalte das Licht in der Küche aus", "Ich möchte morgen früh nach München fahren"],
    "pt": ["desligue a luz da cozinha por favor", "o autocarro não está aqui, você vem?"],
    "ko": ["부엌 불을 꺼 줘", "내일 날씨가 어때"],
    "ar": ["أطفئ الضوء في المطبخ من فضلك"],
}


def plain(texts: list[str]) -> list[Example]:
    return [Example(i, f"e{i}", {"text": text}) for i, text in enumerate(texts)]


def tagged(texts: list[str]) -> list[Example]:
    """Every third token begins a slot of up to two tokens."""
    kinds = ("B-a", "I-a", "O", "B-b", "O", "O")
    return [
        Example(
            i, f"t{i}", {"text": t}, {"intent": "i", "slots": [kinds[n % 6] for n, _ in enumerate(t.split(" "), i)]}
        )
        for i, t in enumerate(texts)
    ]


def spans(texts: list[str]) -> list[Example]:
    found = [(t, t.find(" ") + 1, t.find(" ", t.find(" ") + 1)) for t in texts]
    return [
        Example(i, f"s{i}", {"text": t}, {"entities": [{"start": a, "end": b, "label": "X"}]})
        for i, (t, a, b) in enumerate(found)
        if 0 < a < b
    ]


def pairs(texts: list[str]) -> list[Example]:
    return [Example(i, f"p{i}", {"one": a, "two": b}, "1") for i, (a, b) in enumerate(pairwise(texts))]


DATA = {
    "en": ("text", "en", plain(ENGLISH)),
    "en slu": ("slu", "en", tagged(ENGLISH)),
    "en spans": ("tag", "en", spans(ENGLISH)),
    "en written": ("text", "en", plain(WRITTEN)),
    "en written slu": ("slu", "en", tagged(WRITTEN)),
    "en pairs": ("classify", "en", pairs(ENGLISH)),
    "zh": ("text", "zh", plain(CHINESE)),
    "zh pairs": ("classify", "zh", pairs(CHINESE)),
    **{language: ("text", language, plain(texts * 5)) for language, texts in OTHERS.items()},
}
TYPING = ("keyboard/adjacent", "keyboard/misspell", "spoken/filler_end", "spoken/filler_pre_verb", "surface/case")


def id_of(examples: list[Example], variation: Variation) -> str:
    try:
        made = list(vary(examples, variation))
    except UnfazedError as error:
        return type(error).__name__
    rows = [[v.row, v.draw, v.source, v.family, v.meaning, v.inputs, v.gold, v.note] for v in made]
    return f"{len(made)} {content_id(rows)}"


def of_operator(name: str) -> dict[str, str]:
    """By data, the id of what an operator makes of it; only where it makes something."""
    found = {}
    for data, (task, language, examples) in DATA.items():
        pools = {name: tuple(examples)} if operators.get(name).pool else {}
        plan = Variation(operators=(OperatorSpec(name),), task=task, language=language, seed=7, draws=2, pools=pools)
        if (id := id_of(examples, plan))[0].isdigit():
            found[data] = id
    return found


def of_set(name: str) -> str:
    examples = tagged(ENGLISH)
    guard = LabelGuard.learn(examples * 3, "slu") if name == "guard" else None
    specs = tuple(map(OperatorSpec, TYPING))
    how = {"set": "random"} if name == "random" else {}
    return id_of(examples, Variation(operators=specs, task="slu", language="en", draws=3, guard=guard, **how))


def signed(name: str) -> str:
    return f"{name} {operators.get(name).version}"


KNOWN = json.loads(FILE.read_text("utf-8")) if FILE.exists() else {}


@pytest.mark.parametrize("name", [name for name in operators.names() if name not in MODELS])
def test_an_operator_makes_what_it_made(name: str) -> None:
    assert of_operator(name) == KNOWN.get(signed(name)), f"{signed(name)} is new, or makes other variants"


@pytest.mark.parametrize("name", ["each", "random", "guard"])
def test_a_set_is_what_it_was(name: str) -> None:
    assert of_set(name) == KNOWN[name]


if __name__ == "__main__":
    every = {signed(name): of_operator(name) for name in operators.names() if name not in MODELS}
    every |= {name: of_set(name) for name in ("each", "random", "guard")}
    FILE.write_text(json.dumps(every, indent=1, sort_keys=True) + "\n", "utf-8")
