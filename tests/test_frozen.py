"""What users get stays the same while the code below it moves: variants, measures, the demo's pages and exports.

The goldens are in `frozen.json` and `frozen/`. Write them anew with `python tests/test_frozen.py`, and only if you mean
to change what users get. Signatures, hashes and the code inside pages stand apart, under "signatures", as a new name
or version of the package changes them; `python tests/test_frozen.py signatures` writes only these.
The package's own name is a placeholder in all goldens.
"""

from __future__ import annotations

import base64
import difflib
import gzip
import importlib.metadata
import json
import os
import re
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from hashlib import blake2b
from itertools import pairwise
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import msgspec
import pytest
from click.testing import CliRunner

import unswayed
from unswayed import Example, Failed
from unswayed.cli import unswayed as command

FILE = Path(__file__).with_name("frozen.json")
FOLDER = Path(__file__).with_name("frozen")
EPOCH = 1767225600
os.environ["SOURCE_DATE_EPOCH"] = str(EPOCH)

# How the package's name, paths and versions are taken out of what is compared

NAME = re.compile(unswayed.__name__, re.IGNORECASE)
VERSION = importlib.metadata.version(unswayed.__name__)
MACHINE = re.compile(r"(score=(?:sentence_)?(?:bleu|chrf):.*?outputs=)\w+")  # these are ids of logarithms' last digits
SIGNATURE = re.compile(r"measure=[^\s<>\"]*\|[^\s<>\"]*")
ID = re.compile(r"\b(?:[0-9a-f]{64}|[0-9a-f]{32}|[0-9a-f]{16})\b")


def neutral(text: str, *folders: Path) -> str:
    """The text without what depends on the package's name and version or on the place where it was made."""
    for folder in folders:
        text = text.replace(str(folder), "FOLDER")
    text = re.sub(r"[^\s<>\"']*/(?=home_(?:test|train)\.jsonl)", "SAMPLES/", text)
    text = NAME.sub("TOOL", text)
    return re.sub(rf"(TOOL\W{{1,6}}){re.escape(VERSION)}", r"\1VERSION", text)


def hashed(value: Any) -> str:
    """A short id of a JSON value or of bytes."""
    data = value if isinstance(value, bytes) else msgspec.json.encode(value, order="deterministic")
    return blake2b(data, digest_size=8).hexdigest()


def tree(value: Any) -> Any:
    """Results as plain values, in which an estimate is a short list, and without signatures."""
    if isinstance(value, dict):
        if {"value", "low", "high", "n", "missing", "signature"} <= value.keys():
            usual = (None, "examples like these")
            more = {name: value[name] for name in ("bounds", "over") if value.get(name) not in usual}
            figures = [value[name] for name in ("value", "low", "high", "n", "missing")]
            return tree([*figures, *([more] if more else [])])
        return {key: tree(item) for key, item in value.items() if key != "signature"}
    if isinstance(value, list | tuple):
        return [tree(item) for item in value]
    if isinstance(value, float):
        return float(f"{value:.12g}")
    return neutral(value) if isinstance(value, str) else value


def signatures_in(value: Any) -> Iterator[str]:
    """Every signature in results, in the results' order."""
    if isinstance(value, dict):
        if isinstance(value.get("signature"), str):
            yield MACHINE.sub(r"\1ID", neutral(value["signature"]))
        value = list(value.values())
    if isinstance(value, list | tuple):
        for item in value:
            yield from signatures_in(item)


def signed(results: Any) -> dict[str, str]:
    """The main measures' signatures, and an id of all signatures together."""
    main = {name: next(signatures_in(part), "") for name, part in results.items() if isinstance(part, dict)}
    return {**{name: first for name, first in main.items() if first}, "all": hashed(list(signatures_in(results)))}


def differences(now: Any, then: Any, where: str = "") -> Iterator[str]:
    """Where two trees differ; numbers may differ in their last digits, as processors do.

    Intervals of comparisons are solved for, to fewer digits.
    """
    rel, tiny = (1e-6, 1e-8) if "/compared" in where else (1e-9, 1e-12)
    if isinstance(now, dict) and isinstance(then, dict):
        for key in {**then, **now}:
            if key in now and key in then:
                yield from differences(now[key], then[key], f"{where}/{key}")
            else:
                yield f"{where}/{key}: {'new' if key in now else 'gone'}: {now.get(key, then.get(key))!r:.200}"
    elif isinstance(now, list) and isinstance(then, list) and len(now) == len(then):
        for at, (one, other) in enumerate(zip(now, then, strict=True)):
            yield from differences(one, other, f"{where}/{at}")
    elif isinstance(now, float) or isinstance(then, float):
        if now is None or then is None or now != pytest.approx(then, rel=rel, abs=tiny):
            yield f"{where}: {now!r}, was {then!r}"
    elif now != then or type(now) is not type(then):
        yield f"{where}: {now!r:.500}, was {then!r:.500}"


