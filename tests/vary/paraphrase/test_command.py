"""`paraphrase/command`: frames, order and words of commands and questions, and what other rows say."""

from __future__ import annotations

from pathlib import Path

import pytest

from unswayed.base.edits import apply, slots_of
from unswayed.base.errors import UnknownName
from unswayed.base.options import OperatorSpec
from unswayed.base.seeds import Seeds
from unswayed.base.values import Example
from unswayed.vary.engine import Variation, vary
from unswayed.vary.operator import Text
from unswayed.vary.paraphrase._borrowed import LabelledRows, UnlabelledRows, edits_between
from unswayed.vary.paraphrase.command import Command, embed_question, other_frames
from unswayed.vary.sentence import sentences

NAME = "paraphrase/command"
SLU = Path(__file__).parents[4] / "shared/data/slu"


def said(text: str, draws: int = 40, **params: object) -> set[str]:
    operator, seeds = Command(**params), Seeds(3, NAME, 1)  # type: ignore[arg-type]
    changes = [operator.change(Text(text), seeds.stream("e", draw)) for draw in range(draws)]
    return {apply(text, change.edits) for change in changes if change}


@pytest.mark.parametrize(
    ("text", "among"),
    [
        ("show me flights from boston to denver", "are there any flights from boston to denver"),
        ("what flights leave boston before noon", "show me the flights that leave boston before noon"),
        ("play some jazz", "can you play some jazz"),
        ("can you play some jazz", "play some jazz"),
        ("i want to book a table", "book a table"),
        ("what is the weather in paris", "tell me the weather in paris"),
        ("i need a taxi to the station", "can you find me a taxi to the station"),
        ("flights from boston", "show me flights from boston"),
        ("Is there a pharmacy nearby?", "I'm looking for a pharmacy nearby."),
    ],
)
def test_frames(text: str, among: str) -> None:
    assert among in said(text, 200, kinds="frame")


@pytest.mark.parametrize(
    ("question", "straight"),
    [
        ("what did the king say", "what the king said"),
        ("where does this train stop", "where this train stops"),
        ("is it open on monday", "if it is"),
        ("how many rooms are there in total", "how many rooms there are"),
        ("who wrote the letter", ""),
        ("what cinema has the best seats", None),
    ],
)
def test_questions_after_tell_me(question: str, straight: str | None) -> None:
    found = embed_question(sentences(question)[0])
    assert (found and found.new) == straight


def test_a_title_is_not_asked_about() -> None:
    [way] = other_frames(sentences("show me the movie titanic")[0], "show me the movie titanic")
    assert not any(frame.said.startswith("what") for frame in way.frames)


def test_times_short_forms_and_words() -> None:
    assert "tomorrow wake me up early please" in said("wake me up early please tomorrow", kinds="order")
    assert "call me tmrw" in said("call me tomorrow", kinds="short", short=1.0)
    assert said("turn off the lamp", kinds="words", rate=1.0) == {"switch off the lamp", "shut off the lamp"}
    assert not said("this book is good", kinds="words", rate=1.0)  # a book is not reserved


def rows() -> list[Example]:
    texts = {
        "show flights from boston to denver": "O O O B-from O B-to",
        "i want to fly from oslo to rome": "O O O O O B-from O B-to",
        "when is the flight from oslo to rome": "O O O O O B-from O B-to",
        "which flights go from oslo to rome": "O O O O B-from O B-to",
    }
    gold = [{"intent": "flight", "slots": tags.split()} for tags in texts.values()]
    return [Example(i, f"e{i}", {"text": t}, g) for i, (t, g) in enumerate(zip([*texts] * 5, gold * 5, strict=True))]


def test_other_rows_lend_their_words() -> None:
    examples = rows()
    plan = Variation(
        operators=(OperatorSpec(NAME, {"kinds": "borrowed,frame"}),),
        task="slu", language="en", draws=40, pools={NAME: tuple(examples)},
    )  # fmt: skip
    variants = list(vary(examples[:1], plan))
    made = {v.inputs["text"] for v in variants}
    assert {"i want to fly from boston to denver", "which flights go from boston to denver"} <= made
    assert not any(text.startswith("when") for text in made), "when it flies is another question"
    for variant in variants:
        words, tags = variant.inputs["text"].split(), variant.gold["slots"]  # type: ignore[call-overload, index]
        assert [(k, words[a]) for k, a, _ in slots_of(tags)] == [("from", "boston"), ("to", "denver")]


