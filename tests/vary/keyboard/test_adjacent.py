"""`keyboard/adjacent` on the keyboards of the world."""

from __future__ import annotations

import json
import unicodedata
from pathlib import Path

import pytest
from commands import unswayed
from hypothesis import given, strategies as st

from unswayed.base.errors import UnknownName
from unswayed.base.options import OperatorSpec
from unswayed.base.values import Example
from unswayed.vary.engine import Variation, vary
from unswayed.vary.keyboard.adjacent import Adjacent, slips_on
from unswayed.vary.keyboard.layouts import layout_for

from .test_layouts import SAMPLES


def varied(text: str, language: str, draws: int = 1, **params: object) -> list[str]:
    variation = Variation(
        operators=(OperatorSpec("keyboard/adjacent", params),), task="text", language=language, draws=draws
    )
    return [v.inputs["text"] for v in vary([Example(0, "a", {"text": text})], variation)]


def test_slips_are_mutual_and_in_the_case_of_their_letter() -> None:
    slips = slips_on("en")
    for key in "abcdefghijklmnopqrstuvwxyz":
        assert slips[key]
        assert key not in slips[key]
        assert all(key in slips[other] for other in slips[key])
        assert slips[key.upper()] == tuple(other.upper() for other in slips[key])
    assert set(slips["g"]) == set("ftyhbv")
    assert slips["1"] == slips["."] == slips["я"] == ()


@pytest.mark.parametrize(
    ("name", "letter", "near"),
    [
        ("de", "z", "t u g h"),
        ("fr", "a", "é z q"),
        ("ru", "щ", "ш з л д"),
        ("de", "é", "ße üe ´w ´r ´s ´d"),  # the dead key beside its place, or the letter after it
        ("pl-extended", "ą", "ś ż"),  # with AltGr held
        ("hi", "क", "ग द र त स"),
        ("en-dvorak", "a", "o"),
    ],
)
def test_a_slip_goes_to_the_keys_beside(name: str, letter: str, near: str) -> None:
    assert slips_on(name)[letter] == tuple(near.split())


@pytest.mark.parametrize(
    "language", ["de", "fr", "ru", "ar", "he", "el", "th", "hi", "ko", "ja", "vi", "pl", "tr", "cs", "uk"]
)
def test_it_varies_texts_of_many_languages(language: str) -> None:
    text = SAMPLES[layout_for(language).name]
    made = varied(text, language, draws=40)
    assert len(made) >= 38  # a slip may come back as the same text
    assert len(set(made)) >= 15
    assert all(variant != text for variant in made)


def test_a_slip_in_korean_acts_on_one_jamo() -> None:
    made = set(varied("값", "ko", draws=60))
    assert {"갑ㄱ", "갑ㄹ", "가뵤", "강ㅅ"} & made
    assert all(len(variant) <= 3 for variant in made)
    assert not set(varied("한국", "ko", draws=40)) & {"한국"}


def test_kanji_are_left_alone_and_kana_are_typed_as_romaji() -> None:
    made = varied("日本語を話す", "ja", draws=40)
    assert made
    assert all(variant.startswith("日本語") and "話" in variant for variant in made)
    assert varied("日本語", "ja") == []


@pytest.mark.parametrize("form", ["NFC", "NFD"])
@pytest.mark.parametrize("language", ["de", "vi", "ko"])
def test_the_form_of_the_text_is_kept(form: str, language: str) -> None:
    text = unicodedata.normalize(form, {"de": "Äußerst ärgerlich", "vi": "Tiếng Việt", "ko": "한국어"}[language])
    for variant in varied(text, language, draws=20):
        assert variant == unicodedata.normalize(form, variant)


def test_what_is_not_typed_with_letters_stays() -> None:
    for text in ("🙂🙃", "12:30", "👩‍👩‍👧 1️⃣", "ℹ️", ""):
        assert varied(text, "de") == []
    for text, language in (("5.04 (--gdk)", "ko"), ("() 5.04", "ja")):
        assert varied(text, language) == []
    for variant in varied("ja 👩‍👩‍👧 🇩🇪 nein", "de", draws=20):
        assert " 👩‍👩‍👧 🇩🇪 " in variant


def test_another_layout_may_be_chosen() -> None:
    assert set(varied("q", "en", draws=20)) == {"w", "a"}
    assert set(varied("q", "en", draws=20, layout="azerty")) == {"a", "z", "s", "w"}
    assert varied("привет", "ru", layout="de") == []
    with pytest.raises(UnknownName, match="Did you mean 'de-neo'"):
        Adjacent(layout="de-noe")


@given(
    st.text(max_size=40), st.sampled_from(["de", "fr", "ko", "ja", "vi", "hi", "th", "he"]), st.sampled_from([0, 0.5])
)
def test_any_text_is_varied_or_left(text: str, language: str, rate: float) -> None:
    for variant in varied(text, language, rate=rate):
        assert variant != text


@pytest.mark.parametrize("words", [1.0, 0.5])
def test_a_rate_is_the_share_of_jamo(words: float) -> None:
    text = "안녕하세요 반갑습니다 오늘 날씨가 좋네요 " * 20
    (made,) = varied(text, "ko", rate=0.1, words=words)
    changed = sum(a != b for a, b in zip(text.split(), made.split(), strict=True)) / len(text.split())
    assert 0.25 * words < changed < 0.85 * words


@pytest.mark.parametrize(
    ("language", "text"),
    [("ru", "Включи свет на кухне"), ("ar", "شغل الموسيقى من فضلك"), ("de", "Schalte das Licht in der Küche aus")],
)
def test_the_command_varies_a_file_of_texts(tmp_path: Path, language: str, text: str) -> None:
    (tmp_path / "texts.txt").write_text(f"{text}\n🙂\n", "utf-8")
    done = unswayed("vary", "texts.txt", "--lang", language, "--with", "keyboard/adjacent", "-o", "-", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    (made,) = [json.loads(line) for line in done.stdout.splitlines()]
    assert sum(a != b for a, b in zip(text, made["inputs"]["text"], strict=True)) == 1


def test_the_command_refuses_an_unknown_layout(tmp_path: Path) -> None:
    (tmp_path / "texts.txt").write_text("hallo\n")
    command = ["vary", "texts.txt", "--lang", "de", "--with", "keyboard/adjacent", "--param", "layout=de-noe"]
    done = unswayed(*command, "-o", "-", cwd=tmp_path)
    assert done.returncode == 4
    assert "There is no keyboard layout named 'de-noe'. Did you mean 'de-neo'?" in done.stderr


def test_layouts_are_listed() -> None:
    rows = json.loads(unswayed("list", "layouts", "--format", "json").stdout)
    by_name = {layout["name"]: layout for layout in rows}
    assert by_name["de"]["languages"] == "de"
    assert by_name["ko"]["what"] == "Korean, dubeolsik"
