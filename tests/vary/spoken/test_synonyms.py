"""Synonyms: another word of the same class and form, in its place, with its tag."""

from __future__ import annotations

import pytest
from hypothesis import given, settings, strategies as st

from unswayed.base.options import OperatorSpec
from unswayed.base.seeds import Seeds
from unswayed.base.values import Example, Json, Variant
from unswayed.vary.engine import Variation, vary
from unswayed.vary.english import KIND_OF, STOPWORDS, forms, kind_of, tagged
from unswayed.vary.fitting import Asked, fitting
from unswayed.vary.operator import Text
from unswayed.vary.spoken.synonym_verb import SynonymVerb
from unswayed.vary.synonyms import rank_synonyms
from unswayed.vary.thesaurus import thesaurus

CLASSES = ("verb", "adjective", "adverb", "any", "stopword")


def varied(kind: str, text: str, tags: list[str] | None = None, draws: int = 1, **params: Json) -> list[Variant]:
    gold = {"intent": "i", "slots": tags} if tags else None
    spec = OperatorSpec(f"spoken/synonym_{kind}", params)
    variation = Variation(operators=(spec,), task="slu" if tags else "text", language="en", draws=draws)
    return list(vary([Example(0, "e", {"text": text}, gold)], variation))


def texts(kind: str, text: str, draws: int = 30, **params: Json) -> set[str]:
    return {variant.inputs["text"] for variant in varied(kind, text, draws=draws, **params)}


def best(text: str, word: str) -> list[str]:
    words = tagged(text)
    i = next(i for i, w in enumerate(words) if w.lower == word)
    return rank_synonyms([Asked(text, words, i)])[0]


@pytest.mark.parametrize(
    ("lemma", "tag", "form"),
    [
        ("put", "VBZ", "puts"),
        ("put", "VBD", "put"),
        ("leave", "VBD", "left"),
        ("fly", "VBN", "flown"),
        ("get", "VBG", "getting"),
        ("begin", "VBG", "beginning"),
        ("die", "VBG", "dying"),
        ("watch", "VBZ", "watches"),
        ("try", "VBZ", "tries"),
        ("city", "NNS", "cities"),
        ("child", "NNS", "children"),
        ("big", "JJR", "bigger"),
        ("early", "JJS", "earliest"),
        ("good", "JJS", "best"),
        ("expensive", "JJR", "more expensive"),
        ("play", "VB", "play"),
    ],
)
def test_forms(lemma: str, tag: str, form: str) -> None:
    assert forms().inflected(lemma, tag) == form
    if " " not in form:
        assert forms().lemma(form, tag) == lemma


@pytest.mark.parametrize(
    ("text", "word", "tag"),
    [
        ("she plays a song", "plays", "VBZ"),
        ("he booked a table", "booked", "VBD"),
        ("i am watching a movie", "watching", "VBG"),
        ("which flights are leaving today", "leaving", "VBG"),
        ("find two songs", "songs", "NNS"),
        ("i want a cheaper flight", "cheaper", "JJR"),
        ("she watches a movie", "watches", "VBZ"),
    ],
)
def test_inflection_is_kept(text: str, word: str, tag: str) -> None:
    found = best(text, word)
    assert found
    for other in found:
        head = other.split(" ")[-1]
        lemma = forms().lemma(head, tag)
        inflected = forms().inflected(lemma, tag) or ""
        assert other in (inflected, f"more {head}") or other.endswith(("s", "ed", "ing")), other
        assert lemma != forms().lemma(word, tag)


def test_plays_becomes_puts_not_put() -> None:
    assert all(other.endswith("s") for other in best("she plays a song", "plays"))


def test_the_sentence_chooses_the_sense() -> None:
    assert best("he broke the law", "broke") == ["breached"]
    assert best("he broke the window glass", "broke") == []  # no synonym for what is meant
    assert best("water the plant in the garden", "plant") == ["flora"]
    assert best("the plant makes cars", "plant") == []


def test_comparatives_use_more_than_a_word_only_where_there_is_no_other() -> None:
    assert all(" " not in other for other in best("list the cheapest fares", "cheapest"))
    assert any(other.startswith("more ") for other in best("is there a funnier movie", "funnier"))


