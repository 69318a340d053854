"""Capitals where none were, or none where they were."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

from unswayed.base.edits import Edit
from unswayed.base.seeds import Stream
from unswayed.vary.operator import Text
from unswayed.vary.surface import CASED, LONGEST, SurfaceOperator, base

_WORD = re.compile(r"[^\W\d_][\w'’]*")
_BEGINS = re.compile(r"[.!?…\u037e]\W*\s\W*$|\n\W*$")
_TURKIC = {"tr", "az"}


class Case(SurfaceOperator):
    """Writes the text in capitals, in small letters, in title case or in sentence case.

    `kind` is upper, lower, title or sentence; by default it is drawn.
    With `rate` 1, the default, the whole text changes; otherwise that share of its words.
    """

    version = 2
    languages = CASED
    kinds = ("upper", "lower", "title", "sentence")
    example = ("Play some jazz by Miles Davis", "Play some jazz by miles davis")

    def __init__(self, kind: str = "any", rate: float = 1.0) -> None:
        super().__init__(kind, rate)

    def of_kind(self, kind: str, text: Text, rng: Stream) -> list[list[Edit]]:
        written, language = text.text[:LONGEST], base(text.language)
        places = []
        for word in _WORD.finditer(written):
            at = word.start()
            before = written[max(0, at - 8) : at]
            begins = not any(c.isalnum() for c in before) if at < 8 else _BEGINS.search(before) is not None
            inner = before[-1:].isdigit() or (before[-1:] == "(" and before[-2:-1].isalnum())  # 17th, table(s)
            new = lower(word[0], language)
            if kind == "upper":
                new = [upper(c, language) for c in word[0]]
            elif kind == "sentence" and language == "en" and re.fullmatch(r"I(?:['’]\w+)?", word[0]):
                new = [word[0][0], *lower(word[0][1:], language)]
            elif (kind == "title" and not inner) or (kind == "sentence" and begins):
                head = 2 if language == "nl" and word[0][:2].lower() == "ij" else 1
                new[:head] = ["İ" if language in _TURKIC and c == "i" else c.title() for c in word[0][:head]]
            # one edit a character, so that labels may begin and end anywhere
            edits = [Edit(at + i, at + i + 1, c) for i, c in enumerate(new) if c != word[0][i]]
            places += [edits] if edits else []
        return places

    def note(self, kind: str, text: str, edits: Sequence[Edit]) -> str:
        return f"{kind} case"


def upper(c: str, language: str) -> str:
    """A letter's capital in this language: Turkish has İ for i, Greek drops the accent."""
    if language in _TURKIC and c == "i":
        return "İ"
    if language == "el":
        parts = unicodedata.normalize("NFD", c).replace("\u0301", "")
        return unicodedata.normalize("NFC", parts.upper())
    return c.upper()


def lower(word: str, language: str) -> list[str]:
    """The small letter of each letter of a word."""
    if language in _TURKIC:
        word = word.replace("I", "ı").replace("İ", "i")
    small = word.lower()
    return list(small) if len(small) == len(word) else [c.lower() for c in word]
