"""Controls: each changes the meaning by one word or phrase, in three languages, and leaves alone what it can't."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unfazed.core.edits import apply
from unfazed.core.seeds import Seeds
from unfazed.vary.engine import OperatorSpec
from unfazed.vary.meaning._control import deleted, inserted, replaced
from unfazed.vary.meaning._table import LANGUAGES, MeaningChange, table
from unfazed.vary.operator import Text


def stream(text: str = "x", draw: int = 0):  # type: ignore[no-untyped-def]
    return Seeds(0, "test", 1).stream(text, draw)


def texts(text: str, found: list[MeaningChange]) -> set[str]:
    return {apply(text, sorted(one.edits)) for one in found}


def replacements(language: str, text: str) -> set[str]:
    return set().union(*(texts(text, replaced(language, text, stream(draw=draw))) for draw in range(60)))


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
    ],
)
def test_a_word_is_inserted(language: str, before: str, after: str) -> None:
    assert after in texts(before, inserted(language, before))


@pytest.mark.parametrize(
    ("language", "before", "after"),
    [
        ("en", "he didn’t give it to me", "he did give it to me"),
        ("en", "I cannot come", "I can come"),
        ("en", "it is no longer used", "it is used"),
        ("en", "we sell tea and coffee.", "we sell tea."),
        ("pt", "Não houve acordo.", "Houve acordo."),
        ("zh", "他未能上诉。", "他能上诉。"),
    ],
)
def test_a_word_is_left_out(language: str, before: str, after: str) -> None:
    assert after in texts(before, deleted(language, before))


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
    assert not deleted(language, text)


def test_questions_are_not_denied() -> None:
    assert not inserted("en", "what are they doing here?")
    assert not inserted("pt", "Quem foi o autor?")
    assert not inserted("zh", "他是老师吗？")


def test_a_control_replaces_before_it_inserts_before_it_deletes() -> None:
    control = OperatorSpec("meaning/control").make()
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
    found = [*replaced(language, text, stream(text)), *inserted(language, text), *deleted(language, text)]
    for one in found:
        assert apply(text, sorted(one.edits)) != text
        assert one.note
