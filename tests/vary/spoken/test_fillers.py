"""Fillers at the verb: where they go, that they are `O`, and that no slot is broken."""

from __future__ import annotations

import pytest
from hypothesis import given, settings, strategies as st

from unswayed.base.edits import slots_of
from unswayed.base.options import OperatorSpec
from unswayed.base.task import task_named
from unswayed.base.values import Example, Variant
from unswayed.vary.engine import Variation, vary
from unswayed.vary.operator import Text
from unswayed.vary.spoken import filler_post_verb, filler_pre_verb

PRE, POST, END = "spoken/filler_pre_verb", "spoken/filler_post_verb", "spoken/filler_end"
FILLERS = {PRE: filler_pre_verb.FILLERS, POST: filler_post_verb.FILLERS}


def varied(name: str, text: str, slots: str | None = None, seed: int = 0) -> Variant | None:
    gold = {"intent": "i", "slots": slots.split()} if slots else None
    example = Example(0, "e", {"text": text}, gold)
    task = "slu" if slots else "text"
    variation = Variation(operators=(OperatorSpec(name),), task=task, language="en", seed=seed)
    return next(iter(vary([example], variation)), None)


def without(name: str, text: str) -> set[str]:
    """The text with the filler marked, whichever it is."""
    found = set()
    for seed in range(25):
        variant = varied(name, text, seed=seed)
        assert variant is not None
        filler = variant.note.split('"')[1]
        assert filler in FILLERS[name]
        found.add(variant.inputs["text"].replace(filler, "…", 1))
    return found


@pytest.mark.parametrize(
    ("text", "before", "after"),
    [
        ("play some jazz", "… play some jazz", "play some jazz …"),
        ("can you add this song", "can you … add this song", "can you add this song …"),
        ("show me flights to boston", "… show me flights to boston", "show me flights … to boston"),
        ("what is the fare", "what … is the fare", "what is the fare …"),
        ("add tune to sxsw fresh playlist", "… add tune to sxsw fresh playlist", "add tune … to sxsw fresh playlist"),
        ("turn it off", "… turn it off", "turn it off …"),
        ("is there a meal", "… is there a meal", "is there a meal …"),
        ("Hello there! Play it, please.", "Hello there! … Play it, please.", "Hello there! Play it …, please."),
    ],
)
def test_where_they_go(text: str, before: str, after: str) -> None:
    assert without(PRE, text) == {before}
    assert without(POST, text) == {after}


@pytest.mark.parametrize("name", [PRE, POST])
def test_a_verb_in_a_slot_is_not_the_utterances(name: str) -> None:
    variant = varied(name, "the song let it be please play", "O O B-song I-song I-song O O")
    assert variant is not None
    assert '"play"' in variant.note
    assert "let it be" in variant.inputs["text"]


@pytest.mark.parametrize("name", [PRE, POST])
def test_without_a_verb_like_goes_before_the_first_slot(name: str) -> None:
    variant = varied(name, "weather in new york", "O O B-city I-city")
    assert variant is not None
    assert variant.inputs["text"] == "weather in like new york"
    assert variant.gold["slots"] == ["O", "O", "O", "B-city", "I-city"]
    assert varied(name, "weather in new york") is None  # nor a slot
    assert varied(name, "weather", "O") is None


def test_never_like_like() -> None:
    for seed in range(30):
        for name in (PRE, POST):
            variant = varied(name, "i would like a table", seed=seed)
            assert variant is not None
            assert "like like" not in variant.inputs["text"]


def test_a_value_is_said_whole_before_the_filler() -> None:
    variant = varied(POST, "play it now on spotify", "O B-song I-song O B-service")
    assert variant is not None
    assert variant.inputs["text"].startswith("play it now ")
    assert variant.inputs["text"].endswith(" on spotify")
    assert variant.gold["slots"][:4] == ["O", "B-song", "I-song", "O"]


def test_like_ends_no_utterance() -> None:
    said = {varied(POST, "play some jazz", seed=seed).inputs["text"] for seed in range(40)}
    assert said == {f"play some jazz {filler}" for filler in ("basically", "actually", "you know")}