def test_it_is_another_word_of_the_class() -> None:
    assert texts("verb", "book a table") <= {"reserve a table", "get a table", "arrange a table"}
    assert len(texts("verb", "book a table")) > 1
    assert texts("verb", "book a table", top=1) == {"reserve a table"}
    for variant in varied("any", "play the new album and find a cheap flight", draws=40):
        old, new = variant.note.split(" (")[0].split("→")
        assert old != new
    notes = {variant.note.split(" ")[-1] for variant in varied("any", "list the new movies", draws=40)}
    assert notes == {"(verb)", "(adjective)", "(noun)"}


def test_without_the_class_a_noun_and_without_a_noun_nothing() -> None:
    [variant] = varied("adverb", "play the album")
    assert variant.note.endswith("(noun)")
    assert varied("adverb", "hello you") == []
    assert varied("verb", "miles davis") == []


def test_when_a_noun_stands_in_is_a_parameter() -> None:
    """The thesaurus has no synonym of *ubiquitous*; the paper takes a noun only where there is no adjective."""
    has, has_not, fits = "find a ubiquitous hotel near the town", "find a hotel near the town", "find a cheap hotel"
    for nouns, expected in (("unfit", (True, True)), ("absent", (False, True)), ("never", (False, False))):
        assert tuple(bool(texts("adjective", text, nouns=nouns)) for text in (has, has_not)) == expected
        assert {v.note[-11:] for v in varied("adjective", fits, nouns=nouns)} == {"(adjective)"}
    assert texts("any", has_not, nouns="never") == texts("any", has_not)  # nouns are a class of its own there
    with pytest.raises(ValueError, match="nouns must be unfit, absent, never, not 'some'"):
        SynonymVerb(nouns="some")


def test_articles_agree() -> None:
    assert texts("adjective", "find a cheap hotel", top=1) == {"find an inexpensive hotel"}
    assert texts("adjective", "it is an enormous house", top=1) == {"it is a big house"}
    [variant] = varied("adjective", "find a cheap hotel", ["O", "B-x", "I-x", "I-x"], top=1)
    assert variant.gold["slots"] == ["O", "B-x", "I-x", "I-x"]


def test_case_and_punctuation_stay() -> None:
    assert texts("verb", "Book a table, please!", top=1) == {"Reserve a table, please!"}
    assert texts("verb", "BOOK A TABLE", top=1) == {"RESERVE A TABLE"}


def test_verbs_with_particles_and_pronouns() -> None:
    assert texts("verb", "turn off the lights", top=1) == {"switch off the lights"}
    assert "display me the flights" not in texts("verb", "show me the flights")


def test_words_in_slots_are_spared_if_asked() -> None:
    slots = ["O", "B-name", "I-name"]
    changed = {v.inputs["text"] for v in varied("any", "the new movie", slots, 40)}
    assert len(changed) > 1
    assert not any(v.inputs["text"][-9:] != "new movie" for v in varied("any", "the new movie", slots, 9, slots=False))


def test_names_and_fixed_expressions_are_left_alone() -> None:
    """As long as there is another word to replace."""
    said = texts("any", "find flights from fort worth and cheap meals at the food court")
    assert said
    assert all("fort worth" in text and "food court" in text for text in said)
    assert not any("plane" in text for text in texts("any", "flights from boston", draws=60))
    titled = varied("any", "play the long road by miles davis", ["O", "B-t", "I-t", "I-t", "O", "B-a", "I-a"], 20)
    assert titled
    assert all("the long road by miles davis" in v.inputs["text"] for v in titled)


def test_more_than_one_word_continues_the_slot() -> None:
    [variant] = varied("stopword", "x from boston y", ["O", "B-a", "I-a", "O"], top=1)
    assert variant.inputs["text"] == "x out of boston y"
    assert variant.gold["slots"] == ["O", "B-a", "I-a", "I-a", "O"]


def test_stopwords_agree() -> None:
    assert texts("stopword", "list the movie schedules") == {"list these movie schedules", "list those movie schedules"}
    assert texts("stopword", "list the flight") == {"list this flight", "list that flight"}
    assert texts("stopword", "what flights leave") == {"which flights leave"}
    assert "which is it" not in texts("stopword", "what is it")
    assert "we am here" not in texts("stopword", "i am here")
    assert texts("stopword", "go to sleep now") <= {"go into sleep now"}


