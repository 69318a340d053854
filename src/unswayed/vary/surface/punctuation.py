"""Punctuation left out, doubled, or of another kind."""

from __future__ import annotations

import re

from unswayed.base.edits import Edit
from unswayed.base.seeds import Stream
from unswayed.vary.operator import Text
from unswayed.vary.surface import LONGEST, SurfaceOperator, base, fixed_places

_MARK = re.compile(r"[.,;:!?…。，、；：！？،؛؟।¿¡]+")
_NEAR = 16  # characters around a mark that are looked at
# After which a full stop ends no sentence: one letter, letters with stops between them (т.к.), or a short form.
_SHORT_FORM = re.compile(
    r"(?:^|[\s(])(?:(?:[^\W\d_]\.)*[^\W\d_]|mr|mrs|ms|dr|st|prof|vs|etc|no|nr|art|ca|bzw|usw|inc|ltd|co|jr|sr|sra?|dra?|av|approx)$",
    re.I,
)
# A question stays a question: in many languages, its mark is all that tells it.
_OTHER = {
    ".": ("!", "…", "..."), "!": (".", "…"), "?": ("?!",), ",": (";", " -"), ";": (",", "."), ":": (" -", ";"),
    "…": (".", "..."), "。": ("！", "…", "."), "，": (",", "、", "；"), "、": ("，", ","), "；": ("，", ";"),
    "：": (":", "，"), "！": ("。", "!"), "？": ("?", "？！"), "،": (",", "؛"), "؛": ("،", ";"), "؟": ("?", "؟!"),
    "।": (".", "!"),
}  # fmt: skip


class Punctuation(SurfaceOperator):
    """Leaves punctuation marks out, doubles them, or puts a mark of another kind.

    `kind` is dropped, doubled or other; by default it is drawn. Marks in numbers, times and addresses stay, and so do
    those of abbreviations. A question mark never gives way to a full stop.
    """

    version = 2
    kinds = ("dropped", "doubled", "other")
    example = ("Hello, is the shop open today?", "Hello, is the shop open today??")

    def of_kind(self, kind: str, text: Text, rng: Stream) -> list[list[Edit]]:
        written, language = text.text[:LONGEST], base(text.language)
        fixed = fixed_places(written)
        places = []
        for mark in _MARK.finditer(written):
            if mark.start() in fixed or not _free(written, mark) or text.labelled(mark.start()):
                continue
            start, end, one = mark.start(), mark.end(), mark[0][0]
            # a token, as in CoNLL files; or after a no-break space, as in French
            alone = written[start - 1 : start].isspace() and written[end : end + 1] in ("", " ")
            if kind == "dropped":
                gap = written[start - 1 : start].isalnum() and written[end : end + 1].isalnum()
                places.append([Edit(start - alone, end, " " if gap else "")])
            elif kind == "doubled":
                places += [[Edit(start, end, mark[0] + one)]] if len(mark[0]) < 3 and one not in "¿¡" else []
            elif one not in ",;:" or language == "el" or written[end : end + _NEAR].strip():
                others = ("?", ";;") if language == "el" and mark[0] == ";" else _OTHER.get(mark[0], ())
                if others:
                    others = tuple(other.strip() for other in others) if alone else others
                    places.append([Edit(start, end, rng.choice(others))])
        return places


def _free(text: str, mark: re.Match[str]) -> bool:
    """Is this a mark between words, and not part of one, of a number or of a smiley?"""
    before, after = text[max(0, mark.start() - _NEAR) : mark.start()], text[mark.end() : mark.end() + _NEAR]
    if mark[0][0] in "¿¡":
        return after[:1].isalpha()
    # white space, an end or a closing mark comes next; after Chinese, Japanese and Thai marks anything may
    if mark[0][0] in ".,;:!?" and after[:1] and not (after[0].isspace() or after[0] in "\"'”’»)]"):
        return False
    if not before.strip() or (before[-1].isspace() and not (after[:1].isspace() or not after)):
        return False
    if before[-1].isdigit() and after.strip():  # 5. Oktober, 3: three
        return False
    smiley = mark[0] in ":;" and re.match(r"\s?[()DPpO/\\|*]", after)
    return not smiley and not (mark[0] == "." and after.strip() and _SHORT_FORM.search(before))