def test_the_order_of_rows_decides_nothing() -> None:
    examples = rows()
    one, other = LabelledRows(examples), LabelledRows(examples[::-1])
    texts = [UnlabelledRows([*UNLABELLED, *UNLABELLED[::2]][::step]) for step in (1, -1)]
    asked = "which flights are there from boston to denver"
    assert texts[0].others(asked) == texts[1].others(asked)
    assert one.others("show flights from a to b", examples[0].gold) == other.others(
        "show flights from a to b", examples[0].gold
    )


UNLABELLED = [
    "list flights from oslo to rome", "show me the flights between paris and lima on monday",
    "when do flights leave from oslo to rome", "what flights go from cairo to rome",
    "cancel my flight from oslo to rome",
    "play some jazz", "add karl orff to my evening playlist", "put anna netrebko on the opera playlist",
    "what is the weather in oslo", "whats the forecast for cairo tomorrow", "what was the weather in cairo",
]  # fmt: skip


def alike(text: str) -> set[str]:
    return set(UnlabelledRows(UNLABELLED * 3).others(text))


def test_texts_without_labels_lend_their_words() -> None:
    said = alike("which flights are there from boston to denver")
    assert {"list flights from boston to denver", "what flights go from boston to denver"} <= said
    assert not any(text.startswith(("when", "cancel")) for text in said), "that is another question"
    assert "show me the flights between boston and denver on friday" in alike(
        "list flights on friday from boston to denver"
    )
    assert "whats the forecast for denver tomorrow" not in alike("what is the weather in denver")
    assert "what was the weather in denver" not in alike("what is the weather in denver")


def test_what_nobody_says_is_not_said_as_others() -> None:
    assert not alike("how many moons does jupiter have")
    assert not alike("")
    assert not alike("!?")
    assert not alike("jazz " * 40)


def test_labels_stay_on_their_words_where_texts_lend() -> None:
    pool = tuple(Example(i, f"e{i}", {"text": text}) for i, text in enumerate(UNLABELLED * 3))
    gold = {"intent": "flight", "slots": ["O", "O", "O", "B-from", "O", "B-to"]}
    example = Example(0, "e", {"text": "show flights from boston to denver"}, gold)
    plan = Variation(operators=(OperatorSpec(NAME),), task="slu", language="en", draws=30, pools={NAME: pool})
    variants = list(vary([example], plan))
    assert any("another row" in variant.note for variant in variants)
    for variant in variants:
        words, tags = variant.inputs["text"].split(), variant.gold["slots"]  # type: ignore[call-overload, index]
        assert [(k, words[a]) for k, a, _ in slots_of(tags)] == [("from", "boston"), ("to", "denver")]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("a b c", "a x c"),
        ("a b c", "b c"),
        ("a b", "a b c"),
        ("a b", "c a b"),
        ("a", "b"),
        ("a b c", "a"),
        ("a b", "b a"),
    ],
)
def test_edits_between_texts(old: str, new: str) -> None:
    assert apply(old, edits_between(old, new)) == new


def test_an_unknown_kind_is_refused() -> None:
    with pytest.raises(UnknownName, match="kind of rewrite"):
        Command(kinds="rhyme")


@pytest.mark.skipif(not SLU.exists(), reason="needs ../shared/data/slu")
@pytest.mark.parametrize("corpus", ["atis", "snips"])
def test_nine_in_ten_utterances_are_varied(corpus: str) -> None:
    texts = (SLU / corpus / "valid/seq.in").read_text("utf-8").splitlines()[:300]
    examples = [Example(i, f"e{i}", {"text": text.strip()}) for i, text in enumerate(texts)]
    plan = Variation(operators=(OperatorSpec(NAME),), task="text", language="en")
    assert len(list(vary(examples, plan))) >= 0.9 * len(texts)