def same(now: Any, *keys: str) -> None:
    """Asserts that a tree is the golden one."""
    then = KNOWN
    for key in keys:
        then = then.get(key, {})
    found = list(differences(tree(now), then))
    assert not found, "\n".join(["Not as it was. If you mean that: python tests/test_frozen.py", *found[:40]])


def run_command(*words: object) -> Any:
    """A command in this process: its exit code, what it prints, and the error that it raised."""
    return CliRunner().invoke(command, [str(word) for word in words])


# 1. Operators: the variants that each makes in every language that it knows

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
MORE = {  # texts in which operators find what is not above
    "en": ["my sister has two dogs", "the theater has an elevator and gray walls", "see you at the concert tonight 🎵",
           "In 2011, Microsoft bought Skype because it did not have a messenger.", "I think she is a teacher.",
           "my father is the owner of this shop", "Which player was criticized for not jumping into the pile?"],
    "pt": ["O trem está chegando em um minuto.", "meu pai é o dono desta loja", "não me deram dois livros, é?"],
    "zh": ["这个软件的默认打印机是什么？", "iPhone 15多少钱，可以用5G吗？", "我父亲是这家店的老板",
           "新华时评：把优秀返乡农民工打造成乡村振兴生力军"],
    "de": ["Ich schreibe dir später, liebe Grüße", "Kannst du mir vielleicht kurz Bescheid geben?"],
    "sv": ["jag vet inte vad det är", "kommer du också i morgon kväll?"],
    "ja": ["ありがとうございます、了解しました", "iPhone 15はいくらですか？"],
    "th": ["อยากกินข้าวมากมากเลย", "วันนี้ อากาศ ดี มาก 24"],
    "ko": ["iPhone 15 가격은 얼마예요?", "내일 9시에 TV 켜 줘"],
    "ar": ["احجز طاولة لـ 12 شخصا في الساعة 7", "أطفئ الضوء"],
    "tl": ["Nasaan pô kayó bukás?", "Magandang gabí"], "fil": ["Nasaan pô kayó bukás?", "Magandang gabí"],
    "be": ["Дзе на́ша хата?", "Ён па́льма и́ горад"], "eu": ["Zein da kafé hori, mesedez?", "Nun dago Iruñea"],
    "he": ["אֵיפֹה הַבַּיִת?", "מָה הַשָּׁעָה עַכְשָׁו"],
}  # fmt: skip
CHOICES = [  # as MMLU has them
    {"question": "What is the capital of Norway?", "choices": ["Oslo", "Lima", "Paris", "Bergen"], "answer": 0},
    {"question": "Which of these is a colour?", "choices": ["a dog", "red", "seven"], "answer": 1},
    {"question": "How many days has a week?", "choices": ["six", "five", "eight", "seven"], "answer": 3},
    {"question": "What barks?", "choices": ["a cat", "a cow", "a dog", "a tree"], "answer": 2},
]
OTHERS = {
    "de": ["Schalte das Licht in der Küche aus", "Ich möchte morgen früh nach München fahren"],
    "pt": ["desligue a luz da cozinha por favor", "o autocarro não está aqui, você vem?"],
    "ko": ["부엌 불을 꺼 줘", "내일 날씨가 어때"],
    "ar": ["أطفئ الضوء في المطبخ من فضلك"],
    **json.loads((FOLDER / "sentences.json").read_text("utf-8")),
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


DATA: dict[str, tuple[str | None, str, list[Any]]] = {
    "en": ("text", "en", plain(ENGLISH)),
    "en slu": ("slu", "en", tagged(ENGLISH)),
    "en spans": ("tag", "en", spans(ENGLISH)),
    "en written": ("text", "en", plain(WRITTEN)),
    "en written slu": ("slu", "en", tagged(WRITTEN)),
    "en pairs": ("classify", "en", pairs(ENGLISH)),
    "zh": ("text", "zh", plain(CHINESE)),
    "zh pairs": ("classify", "zh", pairs(CHINESE)),
    **{f"{language} more": ("text", language, plain(texts)) for language, texts in MORE.items()},
    "choices": (None, "en", CHOICES),
    **{language: ("text", language, plain(texts * 5)) for language, texts in OTHERS.items()},
}
TYPING = ("keyboard/adjacent", "keyboard/misspell", "spoken/filler_end", "spoken/filler_pre_verb", "surface/case")
SETS = ("each", "random", "guard")


@cache
def registered(kind: str) -> list[dict[str, Any]]:
    """What `unswayed list KIND` knows."""
    return list(json.loads(run_command("list", kind, "--format", "json").stdout))


def id_of(variants: list[Any]) -> str:
    """The number of variants, and an id of their texts, golds and notes."""
    rows = [[v.row, v.draw, v.source, v.family, v.meaning, v.inputs, v.gold, v.note] for v in variants]
    return f"{len(rows)} {hashed(rows)}"


def variants_of(data: str) -> dict[str, str]:
    """By operator and its version, the id of what it makes of some data; only where it makes something."""
    task, language, examples = DATA[data]
    known = [
        entry["name"]
        for entry in registered("operators")
        if not entry["needs"] and {"*", language} & set(entry["languages"])
    ]
    prompts = [[name] for name in known if name.startswith("prompt/")]  # these may refuse the data
    found = {}
    for names in ([name for name in known if not name.startswith("prompt/")], *prompts):
        try:
            suite = unswayed.make_suite(examples, names, task=task, language=language, seed=7, draws=2)
        except unswayed.UnswayedError:
            if not names[0].startswith("prompt/"):
                raise
            continue
        made: dict[str, list[Any]] = {}
        for variant in suite:
            made.setdefault(variant.source, []).append(variant)
        versions = {str(operator["name"]): operator["version"] for operator in suite.manifest.operators}
        found |= {f"{name} {versions[name]}": id_of(variants) for name, variants in sorted(made.items())}
    return found


def set_of(name: str, folder: Path) -> str:
    """The id of a set of variants by several operators: by each, by a random one, or guarded by labels."""
    how: dict[str, Any] = {"set": "random"} if name == "random" else {}
    if name == "guard":
        how = {"guard": folder / "guard.jsonl"}
        rows = [{"text": e.inputs["text"], **e.gold} for e in tagged(ENGLISH) * 3]
        how["guard"].write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return id_of(
        list(unswayed.make_suite(tagged(ENGLISH), TYPING, task="slu", language="en", draws=3, plan={"vary": how}))
    )


@pytest.mark.parametrize("data", DATA)
def test_operators_make_the_variants_that_they_made(data: str) -> None:
    """An operator that makes others on purpose gets a new `version`."""
    same(variants_of(data), "operators", data)


def test_every_operator_has_a_golden_in_every_language_it_knows() -> None:
    """A new operator, or a new language of one, needs texts above in which it finds something.

    Left out are only operators that ask a model of yours, which say so in `needs`.
    """
    frozen = {(name.split()[0], DATA[data][1]) for data, found in KNOWN["operators"].items() for name in found}
    frozen |= {(name, "*") for name, _ in frozen}
    known = {(e["name"], of) for e in registered("operators") if not e["needs"] for of in e["languages"]}
    assert sorted(known - frozen) == []
    assert {name for name, _ in frozen} == {name for name, _ in known}  # none of an operator that is gone


@pytest.mark.parametrize("name", SETS)
def test_a_set_of_operators_is_what_it_was(name: str, tmp_path: Path) -> None:
    assert set_of(name, tmp_path) == KNOWN["sets"][name]


# 2. Tasks: small data, a system of plain Python, and all that is measured of it

PLACES = ("home", "away")
Rows = list[tuple[dict[str, str], Any]]
LIGHTS = [
    ("turn off the lights in the kitchen", "lights"),
    ("play some jazz by miles davis", "music"),
    ("is it going to rain in boston tomorrow", "weather"),
    ("please switch on the lamp in the hall", "lights"),
    ("i want to hear a really good old song", "music"),
    ("what is the weather like in new york today", "weather"),
    ("dim the lights in my bedroom", "lights"),
    ("add this tune to my favourite playlist", "music"),
    ("will it be cold and windy in chicago", "weather"),
    ("make the living room a little brighter", "lights"),
    ("stop the music and call my brother", "lights"),
    ("do i need a big umbrella this morning", "weather"),
]
NAMES = ("boston", "chicago", "miles", "davis", "york", "oslo", "lima")  # that systems know; in the data are others
TRUE = ("anna", "new", *NAMES[:-1])
SENTENCES = ["anna flies from boston to oslo", "miles davis played in chicago", "is lima near new york",
             "the train to boston is late", "who lives in oslo today", "call the hotel in lima for me",
             "chicago is a big and windy city", "what does davis want in boston"]  # fmt: skip
SCHEMA = {"tables": {"city": ["name", "size"]}, "keys": {}}
CITY = {"type": "object", "properties": {"city": {"type": "string"}}}
TOOLS = [{"type": "function", "function": {"name": name, "parameters": CITY}} for name in ("weather", "flight")]
LEXICON = """
the=das house=Haus by=am sea=Meer is=ist old=alt and=und big=groß we=wir go=gehen to=nach city=Stadt
tomorrow=morgen sun=Sonne today=heute shines=scheint train=Zug late=spät very=sehr dog=Hund
sleeps=schläft"""
GERMAN = dict(pair.split("=") for pair in LEXICON.split())


def classified(text: str) -> str:
    words = set(text.split())
    if words & {"lights", "lamp", "brighter"}:
        return "lights"
    return "weather" if words & {"rain", "weather", "cold", "umbrella"} else "music"


def tags_of(text: str, names: tuple[str, ...] = NAMES) -> list[str]:
    """Each known name begins a city; the name after a name goes on."""
    tags: list[str] = []
    for word in text.split(" "):
        before = tags[-1] if tags else "O"
        tags.append("O" if word not in names else "B-city" if before == "O" else "I-city")
    return tags


def entities_of(text: str, names: tuple[str, ...] = NAMES) -> list[dict[str, Any]]:
    return [
        {"start": found.start(), "end": found.end(), "label": "city"}
        for found in re.finditer(r"\w+", text)
        if found[0] in names
    ]


def answered(inputs: dict[str, str]) -> str:
    """The word of the context after the last word that it shares with the question."""
    asked = set(inputs["question"].lower().split())
    context = inputs["context"].split()
    after = [word for before, word in pairwise(context) if before.lower() in asked and word.lower() not in asked]
    return after[-1] if after else ""


def reply_of(inputs: dict[str, Any], names: tuple[str, ...] = NAMES) -> str:
    text = inputs["messages"][-1]["content"] if "messages" in inputs else inputs["text"]
    return next((word for word in text.lower().split() if word in names), "I don't know")


def called(inputs: dict[str, Any]) -> list[dict[str, Any]]:
    text = inputs["messages"][-1]["content"]
    return [{"name": "weather" if "weather" in text else "flight", "arguments": {"city": reply_of(inputs)}}]


def sql_of(inputs: dict[str, str]) -> str:
    words = inputs["question"].split()
    return f"SELECT {'count(*)' if 'many' in words else 'size' if 'big' in words else 'name'} FROM city"


def chats(gold: Callable[[str], Any], **more: Any) -> list[dict[str, Any]]:
    brief = {"role": "system", "content": "Be brief."}
    return [{"messages": [brief, {"role": "user", "content": text}], "gold": gold(text), **more} for text in SENTENCES]


def examples_of(rows: Rows) -> list[Example]:
    return [Example(i, f"e{i}", inputs, gold, {"place": PLACES[i % 3 == 0]}) for i, (inputs, gold) in enumerate(rows)]


def read(context: str, *asked: tuple[str, str]) -> Rows:
    """Questions on a context with their answers; an empty answer says that there is none."""
    golds = [[{"text": text, "start": context.index(text)}] if text else [] for _, text in asked]
    inputs = [{"question": question, "context": context} for question, _ in asked]
    return [(one, {"answers": gold}) for one, gold in zip(inputs, golds, strict=True)]


class Case(SimpleNamespace):
    """A task's data, the operators that vary it, and the system that is asked about one input."""

    task: str
    data: Any
    operators: tuple[str, ...]
    answer: Callable[[Any], Any]


CASES = {
    "classify": Case(
        task="classify",
        data=examples_of([({"text": text}, gold) for text, gold in LIGHTS]),
        operators=("keyboard/adjacent", "spoken/filler_end", "meaning/replace"),
        answer=lambda inputs: classified(inputs["text"]),
    ),
    "pairs": Case(
        task="classify",
        data=examples_of([({"one": a, "two": b}, int(g == h)) for (a, g), (b, h) in pairwise(LIGHTS + LIGHTS[3:4])]),
        operators=("keyboard/misspell", "spoken/filler_begin"),
        answer=lambda inputs: {"label": int(classified(inputs["one"]) == classified(inputs["two"]))},
    ),
    "structured": Case(
        task="structured",
        data=examples_of([({"text": text}, {"label": gold, "words": len(text.split())}) for text, gold in LIGHTS]),
        operators=("keyboard/adjacent", "spoken/filler_end"),
        answer=lambda inputs: {"label": classified(inputs["text"]), "words": len(inputs["text"].split())},
    ),
    "tag": Case(
        task="tag",
        data=examples_of([({"text": text}, {"tags": tags_of(text, TRUE)}) for text in SENTENCES]),
        operators=("keyboard/adjacent", "spoken/filler_begin", "surface/case"),
        answer=lambda inputs: {"tags": tags_of(inputs["text"])},
    ),
    "spans": Case(
        task="tag",
        data=examples_of([({"text": text}, {"entities": entities_of(text, TRUE)}) for text in SENTENCES]),
        operators=("keyboard/adjacent", "surface/spaces"),
        answer=lambda inputs: entities_of(inputs["text"]),
    ),
    "slu": Case(
        task="slu",
        data=examples_of(
            [({"text": t}, {"intent": classified(t), "slots": tags_of(t, TRUE)}) for t in [*dict(LIGHTS), *SENTENCES]]
        ),
        operators=("keyboard/adjacent", "spoken/filler_end"),
        answer=lambda inputs: {"intent": classified(inputs["text"]), "slots": tags_of(inputs["text"])},
    ),
    "qa": Case(
        task="qa",
        data=examples_of(
            [
                *read(
                    "Anna lives in Rome and works in Oslo",
                    ("who lives in town", "Rome"),
                    ("where does she work in", "Oslo"),
                    ("what is Anna", ""),
                ),
                *read(
                    "The band plays loud jazz on Monday",
                    ("what does the band do", "plays"),
                    ("when is it on", "Monday"),
                    ("how loud", "jazz"),
                ),
            ]
        ),
        operators=("keyboard/adjacent", "spoken/filler_begin"),
        answer=answered,
    ),
    "generate": Case(
        task="generate",
        data=examples_of([({"text": text}, [reply_of({"text": text}, TRUE), "none"]) for text in SENTENCES]),
        operators=("keyboard/typist", "surface/repeat"),
        answer=reply_of,
    ),
    "multilabel": Case(
        task="multilabel",
        data=examples_of([({"text": text}, sorted(set(text.split()[:2]))) for text in SENTENCES]),
        operators=("keyboard/typist", "surface/case"),
        answer=lambda inputs: inputs["text"].split()[1::-1],
    ),
    "score": Case(
        task="score",
        data=examples_of([({"text": text}, len(text) / 10) for text in SENTENCES]),
        operators=("keyboard/typist", "spoken/filler_end"),
        answer=lambda inputs: round(len(inputs["text"]) / 10 + inputs["text"].count("t") / 4, 3),
    ),
    "retrieve": Case(
        task="retrieve",
        data=examples_of([({"query": text}, {text.split()[-1]: 2, text.split()[0]: 1}) for text in SENTENCES]),
        operators=("keyboard/typist", "spoken/filler_begin"),
        answer=lambda inputs: [*inputs["query"].split()[:1], "none", *inputs["query"].split()[1:]],
    ),
    "translate": Case(
        task="translate",
        data=examples_of(
            [
                ({"source": "the house by the sea is old"}, "das Haus am Meer ist alt"),
                (
                    {"source": "we go to the city tomorrow"},
                    ["wir gehen morgen in die Stadt", "morgen gehen wir nach der Stadt"],
                ),
                ({"source": "the sun shines today"}, "die Sonne scheint heute"),
                ({"source": "the train to the city is very late"}, "der Zug in die Stadt ist sehr spät"),
                ({"source": "the old dog sleeps by the big house"}, "der alte Hund schläft am großen Haus"),
            ]
        ),
        operators=("keyboard/adjacent", "spoken/filler_begin"),
        answer=lambda inputs: " ".join(GERMAN.get(word, word) for word in inputs["source"].split()),
    ),
    "text": Case(
        task="text",
        data=examples_of([({"text": text}, None) for text, _ in LIGHTS]),
        operators=("keyboard/adjacent", "surface/emoji"),
        answer=lambda inputs: {"is": classified(inputs["text"])},
    ),
    "chat": Case(
        task="chat",
        data=chats(lambda text: reply_of({"text": text}, TRUE)),
        operators=("keyboard/adjacent", "spoken/filler_end"),
        answer=reply_of,
    ),
    "tools": Case(
        task="tools",
        data=chats(lambda text: [{"flight": {"city": [reply_of({"text": text}, TRUE)]}}], tools=TOOLS),
        operators=("keyboard/adjacent", "surface/case"),
        answer=called,
    ),
    "sql": Case(
        task="sql",
        data=examples_of(
            [
                ({"question": question, "db_id": "d"}, {"sql": sql, "db_id": "d", "schema": SCHEMA})
                for question, sql in (
                    ("how many cities are there", "SELECT count(*) FROM city"),
                    ("how big is each city", "SELECT size FROM city"),
                    ("what is the name of every city", "SELECT name FROM city"),
                    ("how many names do we know", "SELECT count(name) FROM city"),
                )
            ]
        ),
        operators=("keyboard/adjacent", "spoken/filler_begin"),
        answer=sql_of,
    ),
}
OPTIONS: dict[str, dict[str, Any]] = {
    "variants": {"weigh": "variants", "worst_of": 2, "within": 0.2, "bootstrap": 500},
    "clusters": {"cluster": "place", "level": 0.9},
    "wrong": {"missing": "wrong"},
    "bounds": {"missing": "bounds", "scores": "macro_f1"},
}


def suite_for(name: str) -> Any:
    case = CASES[name]
    return unswayed.make_suite(case.data, case.operators, task=case.task, language="en", draws=2, seed=7).on_disk()


def system_for(answer: Callable[[Any], Any], name: str = "frozen") -> Any:
    system = unswayed.open_system(lambda batch: [answer(inputs) for inputs in batch], name=name, identity=f"{name} 1")
    system.deterministic = True  # so that nothing is asked twice, of which tests/run/test_asked_twice.py are
    return system


def measured(name: str, folder: Path) -> tuple[Any, Any]:
    """What is measured of a task; and what may change with the package's name and version."""
    suite = suite_for(name)
    run = unswayed.run_system(suite, system_for(CASES[name].answer), folder / "run")
    results = msgspec.to_builtins(unswayed.measure_run(run))
    values = {"suite": suite.id, "examples": suite.manifest.examples, "variants": len(suite), "results": results}
    return values, {"plan": suite.manifest.plan, "files": suite.manifest.hashes, "signatures": signed(results)}


def failing(inputs: dict[str, str]) -> Any:
    return Failed("no answer", final=True) if "boston" in inputs["text"] else classified(inputs["text"])


def measured_with_options(folder: Path) -> tuple[Any, Any]:
    """The same run, with outputs missing, measured in several ways and compared with a better one."""
    suite = suite_for("classify")
    runs = [
        unswayed.run_system(suite, system_for(answer, name), folder / name)
        for name, answer in (("better", CASES["classify"].answer), ("failing", failing))
    ]
    found = {
        name: msgspec.to_builtins(unswayed.measure_run(runs[1], {"measure": how})) for name, how in OPTIONS.items()
    }
    found["compared"] = msgspec.to_builtins(unswayed.compare(*runs))
    return found, {name: signed(results) for name, results in found.items()}


@pytest.mark.parametrize("name", CASES)
def test_measures_are_what_they_were(name: str, tmp_path: Path) -> None:
    values, signatures = measured(name, tmp_path)
    same(values, "tasks", name)
    same(signatures, "signatures", "tasks", name)


def test_every_task_is_frozen() -> None:
    assert {entry["name"] for entry in registered("tasks")} == {case.task for case in CASES.values()}


def test_measures_by_other_options_are_what_they_were(tmp_path: Path) -> None:
    values, signatures = measured_with_options(tmp_path)
    same(values, "options")
    same(signatures, "signatures", "options")


# 3. The demo: its report, changed answers and results, and the pages to view and to compare it

DATA_IN_PAGE = re.compile(r'(<script type="application/gzip"[^>]*>)([^<]*)')
HIDDEN = {  # what depends on the machine or on code that has goldens of its own, and what stands for it
    r"Python [\d.]+\w*, NumPy [\d.]+\w*": "Python, NumPy",
    r'(<th scope="row"><bdi>machine</bdi></th><td><bdi>)[^<]*': r"\1MACHINE",
    r"(?s)<style>.*?</style>": "<style>CSS</style>",
    r"(?s)<script>.*?</script>": "<script>CODE</script>",
    r"'sha256-[^']*'": "'sha256-HASH'",
}


@contextmanager
def inside(folder: Path) -> Iterator[None]:
    before = Path.cwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)


