"""Says the opposite: a word gives way to its antonym."""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files

from unswayed.base.edits import Edit
from unswayed.base.seeds import Stream
from unswayed.vary.operator import Change, Operator, Text
from unswayed.vary.words import cased, checked_rate, some

_WORD = re.compile(r"[A-Za-z]+")


@cache
def antonyms() -> dict[str, tuple[str, ...]]:
    """Opposites by word, the commonest first, from WordNet; see tools/make_antonyms.py."""
    lines = files("unswayed.vary.meaning").joinpath("data/antonyms.txt").read_text(encoding="utf-8").splitlines()
    rows = (line.split(" ") for line in lines if not line.startswith("#"))
    return {word: tuple(others) for word, *others in rows}


class Antonym(Operator):
    """Replaces a word by its opposite, such as *find* by *lose*.

    With `rate` 0, the default, one word changes. Otherwise each word changes with that probability, and at least one.
    """

    languages = ("en",)
    distinct = True
    meaning = "changed"
    example = ("add the cheap one to my new list", "add the cheap one to my worn list")

    def __init__(self, rate: float = 0.0) -> None:
        self.rate = checked_rate(rate)

    def change(self, text: Text, rng: Stream) -> Change | None:
        known = antonyms()
        words = [word for word in _WORD.finditer(text.text) if word[0].lower() in known]
        edits = [
            Edit(word.start(), word.end(), cased(rng.choice(known[word[0].lower()]), word[0]))
            for word in some(words, self.rate, rng)
        ]
        notes = [f"{text.text[start:end]}→{new}" for start, end, new in edits]
        return Change(tuple(edits), ", ".join(notes)) if edits else None
