"""Dialects: each feature on a sentence that shows it, both ways where there are two, nothing where there is none."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unfazed.core.edits import apply
from unfazed.core.seeds import Seeds
from unfazed.papers.dialect.corpora import read_pairs
from unfazed.vary.dialect.indian_english import FEATURES
from unfazed.vary.engine import OperatorSpec
from unfazed.vary.operator import Text
from unfazed.vary.sentence import sentences

PAIRS = Path(__file__).parents[2] / "../shared/data/dialect_indian_english"


def said(name: str, text: str, language: str = "en", draw: int = 0, **params: object) -> tuple[str, str] | None:
    operator = OperatorSpec(f"dialect/{name}", dict(params)).make()
    change = operator.change(Text(text, language), Seeds(0, "test", 1).stream(text, draw))
    return None if change is None else (apply(text, change.edits), change.note)


@pytest.mark.parametrize(
    ("feature", "before", "after"),
    [
        ("article omission", "The main reason is simple.", "Main reason is simple."),
        ("copula omission", "I think she is a teacher.", "I think she a teacher."),
        ("direct object pronoun drop", "she doesn’t like it", "she doesn’t like"),
        ("extraneous article", "Here life is busy.", "Here the life is busy."),
        ("focus itself", "He is doing Engineering in Delhi.", "He is doing Engineering in Delhi itself."),
        ("focus only", "they sell it there", "they sell it there only"),
        ("general extender and all", "So we had a lot of books.", "So we had a lot of books and all."),
        ("habitual progressive", "she gets nightmares", "she is getting nightmares"),
        ("inversion in embedded clause", "we want to know how we can make it", "we want to know how can we make it"),
        ("lack of agreement", "he talks to them", "he talk to them"),
        ("lack of inversion in wh-questions", "what are you doing?", "what you are doing?"),
        ("left dislocation", "my father works for a company", "my father, he works for a company"),
        ("mass nouns as count nouns", "some information is available", "some informations are available"),
        ("non-initial existential", "there are five balls", "five balls are there"),
        ("object fronting", "you have to try this cake", "this cake you have to try"),
        ("preposition omission", "for two years I stayed alone", "two years I stayed alone"),
        ("prepositional phrase fronting with reduction", "I stayed for many years", "many years I stayed"),
        ("resumptive object pronoun", "see the bag which I left in there.", "see the bag which I left it in there."),
        ("resumptive subject pronoun", "My daughter is away.", "My daughter she is away."),
        ("stative progressive", "he has a television", "he is having a television"),
        ("topicalized non-argument constituent", "They speak Hindi in Delhi.", "In Delhi they speak Hindi."),
    ],
)  # fmt: skip
def test_indian_english_by_feature(feature: str, before: str, after: str) -> None:
    assert said("indian_english", before, feature=feature) == (after, feature)


def test_invariant_tags() -> None:
    text = "the children are playing outside, aren’t they?"
    found = {said("indian_english", text, draw=draw, feature="invariant tag") for draw in range(20)}
    tags = ("isn’t it", "no", "na")
    assert found == {(f"the children are playing outside, {tag}?", "invariant tag") for tag in tags}


def test_every_feature_is_tested_and_an_unknown_one_is_refused() -> None:
    marks = test_indian_english_by_feature.pytestmark  # type: ignore[attr-defined]
    assert {row[0] for row in marks[0].args[1]} | {"invariant tag"} == set(FEATURES)
    with pytest.raises(Exception, match="no feature of dialect/indian_english named 'accent'"):
        OperatorSpec("dialect/indian_english", {"feature": "accent"}).make()


@pytest.mark.skipif(not PAIRS.is_dir(), reason="../shared/data is not here")
def test_rules_make_many_of_the_real_pairs() -> None:
    pairs = {(pair.standard, pair.dialect) for pair in read_pairs(PAIRS) if pair.standard != pair.dialect}
    made = {
        (text, apply(text, edits))
        for text in {standard for standard, _ in pairs}
        for sentence in sentences(text)
        for rule in FEATURES.values()
        for edits in rule(sentence)
    }
    assert len(pairs & made) >= 50


@pytest.mark.parametrize(
    ("name", "language", "before", "after", "to"),
    [
        ("us_uk", "en", "An elevator in gray organized color", "A lift in grey organised colour", "uk"),
        ("us_uk", "en", "A lift in grey organised colour", "An elevator in gray organized color", "us"),
        ("us_uk", "en", "We saw Lincoln Center.", None, "uk"),  # a name
        ("portuguese", "pt", "Os ônibus e o trem econômico", "Os autocarros e o comboio económico", "pt-PT"),
        ("portuguese", "pt", "Ela está fazendo café em uma xícara", "Ela está a fazer café numa chávena", "pt-PT"),
        ("portuguese", "pt", "O comboio e o autocarro", "O trem e o ônibus", "pt-BR"),
        ("portuguese", "pt", "a fêmea", None, "pt-PT"),  # the same in both
    ],
)
def test_words_of_two_dialects(name: str, language: str, before: str, after: str | None, to: str) -> None:
    found = said(name, before, language, to=to, rate=1.0)
    assert (found and found[0]) == after


def test_one_place_is_changed_by_default_and_named() -> None:
    found = {said("us_uk", "gray colors near the center", draw=draw) for draw in range(30)}
    assert ("grey colors near the center", "spelling: gray → grey") in found
    assert len(found) == 3


def test_taiwan() -> None:
    assert said("taiwan", "这个软件的默认打印机", "zh", rate=1.0) == (
        "这个软体的预设印表机",
        "vocabulary: 软件 → 软体, vocabulary: 默认 → 预设, vocabulary: 打印机 → 印表机",
    )
    found = said("taiwan", "“鼠标”很好", "zh", script="traditional")
    assert found is not None
    assert found[0] == "「滑鼠」很好"
    assert said("taiwan", "今天很好。", "zh") is None


@given(text=st.text(alphabet="the a is are my gray bus, I you what?.\nônibus está em um 软件", max_size=50))
@settings(max_examples=80, deadline=None)
@pytest.mark.parametrize(("name", "language"), [("indian_english", "en"), ("us_uk", "en"), ("portuguese", "pt")])
def test_edits_always_fit(name: str, language: str, text: str) -> None:
    found = said(name, text, language)
    assert found is None or (found[0] != text and found[1])