def page_of(text: str, folder: Path) -> tuple[str, list[str]]:
    """A page that can be compared, and what was taken out of it: signatures, ids, and ids of its style and code."""
    text = neutral(text, folder)
    taken = [*SIGNATURE.findall(text), *ID.findall(SIGNATURE.sub("", text))]
    taken += [hashed(found[2].encode()) for found in re.finditer(r"(?s)<(style|script)>(.*?)</\1>", text)]
    for pattern, instead in HIDDEN.items():
        text = re.sub(pattern, instead, text)
    text = DATA_IN_PAGE.sub(r"\1DATA", text)
    return ID.sub("ID", SIGNATURE.sub("SIGNATURE", text)), taken


def data_of(page: str) -> dict[str, Any]:
    """The figures that a page to explore has inside; of its long lists, ids."""
    found = DATA_IN_PAGE.search(page)
    assert found is not None
    data = json.loads(gzip.decompress(base64.b64decode(found[2])))
    return {key: hashed(value) if key in ("texts", "examples", "sets") else value for key, value in data.items()}


def blunt(inputs: dict[str, str]) -> Any:
    """A system for the demo's data that knows a few words and no slots."""
    words = inputs["text"].split(" ")
    intent = "set_alarm" if "alarm" in words else "get_weather" if "weather" in words else "play_music"
    return {"intent": intent, "slots": ["O"] * len(words)}


