"""Spelling mistakes of people: a list of frequent ones, and rules for the words that are not on it."""

from __future__ import annotations

import re
from functools import lru_cache
from importlib.resources import files

from unswayed.base.edits import Edit
from unswayed.base.seeds import Stream
from unswayed.vary.operator import Change, Operator, Text
from unswayed.vary.words import cased, checked_rate, some

_DATA = files("unswayed.vary.keyboard") / "data"
# Mistakes that go with the sound or the look of a word: where, what is written instead, and an example.
_ROWS = [line.split("\t") for line in (_DATA / "misspelling_rules.tsv").read_text("utf-8").splitlines()]
_RULES = [(re.compile(where), new) for where, new, _ in _ROWS]
# Frequent words with their wrong spellings.
_LINES = (_DATA / "misspellings.txt").read_text("utf-8").splitlines()
LISTED = {word: tuple(wrong) for word, *wrong in map(str.split, _LINES)}


@lru_cache(maxsize=65_536)
def misspellings(word: str) -> tuple[str, ...]:
    """Wrong spellings of a word in small letters: those on the list, by the rules, or with two letters swapped."""
    if word in LISTED:
        return LISTED[word]
    if len(word) < 4 or len(word) > 30:
        return ()
    found = {word[: m.start()] + m.expand(new) + word[m.end() :] for rule, new in _RULES for m in rule.finditer(word)}
    swapped = {word[:i] + word[i + 1] + word[i] + word[i + 2 :] for i in range(1, len(word) - 1)}
    return tuple(sorted((found or swapped) - {word}))


_WORD = re.compile(r"[A-Za-z]+(?:'[A-Za-z]+)?")


class Misspell(Operator):
    """Misspells a word as people do: *tommorow*, *recieve*, *definately*.

    Within a draw, a word is always misspelt in the same way. With `rate` 0, the default, one word changes. Otherwise
    each word changes with that probability, and at least one.
    """

    languages = ("en",)
    distinct = True
    quick = True
    presets = ("typing",)
    slips = True
    example = ("find a restaurant for tomorrow", "fidn a restaurant for tomorrow")

    def __init__(self, rate: float = 0.0) -> None:
        self.rate = checked_rate(rate)

    def change(self, text: Text, rng: Stream) -> Change | None:
        # One by one: for a block of texts as columns this was no faster end to end.
        words = [word for word in _WORD.finditer(text.text) if misspellings(word[0].lower())]
        edits = []
        for word in some(words, self.rate, rng):
            small = word[0].lower()
            wrong = rng.habit(small).choice(misspellings(small))  # the person of the draw always misspells it so
            edits.append(Edit(*word.span(), cased(wrong, word[0])))
        edits = self.allowed(text, edits)
        notes = [f"{text.text[start:end]}→{new}" for start, end, new in edits]
        return Change(tuple(edits), ", ".join(notes)) if edits else None
