"""What must stay whole does, under every registered operator."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

import pytest
import regex
from hard_lines import LINES

from benchmarks._http_server import Server
from unswayed import vary_text
from unswayed.base.edits import Edit
from unswayed.base.errors import UsageError
from unswayed.base.language import knows
from unswayed.base.options import OperatorSpec
from unswayed.base.protect import protected_spans
from unswayed.base.seeds import Stream
from unswayed.base.values import Example, Variant
from unswayed.vary import operators
from unswayed.vary.engine import Variation, Varier, vary
from unswayed.vary.operator import Change, Operator, Text

# These need programs or weights, or change no text of an example.
NAMES = [
    name
    for name in operators.names()
    if name not in ("speech/roundtrip", "paraphrase/seq2seq") and not name.startswith("prompt/")
]
PARAMS: dict[str, dict[str, str]] = {}


@pytest.fixture(scope="module", autouse=True)
def server() -> Iterator[None]:
    with Server() as server:
        PARAMS.update({name: {"url": server.url, "model": "m"} for name in ("meaning/chat", "paraphrase/chat")})
        yield


def variants(name: str, language: str, texts: list[str], draws: int, **params: object) -> list[Variant]:
    spec = OperatorSpec(name, {**PARAMS.get(name, {}), **params})
    examples = [Example(i, f"e{i}", {"text": text}) for i, text in enumerate(texts)]
    pools = {name: tuple(examples)} if operators.get(name).pool else {}
    plan = Variation(operators=(spec,), task="text", language=language, draws=draws, pools=pools)
    return list(vary(examples, plan))


def pieces(text: str) -> Counter[str]:
    return Counter(regex.findall(r"\X", text))


def split_graphemes(before: str, after: str) -> list[str]:
    """The graphemes of a text of which only a part is there after."""
    here, there = pieces(before), pieces(after)
    found = []
    for one, count in here.items():
        if len(one) > 1 and there[one] < count:
            parts = [one[:k] for k in range(1, len(one))] + [one[k:] for k in range(1, len(one))]
            new = [part for part in parts if there[part] > here[part]]
            # without accents, which `surface/accents` leaves out, a letter is whole; a slip may write the bare letter
            found += [one for part in new if not part[0].isalpha() or len(part) > 1]
    return found


def damaged(name: str, draws: int) -> list[str]:
    found = []
    for language in sorted({line.language for line in LINES}):
        if not knows(operators.get(name).languages, language):
            continue
        lines = [line for line in LINES if line.language == language]
        for variant in variants(name, language, [line.text for line in lines], draws):
            before, after = lines[variant.row], variant.inputs["text"]
            emoji = operators.get(name).alters == ("emoji",)
            for thing in before.whole:
                changed = emoji and not re.search(r"\w\w", thing)
                if not changed and after.count(thing) < before.text.count(thing):
                    found.append(f"{thing!r} in {after!r} ({variant.note})")
            found += [f"{one!r} in {after!r} ({variant.note})" for one in split_graphemes(before.text, after)]
    return found


def test_there_are_enough_hard_lines() -> None:
    assert len(LINES) >= 61
    assert len({line.text for line in LINES}) == len(LINES)


@pytest.mark.parametrize("name", NAMES)
def test_what_must_stay_whole_does(name: str) -> None:
    assert not damaged(name, 5)


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_what_must_stay_whole_does_in_a_hundred_draws(name: str) -> None:
    assert not damaged(name, 100)


@pytest.mark.parametrize("name", ["keyboard/adjacent", "keyboard/typist", "surface/case", "spoken/speako"])
def test_the_call_of_the_issue(name: str) -> None:
    made = vary_text("Send it to anna@x.org: `git rebase -i`", name, n=20, language="en")
    assert made
    assert all("anna@x.org" in v.inputs["text"] and "`git rebase -i`" in v.inputs["text"] for v in made)


def test_protection_can_be_taken_off() -> None:
    text = "write to anna.berg@example.co.uk about main.py 😀"
    whole = ("anna.berg@example.co.uk", "main.py", "😀")

    def hit(name: str, **params: str) -> bool:
        return any(any(t not in v.inputs["text"] for t in whole) for v in variants(name, "en", [text], 60, **params))

    assert not hit("keyboard/typist", mode="uncorrected")
    assert hit("keyboard/typist", mode="uncorrected", protect="typed")
    assert hit("keyboard/typist", mode="uncorrected", protect="none")
    assert not hit("surface/case", protect="typed"), "nobody types a whole text in capitals by a slip"
    assert hit("surface/case", protect="none")
    assert hit("keyboard/adjacent", protect="none")
    with pytest.raises(UsageError, match="protect must be all or typed or none, not 'some'"):
        variants("surface/case", "en", [text], 1, protect="some")


def test_protection_changes_nothing_in_other_texts() -> None:
    texts = ["play some jazz by miles davis", "Is the shop open at 5 p.m. on Monday, or later?", "he said: 3.5 or 24/7"]
    for name in ("keyboard/adjacent", "keyboard/typist", "surface/spaces", "spoken/speako"):
        assert variants(name, "en", texts, 5) == variants(name, "en", texts, 5, protect="none")
        mixed = variants(name, "en", [*texts, "see https://x.org/a now please"], 5)
        assert [v for v in mixed if v.row < 3] == variants(name, "en", texts, 5)


@pytest.mark.parametrize(
    "text",
    [
        "select a song from spotify where people dance",
        "it costs 1,000 dollars, or $5 and $10 at 7pm on the 3rd",
        "he/she and/or they drive 100 km/h, e.g. in the U.S. - or so they say",
        "Hi there: all is well; see you (later)!",
        "I don't know - really?\nNeither do I.",
        "明天北京到上海的高铁票，花呗可以付款吗？",
    ],
)
def test_plain_sentences_have_nothing_to_protect(text: str) -> None:
    assert protected_spans(text) == ()


def test_an_operator_of_others_is_held_too() -> None:
    class Shout(Operator):
        """Writes the second half of the text in capitals."""

        name, family = "mine/shout", "mine"

        def change(self, text: Text, rng: Stream) -> Change | None:
            at = rng.below(len(text.text))
            new = text.text[at:].upper()
            return Change((Edit(at, len(text.text), new),), "loud") if new != text.text[at:] else None

    text = "mail anna@x.org and then wait for an answer"
    plan = Variation(operators=(), task="text", language="en", draws=30)
    made = Varier(plan, [Shout()]).block([Example(0, "e", {"text": text})])[0]
    assert len(made) > 20
    assert all("anna@x.org" in v.inputs["text"] for v in made)
