"""Spelling mistakes of people: a list of frequent ones, and rules for the words that are not on it."""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path

from unfazed.core.edits import Edit
from unfazed.core.seeds import Stream
from unfazed.vary.operator import Change, Operator, Text
from unfazed.vary.words import cased, checked_rate, some

_ENDINGS = "ance/ence ence/ance ant/ent ent/ant able/ible ible/able ary/ery er/or or/er ar/er le/el al/el"
# Mistakes that go with the sound or the look of a word: where, and what is written instead.
_RULES = [
    (r"([bcdfglmnprst])\1", r"\1"),  # tomorow
    (r"(?<=[aeiou])([lmnprst])(?=[aeiou])", r"\1\1"),  # allarm
    (r"(?<=[aiou])([lst])$", r"\1\1"),  # untill
    (r"(?<!^)ie", "ei"),  # beleive
    (r"(?<!^)ei", "ie"),  # recieve
    *((rf"(?<=..){end}$", other) for end, other in (pair.split("/") for pair in _ENDINGS.split())),
    (r"^kn", "n"),
    (r"^wh", "w"),
    (r"^wr", "r"),
    (r"mb$", "m"),
    (r"ph", "f"),
    (r"(?<=[aeiou])ck", "k"),
    (r"c(?=[ei])", "s"),
    (r"sc(?=[ei])", "s"),
    (r"tion$", "sion"),
    (r"e(?=ly$|ment$)", ""),  # definitly
    (r"(?<=[^aeiou])[eo](?=r[aeiouy])", ""),  # diffrent, evry
    (r"(?<=..)a(?=[^aeiouy]+[aeiou])", "e"),  # seperate
    (r"(?<=..)e(?=[^aeiouy]+[aeiou])", "a"),  # catagory
    (r"(?<=..)i(?=[^aeiouy]+[aeiou])", "a"),  # definate
    (r"ight", "ite"),
    (r"igh", "ihg"),
    (r"ou(?=[^aeiou])", "uo"),
    (r"ea", "ee"),
    (r"ee", "ea"),
    (r"(?<=[^aeiou])y$", "ey"),
    (r"'", ""),
]
_COMPILED = [(re.compile(where), new) for where, new in _RULES]


def _listed() -> dict[str, tuple[str, ...]]:
    """Frequent words with their wrong spellings; a word and its spellings are a line of the file."""
    lines = (Path(__file__).parent / "data" / "misspellings.txt").read_text("utf-8").splitlines()
    return {word: tuple(wrong) for word, *wrong in map(str.split, lines)}


LISTED = _listed()


@lru_cache(maxsize=65_536)
def misspellings(word: str) -> tuple[str, ...]:
    """Wrong spellings of a word in small letters: those on the list, by the rules, or with two letters swapped."""
    if word in LISTED:
        return LISTED[word]
    if len(word) < 4 or len(word) > 30:
        return ()
    found = {
        word[: place.start()] + place.expand(new) + word[place.end() :]
        for where, new in _COMPILED
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
