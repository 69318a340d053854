"""`keyboard/typist`: slips are found as they were made, fitted rates come back, and texts look like people's."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest
from commands import unfazed

from unfazed.core.edits import apply
from unfazed.core.errors import DataError, UsageError
from unfazed.core.seeds import Seeds
from unfazed.vary.keyboard._hands import Hands
from unfazed.vary.keyboard.layouts import layout
from unfazed.vary.keyboard.typist import SHIPPED, Typist, profile_file
from unfazed.vary.slips import first_attempt, fitted, opportunities, profiles, slips

QWERTY = layout("en")
NOISEQA = Path(__file__).parents[4] / "shared/data/noiseqa/people.jsonl"
TEXTS = [
    "How many people live in the capital of Australia?",
    "Remind me to call Anna's dentist on Thursday, please.",
    "What did the committee finally decide about the new bridge?",
    "Send all the letters to Mr. Jones before 5 o'clock.",
    "The weather will be better in September than in August.",
] * 60


@pytest.mark.parametrize(
    ("meant", "typed", "kinds"),
    [
        ("the game", "teh game", "swap"),
        ("the game", "the gane", "near"),
        ("the game", "the gme", "omit"),
        ("the game", "the gamme", "double"),
        ("the game", "thegame", "space_lost"),
        ("the game", "th egame", "space_moved"),
        ("the game", "the g ame", "space_added"),
        ("letter", "leter", "halve"),
        ("better", "battar", "vowel vowel"),
        ("The Game?", "the game", "first_capital inner_capital end_lost"),
        ("don't, no", "dont. no", "apostrophe_lost comma_changed"),
        ("in the old house", "in old house", "word_lost"),
        ("in the house", "in the the house", "word_again"),
        ("same", "same", ""),
    ],
)
def test_slips_are_found_in_what_was_typed(meant: str, typed: str, kinds: str) -> None:
    assert [slip.kind for slip in slips(meant, typed, QWERTY)] == kinds.split()


def test_chances_are_counted() -> None:
    count = opportunities("Anna's  egg, ok.", QWERTY)
    assert (count["letter"], count["twin"], count["first"], count["inner"]) == (10, 2, 1, 0)
    assert (count["apostrophe"], count["comma"], count["end"], count["word"]) == (1, 1, 1, 3)


def test_a_first_attempt_keeps_what_was_deleted() -> None:
    assert first_attempt("⇧The bakc ⇧Tu⌫⌫⌫⌫⌫ck ⇧Tuesdya⌫⌫ay.") == "The bakc Tuesdya."
    assert first_attempt("⌫⌫abc") == "abc"
    assert first_attempt("") == ""


def typed(hands: Hands, texts: list[str]) -> list[str]:
    seeds = Seeds(3, "keyboard/typist", 1)
    return [apply(text, hands.type(text, seeds.stream(str(i), 0))) for i, text in enumerate(texts)]


def test_a_fit_to_what_a_profile_typed_is_that_profile() -> None:
    profile = profiles(profile_file("noiseqa")).modes["uncorrected"]
    texts = [f"{text[:-1]}, {i}." for i, text in enumerate(TEXTS * 3)]
    again = fitted(texts, typed(Hands(profile, QWERTY), texts))
    for kind in ("omit", "near", "swap", "inner_capital", "end_lost", "insert", "double"):
        assert again.rates[kind] == pytest.approx(profile.rates[kind], rel=0.5), kind
    assert 1 < again.haste < 15


@pytest.mark.parametrize("name", SHIPPED)
def test_people_leave_one_character_in_a_hundred_wrong(name: str) -> None:
    for mode, least, most in (("corrected", 0.004, 0.03), ("uncorrected", 0.03, 0.13)):
        hands = Hands(profiles(profile_file(name)).modes[mode], QWERTY)
        made = typed(hands, TEXTS)
        wrong = sum(len(slips(a, b, QWERTY)) for a, b in zip(TEXTS, made, strict=True))
        assert least < wrong / sum(map(len, TEXTS)) < most
        right = sum(a == b for a, b in zip(TEXTS, made, strict=True)) / len(TEXTS)
        assert (0.3 < right < 0.9) if mode == "corrected" else right < 0.5


def test_most_swaps_are_between_hands_and_most_near_keys_in_a_row() -> None:
    hands = Hands(profiles(profile_file("aalto")).modes["uncorrected"], QWERTY)
    found: Counter[str] = Counter()
    for a, b in zip(TEXTS, typed(hands, TEXTS), strict=True):
        for slip in slips(a, b, QWERTY):
            if slip.kind == "swap":
                left = [QWERTY.strokes(c.lower())[0].key[1:] < "06" for c in a[slip.at : slip.at + 2]]  # type: ignore[index]
                found["hands" if left[0] != left[1] else "hand"] += 1
    assert found["hands"] > found["hand"]


def test_a_wrong_profile_or_mode_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="mode must be corrected or uncorrected"):
        Typist(mode="fast")
    with pytest.raises(DataError, match="No such file"):
        Typist(profile=str(tmp_path / "none.json"))
    (tmp_path / "bad.json").write_text("{}")
    with pytest.raises(DataError, match="not a file of profiles"):
        Typist(profile=str(tmp_path / "bad.json"))
    (tmp_path / "empty.json").write_text('{"modes": {}}')
    with pytest.raises(UsageError, match="has no mode corrected"):
        Typist(profile=str(tmp_path / "empty.json"))


@pytest.mark.parametrize(
    "more", [[], ["--param", "mode=uncorrected"], ["--param", "layout=azerty"], ["--param", "profile=aalto"]]
)
def test_the_command_types_a_file(tmp_path: Path, more: list[str]) -> None:
    (tmp_path / "texts.txt").write_text("\n".join(TEXTS[:40]), "utf-8")
    command = ["vary", "texts.txt", "--lang", "en", "--with", "keyboard/typist", "--draws", "3", "--seed", "7"]
    done = unfazed(*command, *more, "-o", "-", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    made = [json.loads(line) for line in done.stdout.splitlines()]
    assert [(row["row"], row["draw"]) for row in made] == [(row, draw) for row in range(40) for draw in range(3)]
    assert 10 < sum(row["inputs"]["text"] != TEXTS[row["row"]] for row in made) <= 120


@pytest.mark.skipif(not NOISEQA.exists(), reason="NoiseQA is not here (../shared/data/noiseqa)")
def test_slips_are_about_those_of_people_who_were_not_fitted() -> None:
    rows = [json.loads(line) for line in NOISEQA.read_text("utf-8").splitlines()]
    unseen = [
        row
        for i, row in enumerate(rows)
        if i * 4 // len(rows) % 2 and abs(len(row["question"]) - len(row["keyboard"])) < 9
    ]
    meant = [row["question"].strip() for row in unseen]
    made = typed(Hands(profiles(profile_file("noiseqa")).modes["corrected"], QWERTY), meant)
    right = [
        sum(a == b for a, b in zip(meant, texts, strict=True)) / len(meant)
        for texts in (made, [r["keyboard"].strip() for r in unseen])
    ]
    assert right[0] == pytest.approx(right[1], abs=0.12)
