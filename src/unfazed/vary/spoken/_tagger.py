"""Parts of speech of English words in context, by look-ups: each word's possible tags, then what its neighbours say.

`tools/make_tagger.py` makes the tables, docs/spoken.md says how well it does. Tags are Penn's, with VBP in VB, all
wh-words W, and names NNP.
"""

from __future__ import annotations

import gzip
import re
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

_FILE = Path(__file__).parent / "data" / "pos.tsv.gz"
_START = "."  # what stands before the first word and after the last
_PLAIN = re.compile(r"[a-z0-9]+(?:['-][a-z0-9]+)*(?: [a-z0-9]+(?:['-][a-z0-9]+)*)*")  # as recognisers write
SHORT = 500  # characters of texts whose tags are kept: draws repeat, documents don't


class Word(NamedTuple):
    """A word in its text, without the punctuation around it."""

    start: int
    end: int
    lower: str
    tag: str


class Tagger:
    """The tables. A class is a word's possible tags, likeliest first, as one string; its view is what the word
    before it sees of it."""

    def __init__(self, text: str) -> None:
        classes, _, contexts = text.partition("\n\n")
        self.classes: dict[str, str] = {}
        for line in classes.split("\n"):
            kind, _, words = line.partition("\t")
            self.classes.update(dict.fromkeys(words.split(" "), kind))
        self.contexts: dict[tuple[str, ...], str] = {}
        for line in contexts.splitlines():
            tag, *key = line.split("\t")
            self.contexts[tuple(key)] = tag
        self._views: dict[str, str] = {}

    def tags(self, words: list[str]) -> list[str]:
        """The tag of each lower-case word of a sentence."""
        classes, views = self.classes, self._views
        kinds = [classes.get(word) or class_of(word, classes) for word in words]
        found: list[str] = []
        before = last = _START
        for i, kind in enumerate(kinds, 1):
            tag = kind
            if "|" in kind:
                follows = kinds[i] if i < len(kinds) else _START
                after = views.get(follows) or views.setdefault(follows, seen_as(follows))
                tag = self._decide(words[i - 1], kind, last, after, before)
            found.append(tag)
            before, last = last, tag
        return found

    def _decide(self, word: str, kind: str, last: str, after: str, before: str) -> str:
        """What the longest known context says."""
        get = self.contexts.get
        return (
            get((word, last, after, "word"))
            or get((kind, last, after, before))
            or get((kind, last, after))
            or get((kind, last))
            or get((kind,))
            or tags_of(kind)[0]
        )

    def could_be(self, word: str, tag: str) -> bool:
        """May the lower-case word have this tag?"""
        return tag in tags_of(self.classes.get(word) or class_of(word, self.classes))


def class_of(word: str, classes: dict[str, str]) -> str:
    """A word's class; one that is not listed is told by its look, and is a name if that says nothing."""
    known = classes.get(word)
    if known:
        return known
    if word[:1].isdigit():
        return "JJ" if word[-2:] in ("st", "nd", "rd", "th") else "CD"
    if "-" in word:
        ending = classes.get(word.rsplit("-", 1)[1], "")
        return "JJ" if not ending.startswith("NNP") else "NNP"
    if len(word) > 5 and word.endswith("ing"):
        return "NN|VBG"
    return "RB" if len(word) > 5 and word.endswith("ly") else "NNP"


def tags_of(kind: str) -> list[str]:
    """The tags in a class. A word of a closed class is a class by itself and stands in front."""
    parts = [part.strip("!+*") for part in kind.split("|")]
    return parts[1:] if len(parts) > 1 and not parts[0].isupper() else parts


def seen_as(kind: str) -> str:
    """What the word before sees: the likeliest tag, or that this may be noun or verb."""
    tags = tags_of(kind)
    if len(tags) == 1 or not kind.split("|")[0].strip("!+*").isupper():
        return tags[0]
    either = {"VB", "VBZ", "VBD"}.intersection(tags) and {"NN", "NNS", "NNP"}.intersection(tags)
    if not either:
        return tags[0]
    return ("V" if tags[0][0] == "V" else "N") + ("s" if {"NNS", "VBZ"}.intersection(tags) else "")


@lru_cache(1)
def tagger() -> Tagger:
    return Tagger(gzip.decompress(_FILE.read_bytes()).decode())


def tagged(text: str) -> tuple[Word, ...]:
    """The words of a text with their tags. Tokens without a letter or digit are no words."""
    return _kept(text) if len(text) <= SHORT else _tagged(text)


def _tagged(text: str) -> tuple[Word, ...]:
    return _plain(text) if _PLAIN.fullmatch(text) else _any(text)


def _plain(text: str) -> tuple[Word, ...]:
    """What `_any` gives, for the commonest kind of text, at half the time."""
    words = text.split(" ")
    starts, ends, at = [], [], 0
    for word in words:
        starts.append(at)
        at += len(word)
        ends.append(at)
        at += 1
    return tuple(map(Word, starts, ends, words, tagger().tags(words)))


def _any(text: str) -> tuple[Word, ...]:
    found: list[Word] = []
    places: list[tuple[int, int]] = []
    at = 0
    for token in text.split():
        at = text.index(token, at)
        start, end = at, at + len(token)
        at = end
        if not token.isalnum():
            while start < end and not text[start].isalnum() and text[start] != "&":
                start += 1
            while end > start and not text[end - 1].isalnum() and text[end - 1] != "&":
                end -= 1
        if start < end:
            places.append((start, end))
        if places and token[-1] in ".?!" and (token[-1] != "." or text[at + 1 : at + 2].isupper()):
            found += _sentence(text, places)
            places = []
    return tuple(found + _sentence(text, places))


def _sentence(text: str, places: list[tuple[int, int]]) -> list[Word]:
    words = [text[start:end] for start, end in places]
    lower = [word.lower().replace("’", "'") for word in words]
    tags = tagger().tags(lower)
    if words != lower and any(word.islower() for word in words):  # else case says nothing
        for i, word in enumerate(words):
            if i and word[0].isupper() and word[:2] not in ("I", "I'"):
                tags[i] = "NNP"
    return [Word(*place, word, tag) for place, word, tag in zip(places, lower, tags, strict=True)]


_kept = lru_cache(8192)(_tagged)
