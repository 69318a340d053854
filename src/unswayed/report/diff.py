"""What differs between two texts, in pieces that split no word."""

from __future__ import annotations

import re
from difflib import SequenceMatcher
from functools import lru_cache
from typing import Literal, NamedTuple

from rapidfuzz.distance import Postfix, Prefix

LIMIT = 500  # characters shown of one text

Kind = Literal["same", "del", "ins", "cut"]
_common_start, _common_end = Prefix.similarity, Postfix.similarity  # looked up here once, not for each of a million

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
    start, end = common(before, after)
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
    a, b = _TOKEN.findall(old[:room]), _TOKEN.findall(new[:room])
    for kind, a1, a2, b1, b2 in SequenceMatcher(None, a, b, autojunk=False).get_opcodes():
        if kind == "equal":
            pieces.append(Piece("same", "".join(a[a1:a2])))
        else:
            pieces += [Piece("del", "".join(a[a1:a2])), Piece("ins", "".join(b[b1:b2]))]
    if changed > room:
        pieces.append(_cut(changed - room + end))
    else:
        pieces.append(Piece("same", tail[:side]))
        if end > side:
            pieces.append(_cut(end - side))
    return [piece for piece in pieces if piece.text]


def _cut(count: int) -> Piece:
    return Piece("cut", f"… {count:,} character{'' if count == 1 else 's'} …")


def common(before: str, after: str) -> tuple[int, int]:
    """Lengths of the common start and end, moved outwards so that neither splits a word."""
    start = _common_start(before, after)
    if start and not (_apart(before[start - 1 : start + 1]) and _apart(after[start - 1 : start + 1])):
        start = next((i for i in _nearby(start) if _ends(before, i) and _ends(after, i)), start)
    one, other = len(before), len(after)
    end, most = _common_end(before, after), (one if one < other else other) - start
    if end > most:
        end = most
    if end and not (_ends(before, one - end) and _ends(after, other - end)):
        end = next((i for i in _nearby(end) if _ends(before, one - i) and _ends(after, other - i)), end)
    return start, end


def _nearby(length: int) -> range:
    """Lengths to try, longest first; a word that is longer than this is split."""
    return range(length, max(-1, length - 100), -1)


def _ends(text: str, at: int) -> bool:
    """Does a token end before that character of a text?"""
    return not at or _apart(text[at - 1 : at + 1])


@lru_cache(maxsize=1 << 14)
def _apart(two: str) -> bool:
    """Are two characters of two tokens? The last one of a text, which is alone here, ends its token."""
    match = _TOKEN.match(two)
    return match is not None and match.end() == 1