def test_stopword_candidates_are_of_the_same_class() -> None:
    """Nearly all are keys of the table under the same tag; the others are of the class, though rarer."""
    rarer = {
        "CC": {"all", "yet"},
        "DT": {"one", "several"},
        "IN": {"amid", "as", "between", "but", "including", "minus", "notwithstanding", "out of", "regarding", "versus"}
        | {"whether", "which", "whilst"},
        "PRP": {"that", "these", "this", "those"},
        "PRP$": {"the"},
        "TO": {"into"},
    }
    for (tag, word), others in STOPWORDS.items():
        assert word not in others
        assert all((tag, other) in STOPWORDS or other in rarer[tag] for other in others), (tag, word)


def test_no_candidate_stands_beside_itself_or_has_the_same_lemma() -> None:
    assert "forecast" not in best("what is the weather forecast", "weather")
    asked = Asked("she plays songs", tagged("she plays songs"), 1)
    assert fitting(asked, ["plays", "played", "play", "streams"]) == ["streams"]


@pytest.mark.parametrize("wrong", [0, -1])
def test_top_must_be_positive(wrong: int) -> None:
    with pytest.raises(ValueError, match="top must be 1 or more"):
        SynonymVerb(top=wrong)


def test_the_table_is_whole() -> None:
    source = thesaurus()
    for lemma, kind in list(source._lines)[::7]:
        entry = source._entry(lemma, kind)
        assert entry is not None
        assert lemma not in entry.words
        assert len(entry.sense_rows) == len(entry.shares)
        assert len(entry.words) == len(entry.scores) == len(entry.rows) == len(entry.senses)
        assert entry.sense_rows.max() < len(source.vectors)
        assert entry.rows.min() > 0
        assert entry.senses.max() < len(entry.shares)


WORDS = [
    "play",
    "the",
    "cheap",
    "new",
    "album",
    "by",
    "miles",
    "davis",
    "and",
    "find",
    "a",
    "quick",
    "flight",
    "from",
    "boston",
    "to",
    "denver",
    "now",
    "really",
]


@st.composite
def utterances(draw: st.DrawFn) -> tuple[str, list[str]]:
    tokens = draw(st.lists(st.sampled_from(WORDS), min_size=1, max_size=10))
    tags: list[str] = []
    for _ in tokens:
        inside = ["I-" + tags[-1][2:]] * 2 if tags and tags[-1] != "O" else []
        tags.append(draw(st.sampled_from(["O", "O", "B-a", "B-b", *inside])))
    return " ".join(tokens), tags


@pytest.mark.parametrize("kind", CLASSES)
@given(utterance=utterances(), draw=st.integers(0, 20))
@settings(max_examples=80, deadline=None)
def test_a_replaced_word_keeps_its_tag_and_class(kind: str, utterance: tuple[str, list[str]], draw: int) -> None:
    text, tags = utterance
    variants = varied(kind, text, tags, draws=draw + 1)
    for variant in variants[-1:]:
        tokens, new = text.split(" "), variant.inputs["text"].split(" ")
        if len(new) == len(tokens):
            assert variant.gold["slots"] == tags
            changed = [i for i in range(len(tokens)) if tokens[i] != new[i]]
            at = changed[-1]
            assert len(changed) == 1 or (len(changed) == 2 and tokens[changed[0]] in ("a", "an"))
            old_word, new_word = tagged(text)[at], tagged(variant.inputs["text"])[at]
            if kind_of(old_word) != "s":
                assert KIND_OF[new_word.tag] == KIND_OF[old_word.tag] or forms().lemma(new_word.lower, old_word.tag)
                assert forms().lemma(new[at], old_word.tag) != forms().lemma(tokens[at], old_word.tag)
        else:
            assert [t for t in variant.gold["slots"] if t[:2] == "B-"] == [t for t in tags if t[:2] == "B-"]


@given(st.text(max_size=60))
@settings(max_examples=60, deadline=None)
def test_any_text_is_survived(text: str) -> None:
    seeds = Seeds(0, "x", 1)
    operator = SynonymVerb()
    change = operator.change(Text(text), seeds.stream("e", 0))
    if change is not None:
        assert all(text[edit.start : edit.end] != edit.new for edit in change.edits)
