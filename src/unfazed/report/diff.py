"""What differs between two texts, word by word, and character by character where words are not spaced."""

from __future__ import annotations

import re
from difflib import SequenceMatcher
from typing import Literal, NamedTuple

from markupsafe import Markup

from unfazed.report.text import visible

LIMIT = 500  # characters shown of one text

Kind = Literal["same", "del", "ins", "cut"]

_UNSPACED = r"\u0e00-\u0e7f\u2e80-\u2fdf\u3040-\u30ff\u31f0-\u31ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_MARKS = r"\u0e31\u0e34-\u0e3a\u0e47-\u0e4e\u3099\u309a\ufe00-\ufe0f\U000e0100-\U000e01ef"
_STOPS = r"!-&(-,./:-@\[-`{-~\u2010-\u2018\u201a-\u205e\u3000-\u303f\uff01-\uff0f\uff1a-\uff20"
# A word is whatever is not space, punctuation or unspaced script, so that accents and joiners stay in it.
_TOKEN = re.compile(rf"\s+|[{_UNSPACED}][{_MARKS}]*|[^\s{_STOPS}{_UNSPACED}]+|.", re.DOTALL)


class Piece(NamedTuple):
    """A stretch that stayed, was taken out, was put in, or (`cut`) is not shown."""

    kind: Kind
    text: str


def diff(before: str, after: str, limit: int = LIMIT) -> list[Piece]:
    """The pieces of both texts in order; of long ones only what is around the first change."""
    start, end = _common(before, after)
    tail = before[len(before) - end :] if end else ""
    old, new = before[start : len(before) - end], after[start : len(after) - end]
    changed = max(len(old), len(new))
    whole = max(len(before), len(after)) <= limit
    room = limit if whole else limit * 3 // 5
    side = limit if whole else (limit - min(changed, room)) // 2
    pieces = []
    if start > side:
        pieces.append(_cut(start - side))
    pieces.append(Piece("same", before[max(0, start - side) : start]))
    pieces += _changes(old[:room], new[:room])
    if changed > room:
        pieces.append(_cut(changed - room + end))
    else:
        pieces.append(Piece("same", tail[:side]))
        if end > side:
            pieces.append(_cut(end - side))
    return [piece for piece in pieces if piece.text]


def _cut(count: int) -> Piece:
    return Piece("cut", f"… {count:,} character{'' if count == 1 else 's'} …")


def _common(before: str, after: str) -> tuple[int, int]:
    """Lengths of the common start and end, moved outwards so that neither splits a word.

    Compares by halves, as comparing slices is fast where comparing characters of a 10 MB text is not.
    """
    start = _longest(before, after, min(len(before), len(after)))
    start = next((i for i in _nearby(start) if _splits(before, i) and _splits(after, i)), start)
    rest = min(len(before), len(after)) - start
    backwards = before[len(before) - rest :][::-1] if rest else ""
    end = _longest(backwards, after[len(after) - rest :][::-1] if rest else "", rest)
    whole = (i for i in _nearby(end) if _splits(before, len(before) - i) and _splits(after, len(after) - i))
    return start, next(whole, end)


def _longest(a: str, b: str, most: int) -> int:
    low, high = 0, most
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if a[low:middle] == b[low:middle] else (low, middle - 1)
    return low


def _nearby(length: int) -> range:
    """Lengths to try, longest first; a word that is longer than this is split."""
    return range(length, max(-1, length - 100), -1)


def _splits(text: str, at: int) -> bool:
    """Does a token end at that character?"""
    if not 0 < at < len(text):
        return True
    match = _TOKEN.match(text[at - 1 : at + 1])
    return match is not None and match.end() == 1


def _changes(before: str, after: str) -> list[Piece]:
    a, b = _TOKEN.findall(before), _TOKEN.findall(after)
    pieces = []
    for kind, a1, a2, b1, b2 in SequenceMatcher(None, a, b, autojunk=False).get_opcodes():
        if kind == "equal":
            pieces.append(Piece("same", "".join(a[a1:a2])))
        else:
            pieces += [Piece("del", "".join(a[a1:a2])), Piece("ins", "".join(b[b1:b2]))]
    return pieces


def marked(pieces: list[Piece]) -> Markup:
    """The pieces as HTML: `<del>` and `<ins>`, with changed spaces made visible."""
    shape = {
        "same": Markup("{}"),
        "del": Markup("<del>{}</del>"),
        "ins": Markup("<ins>{}</ins>"),
        "cut": Markup('<span class="cut">{}</span>'),
    }
    return Markup("").join(shape[kind].format(_shown(kind, text)) for kind, text in pieces)


def _shown(kind: Kind, text: str) -> str:
    if kind in ("del", "ins") and text.isspace():
        text = text.replace(" ", "␣").replace("\n", "␊\n").replace("\t", "␉")
    return visible(text)
