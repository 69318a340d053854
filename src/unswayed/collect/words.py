"""What the pages say, in a file for each language: `pages/words/CODE.toml`, and for the owner `pages/console/`."""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path

_WORDS = Path(__file__).parent / "pages" / "words"
_CONSOLE = _WORDS.parent / "console"
FIRST = ("en", "zh")  # shown before the others


@cache
def languages() -> dict[str, str]:
    """The languages of the pages: each one's own name by its code."""
    codes = sorted((file.stem for file in _WORDS.glob("*.toml")), key=lambda code: (code not in FIRST, code))
    return {code: words(code)["_name"] for code in codes}


@cache
def words(language: str) -> dict[str, str]:
    """Every phrase of the pages by name; one that a language lacks is in English."""
    own = phrases(language)
    return own if language == "en" else phrases("en") | own


@cache
def console_words(language: str) -> dict[str, str]:
    """What the owner's pages say: in Chinese, or in English."""
    return phrases("zh" if language == "zh" else "en", _CONSOLE)


def phrases(language: str, folder: Path = _WORDS) -> dict[str, str]:
    """The phrases that the file of a language has."""
    return tomllib.loads((folder / f"{language}.toml").read_text(encoding="utf-8"))
