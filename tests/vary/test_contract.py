"""What every operator must hold, run over every one that is registered, so that a new one is tested at once."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from benchmarks._http_server import Server
from unswayed.base.edits import slots_of
from unswayed.base.errors import WrongLanguage
from unswayed.base.language import knows
from unswayed.base.options import OperatorSpec
from unswayed.base.task import task_named
from unswayed.base.values import Example, Variant
from unswayed.vary import operators
from unswayed.vary.engine import Variation, vary
from unswayed.vary.operator import UNALTERED, Operator

# These need programs or weights: speech/test_roundtrip.py and paraphrase/test_seq2seq.py hold them to the same.
# Those of the family prompt change no text of an example: tests/vary/prompt.
NEED_MORE = ("speech/roundtrip", "paraphrase/seq2seq")
NAMES = [name for name in operators.names() if name not in NEED_MORE and not name.startswith("prompt/")]
ALONE = [name for name in NAMES if not name.endswith("/chat")]  # without those that need a server
PARAMS: dict[str, dict[str, str]] = {}  # of operators that can't do without
SAMPLES = {
    "en": "play the new album by miles davis on my kitchen speaker",
    "zh": "请帮我查一下明天北京到上海的高铁票,花呗可以付款吗?",
    "pt": "você pode tocar uma música no celular agora?",
}
HOSTILE = ["", " ", "\n", "🙂🙃", "שלום עולם", "a" * 20_000, "<script>alert(1)</script>", "名 字 abc ١٢٣", "\u202eabc"]


def language_of(cls: type[Operator]) -> str:
    return next((known for known in cls.languages if known != "*"), "en")


def sample(cls: type[Operator]) -> str:
    return SAMPLES.get(language_of(cls).split("-")[0], SAMPLES["en"])


@pytest.fixture(scope="module", autouse=True)
def server() -> Iterator[None]:
    """For the operators that ask one."""
    with Server() as server:
        PARAMS.update({name: {"url": server.url, "model": "m"} for name in ("meaning/chat", "paraphrase/chat")})
        yield


def variants(name: str, texts: list[str], seed: int = 0, draws: int = 1, **more: object) -> list[Variant]:
    examples = [Example(i, f"e{i}", {"text": text}) for i, text in enumerate(texts)]
    settings = {"task": "text", "language": language_of(operators.get(name)), **more}
    spec = OperatorSpec(name, PARAMS.get(name, {}))
    return list(vary(examples, Variation(operators=(spec,), draws=draws, seed=seed, **settings)))  # type: ignore[arg-type]


@pytest.mark.parametrize("name", NAMES)
def test_it_says_what_it_is(name: str) -> None:
    cls = operators.get(name)
    assert cls.summary().endswith("."), "the docstring's first line is a sentence"
    assert cls.languages
    assert all(p.default is not p.empty for p in cls.parameters().values()), "parameters have defaults"
    assert cls.version >= 1


@pytest.mark.parametrize("name", NAMES)
def test_its_example_is_what_it_does(name: str) -> None:
    before, after = operators.get(name).example
    assert [v.inputs["text"] for v in variants(name, [before])] == [after]


@pytest.mark.parametrize("name", NAMES)
def test_the_same_plan_gives_the_same_bytes(name: str) -> None:
    text = sample(operators.get(name))
    texts = [text, text + " ok", text[::-1], text[: len(text) // 2]]
    here = variants(name, texts, draws=2)
    assert variants(name, texts, draws=2) == here
    shuffled = [Example(i, f"e{i}", {"text": texts[i]}) for i in (2, 0, 3, 1)]
    variation = Variation(
        operators=(OperatorSpec(name, PARAMS.get(name, {})),),
        task="text",
        language=language_of(operators.get(name)),
        draws=2,
    )
    by_key = {(v.example_id, v.draw): v for v in vary(shuffled, variation)}
    assert {(v.example_id, v.draw): v for v in here} == by_key


@pytest.mark.parametrize("language", ["en", "zh"])
def test_hash_seed_and_worker_count_change_nothing(tmp_path_factory: pytest.TempPathFactory, language: str) -> None:
    place = tmp_path_factory.mktemp("seeds")
    (place / "t.txt").write_text("".join(f"{SAMPLES[language]} {i}\n" for i in range(600)))
    chosen = [name for name in NAMES if knows(operators.get(name).languages, language)]
    seen = set()
    for hash_seed, workers in (("0", "1"), ("1", "2")):
        command = [
            sys.executable,
            "-m",
            "unswayed",
            "vary",
            "t.txt",
            "--lang",
            language,
            "--workers",
            workers,
            "-o",
            "-",
        ]
        command += [part for name in chosen for part in ("--with", name)]
        for name in chosen:
            command += [part for k, v in PARAMS.get(name, {}).items() for part in ("--param", f"{name}:{k}={v}")]
        environment = {**os.environ, "PYTHONHASHSEED": hash_seed}
        seen.add(subprocess.run(command, cwd=place, env=environment, capture_output=True, check=True).stdout)
    assert len(seen) == 1
    assert len(seen.pop().splitlines()) >= 600


@pytest.mark.parametrize("name", NAMES)
def test_seeds_and_draws_differ(name: str) -> None:
    text = sample(operators.get(name))
    more = " in the hall" if text == SAMPLES["en"] else ""  # a second place, where an operator finds only articles
    made = [variants(name, [f"{text}{more} {i}" for i in range(30)], seed=seed, draws=2) for seed in (0, 1)]
    if any(made):
        assert made[0] != made[1] or operators.get(name).meaning == "changed" or not made[0]


@pytest.mark.parametrize("name", NAMES)
def test_it_never_returns_the_original_unless_it_simulates_people(name: str) -> None:
    texts = [*HOSTILE, *SAMPLES.values()]
    for variant in variants(name, texts, draws=3):
        assert (variant.inputs["text"] != texts[variant.row]) == (variant.note != UNALTERED.note)
        assert operators.get(name).unaltered or variant.note != UNALTERED.note
        assert variant.note
        assert variant.family == name.split("/")[0]


@pytest.mark.parametrize("name", [name for name in NAMES if operators.get(name).unaltered])
def test_whoever_simulates_people_gives_an_outcome_for_every_text(name: str) -> None:
    text = sample(operators.get(name))
    texts = [text, text[: len(text) // 2], text.split()[0], *text[:3]]
    made = variants(name, texts, draws=4)
    assert [(v.row, v.draw) for v in made] == [(row, draw) for row in range(len(texts)) for draw in range(4)]


@pytest.mark.parametrize("name", NAMES)
def test_a_wrong_language_is_refused(name: str) -> None:
    if "*" not in operators.get(name).languages:
        with pytest.raises(
            WrongLanguage, match="the data's language is 'tlh'.* (?:Use one that does|Choose another operator)"
        ):
            variants(name, ["x"], language="tlh")


_WORDS = {
    "en": "play the new album by miles davis set an alarm for seven in boston don't gray-haired it's really",
    "zh": "请 帮 我 查 一下 明天 北京 上海 高铁票 花呗 付款 可以",
    "pt": "você pode tocar uma música no celular agora ônibus trem Lisboa",
    "de": "Spiele bitte für Käthe das neue Album aus München-Ost geht's heißt Straße",
    "ru": "включи пожалуйста новую песню Ёлка в Москве завтра т.е. сегодня",
    "ko": "내일 서울 날씨 어때요 값이 얼마예요 KTX",
    "ja": "あした とうきょう の てんき ガード です か iPhone",
    "ar": "أين المحطة رقم 12 شكراً غداً في القاهرة",
    "vi": "bạn có biết ga tàu Hà Nội ở đâu không đường",
}


@st.composite
def tokens_and_tags(draw: st.DrawFn, language: str, more: str = "") -> tuple[list[str], list[str]]:
    words = f"{_WORDS.get(language, _WORDS['en'])} {more}".split()
    tokens = draw(st.lists(st.sampled_from(words), min_size=1, max_size=12))
    tags: list[str] = []
    for _ in tokens:
        choices = ["O", "O", "B-a", "B-b"] + (["I-" + tags[-1][2:]] if tags and tags[-1] != "O" else [])
        tags.append(draw(st.sampled_from(choices)))
    return tokens, tags


def types_of(text: str, gold: dict) -> list[tuple[str, str]]:
    """Each word with the type of the slot or entity that it is in; none is empty. Words are what no mark is in."""
    if "entities" in gold:
        found = [(e["start"], e["end"], e["label"]) for e in gold["entities"]]
        places = [match.span() for match in re.finditer(r"[^\s,.]+", text)]
        return [
            (text[a:b], next((label for start, end, label in found if start < b and a < end), "")) for a, b in places
        ]
    tags = gold.get("slots", gold.get("tags"))
    return [(token, tag[2:]) for token, tag in zip(text.split(" "), tags, strict=True)]


def labels_in(gold: dict) -> list[str]:
    if "entities" in gold:
        return [entity["label"] for entity in gold["entities"]]
    return [kind for kind, _, _ in slots_of(gold.get("slots", gold.get("tags")))]


def labelled_example(form: str, tokens: list[str], tags: list[str], commas: int) -> Example:
    """The same in one of the forms that gold has; one in characters has marks against its words."""
    if form == "slots":
        return Example(0, "e", {"text": " ".join(tokens)}, {"intent": "i", "slots": tags})
    if form == "tags":
        return Example(0, "e", {"text": " ".join(tokens)}, {"tags": tags})
    text, starts = "", []
    for n, token in enumerate(tokens):
        starts.append(len(text))
        text += token + (", " if (commas >> n) & 1 and (n + 1 == len(tags) or tags[n + 1][:1] != "I") else " ")
    text = text.rstrip() + "."
    spans = [(kind, starts[a], starts[b - 1] + len(tokens[b - 1])) for kind, a, b in slots_of(tags)]
    entities = [{"start": start, "end": end, "label": kind} for kind, start, end in spans]
    return Example(0, "e", {"text": text}, {"entities": entities})


@pytest.mark.parametrize("name", [n for n in NAMES if operators.get(n).aligned])
@given(data=st.data(), form=st.sampled_from(["slots", "tags", "entities"]), seed=st.integers(0, 1000))
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_labels_stay_true(name: str, data: st.DataObject, form: str, seed: int) -> None:
    usual, known = language_of(operators.get(name)), operators.get(name).languages
    language = data.draw(st.sampled_from([usual, *(tag for tag in _WORDS if tag != usual and knows(known, tag))]))
    drawn = data.draw(tokens_and_tags(language.split("-")[0]))
    example = labelled_example(form, *drawn, data.draw(st.integers(0, 4095)) if form == "entities" else 0)
    task = task_named("slu" if form == "slots" else "tag")
    assert task.gold_problem(example) is None
    variation = Variation(operators=(OperatorSpec(name),), task=task.name, language=language, seed=seed)
    for variant in vary([example], variation):
        if variant.gold is None:
            continue
        text = variant.inputs["text"]
        assert task.gold_problem(Example(0, "e", variant.inputs, variant.gold)) is None
        assert form == "entities" or all(text.split(" "))
        assert labels_in(variant.gold) == labels_in(example.gold)
        before, after = types_of(example.inputs["text"], example.gold), types_of(text, variant.gold)
        once = {word for word, n in Counter(word for word, _ in before).items() if n == 1}
        once &= {word for word, n in Counter(word for word, _ in after).items() if n == 1}
        kept, now = (dict(pairs) for pairs in (before, after))
        assert {word: now[word] for word in once} == {word: kept[word] for word in once}


@pytest.mark.parametrize("name", [name for name in operators.names() if not name.startswith("prompt/")])
def test_each_has_exactly_one_form(name: str) -> None:
    cls = operators.get(name)
    assert (cls.change is Operator.change) != (cls.change_many is Operator.change_many)


SAID = "Can you find a good Flight to the Small Café? What . These big cars leave early — MAY I quickly see AN old one."


@pytest.mark.parametrize("name", [n for n in ALONE if operators.get(n).change_many is not Operator.change_many])
@given(data=st.data(), form=st.sampled_from(["slots", "entities", "text"]), seed=st.integers(0, 1000))
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_many_texts_at_once_are_varied_as_each_alone(name: str, data: st.DataObject, form: str, seed: int) -> None:
    language = language_of(operators.get(name)).split("-")[0]
    drawn = data.draw(st.lists(tokens_and_tags(language, SAID), min_size=9, max_size=14))
    examples = [
        msgspec.structs.replace(labelled_example("slots" if form == "text" else form, *one, 5), row=row, id=f"e{row}")
        for row, one in enumerate(drawn)
    ]
    if form == "text":
        examples = [msgspec.structs.replace(example, gold=None) for example in examples]
    task = {"slots": "slu", "entities": "tag", "text": "text"}[form]
    variation = Variation(operators=(OperatorSpec(name),), task=task, language=language, seed=seed, draws=2)
    assert list(vary(examples, variation)) == [v for example in examples for v in vary([example], variation)]
