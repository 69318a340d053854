"""speech/english: what is written for what was heard, what never happens, and a profile fitted and used."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
import pytest
from click.testing import CliRunner
from hypothesis import given, settings, strategies as st

from unswayed.base.edits import apply
from unswayed.base.errors import DataError, UnknownName, UnswayedError, UsageError
from unswayed.base.seeds import Seeds
from unswayed.cli.calibrate import command
from unswayed.lab.calibration.english_listener import count_transcripts, simulate_transcripts
from unswayed.lab.calibration.profiles import fit_listener_file
from unswayed.vary.operator import Text
from unswayed.vary.people import LISTENERS, listener
from unswayed.vary.speech._english_lattice import lattice
from unswayed.vary.speech.english import English, look_up_word, other_forms, rewrite_word

SEEDS = Seeds(3, "speech/english", 1)
SHARED = Path(__file__).parents[4] / "shared/data"
QUESTION = "Who did the Broncos beat in the divisional game of 2015?"


def said(text: str, draw: int = 0, name: str = "0", operator: English | None = None) -> str:
    change = (operator or English()).change(Text(text, "en"), SEEDS.stream(name, draw))
    return apply(text, change.edits) if change else text


def sound(words: str) -> str:
    return "".join(look_up_word(word).sound for word in words.split())


def test_words_are_written_that_sound_like_what_was_heard() -> None:
    written = {
        " ".join(lattice().draw_words(sound("rain forest"), "the", "", 20, SEEDS.stream(str(k), 0)) or [])
        for k in range(40)
    }
    assert {"rainforest", "rain forest"} & written
    assert all(words.replace(" ", "")[0] in "rlw" for words in written)


def test_words_that_follow_each_other_are_likelier() -> None:
    def weeks(before: str) -> int:
        made = [lattice().draw_words(sound("week"), before, "", 20, SEEDS.stream(str(k), 0)) for k in range(60)]
        return made.count(["week"]) - made.count(["weak"])

    assert weeks("last") > 30 > -30 > weeks("very")


def test_nothing_sounds_like_one_consonant_alone() -> None:
    assert lattice().draw_words(sound("shh")[:1], "", "", 20, SEEDS.stream("0", 0)) is None


@pytest.mark.parametrize(
    ("word", "new"),
    [("three", "3"), ("3", "three"), ("XXXIII", "33"), ("XIV", "14"), ("II", "the second"), ("1980's", "1980s")],
)
def test_numbers_as_a_recogniser_writes_them(word: str, new: str) -> None:
    found = rewrite_word(word, word.lower())
    assert found is not None
    assert found[1] == new


def test_only_known_forms_of_a_word_are_its_inflections() -> None:
    assert {"leaders", "leaded"} & set(other_forms("leader")) == {"leaders"}
    assert "walk" in other_forms("walked")


def test_marks_go_and_names_keep_their_capital() -> None:
    quiet = msgspec.structs.replace(listener("noiseqa"), misheard=[0.0] * 19, stray=0.0, writes={})
    operator = English()
    operator._profile = quiet
    assert said("Who beat the Broncos, and when?", operator=operator) == "who beat the Broncos and when"
    assert said("play some music by the beatles", operator=operator) == "play some music by the beatles"


def test_plain_has_no_capitals_and_no_marks() -> None:
    for draw in range(5):
        made = said("Who, in the AFC, beat Scotland's well-known team?", draw, operator=English(plain=True))
        assert made == made.lower()
        assert not set(made) & set("?,-.")


def test_rare_words_are_misheard_more_than_common_ones() -> None:
    rates = listener("noiseqa").misheard
    assert rates[0] < rates[8] < rates[14] < rates[16]


def test_a_text_may_be_heard_right_and_is_counted() -> None:
    changes = [English().change(Text("play some music"), SEEDS.stream(str(k), 0)) for k in range(30)]
    assert "unaltered" in {change.note for change in changes if change}


def test_nothing_to_say_is_left_alone() -> None:
    assert English().change(Text("…?!", "en"), SEEDS.stream("0", 0)) is None


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=60), st.integers(0, 3))
def test_any_text_can_be_heard(text: str, draw: int) -> None:
    made = said(text, draw)
    assert said(text, draw) == made
    assert made.strip() or not text.strip()


def test_accent_and_profile_can_be_given(tmp_path: Path) -> None:
    assert {said(QUESTION, draw, operator=English(accent="indian")) for draw in range(6)}
    assert all(English(profile=name) for name in LISTENERS)
    with pytest.raises(UnknownName, match="indian"):
        English(accent="indain")
    (tmp_path / "bad.json").write_text("{}")
    with pytest.raises(DataError, match="not a file of listenerprofile"):
        English(profile=str(tmp_path / "bad.json"))


def test_a_fitted_profile_errs_as_often_as_what_it_was_fitted_on(tmp_path: Path) -> None:
    """Truth is known: texts are heard by a listener whose rates are twice as high, and fitted by the command."""
    rows = [f"{QUESTION[:-1]} and where did the {word} go" for word in lattice().words[300:1200:6]]
    truth = msgspec.structs.replace(
        listener("noiseqa"), misheard=[min(0.9, 2 * r) for r in listener("noiseqa").misheard]
    )
    heard = simulate_transcripts(truth, rows, 5)
    lines = [json.dumps({"said": a, "heard": b}) for a, b in zip(rows, heard, strict=True)]
    (tmp_path / "rows.jsonl").write_text("\n".join(lines))
    file = str(tmp_path / "rows.jsonl")
    options = [
        "--clean",
        file,
        "--real",
        file,
        "--input",
        "said",
        "--heard",
        "heard",
        "-o",
        str(tmp_path / "mine.json"),
    ]
    found = CliRunner().invoke(command, ["listener", *options])
    assert found.exit_code == 0, found.output
    fitted = listener(str(tmp_path / "mine.json"))
    real, made = count_transcripts(rows, heard), count_transcripts(rows, simulate_transcripts(fitted, rows, 6))
    share = [counts.wrong.total() / counts.words.total() for counts in (real, made)]
    assert share[1] == pytest.approx(share[0], rel=0.2)
    assert said(QUESTION, operator=English(profile=str(tmp_path / "mine.json")))


def test_the_same_texts_or_too_few_are_refused(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("one\ntwo\n")
    (tmp_path / "b.txt").write_text("one\n")
    a, b = str(tmp_path / "a.txt"), str(tmp_path / "b.txt")
    for real, message in ((a, "same texts"), (b, "Lines must align")):
        with pytest.raises(UnswayedError, match=message):
            fit_listener_file(a, real, None, None, "")
    (tmp_path / "c.txt").write_text("won\ntoo\n")
    with pytest.raises(UsageError, match="at least 100 texts"):
        fit_listener_file(a, str(tmp_path / "c.txt"), None, None, "")


@pytest.mark.skipif(not (SHARED / "noiseqa").exists(), reason="needs ../shared/data/noiseqa")
def test_it_errs_as_people_do_on_the_whole() -> None:
    rows = [json.loads(line) for line in (SHARED / "noiseqa/people.jsonl").read_text("utf-8").splitlines()][::3]
    clean = [row["question"] for row in rows]
    people = count_transcripts(clean, [row["asr"] for row in rows])
    made = count_transcripts(clean, [said(text, k % 3, str(k)) for k, text in enumerate(clean)])
    shares = [counts.wrong.total() / counts.words.total() for counts in (people, made)]
    assert shares[1] == pytest.approx(shares[0], abs=0.06)
    assert made.right / made.texts == pytest.approx(people.right / people.texts, abs=0.12)
