"""Spelling mistakes of people: a list of frequent ones, and rules for the words that are not on it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from importlib.resources import files

from unswayed.base.edits import Edit, OneEach
from unswayed.base.seeds import Stream, Streams
from unswayed.vary.block import BlockOperator, SingleEdits, Texts
from unswayed.vary.operator import Change, Text
from unswayed.vary.words import cased, checked_rate, some

_DATA = files("unswayed.vary.keyboard") / "data"


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


class Misspell(BlockOperator):
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
        edits = []
        for start, end, word in some(_misspelt(text.text), self.rate, rng):
            edits.append(Edit(start, end, cased(_wrong(word.lower(), rng), word)))
        notes = [f"{text.text[start:end]}→{new}" for start, end, new in edits]
        return Change(tuple(edits), ", ".join(notes)) if edits else None

    def block(self, texts: Texts, streams: Streams) -> Sequence[Change | None]:
        if self.rate:
            return [self.change(text, rng) for text, rng in zip(texts, streams, strict=True)]
        words = texts.once(_misspelt_each)
        chosen = streams.below(0, list(map(len, words)))
        found = [its[n] if its else _NONE for its, n in zip(words, chosen, strict=True)]
        starts, ends, olds = zip(*found, strict=True)
        wrong = {word: _wrong(word, streams[0]) for word in {old.lower() for old in olds if old}}
        news = [cased(wrong[old.lower()], old) if old else None for old in olds]
        return SingleEdits(
            OneEach(starts, ends, news), lambda: [f"{old}→{new}" for old, new in zip(olds, news, strict=True)]
        )


_Place = tuple[int, int, str]  # where a word begins and ends, and the word
_NONE: _Place = (0, 0, "")


def _misspelt(text: str) -> list[_Place]:
    """The words of a text that have wrong spellings."""
    words = [(word.start(), word.end(), word[0]) for word in _WORD.finditer(text)]
    return [place for place in words if misspellings(place[2].lower())]


def _misspelt_each(texts: Texts) -> list[list[_Place]]:
    return list(map(_misspelt, texts.strings))


def _wrong(word: str, rng: Stream) -> str:
    """How the person of the draw misspells a word: always in the same way."""
    return rng.habit(word).choice(misspellings(word))