def demo(folder: Path) -> tuple[dict[str, Any], dict[str, str], dict[str, Any]]:
    """The demo's figures, its pages as text files, and what may change with the package's name and version."""
    folder = folder.resolve()
    with inside(folder):
        done = run_command("demo")
        suite = unswayed.Suite("demo/run/suite")
        other = unswayed.run_system(suite, system_for(blunt, "blunt"), "blunt")
        for run in ("demo/run", other.path):
            os.utime(Path(run) / "run.json", (EPOCH, EPOCH))  # the page's dates
        compared = run_command("compare", "demo/run", "blunt", "-o", "compare.html", "--format", "json")
        viewed = run_command("view", "demo/run", "blunt", "-o", "view.html")
        places = ("demo/report.html", "demo/report.view.html", "compare.html", "compare.view.html", "view.html")
        pages = {place: Path(place).read_text("utf-8") for place in places}
        flips = Path("demo/report.flips.jsonl").read_text("utf-8").splitlines()
        [stored] = json.loads(Path("demo/run/results.json").read_bytes())["kept"]
    codes = [done.exit_code, compared.exit_code, viewed.exit_code]
    comparison = json.loads(compared.stdout)
    values = {
        "exit codes": codes, "suite": suite.id, "variants": len(suite), "results": stored["results"],
        "compared": comparison, "views": {place: data_of(page) for place, page in pages.items() if "view" in place},
    }  # fmt: skip
    texts, taken = {"demo.txt": neutral(done.stdout, folder)}, {}
    for place, page in pages.items():
        texts[place.replace("/", "_")], taken[place] = page_of(page, folder)
    rows = [(json.loads(line), line) for line in flips]
    heads = [f"{row['example_id']} {row['draw']} {row['source']} {hashed(line.encode())}" for row, line in rows]
    texts["flips.txt"] = "\n".join([*flips[:5], *heads, ""])
    decided = stored["decided"]
    identity = decided.pop("identity").split()[-1]  # of trained weights, whose last digits depend on the processor
    del decided["versions"]["numpy"]
    signatures = list(signatures_in([stored["results"], comparison]))[:20]
    apart = json.dumps({"decided": decided, "pages": taken, "signatures": signatures}).replace(identity, "ID")
    return values, texts, json.loads(re.sub(r"system=[\w-]+", "system=ID", neutral(apart)))


