"""Spelling mistakes of people who are not sure how a word is written."""

from __future__ import annotations

import re

from unfazed.core.edits import Edit
from unfazed.core.seeds import Stream
from unfazed.vary._words import cased, checked_rate, some
from unfazed.vary.keyboard._misspellings import misspellings
from unfazed.vary.operator import Change, Operator, Text

_WORD = re.compile(r"[A-Za-z]+(?:'[A-Za-z]+)?")


class Misspell(Operator):
    """Spells a word as people misspell it: *tommorow*, *recieve*, *definately*.

    A person who gets a word wrong gets it wrong in the same way each time. With `rate` 0, the default, one word is
    misspelt; otherwise each with that probability, one at least.
    """

    languages = ("en",)
    example = ("find a restaurant for tomorrow", "fidn a restaurant for tomorrow")

    def __init__(self, rate: float = 0.0) -> None:
        self.rate = checked_rate(rate)

    def change(self, text: Text, rng: Stream) -> Change | None:
        words = [word for word in _WORD.finditer(text.text) if misspellings(word[0].lower())]
        edits = []
        for word in some(words, self.rate, rng):
            plain = word[0].lower()
            wrong = rng.habit(plain).choice(misspellings(plain))
            edits.append(Edit(word.start(), word.end(), cased(wrong, word[0])))
        notes = [f"{text.text[start:end]}→{new}" for start, end, new in edits]
        return Change(tuple(edits), ", ".join(notes)) if edits else None
