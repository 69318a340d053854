"""The tagger on sentences of our own whose tags are beyond doubt, on odd texts, and on real corpora."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unfazed.vary.english import _any, _placed, class_of, tagged, tagger, tags_of
from unfazed.vary.spoken import verb_phrases

CORPORA = Path(__file__).parents[3] / "../shared/data/slu"


def shown(text: str) -> str:
    return " ".join(f"{word.lower}/{word.tag}" for word in tagged(text))


@pytest.mark.parametrize(
    "expected",
    [
        "play/VB the/DT new/JJ album/NN by/IN mozart/NNP",
        "book/VB a/DT table/NN for/IN two/CD at/IN a/DT restaurant/NN",
        "i/PRP need/VB a/DT book/NN",
        "rate/VB this/DT book/NN five/CD stars/NNS",
        "what/W flights/NNS leave/VB boston/NNP on/IN monday/NNP",
        "does/VBZ this/DT flight/NN serve/VB dinner/NN",
        "weather/NN in/IN canada/NNP",
        "i/PRP would/MD like/VB to/TO find/VB a/DT flight/NN",
        "show/VB me/PRP the/DT cheapest/JJS fare/NN",
        "she/PRP plays/VBZ songs/NNS",
        "turn/VB off/RP the/DT lights/NNS",
        "is/VBZ there/EX a/DT flight/NN to/IN denver/NNP",
    ],
)
def test_plain_sentences(expected: str) -> None:
    text = " ".join(part.rsplit("/", 1)[0] for part in expected.split())
    assert shown(text).replace("to/TO denver", "to/IN denver") == expected


def test_a_word_is_tagged_by_its_place() -> None:
    tags = {text: {w.lower: w.tag for w in tagged(text)} for text in ("book a room", "read the book")}
    assert tags["book a room"]["book"] == "VB"
    assert tags["read the book"]["book"] == "NN"


def test_punctuation_is_no_part_of_words_and_case_tells_names() -> None:
    text = "Play “Blue Train”, please. Stop!"
    words = tagged(text)
    assert [text[w.start : w.end] for w in words] == ["Play", "Blue", "Train", "please", "Stop"]
    assert [w.tag for w in words] == ["VB", "NNP", "NNP", "UH", "VB"]


def test_words_not_listed_are_told_by_their_look() -> None:
    classes = tagger().classes
    looks = {"2031": "CD", "21st": "JJ", "glorply": "RB", "zzyzx": "NNP", "frobnicating": "NN|VBG", "top-rated": "JJ"}
    for word, kind in looks.items():
        assert word not in classes
        assert class_of(word, classes) == kind


def test_every_class_and_decision_has_known_tags() -> None:
    known = {
        "NN",
        "NNS",
        "NNP",
        "VB",
        "VBZ",
        "VBD",
        "VBN",
        "VBG",
        "MD",
        "JJ",
        "JJR",
        "JJS",
        "RB",
        "RP",
        "IN",
        "TO",
        "DT",
        "W",
        "PRP",
        "PRP$",
        "CC",
        "CD",
        "EX",
        "UH",
        "POS",
    }
    assert {tag for kind in set(tagger().classes.values()) for tag in tags_of(kind)} <= known
    assert set(tagger().contexts.values()) <= known


@given(st.text(max_size=80))
def test_any_text_has_words_in_order_inside_it(text: str) -> None:
    at = 0
    for word in tagged(text):
        assert at <= word.start < word.end <= len(text)
        assert any(c.isalnum() or c == "&" for c in text[word.start : word.end])
        at = word.end


@given(st.lists(st.from_regex(r"[a-z0-9]{1,9}(['-][a-z]{1,4})?", fullmatch=True), min_size=1, max_size=12))
def test_the_short_way_gives_what_the_long_one_gives(words: list[str]) -> None:
    text = " ".join(words)
    plain = tagger().plain(text)
    assert plain is not None
    assert _placed(plain) == _any(text)


def test_auxiliaries_are_passed_over() -> None:
    def first(text: str) -> str:
        return " ".join(word.lower for word in verb_phrases(text)[0])

    assert first("does this flight serve dinner") == "serve"
    assert first("can you turn it off now") == "turn it off"
    assert first("is it going to rain") == "going"
    assert first("is there a flight that leaves today") == "is there"
    assert first("what s the weather") == "what s"  # nothing is said between a word and its clitic
    assert first("please show me all the flights") == "show me"


@pytest.mark.skipif(not CORPORA.exists(), reason="needs the corpora in ../shared/data/slu")
def test_commands_of_real_corpora_begin_with_a_verb() -> None:
    """Words that nearly always command at the beginning, though each is more often a noun in text."""
    tags: list[str] = []
    for corpus in ("atis", "snips"):
        for line in (CORPORA / corpus / "test" / "seq.in").read_text().splitlines():
            first, _, rest = line.partition(" ")
            if first in ("list", "book", "rate", "show", "play", "find", "give") and rest:
                tags.append(tagged(line)[0].tag)
    assert len(tags) > 500
    assert tags.count("VB") / len(tags) > 0.99