def test_the_demo_and_its_pages_are_what_they_were(tmp_path: Path) -> None:
    values, texts, signatures = demo(tmp_path)
    found = []
    for name, text in texts.items():
        then = (FOLDER / name).read_text("utf-8")
        lines = then.splitlines(), text.splitlines()
        found += difflib.unified_diff(*lines, f"was {name}", f"is {name}", n=1, lineterm="")
    assert not found, "\n".join(found[:100])
    same(values, "demo")
    same(signatures, "signatures", "demo")


# 4. Exports: the files that each exporter makes of each task's suite

TRACKED = "mlflow"  # logs to a server, so it is tested with one that only listens
GIVEN = {  # options without which a task can't be exported, or that change what is written
    "translate": ("--prompt", "Translate into German: {source}"),
    "classify": ("--answers", "lamp=lights,song=music,sky=weather"),
}


def content_of(file: Path, folder: Path) -> str:
    """An id of what is in a file, and how its text begins."""
    if file.suffix == ".parquet":
        import pyarrow.parquet

        table = pyarrow.parquet.read_table(file)
        about = {key.decode(): neutral(value.decode()) for key, value in (table.schema.metadata or {}).items()}
        return f"{table.num_rows} rows {hashed([table.column_names, about.get('huggingface'), table.to_pylist()])}"
    text = neutral(file.read_text("utf-8"), folder)
    return f"{len(text.splitlines())} lines {hashed(text.encode())} {text[:120]}"


