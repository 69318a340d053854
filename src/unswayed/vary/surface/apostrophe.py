"""Apostrophes left out, or written with another sign."""

from __future__ import annotations

import re

from unswayed.base.edits import Edit
from unswayed.base.seeds import Stream
from unswayed.vary.operator import Text
from unswayed.vary.surface import LONGEST, SurfaceOperator, another_word, base, fixed_places

_APOSTROPHE = re.compile(r"(?<=[^\W\d_])['’ʼ`´](?=[^\W\d_])")
_SIGNS = {"curly": "’", "straight": "'", "backtick": "`", "acute": "´"}
_BEFORE, _AFTER = re.compile(r"[^\W\d_]+$"), re.compile(r"^[^\W\d_]+")
# Elisions that people write as one word; after others, as l', another word may come out (*l'oro*, *loro*).
_ELIDED = {
    "fr": {"j", "c", "n", "qu", "jusqu", "lorsqu", "puisqu", "aujourd", "quelqu"},
    "it": {"dell", "all", "nell", "sull", "dall", "un", "quest", "quell", "c", "anch"},
    "ca": {"d", "n"},
}


class Apostrophe(SurfaceOperator):
    """Leaves apostrophes out, or writes them as another sign: *dont*, *don’t*, *don`t*.

    `kind` is dropped, curly, straight, backtick or acute; by default it is drawn. None is left out where that makes
    another word: *we're* stays, since *were* is a word.
    """

    kinds = ("dropped", *_SIGNS)
    presets = ("surface", "typing")
    example = ("I don't know where it's gone", "I dont know where it's gone")

    def __init__(self, kind: str = "any", rate: float = 1.0) -> None:
        super().__init__(kind, rate)

    def of_kind(self, kind: str, text: Text, rng: Stream) -> list[list[Edit]]:
        written = text.text[:LONGEST]
        fixed = fixed_places(written)
        places = [m.start() for m in _APOSTROPHE.finditer(written) if m.start() not in fixed]
        if kind != "dropped":
            return [[Edit(at, at + 1, _SIGNS[kind])] for at in places if written[at] != _SIGNS[kind]]
        language, dropped = base(text.language), []
        elided = _ELIDED.get(language)
        for at in places:
            before, after = _BEFORE.search(written[max(0, at - 40) : at]), _AFTER.search(written[at + 1 : at + 41])
            if before is None or after is None:
                continue
            if elided:
                drops = before[0].lower() in elided and len(after[0]) > 2
            else:
                drops = not another_word(before[0] + after[0], language)
            dropped += [[Edit(at, at + 1, "")]] if drops else []
        return dropped
