"""Choices that speak of others keep their meaning, so that the gold stays true."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from commands import unswayed

from unswayed.base.chat import LETTERS, choices_in, lettered
from unswayed.base.options import OperatorSpec
from unswayed.base.values import Example
from unswayed.storage.suite import Suite
from unswayed.vary.engine import Variation, vary
from unswayed.vary.prompt.options import held_choices

# What speaks of the first two choices by their letters, and of all that stand above.
NAMED = {
    "en": ("Both A and B", "A or B only", "Neither A nor B", "(A) and (B)", "both a and b", "A & B", "A-B"),
    "de": ("A und B", "Sowohl A als auch B", "Weder A noch B", "Nur A oder B"),
    "fr": ("A et B", "A ou B seulement", "Ni A ni B"),
    "es": ("A y B", "Tanto A como B", "Solo A o B"),
    "pt": ("A e B", "Tanto A quanto B", "Apenas A ou B"),
    "it": ("A e B", "Sia A che B", "Solo A o B"),
    "nl": ("A en B", "Zowel A als B", "Alleen A of B"),
    "zh": ("A和B", "A、B", "只有A或B", "A并且B"),
    "ru": ("A и B", "Только A или B"),
    "pl": ("A i B", "Tylko A lub B"),
}
ABOVE = {
    "en": ("All of the above", "None of the above."),
    "de": ("Alle genannten", "Keine der genannten"),
    "fr": ("Toutes les réponses ci-dessus", "Aucune des réponses précédentes"),
    "es": ("Todas las anteriores", "Ninguna de las anteriores"),
    "pt": ("Todas as anteriores", "Nenhuma das anteriores"),
    "it": ("Tutte le precedenti", "Nessuna delle precedenti"),
    "nl": ("Alle bovenstaande", "Geen van de bovenstaande"),
    "zh": ("以上都是", "以上都不对"),
    "ru": ("Все вышеперечисленное", "Ничего из перечисленного"),
}
PLAIN = ["red", "blue", "green", "yellow"]


def run(*arguments: str) -> str:
    done = unswayed(*arguments, cwd=".", check=True)
    return done.stderr


def orders(choices: list[str], **params: str) -> list[tuple[dict[str, str], str]]:
    """The choices and the gold, which is the last choice, of twelve draws."""
    gold = LETTERS[len(choices) - 1]
    example = Example(0, "e", {"question": "which?", "choices": lettered(choices)}, gold)
    spec = OperatorSpec("prompt/options", dict(params))
    plan = Variation(operators=(spec,), task="generate", language="en", draws=12)
    return [(choices_in(v.inputs), str(v.gold)) for v in vary([example], plan)]


@pytest.mark.parametrize("text", [text for texts in NAMED.values() for text in texts])
def test_choices_that_are_named_stay_with_those_that_name_them(text: str) -> None:
    made = orders([*PLAIN, text])
    assert made
    for choices, gold in made:
        assert (choices["A"], choices["B"], choices["E"], gold) == ("red", "blue", text, "E")
        assert (choices["C"], choices["D"]) == ("yellow", "green")
    assert not orders([*PLAIN, text], vary="letters"), "F and G would be other names"


@pytest.mark.parametrize("text", [text for texts in ABOVE.values() for text in texts])
def test_what_speaks_of_all_above_stays_last(text: str) -> None:
    made = orders([*PLAIN[:3], text])
    assert len({tuple(choices.values()) for choices, _ in made}) == 5, "all orders of three but their own"
    assert all(choices["D"] == text and gold == "D" for choices, gold in made)


@pytest.mark.parametrize(
    "text",
    ["Neither", "Both are true", "The first two", "Ambas son correctas", "Entrambe", "А и Б", "Les deux", "两者都对"],
)
def test_where_it_is_not_clear_what_a_choice_speaks_of_all_stay(text: str) -> None:
    assert not orders([*PLAIN[:2], text, "green"])


def test_plain_choices_move_as_before() -> None:
    for choices in (
        PLAIN,
        ["A dog", "a cat", "vitamin A", "Type O"],
        ["I and II only", "II only", "I only", "III only"],
    ):
        assert held_choices(choices) == set()
        assert len({tuple(made.values()) for made, _ in orders(choices)}) > 4
    assert held_choices([*PLAIN[:2], "All of the above", "green"]) == {0, 1, 2, 3}, "green is not above"


def test_the_command_of_the_issue(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    rows = [
        {"question": "Which are primary?", "choices": ["red", "blue", "Both A and B", "green", "pink"], "answer": "C"},
        {"question": "Which is a fruit?", "choices": ["apple", "stone", "river", "spoon"], "answer": "A"},
    ]
    Path("mmlu.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    run("vary", "mmlu.jsonl", "--with", "prompt/options", "--draws", "4", "-o", "s/")
    made = [(choices_in(v.inputs), v.gold) for v in Suite("s") if v.row == 0]
    assert len(made) == 4
    for choices, gold in made:
        assert choices["C"] == "Both A and B"
        assert gold == "C"
        assert [choices["A"], choices["B"]] == ["red", "blue"]
