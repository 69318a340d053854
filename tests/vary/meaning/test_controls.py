"""Controls: each changes the meaning by one word or phrase, in three languages, and leaves alone what it can't."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings, strategies as st

from unswayed.base.edits import apply
from unswayed.base.options import OperatorSpec
from unswayed.base.seeds import Seeds
from unswayed.vary.engine import make_operator
from unswayed.vary.meaning import find_deletions, find_insertions, find_replacements
from unswayed.vary.meaning._table import LANGUAGES, MeaningChange, table
from unswayed.vary.operator import Text


def stream(text: str = "x", draw: int = 0):  # type: ignore[no-untyped-def]
    return Seeds(0, "test", 1).stream(text, draw)


def texts(text: str, found: list[MeaningChange]) -> set[str]:
    return {apply(text, sorted(one.edits)) for one in found}


def replacements(language: str, text: str) -> set[str]:
    return set().union(*(texts(text, find_replacements(language, text, stream(draw=draw))) for draw in range(60)))


@pytest.mark.parametrize(
    ("language", "before", "after"),
    [
        ("en", "a recipe is a simple thing", "a recipe is a complicated thing"),
        ("en", "he sat on an old chair", "he sat on a new chair"),
        ("en", "Usually it rains in May 1998.", "Rarely it rains in May 1998."),
        ("en", "in fifteen years we saw a lot of changes", "in fifteen years we saw hardly any changes"),
        ("en", "Porto defeated Benfica in 1931.", "Benfica defeated Porto in 1931."),
        ("en", "He moved from Lisbon to Paris in June.", "He moved from Paris to Lisbon in June."),
        ("pt", "Foi a primeira edição.", "Foi a última edição."),
        ("pt", "Mais de 300 pessoas vieram.", "Menos de 300 pessoas vieram."),
        ("pt", "A cidade fica ao norte do rio.", "A cidade fica ao sul do rio."),
        ("zh", "产量增加了。", "产量减少了。"),
        ("zh", "他至少赢了两次。", "他至多赢了两次。"),
    ],
)
def test_a_word_is_replaced(language: str, before: str, after: str) -> None:
    assert after in replacements(language, before)


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "Air China and New York stay."),  # names
        ("en", "They may march."),  # no months
        ("en", "the 3D film won an H1B visa and 12:30 passed"),
        ("en", "his mother saw him"),  # his → her would leave him
        ("pt", "Caminharam ao longo da costa."),  # a fixed expression
        ("zh", "其他人在印度尼西亚"),
    ],
)
def test_names_and_fixed_expressions_stay(language: str, text: str) -> None:
    kept = {"en": r"New|China|march|may|3D|H1B|12:30|his", "pt": "longo", "zh": "其他|印度"}[language]
    for new in replacements(language, text):
        assert re.findall(kept, new) == re.findall(kept, text)


@pytest.mark.parametrize(
    "text", ["It was founded in 1987.", "In the 1920s it grew.", "他于 1987 年 5 月出生。", "Tem 11.657 lojas."]
)
def test_numbers_become_others(text: str) -> None:
    language = "zh" if "年" in text else "pt" if "lojas" in text else "en"
    old = set(re.findall(r"\d+", text))
    found = [new for new in replacements(language, text) if re.sub(r"[\d.]", "", new) == re.sub(r"[\d.]", "", text)]
    assert found
    for new in found:
        years = set(re.findall(r"\d+", new)) - old
        assert years
        if "1920s" in text:
            assert all(year.endswith("0") for year in years)


@pytest.mark.parametrize(
    ("language", "before", "after"),
    [
        ("en", "some people are very nice", "some people are not very nice"),
        ("en", "you can use it here", "you cannot use it here"),
        ("en", "he liked the cake", "he never liked the cake"),
        ("en", "one of his favorite places is here", "one of his least favorite places is here"),
        ("pt", "A ponte foi construída em 1998.", "A ponte não foi construída em 1998."),
        ("pt", "Ele encontrou o presidente.", "Ele encontrou o ex-presidente."),
        ("zh", "它是中国最古老的桥。", "它不是中国最古老的桥。"),
        ("en", "She won the race in 1998.", "She almost won the race in 1998."),
        ("en", "They crossed the bridge at night.", "They crossed the other bridge at night."),
        ("en", "We saw an island.", "We saw a small island."),
        ("en", "He was an engineer.", "He was a former engineer."),
        ("en", "It grows in warm places.", "It rarely grows in warm places."),
        ("en", "Pineapples were grown on the island.", "Few pineapples were grown on the island."),
        ("en", "They met his father.", "They met his friend's father."),
        ("en", "The castle was destroyed by fire.", "The castle was allegedly destroyed by fire."),
        ("pt", "Eles visitaram a ponte.", "Eles visitaram a outra ponte."),
        ("pt", "O time quase perdeu, mas ele venceu a prova.", "O time quase perdeu, mas ele quase venceu a prova."),
        ("pt", "A ponte foi construída em 1998.", "A ponte foi supostamente construída em 1998."),
        ("zh", "这是一座古老的桥。", "这是另一座古老的桥。"),
        ("zh", "城墙被拆除了。", "城墙据说被拆除了。"),
    ],
)
def test_a_word_is_inserted(language: str, before: str, after: str) -> None:
    assert after in texts(before, find_insertions(language, before))


@pytest.mark.parametrize(
    ("language", "before", "after"),
    [
        ("en", "he didn’t give it to me", "he did give it to me"),
        ("en", "I cannot come", "I can come"),
        ("en", "it is no longer used", "it is used"),
        ("en", "we sell tea and coffee.", "we sell tea."),
        ("pt", "Não houve acordo.", "Houve acordo."),
        ("zh", "他未能上诉。", "他能上诉。"),
        ("en", "In 1998, the bridge opened again.", "The bridge opened again."),
        ("en", "He bought the old house at the market.", "He bought the old house."),
        ("en", "It was the first bridge over the river.", "It was the bridge over the river."),
        ("en", "She is an honorary member of it.", "She is a member of it."),
        ("en", "They have two sons.", "They have sons."),
        ("en", "He allegedly stole the car.", "He stole the car."),
        ("en", "It has less than 50 seats now.", "It has 50 seats now."),
        ("pt", "Em 1998, a ponte foi aberta de novo.", "A ponte foi aberta de novo."),
        ("pt", "Foi a primeira cidade do país.", "Foi a cidade do país."),
        ("zh", "1998 年，大桥重新开放。", "大桥重新开放。"),
        ("zh", "它是中国最古老的桥之一。", "它是中国最古老的桥。"),
    ],
)
def test_a_word_is_left_out(language: str, before: str, after: str) -> None:
    assert after in texts(before, find_deletions(language, before))


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "we didn't have any money"),  # any needs its denial
        ("en", "it did not open until 1990"),
        ("pt", "não recebeu nenhum prêmio"),
        ("zh", "这不是茶，而是咖啡。"),
    ],
)
def test_what_rests_on_a_denial_keeps_it(language: str, text: str) -> None:
    assert not find_deletions(language, text)


def test_questions_are_not_denied() -> None:
    assert not find_insertions("en", "what are they doing here?")
    assert not find_insertions("pt", "Quem foi o autor?")
    assert not find_insertions("zh", "他是老师吗？")


def test_long_sentences_are_not_denied() -> None:
    short = "He was the owner of a shop."
    long = (
        f"{short[:-1]} that sold books and maps, and later of two more in the same street of the old town, by the sea."
    )
    assert any(one.kind == "denied" for one in find_insertions("en", short))
    assert not any(one.kind == "denied" for one in find_insertions("en", long))


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "In this case, the bridge opened again."),  # nothing is lost
        ("en", "The company is based in Lisbon."),  # *is based* needs where
        ("en", "It was the first time."),
        ("pt", "Ele viajou entre Lisboa e Porto."),  # *entre* needs both
        ("zh", "它位于上海和北京之间，有两座桥和隧道。"),
    ],
)
def test_what_a_sentence_needs_is_not_left_out(language: str, text: str) -> None:
    assert not find_deletions(language, text)


def test_controls_are_of_all_ways_and_kinds() -> None:
    control = make_operator(OperatorSpec("meaning/control"))
    text = "In 1998, he was the first owner of the big house. It was damaged by his father."
    notes = [change.note for draw in range(200) if (change := control.change(Text(text), stream(text, draw)))]
    ways = {way: sum(note.startswith(way) for note in notes) for way in ("replace", "insert", "delete")}
    assert all(ways.values())
    kinds = {note.split(", ")[1].split(":")[0] for note in notes if note.startswith("insert")}
    assert len(kinds) >= 3


def test_a_control_replaces_before_it_inserts_before_it_deletes() -> None:
    control = make_operator(OperatorSpec("meaning/control", {"choose": "order"}))
    notes = {}
    for text in ("there are five balls", "the plate is on it", "I didn’t say it", "okay"):
        change = control.change(Text(text), stream(text))
        notes[text] = change.note.split(",")[0] if change else None
    assert list(notes.values()) == ["replace", "insert", "delete", None]


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_word_stands_for_itself(language: str) -> None:
    for word, ways in table(language).others.items():
        for way in ways:
            assert way.words
            assert word not in way.words


_CHARACTERS = st.text(alphabet="abc ANZ019.,'’-不是没有 éãnot 2x5s\n", max_size=60)


@pytest.mark.parametrize("language", LANGUAGES)
@given(text=_CHARACTERS)
@settings(max_examples=60, deadline=None)
def test_edits_always_fit(language: str, text: str) -> None:
    found = [
        *find_replacements(language, text, stream(text)),
        *find_insertions(language, text),
        *find_deletions(language, text),
    ]
    for one in found:
        assert apply(text, sorted(one.edits)) != text
        assert one.note