def exported(name: str, task: str, folder: Path) -> tuple[Any, Any]:
    """By file, what an exporter writes for a task, or that it refuses it; and the same of files that are code."""
    option = ()
    if name not in ("datasets", "conll") and task in GIVEN:
        option = GIVEN[task]
    if option and option[0] == "--prompt":
        (folder / "prompt.txt").write_text(option[1], "utf-8")
        option = ("--prompt", str(folder / "prompt.txt"))
    done = run_command("export", suite_for(task).path, "--as", name, "-o", folder / "out", *option)
    if isinstance(done.exception, unswayed.UnswayedError):
        return "refused", {}
    assert not done.exception, done.exception
    found = {f.relative_to(folder / "out").as_posix(): f for f in sorted((folder / "out").rglob("*")) if f.is_file()}
    files = {neutral(place): content_of(file, folder) for place, file in found.items()}
    code = {place: files.pop(place) for place in list(files) if place.endswith((".py", ".cjs", ".js"))}
    return files, code


class Client:
    """Stands for MLflow's client: takes all, and keeps it."""

    def __init__(self) -> None:
        self.logged: dict[str, Any] = {"params": {}, "tags": {}, "metrics": {}}

    def get_experiment_by_name(self, name: str) -> None:
        self.logged["experiment"] = name

    def create_experiment(self, name: str) -> str:
        return "1"

    def create_run(self, experiment: str, run_name: str) -> Any:
        self.logged["run"] = run_name
        return SimpleNamespace(info=SimpleNamespace(run_id="r"))

    def log_batch(self, id: str, **kinds: list[tuple[Any, ...]]) -> None:
        for kind, found in kinds.items():
            self.logged[kind] |= {item[0]: item[1] for item in found}

    def log_artifacts(self, id: str, folder: str) -> None:
        self.logged["artifacts"] = sorted(file.name for file in Path(folder).iterdir())

    def set_terminated(self, id: str, status: str = "FINISHED") -> None:
        self.logged["status"] = status


