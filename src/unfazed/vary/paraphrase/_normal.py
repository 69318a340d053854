"""When two texts count as the same, and how much two overlap."""

from __future__ import annotations

import re
import unicodedata

_MARKS = re.compile(r"[^\w\s]")
_HAN = re.compile(r"([\u3400-\u9fff])")


def tokens(text: str) -> list[str]:
    """Words in small letters without the marks in them, as P̂aRTE counts them; Chinese by the character."""
    return _HAN.sub(r" \1 ", _MARKS.sub("", text.lower())).split()


def normal(text: str) -> str:
    """The text as it is compared: case, marks, spaces and the width of characters are left out of account."""
    return "".join(tokens(unicodedata.normalize("NFKC", text))) or " ".join(text.split())


def jaccard(a: str, b: str) -> float:
    """Shared tokens over all tokens, from 0 to 1."""
    here, there = set(tokens(a)), set(tokens(b))
    return len(here & there) / len(here | there) if here | there else 1.0
