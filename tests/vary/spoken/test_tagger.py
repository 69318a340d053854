"""The tagger on sentences of our own whose tags are beyond doubt, on odd texts, and on real corpora."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st

from unswayed.vary.english import (
    START,
    Word,
    _read_line,
    class_of,
    kind_of,
    line_of,
    seen_as,
    tagged,
    tagger,
    tags_of,
)
from unswayed.vary.spoken import verb_phrases
from unswayed.vary.word_table import WordTable, array_tagger, places_of

COMMON = ["play", "the", "new", "book", "a", "table", "two", "what", "flights", "leave", "like", "to", "her", "that"]
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
        START,
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
    line = line_of(text)
    assert line.plain
    assert line.words() == _read_line(text).words()
    places = [(word.start, word.end) for word in line.words()]
    assert [line.stretch(i, i + 1) for i in range(len(words))] == places


def decided(words: list[str]) -> list[str]:
    """The definition: each word has the tag that the longest known context says."""
    classes, contexts = tagger().classes, tagger().contexts
    kinds = [classes.get(word) or class_of(word, classes) for word in words]
    found = [START, START]
    for word, kind, after in zip(words, kinds, [*map(seen_as, kinds), START][1:], strict=True):
        before, last = found[-2:]
        keys = (word, last, after, "word"), (kind, last, after, before), (kind, last, after), (kind, last), (kind,)
        known = (contexts[key] for key in keys if key in contexts)
        found.append(next(known, tags_of(kind)[0]) if "|" in kind else kind)
    return found[2:]


@cache
def known_words() -> st.SearchStrategy[str]:
    classes, contexts = tagger().classes, tagger().contexts
    ambiguous = [word for word, kind in classes.items() if "|" in kind]
    own = [key[0] for key in contexts if key[-1] == "word"]
    return st.one_of(*(st.sampled_from(words) for words in (list(classes), ambiguous, own, COMMON)))


@given(st.lists(st.deferred(lambda: known_words()), max_size=12))
@settings(max_examples=200, deadline=None)
def test_the_longest_context_decides(words: list[str]) -> None:
    assert tagger().tags(words) == decided(words)


def plainly_tagged(text: str) -> list[tuple[int, int, str, str]]:
    """The definition: a token at a time."""
    found: list[tuple[int, int, str, str]] = []
    places: list[tuple[int, int]] = []
    at = 0
    for token in text.split():
        at = text.index(token, at)
        start, end = at, at + len(token)
        at = end
        while start < end and not text[start].isalnum() and text[start] != "&":
            start += 1
        while end > start and not text[end - 1].isalnum() and text[end - 1] != "&":
            end -= 1
        if start < end:
            places.append((start, end))
        if places and token[-1] in ".?!" and (token[-1] != "." or text[at + 1 : at + 2].isupper()):
            found += sentence(text, places)
            places = []
    return found + sentence(text, places)


def sentence(text: str, places: list[tuple[int, int]]) -> list[tuple[int, int, str, str]]:
    words = [text[start:end] for start, end in places]
    lower = [word.lower().replace("’", "'") for word in words]
    tags = decided(lower)
    if words != lower and any(map(str.islower, words)):
        for i, word in enumerate(words):
            if i and word[0].isupper() and word[:2] not in ("I", "I'"):
                tags[i] = "NNP"
    return [(start, end, word, tag) for (start, end), word, tag in zip(places, lower, tags, strict=True)]


WRITTEN = st.one_of(
    st.sampled_from([*COMMON, "I", "I'm", "I’m", "U.S.", "AT&T", "B&", "&", "—", "...", "?!", "𝐀bc", "don’t", "(so)"]),
    st.sampled_from(COMMON).map(str.title),
    st.tuples(st.sampled_from(COMMON), st.sampled_from([".", "?", "!", ",", '."', ";"])).map("".join),
    st.text(max_size=4),
)


@given(st.lists(st.tuples(WRITTEN, st.sampled_from([" ", " ", " ", "  ", "\n", " \t"])), max_size=14))
@settings(max_examples=300, deadline=None)
def test_any_text_is_tagged_as_token_by_token(parts: list[tuple[str, str]]) -> None:
    text = "".join(token + space for token, space in parts)
    for said in (text, text.strip()):
        words = tagged(said)
        assert [tuple(word) for word in words] == plainly_tagged(said)
        assert all(type(word) is Word for word in words)
        line = line_of(said)
        assert [line.stretch(i, i + 1) for i in range(len(words))] == [(word.start, word.end) for word in words]
        for i, word in enumerate(words):
            assert line.stretch(0, i + 1) == (words[0].start, word.end)
            assert not i or line.spaced(i) == (said[words[i - 1].end : word.start] == " ")


SOME = ("VB", "NN", "NNS", "DT", "IN", "JJ", "MD")
TEXTS = st.lists(WRITTEN, max_size=9).map(" ".join)


@given(st.lists(st.one_of(TEXTS, st.lists(st.sampled_from(COMMON), min_size=1, max_size=9).map(" ".join)), max_size=6))
@settings(max_examples=200, deadline=None)
def test_many_texts_are_read_as_each_is(texts: list[str]) -> None:
    """Words of one text see none of another's."""
    table, names = WordTable(texts), array_tagger().names
    places, _ = places_of(table, [frozenset(SOME)])
    for n, text in enumerate(texts):
        line, its = line_of(text), slice(table.first[n], table.stop[n])
        words = line.words()
        tags = [names[tag] for tag in table.tags[its]]
        columns = table.begins[its].tolist(), table.ends[its].tolist(), table.words[its], tags
        assert list(zip(*columns, strict=True)) == [tuple(word) for word in words]
        assert not words or table.plain[n] == line.plain
        assert [names[tag] for tag in table.context[its]] == tagger().tags([word.lower for word in words])
        replaceable = [i for i, word in enumerate(words) if word.tag in SOME and kind_of(word)]
        assert [place - its.start for place in places.tolist() if its.start <= place < its.stop] == replaceable


def test_auxiliaries_are_passed_over() -> None:
    def first(text: str) -> str:
        line = line_of(text)
        begin, end = verb_phrases(line)[0]
        return " ".join(line.lowers[begin:end])

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