def tracked(folder: Path) -> tuple[Any, Any]:
    """What a run's log to MLflow has; and its signatures."""
    run = unswayed.run_system(suite_for("classify"), system_for(CASES["classify"].answer), folder / "run")
    client = Client()
    fakes = {name: ModuleType(name) for name in ("mlflow", "mlflow.tracking", "mlflow.entities")}
    fakes["mlflow.tracking"].MlflowClient = lambda tracking_uri: client  # type: ignore[attr-defined]
    for name in ("Metric", "Param", "RunTag"):
        setattr(fakes["mlflow.entities"], name, lambda *values: values)
    with pytest.MonkeyPatch.context() as patch:
        for name, module in fakes.items():
            patch.setitem(sys.modules, name, module)
        done = run_command("export", run.path, "--as", TRACKED, "-o", "http://127.0.0.1:1")
    assert not done.exception, done.exception
    tags = {neutral(key): neutral(value) for key, value in client.logged.pop("tags").items()}
    return {**client.logged, "tags": sorted(tags)}, {key: tag for key, tag in tags.items() if "signature" in key}


EXPORTERS = [entry["name"] for entry in registered("exporters") if entry["name"] != TRACKED]


@pytest.mark.parametrize("name", EXPORTERS)
def test_exports_are_what_they_were(name: str, tmp_path: Path) -> None:
    values, code = exports(name, tmp_path)
    same(values, "exports", name)
    same(code, "signatures", "exports", name)


