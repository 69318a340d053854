"""Languages as BCP 47 tags: which an operator knows, and a guess from the script where nobody said."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from unfazed.core.errors import WrongLanguage, option

_SCRIPTS = {
    "ja": re.compile(r"[\u3040-\u30ff]"),
    "zh": re.compile(r"[\u3400-\u9fff]"),
    "ko": re.compile(r"[\uac00-\ud7af\u1100-\u11ff]"),
    "ru": re.compile(r"[\u0400-\u04ff]"),
    "el": re.compile(r"[\u0370-\u03ff]"),
    "ar": re.compile(r"[\u0600-\u06ff]"),
    "he": re.compile(r"[\u0590-\u05ff]"),
    "hi": re.compile(r"[\u0900-\u097f]"),
    "th": re.compile(r"[\u0e00-\u0e7f]"),
    "en": re.compile(r"[A-Za-z]"),
}


def guess_language(texts: Iterable[str]) -> str:
    """The likeliest language by script alone: Latin letters count as English, so give other languages by name."""
    sample = " ".join(text[:1000] for text, _ in zip(texts, range(200), strict=False))
    counts = {language: len(pattern.findall(sample)) for language, pattern in _SCRIPTS.items()}
    if counts["ja"] * 5 > counts["zh"]:  # Japanese is written with kana among its Han characters
        counts["ja"] += counts["zh"]
        counts["zh"] = 0
    for language in ("ja", "zh"):
        counts[language] *= 2  # a Han character is a word's worth of letters
    best = max(counts, key=lambda language: counts[language])
    return best if counts[best] else "en"


def knows(languages: Sequence[str], language: str) -> bool:
    """`en` knows `en-IN`; `pt-BR` does not know `pt` or `pt-PT`; `*` knows all."""
    return any(known == "*" or language == known or language.startswith(known + "-") for known in languages)


def require_language(name: str, languages: Sequence[str], language: str, guessed: bool) -> None:
    if not knows(languages, language):
        how = f"{language!r}, guessed from the script" if guessed else repr(language)
        raise WrongLanguage(
            f"{name} varies {', '.join(languages)}, but the data's language is {how}. "
            f"Choose another operator (`unfazed list operators`), or set {option('lang', 'language')} if that is wrong."
        )
