"""Languages: guessed by script, known by prefix, refused with the reason."""

from __future__ import annotations

import pytest

from unfazed.core.errors import WrongLanguage
from unfazed.core.language import guess_language, knows, require_language


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("play some jazz", "en"),
        ("请帮我查一下 iPhone 的价格", "zh"),
        ("東京の天気を教えて", "ja"),
        ("안녕하세요", "ko"),
        ("привет", "ru"),
        ("مرحبا", "ar"),
        ("שלום", "he"),
        ("123 !?", "en"),
    ],
)
def test_the_script_tells(text: str, language: str) -> None:
    assert guess_language([text]) == language


@pytest.mark.parametrize(
    ("known", "language", "expected"),
    [
        ("en", "en-IN", True),
        ("en", "en", True),
        ("pt-BR", "pt", False),
        ("pt-BR", "pt-PT", False),
        ("*", "tlh", True),
        ("en", "eng", False),
    ],
)
def test_what_knows_what(known: str, language: str, expected: bool) -> None:
    assert knows((known,), language) is expected


def test_a_guess_is_called_a_guess() -> None:
    with pytest.raises(WrongLanguage, match="'zh', guessed from the script"):
        require_language("x/y", ("en",), "zh", guessed=True)