def test_a_question_mark_is_a_token_where_tokens_have_labels() -> None:
    plain = {varied(END, "play some jazz", seed=seed).inputs["text"] for seed in range(60)}
    tokens = {varied(END, "play some jazz", "O O B-genre", seed).inputs["text"] for seed in range(60)}
    assert "play some jazz would you mind?" in plain
    assert "play some jazz would you mind ?" in tokens
    assert not any(text.endswith("d?") for text in tokens)


WORDS = [
    "play",
    "show",
    "me",
    "the",
    "turn",
    "it",
    "off",
    "is",
    "there",
    "weather",
    "let",
    "be",
    "new",
    "york",
    "to",
    "list",
    "flights",
    "you",
    "know",
    "boston",
    "does",
    "serve",
]


@st.composite
def utterances(draw: st.DrawFn) -> tuple[str, list[str]]:
    tokens = draw(st.lists(st.sampled_from(WORDS), min_size=1, max_size=10))
    tags: list[str] = []
    for _ in tokens:
        inside = ["I-" + tags[-1][2:]] * 2 if tags and tags[-1] != "O" else []
        tags.append(draw(st.sampled_from(["O", "O", "B-a", "B-b", *inside])))
    return " ".join(tokens), tags


@pytest.mark.parametrize("name", [PRE, POST])
@given(utterance=utterances(), seed=st.integers(0, 50))
@settings(max_examples=150, deadline=None)
def test_a_filler_is_o_and_outside_every_slot(name: str, utterance: tuple[str, list[str]], seed: int) -> None:
    text, tags = utterance
    variant = varied(name, text, " ".join(tags), seed)
    if variant is None:
        return
    tokens, filler = variant.inputs["text"].split(" "), variant.note.split('"')[1].split()
    new = variant.gold["slots"]
    assert [t for t in new if t != "O"] == [t for t in tags if t != "O"]
    assert new.count("O") == tags.count("O") + len(filler)
    before = [" ".join(text.split()[a:b]) for _, a, b in slots_of(tags)]
    assert [" ".join(tokens[a:b]) for _, a, b in slots_of(new)] == before


@st.composite
def written(draw: st.DrawFn) -> tuple[str, list[str]]:
    """The same with capitals, marks and tokens that are empty."""
    text, tags = draw(utterances())
    marks = st.sampled_from(["{}", "{}", "{}", "{},", "({}", "{}.", "{}\n", "“{}”", "..."])
    tokens = [draw(marks).format(draw(st.sampled_from([token, token.title()]))) for token in text.split(" ")]
    if draw(st.integers(0, 5)) == 0:
        tokens.insert(at := draw(st.integers(0, len(tokens))), "")
        tags.insert(at, "O")
    return " ".join(tokens), tags


@pytest.mark.parametrize("name", ["spoken/filler_begin", END, PRE, POST])
@given(given=st.lists(st.one_of(utterances(), written()), min_size=9, max_size=12))
@settings(max_examples=60, deadline=None)
def test_many_at_once_are_as_one_by_one(name: str, given: list[tuple[str, list[str]]]) -> None:
    given = [("Play York now", ["O", "B-a", "O"]), ("can you play york", ["O", "O", "O", "B-a"]), *given]
    examples = [Example(i, f"e{i}", {"text": t}, {"intent": "i", "slots": tags}) for i, (t, tags) in enumerate(given)]
    variation = Variation(operators=(OperatorSpec(name),), task="slu", language="en")
    alone = [variant for example in examples for variant in vary([example], variation)]
    assert list(vary(examples, variation)) == alone


@given(utterances())
def test_labelled_spans_are_the_slots(utterance: tuple[str, list[str]]) -> None:
    text, tags = utterance
    seen = Text(text, "en", {"intent": "i", "slots": tags}, "text", task_named("slu"))
    tokens = seen.tokens
    assert seen.marked == [(tokens[first][0], tokens[last - 1][1]) for _, first, last in slots_of(tags)]
    assert [seen.labelled(start) for start, _ in tokens] == [tag != "O" for tag in tags]
