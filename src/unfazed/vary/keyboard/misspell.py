"""Spelling mistakes of people: a list of frequent ones, and rules for the words that are not on it."""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path

from unfazed.core.edits import Edit
from unfazed.core.seeds import Stream
from unfazed.vary.operator import Change, Operator, Text
from unfazed.vary.words import cased, checked_rate, some

_DATA = Path(__file__).parent / "data"


def _lines(name: str) -> list[str]:
    return (_DATA / name).read_text("utf-8").splitlines()


# Mistakes that go with the sound or the look of a word: where, what is written instead, and an example.
_RULES = [(re.compile(where), new) for where, new, _ in (line.split("\t") for line in _lines("misspelling_rules.tsv"))]
# Frequent words with their wrong spellings.
LISTED = {word: tuple(wrong) for word, *wrong in map(str.split, _lines("misspellings.txt"))}


@lru_cache(maxsize=65_536)
def misspellings(word: str) -> tuple[str, ...]:
    """Wrong spellings of a word in small letters: those on the list, by the rules, or with two letters swapped."""
    if word in LISTED:
        return LISTED[word]
    if len(word) < 4 or len(word) > 30:
        return ()
    found = {
        word[: place.start()] + place.expand(new) + word[place.end() :]
        for where, new in _RULES
        for place in where.finditer(word)
    }
    swapped = {word[:i] + word[i + 1] + word[i] + word[i + 2 :] for i in range(1, len(word) - 1)}
    return tuple(sorted((found or swapped) - {word}))


_WORD = re.compile(r"[A-Za-z]+(?:'[A-Za-z]+)?")


class Misspell(Operator):
    """Misspells a word as people do: *tommorow*, *recieve*, *definately*.

    Within a draw, a word is always misspelt in the same way. With `rate` 0, the default, one word changes. Otherwise
    each word changes with that probability, and at least one.
    """

    languages = ("en",)
    presets = ("typing",)
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
