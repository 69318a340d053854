"""Full- and half-width characters, and digits of another script."""

from __future__ import annotations

import re
import unicodedata

from unswayed.base.edits import Edit
from unswayed.base.seeds import Stream
from unswayed.vary.operator import Text
from unswayed.vary.surface import LONGEST, SurfaceOperator, base, fixed_places

_RUN = re.compile(r"[!-~]+|[\uff01-\uff5e]+|[\u30a1-\u30fc]+|[\uff65-\uff9f]+|[、。「」]+")
_FULL = {chr(c): chr(c + 0xFEE0) for c in range(0x21, 0x7F)}
_HALF = {full: half for half, full in _FULL.items()} | {"。": "｡", "、": "､", "「": "｢", "」": "｣"}
_KANA = {unicodedata.normalize("NFKC", chr(c)): chr(c) for c in range(0xFF65, 0xFFA0)}
_MARKS = {"\u3099": "ﾞ", "\u309a": "ﾟ"}
_ZEROS = {"ar": "٠", "ur": "۰", "fa": "۰", "ps": "۰", "hi": "०", "mr": "०", "ne": "०", "bn": "০", "th": "๐", "my": "၀"}
_OPENING, _CLOSING = "([{（［｛「", ")]}）］｝」"
_DIGITS = re.compile(r"\d+(?:[.,:/٫٬-]\d+)*")  # a number with its marks is one stretch


class Script(SurfaceOperator):
    """Writes characters in full or half width (ＡＢＣ, ｶﾀｶﾅ), or digits in the script of the language (١٢٣).

    `kind` is full or half for Chinese, Japanese and Korean, and digits for Arabic, Persian, Hindi, Thai and others;
    by default it is drawn. With `rate` 0, the default, one stretch changes; with 1, all of them.
    """

    version = 2
    languages = ("zh", "ja", "ko", *_ZEROS)
    kinds = ("full", "half", "digits")
    example = ("iPhone 15多少钱，可以用5G吗？", "ｉＰｈｏｎｅ 15多少钱，可以用5G吗？")

    def of_kind(self, kind: str, text: Text, rng: Stream) -> list[list[Edit]]:
        written, language = text.text[:LONGEST], base(text.language)
        fixed = fixed_places(written)
        wide = language in ("zh", "ja", "ko")
        pattern = _RUN if wide else _DIGITS
        if wide == (kind == "digits"):
            return []
        places = []
        for run in pattern.finditer(written):
            # a number with marks keeps its width, as 3.14 does; digits of another script keep the marks
            if wide and run.start() in fixed:
                continue
            edits = []
            for at, c in enumerate(run[0], run.start()):
                new = _wide(c, kind, language) if wide else c
                if not wide and c.isdecimal():
                    new = chr(ord(_ZEROS[language]) + int(c)) if run[0][0].isascii() else str(int(c))
                if new is not None and new != c:
                    edits.append(Edit(at, at + 1, new))
            places.append(edits)
        return [edits for edits in (_in_pairs(places, written) if wide else places) if edits]


def _in_pairs(places: list[list[Edit]], text: str) -> list[list[Edit]]:
    """The same, with stretches that have two ends of one pair of brackets as one; none with one end alone."""
    owner = {edit.start: at for at, edits in enumerate(places) for edit in edits}
    merged = list(range(len(places)))
    lone: set[int] = set()
    waiting: list[int] = []
    for end, c in enumerate(text):
        if c in _OPENING:
            waiting.append(end)
        elif c in _CLOSING and waiting:
            ends = [merged[owner[at]] for at in (waiting.pop(), end) if at in owner]
            if len(ends) == 1:
                lone.add(ends[0])
            elif len(ends) == 2:
                merged = [ends[0] if group == ends[1] else group for group in merged]
    lone = {merged[group] for group in lone}
    return [
        [edit for at, edits in enumerate(places) if merged[at] == group for edit in edits]
        for group in dict.fromkeys(merged)
        if group not in lone
    ]


def _wide(c: str, kind: str, language: str) -> str | None:
    """The character in the other width, if it has one."""
    if language == "ko" and not c.isalnum():  # Korean marks are narrow
        return None
    if kind == "full":
        return _FULL.get(c) or (unicodedata.normalize("NFKC", c) if "\uff65" <= c <= "\uff9d" else None)
    if c in _HALF and (language == "ja" or c not in "。、「」"):
        return _HALF[c]
    if language == "zh" and c == "。":
        return "."
    if "\u30a1" <= c <= "\u30fc" and language == "ja":
        parts = unicodedata.normalize("NFD", c)
        if parts[0] in _KANA:
            return _KANA[parts[0]] + "".join(_MARKS[mark] for mark in parts[1:])
    return None