def exports(name: str, folder: Path) -> tuple[Any, Any]:
    values, code = {}, {}
    for task in CASES:
        (folder / task).mkdir()
        values[task], code[task] = exported(name, task, folder / task)
    return values, code


def test_what_is_logged_to_a_tracker_is_what_it_was(tmp_path: Path) -> None:
    values, tags = tracked(tmp_path)
    same(values, "exports", TRACKED)
    same(tags, "signatures", "exports", TRACKED)


KNOWN = json.loads(FILE.read_text("utf-8")) if FILE.exists() else {}


def written(value: Any, indent: str = "\n") -> str:
    """JSON that has each short list or object on one line."""
    line = json.dumps(value, ensure_ascii=False)
    if not isinstance(value, dict | list) or not value or len(line) + len(indent) < 120:
        return line
    inner = indent + " "
    if isinstance(value, dict):
        items = [f"{json.dumps(key, ensure_ascii=False)}: {written(item, inner)}" for key, item in value.items()]
        return f"{{{inner}{f',{inner}'.join(items)}{indent}}}"
    return f"[{inner}{f',{inner}'.join(written(item, inner) for item in value)}{indent}]"


def freeze(only_signatures: bool) -> None:
    """Writes the goldens anew, all of them or only the signatures."""
    with tempfile.TemporaryDirectory() as place:

        def folder(name: str) -> Path:
            made = Path(place) / name
            made.mkdir()
            return made

        tasks = {name: measured(name, folder(f"task {name}")) for name in CASES}
        options = measured_with_options(folder("options"))
        figures, texts, apart = demo(folder("demo"))
        made = {name: exports(name, folder(f"export {name}")) for name in EXPORTERS}
        made[TRACKED] = tracked(folder("tracked"))
        signatures = {
            "tasks": {name: found[1] for name, found in tasks.items()}, "options": options[1], "demo": apart,
            "exports": {name: found[1] for name, found in made.items()},
        }  # fmt: skip
        new = KNOWN
        if not only_signatures:
            new = {
                "operators": {data: variants_of(data) for data in DATA},
                "sets": {name: set_of(name, Path(place)) for name in SETS},
                "tasks": {name: found[0] for name, found in tasks.items()}, "options": options[0], "demo": figures,
                "exports": {name: found[0] for name, found in made.items()},
            }  # fmt: skip
            for name, text in texts.items():
                (FOLDER / name).write_text(text, "utf-8")
    FILE.write_text(written(tree({**new, "signatures": signatures})) + "\n", "utf-8")


if __name__ == "__main__":
    freeze(sys.argv[1:] == ["signatures"])
