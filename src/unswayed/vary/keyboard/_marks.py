"""Marks, digits and Latin letters as a person with a pinyin input method types them."""

from __future__ import annotations

from unswayed.base.edits import Edit
from unswayed.base.seeds import Stream
from unswayed.vary.typists import Sitting, typed_mark

# The mark that a Chinese keyboard gives for the narrow one, and the marks that are mistaken for each other.
_WIDE = {",": "，", "(": "（", ")": "）", ":": "：", ";": "；", "?": "？", "!": "！", "~": "～"}
_ALWAYS = ",()"
_MISTAKEN = {
    "，": "。、", "。": "，、.", "、": "，，，。", "“": "”", "”": "“", "；": "，", "：": "；", "·": ".", "‘": "“", "’": "”",
    "—": "-", "？": "！", "！": "，", " ": "\u3000", "）": ")",
}  # fmt: skip


def type_other(sitting: Sitting, other: float, text: str, at: int, rng: Stream, edits: list[Edit]) -> None:
    """The one character at this place, which is not Chinese, typed; what came out wrong is added to the edits."""
    c = text[at]
    if c.isalnum():
        if rng.random() < other:
            edits.append(Edit(at, at + 1, _mistype(c, rng)))
        return
    kind = typed_mark(text, at)
    lost = sitting.lost.get(kind, 0.0)
    point = rng.random()
    if point < lost:
        edits.append(Edit(at, at + 1, ""))
    elif point < lost + sitting.changed.get(kind, 0.0) or (c in _ALWAYS and rng.random() < 0.9):
        others = _WIDE.get(c) or _MISTAKEN.get(c)
        if others:
            edits.append(Edit(at, at + 1, rng.choice(others)))


def _mistype(c: str, rng: Stream) -> str:
    if c.isdigit() and c.isascii():
        near = str((int(c) + (1 if rng.random() < 0.5 else 9)) % 10)
        return rng.weighted((near, "", c + near), (0.5, 0.3, 0.2))
    if c.isascii():
        return rng.weighted((c.swapcase(), ""), (0.7, 0.3))
    return ""
