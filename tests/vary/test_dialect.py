"""Dialects: each feature on a sentence that shows it, both ways where there are two, nothing where there is none."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st

from unswayed.base.edits import apply
from unswayed.base.options import OperatorSpec
from unswayed.base.seeds import Seeds
from unswayed.papers.dialect.corpora import read_pairs
from unswayed.vary.dialect import FeatureOperator
from unswayed.vary.dialect.african_american import AfricanAmerican
from unswayed.vary.dialect.indian_english import IndianEnglish
from unswayed.vary.dialect.singapore import Singapore
from unswayed.vary.engine import make_operator
from unswayed.vary.operator import Text

_SAID = """
    she he they I there the a two dogs dog house Tom's is are was were has have had does do did don't isn't didn't
    not any anything working work works going to will been sold them their those you guys what how many why if
    yesterday in Delhi very late information which it and, because it, can read never always every day
"""
_WORDS = _SAID.split()
PAIRS = Path(__file__).parents[2] / "../shared/data/dialect_indian_english"


def said(name: str, text: str, language: str = "en", draw: int = 0, **params: object) -> tuple[str, str] | None:
    operator = make_operator(OperatorSpec(f"dialect/{name}", dict(params)))
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
    assert {row[0] for row in marks[0].args[1]} | {"invariant tag"} == set(IndianEnglish.features)
    with pytest.raises(Exception, match="no feature of dialect/indian_english named 'accent'"):
        make_operator(OperatorSpec("dialect/indian_english", {"feature": "accent"}))


@pytest.mark.skipif(not PAIRS.is_dir(), reason="../shared/data is not here")
def test_rules_make_many_of_the_real_pairs() -> None:
    pairs = {(pair.standard, pair.dialect) for pair in read_pairs(PAIRS) if pair.standard != pair.dialect}
    operator = IndianEnglish()
    made = {
        (text, apply(text, sorted(edits)))
        for text in {standard for standard, _ in pairs}
        for places in operator.places(text).values()
        for edits in places
    }
    assert len(pairs & made) >= 50


@pytest.mark.parametrize(
    ("name", "language", "before", "after", "to"),
    [
        ("us_uk", "en", "An elevator in gray organized color", "A lift in grey organized colour", "uk"),
        ("us_uk", "en", "A lift in grey organised colour", "A lift in gray organized color", "us"),
        ("us_uk", "en", "I got a film about football", None, "us"),  # American too, in these or other senses
        ("us_uk", "en", "We saw Lincoln Center.", None, "uk"),  # a name
        ("portuguese", "pt", "Os ônibus e o trem econômico", "Os autocarros e o comboio económico", "pt-PT"),
        ("portuguese", "pt", "Ela está fazendo café em uma xícara", "Ela está a fazer café numa chávena", "pt-PT"),
        ("portuguese", "pt", "O comboio e o autocarro", "O trem e o ônibus", "pt-BR"),
        ("portuguese", "pt", "a fêmea", None, "pt-PT"),  # the same in both
        ("portuguese", "pt", "o ônibus espacial de Antônio Carlos", None, "pt-PT"),  # a shuttle, and a name
        ("portuguese", "pt", "Eles estão Fernando e Orlando", None, "pt-PT"),  # names, not verbs
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


def test_taiwan_keeps_what_its_translators_keep() -> None:
    text = "公元前的法律程序"  # both are said in Taiwan, and 程序 is no program here
    assert said("taiwan", text, "zh", rate=1.0) is None
    assert said("taiwan", text, "zh", rate=1.0, words="opencc") is not None
    found = said("taiwan", "这个计算机程序", "zh", rate=1.0)
    assert found is not None
    assert found[0] == "这个计算机程式"


AFRICAN_AMERICAN = [
    ("'em", "He sold them at the market.", "He sold 'em at the market."),
    ("-in' for -ing", "She was working late.", "She was workin' late."),
    ("ain't", "He didn't see us.", "He ain't see us."),
    ("completive done", "She has sold the car.", "She done sold the car."),
    ("demonstrative them", "I like those shoes.", "I like them shoes."),
    ("existential it", "There are five boys outside.", "It's five boys outside."),
    ("gon' future", "They are going to leave.", "They gon' leave."),
    ("habitual be", "They are always busy.", "They always be busy."),
    ("invariant don't", "He doesn’t know.", "He don’t know."),
    ("negative concord", "I didn't see anything.", "I didn't see nothing."),
    ("negative inversion", "Nobody can help us.", "Can't nobody help us."),
    ("no inversion in wh-questions", "How many dogs does she have?", "How many dogs she got?"),
    ("possessive got", "my sister has two dogs", "my sister got two dogs"),
    ("possessive they", "They sold their house.", "They sold they house."),
    ("remote past been", "She has been working there.", "She been working there."),
    ("wanna and gotta", "He wants to leave.", "He wanna leave."),
    ("was levelling", "They were late.", "They was late."),
    ("y'all", "Are you guys ready?", "Are y'all ready?"),
    ("zero copula", "She is working late.", "She working late."),
    ("zero possessive -s", "That is my sister's house.", "That is my sister house."),
    ("zero third person -s", "She works here.", "She work here."),
]
SINGAPORE = [
    ("already for completed action", "I have eaten the cake.", "I ate the cake already."),
    ("can or not", "Can you help me?", "You can help me or not?"),
    ("condition without if", "If you come late, you stand outside.", "You come late, you stand outside."),
    ("ever for experience", "I have been to Japan.", "I ever go Japan before."),
    ("existential got", "There are many cars here.", "Got many cars here."),
    ("is it tag", "You like it, don't you?", "You like it, is it?"),
    ("kena passive", "He was fined yesterday.", "He kena fined yesterday."),
    ("mass nouns as count nouns", "He bought some furniture.", "He bought some furnitures."),
    ("never for past denial", "He didn't come.", "He never come."),
    ("object pronoun drop", "I didn't like it.", "I didn't like."),
    ("sentence-final one", "He is always busy.", "He is always busy one."),
    ("subject pronoun drop", "I don't know that.", "Don't know that."),
    ("topic fronting", "You have to try this cake.", "This cake you have to try."),
    ("wh-word in place", "Where are you going?", "You going where?"),
    ("zero article", "The main reason is simple.", "Main reason is simple."),
    ("zero copula", "She is busy.", "She busy."),
    ("zero past tense", "Yesterday we walked home.", "Yesterday we walk home."),
    ("zero plural", "He has two books.", "He has two book."),
    ("zero third person -s", "She works here.", "She work here."),
]


@pytest.mark.parametrize(("feature", "before", "after"), AFRICAN_AMERICAN)
def test_african_american_by_feature(feature: str, before: str, after: str) -> None:
    assert said("african_american", before, feature=feature) == (after, feature)


@pytest.mark.parametrize(("feature", "before", "after"), SINGAPORE)
def test_singapore_by_feature(feature: str, before: str, after: str) -> None:
    assert said("singapore", before, feature=feature) == (after, feature)


def test_particles() -> None:
    found = {said("singapore", "It is too late.", draw=draw, feature="discourse particle") for draw in range(20)}
    assert found == {(f"It is too late {word}.", "discourse particle") for word in ("lah", "lor", "leh")}


def test_every_feature_is_on_a_sentence() -> None:
    assert {row[0] for row in AFRICAN_AMERICAN} == set(AfricanAmerican.features)
    assert {row[0] for row in SINGAPORE} | {"discourse particle"} == set(Singapore.features)


@pytest.mark.parametrize(
    ("name", "feature", "text"),
    [
        ("african_american", "zero copula", "Is she late? It is a rainy day. How many apples are red?"),
        ("african_american", "zero third person -s", "He is here and has two cars. The links are red."),
        ("african_american", "possessive got", "How many dogs did she have? I hope you have a good day."),
        ("african_american", "zero possessive -s", "It's late. She's Tom's."),
        ("african_american", "-in' for -ing", "The morning train, including the king, was on time."),
        ("african_american", "was levelling", "If they were here, I would know."),
        ("singapore", "zero past tense", "We walked home."),  # nothing else says when
        ("singapore", "zero plural", "The books are red."),  # nothing else says how many
        ("singapore", "condition without if", "If I were rich, I would travel."),
        ("indian_english", "stative progressive", "Do you know the answer? I would like some tea."),
        ("indian_english", "habitual progressive", "Have you read the book? It seems good."),
        ("indian_english", "focus itself", "He was born on February 11."),
        ("indian_english", "mass nouns as count nouns", "The software giant has a software company."),
        ("indian_english", "resumptive subject pronoun", "The BBC's Tim Franks says so."),
        ("indian_english", "object fronting", "He became the king."),
    ],
)
def test_a_feature_leaves_other_sentences_alone(name: str, feature: str, text: str) -> None:
    assert said(name, text, feature=feature) is None


def test_several_features_at_a_rate() -> None:
    text = "She is working late, and her brother has two dogs. How many dogs does he want?"
    found = said(
        "african_american", text, rate=1.0, feature="zero copula, possessive got, no inversion in wh-questions"
    )
    assert found is not None
    assert found[0] == "She working late, and her brother got two dogs. How many dogs he want?"
    assert found[1] == "zero copula, possessive got, no inversion in wh-questions"


@pytest.mark.parametrize("cls", [AfricanAmerican, IndianEnglish, Singapore])
@given(words=st.lists(st.sampled_from(_WORDS), max_size=14), end=st.sampled_from([".", "?", "", "!"]))
@settings(max_examples=60, deadline=None)
def test_all_features_at_once_fit(cls: type[FeatureOperator], words: list[str], end: str) -> None:
    text = " ".join(words) + end
    change = cls(rate=1.0).change(Text(text, "en"), Seeds(0, "test", 1).stream(text, 0))
    if change is not None:
        assert apply(text, change.edits) != text
        assert change.note
        starts = [edit.start for edit in change.edits]
        assert starts == sorted(starts)


@given(text=st.text(alphabet="the a is are my gray bus, I you what?.\nônibus está em um 软件", max_size=50))
@settings(max_examples=80, deadline=None)
@pytest.mark.parametrize(("name", "language"), [("us_uk", "en"), ("portuguese", "pt")])
def test_edits_always_fit(name: str, language: str, text: str) -> None:
    found = said(name, text, language)
    assert found is None or (found[0] != text and found[1])
