"""Texts in, variants out: the same as a suite's, in the list's order."""

from __future__ import annotations

from pathlib import Path

import pytest

import unswayed
from unswayed.base.errors import UsageError, WrongLanguage
from unswayed.base.options import OperatorSpec
from unswayed.vary import operators

TEXTS = [
    "Turn off the lights in the kitchen, please.",
    "",
    "play some jazz",
    "Write to a@b.org before 7:30!",
    "Café ☕ is open",
    "12",
    *(f"remind me to call number {n} at noon" for n in range(40)),
]


@pytest.mark.parametrize(
    "operator",
    [
        "keyboard/adjacent",
        OperatorSpec("keyboard/adjacent", {"rate": 0.2}),
        OperatorSpec("surface/case", {"kind": "upper"}),
        "surface/punctuation",
        "spoken/filler_post_verb",
        "spoken/synonym_any",
        "keyboard/typist",
        "dialect/indian_english+keyboard/adjacent",
    ],
)
def test_they_are_the_variants_of_a_suite(operator: str | OperatorSpec) -> None:
    suite = unswayed.make_suite([{"text": text} for text in TEXTS if text], operator, language="en", seed=3)
    name = operator if isinstance(operator, str) else operator.name
    made = {(variant.example_id, variant.inputs["text"]) for variant in suite if variant.source == name}
    examples = list(suite.examples())
    found = unswayed.vary_texts(
        (e.inputs["text"] for e in examples), operator, ids=[e.id for e in examples], seed=3, language="en"
    )
    assert {(e.id, new) for e, new in zip(examples, found, strict=True) if new != e.inputs["text"]} == {
        (id, text) for id, text in made if text not in TEXTS
    }


def test_the_list_has_the_same_length_and_order() -> None:
    found = unswayed.vary_texts(TEXTS, "keyboard/adjacent", seed=7, language="en")
    assert len(found) == len(TEXTS)
    assert [new == text for new, text in zip(found, TEXTS, strict=True)] == [
        not any(map(str.isalpha, t)) for t in TEXTS
    ]
    assert found == unswayed.vary_texts(tuple(TEXTS), ["keyboard/adjacent"], seed=7, language="English")
    assert found != unswayed.vary_texts(TEXTS, "keyboard/adjacent", seed=8, language="en")
    assert unswayed.vary_texts([], "keyboard/adjacent", language="en") == []
    long = ["a word or two " * 50_000, *TEXTS]
    assert (
        unswayed.vary_texts(TEXTS, "keyboard/adjacent", ids=map(str, range(1, len(TEXTS) + 1)), language="en")
        == (unswayed.vary_texts(long, "keyboard/adjacent", language="en")[1:])
    ), "a text that fills a block alone changes no other"


def test_of_several_operators_each_text_has_one() -> None:
    names = ["spoken/filler_end", "keyboard/adjacent"]
    found = unswayed.vary_texts(TEXTS, names, language="en", seed=1)
    alone = [unswayed.vary_texts(TEXTS, name, language="en", seed=1) for name in names]
    taken = [[new == one for new, one in zip(found, its, strict=True)] for its in alone]
    assert all(map(any, zip(*taken, strict=True)))
    assert sum(taken[0]) > 5
    assert sum(taken[1]) > 5
    assert unswayed.vary_texts(TEXTS, "@typing", language="en")


def test_the_language_is_identified_or_refused() -> None:
    german = ["Schalte bitte das Licht in der Küche aus.", "Wie wird das Wetter morgen in Hamburg?"]
    assert unswayed.vary_texts(german, "keyboard/adjacent") == unswayed.vary_texts(
        german, "keyboard/adjacent", language="de"
    )
    with pytest.raises(WrongLanguage):
        unswayed.vary_texts(["明天天气怎么样"], "keyboard/adjacent")
    with pytest.raises(UsageError, match=r"in de\+fr. Split them"):
        unswayed.vary_texts(german, "keyboard/adjacent", language="de+fr")


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"texts": "turn off"}, "texts= must be a list of texts, not 'turn off'. For one text, use vary_text"),
        ({"texts": ["a", None]}, r"texts\[1\] is None"),
        ({"ids": ["1"]}, "ids= must have an id for each text: 2, not 1"),
        ({"operators": "keyboard/adjacnt"}, "Did you mean 'keyboard/adjacent'"),
        ({"operators": OperatorSpec("keyboard/adjacent", {"rat": 1})}, "Did you mean 'rate'"),
        ({"operators": []}, "No operator"),
        ({"seed": "1"}, "seed= must be"),
        ({"seed": True}, "seed= must be"),
        ({"draws": 2}, "no argument 'draws'|takes draws in its plan"),
        ({"plan": {"vary": {"draws": 2}}}, "draws= is for suites"),
        ({"plan": {"vary": {"guard": "x"}}}, "guard.* is for suites"),
    ],
)
def test_what_is_wrong_is_named(wrong: dict[str, object], message: str) -> None:
    with pytest.raises(unswayed.UnswayedError, match=message):
        unswayed.vary_texts(**{"texts": ["a b", "c d"], "operators": "keyboard/adjacent", "language": "en", **wrong})


def test_a_file_that_changes_between_two_calls_is_read_again(tmp_path: Path) -> None:
    profile = tmp_path / "profile.json"
    spec = OperatorSpec("keyboard/typist", {"profile": str(profile)})
    with pytest.raises(unswayed.UnswayedError):
        unswayed.vary_text("turn it off", spec, language="en")
    source = Path(unswayed.__file__).parent / "vary/keyboard/data/typing_noiseqa.json"
    profile.write_bytes(source.read_bytes())
    assert unswayed.vary_text("turn it off", spec, language="en")


def test_calls_that_are_alike_make_the_operator_once(monkeypatch: pytest.MonkeyPatch) -> None:
    unswayed.vary_text("turn it off", "keyboard/adjacent", language="en", seed=11)
    monkeypatch.setattr(operators.get("keyboard/adjacent"), "__init__", None)  # to make another one would fail
    assert unswayed.vary_text("turn it on", "keyboard/adjacent", language="en", seed=11)
