"""English sentences as the rewrites see them: tagged words, noun phrases, and letters that change case when moved."""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from unswayed.base.edits import Edit
from unswayed.vary.english import Word, forms, tagged, tagger
from unswayed.vary.words import cased

_CLOSING = re.compile(r"[.?!;\n]")
LONGEST = 20_000  # characters of a text that are looked at
_TITLES = "mr mrs ms dr st mt ft gen lt col sgt capt prof rev hon sen gov rep inc ltd corp co no nos vs jr sr"
_ABBREVIATED = frozenset(_TITLES.split())
_NOUNS = frozenset(("NN", "NNS", "NNP"))
_INSIDE = frozenset(("NN", "NNS", "NNP", "JJ", "JJR", "JJS", "CD", "POS"))
_OPENS = frozenset(("DT", "PRP$", *_INSIDE)) - {"POS"}
_WEEK = "monday tuesday wednesday thursday friday saturday sunday"
_YEAR = "january february march april may june july august september october november december"
WEEKDAYS, MONTHS = frozenset(_WEEK.split()), frozenset(_YEAR.split())
_TIMES = WEEKDAYS | MONTHS | {"today", "yesterday", "tomorrow", "last", "next"}
_CLOSED = frozenset(("DT", "PRP", "PRP$", "IN", "CD", "EX", "W", "CC", "TO", "RB"))
_STUFF = frozenset(
    ["oil", "gas", "water", "air", "food", "fire", "gunfire", "lightning", "rain", "snow", "crime", "cancer"]
)
_PEOPLES = ("ian", "ish", "ese", "can", "raqi", "aeli", "french", "dutch", "greek", "swiss", "czech", "welsh")
_OBJECT = {"i": "me", "he": "him", "she": "her", "we": "us", "they": "them", "who": "whom"}
_SUBJECT = {other: word for word, other in _OBJECT.items()}
_PLURAL = frozenset(["we", "they", "you", "them", "us", "these", "those", "both", "several", "many", "few"])


class Rewrite(NamedTuple):
    """Characters `start` to `end` of the text become `new`."""

    start: int
    end: int
    new: str
    note: str


class Sentence:
    """One sentence of a text, from its first word to its last, without what closes it."""

    __slots__ = ("lower", "text", "words")

    def __init__(self, text: str, words: tuple[Word, ...]) -> None:
        self.text, self.words = text, words
        self.lower = frozenset([word.lower for word in words])  # by which most rules see that they don't apply

    @property
    def start(self) -> int:
        return self.words[0].start

    @property
    def end(self) -> int:
        return self.words[-1].end

    def said(self, first: int, last: int) -> str:
        """The characters from one word to the word before another."""
        return self.text[self.words[first].start : self.words[last - 1].end]

    def gap(self, i: int) -> str:
        """What stands between a word and the one before it."""
        return self.text[self.words[i - 1].end : self.words[i].start]

    def word_at(self, i: int) -> str:
        """A word in small letters; empty before the first and after the last."""
        return self.words[i].lower if 0 <= i < len(self.words) else ""

    def tag_at(self, i: int) -> str:
        """A word's tag; empty before the first and after the last."""
        return self.words[i].tag if 0 <= i < len(self.words) else ""

    def joined(self, i: int) -> bool:
        """Does the word follow the one before it with no mark between? The dot of *Mr.* is none."""
        gap = self.gap(i)
        return gap == " " or (gap == ". " and self.words[i - 1].lower in _ABBREVIATED)

    def after_space(self, i: int) -> bool:
        """Does a word follow the one before it with only a space between?"""
        return 0 < i < len(self.words) and self.gap(i) == " "

    def followed_by(self, i: int, tags: tuple[str, ...]) -> bool:
        """Does a word with one of these tags follow, with only a space between?"""
        return self.tag_at(i + 1) in tags and self.after_space(i + 1)

    @property
    def is_question(self) -> bool:
        """Does a question mark close the sentence?"""
        return self.text[self.end :].lstrip().startswith("?")

    @property
    def apostrophe(self) -> str:
        """The apostrophe that the text has."""
        return "’" if "’" in self.text else "'"

    def lemma_of(self, i: int) -> str:
        """A verb's base form."""
        word = self.words[i]
        return {"has": "have", "does": "do"}.get(word.lower) or forms().lemma(word.lower, word.tag)

    def replace_word(self, i: int, new: str) -> Edit:
        """A word by another, with its capital."""
        word = self.words[i]
        return Edit(word.start, word.end, cased(new, self.text[word.start : word.end]))

    def drop_word(self, i: int) -> Edit:
        """A word left out with the space after it; what then begins the sentence gets the capital."""
        first, after = self.words[i], self.words[i + 1]
        if i == 0 and self.text[first.start].isupper():
            return Edit(first.start, after.start + 1, self.text[after.start].upper())
        return Edit(first.start, after.start, "")

    def noun_phrase(self, i: int, of: bool = True) -> int | None:
        """Where the noun phrase that begins at a word ends, with *of …* after it; None if none begins there."""
        words, n = self.words, len(self.words)
        if i >= n:
            return None
        if words[i].tag == "PRP":
            return i + 1
        if words[i].tag not in _OPENS or (words[i].tag == "DT" and words[i].lower in ("that", "there")):
            return None
        end = i + 1
        while end < n and words[end].tag in _INSIDE:
            if words[end].tag == "POS":
                goes_on = self.gap(end) in ("", " ", " '", "'", "’", " ’")
            else:  # *the title Monday*, *the war 2004*: the time belongs to the verb
                time = words[end].lower in _TIMES or words[end].tag in ("CD", "JJR")
                goes_on = self.joined(end) and not (time and words[end - 1].tag in _NOUNS)
            if not goes_on:
                break
            end += 1
        while end > i and (words[end - 1].tag not in _NOUNS or words[end - 1].tag == "POS"):
            end -= 1
        if end <= i:
            return None
        if of and end + 1 < n and words[end].lower == "of" and self.joined(end) and self.joined(end + 1):
            return self.noun_phrase(end + 1) or end
        return end

    def plural(self, first: int, end: int) -> bool:
        """Does a noun phrase take a plural verb?"""
        head = next((i for i in range(first, end) if i + 1 == end or self.words[i + 1].lower == "of"), end - 1)
        word = self.words[head]
        if word.tag == "PRP" or self.words[first].lower in _PLURAL:
            return self.words[first].lower in _PLURAL
        if self.words[first].tag == "CD" and word.lower.endswith("s"):
            return self.words[first].lower not in ("1", "one")
        if word.tag == "NNP":  # *the Lakers* are many, *Brussels*, *the United States* and *the GPS* are not
            shape = self.text[word.start : word.end]
            if shape.islower() or shape.isupper():
                return shape.islower() and shape.endswith("s")
            many = self.words[first].lower == "the" and word.lower.endswith("s") and head > first
            return many and word.lower not in ("states", "nations", "netherlands", "philippines")
        return word.tag == "NNS"

    def moved(self, first: int, end: int) -> str:
        """A phrase as it is written where it does not begin the sentence."""
        said = self.said(first, end)
        return said[0].lower() + said[1:] if first == 0 and self._ordinary(end) else said

    def _ordinary(self, end: int) -> bool:
        """May the sentence's first word lose its capital? Not *I*, and not what may be a name."""
        word = self.words[0]
        shape = self.text[word.start : word.end]
        if word.lower in ("i", "i'm", "i've", "i'd", "i'll") or (len(shape) > 1 and not shape[1:].islower()):
            return len(shape) == 1 and word.lower == "a"
        if word.lower in ("today's", "yesterday's", "tomorrow's"):
            return True
        if word.tag == "NNP" or (word.tag == "JJ" and word.lower.endswith(_PEOPLES)):
            return False
        if word.tag in _CLOSED or len(self.words) == 1:
            return True
        if self.text[self.words[1].start].isupper():
            return word.lower == "former"  # not *Celestial Seasonings*
        if word.tag == "NNS" and word.lower not in tagger().classes:
            return False  # *Lakers*
        alone = (end == 1 or self.words[1].tag not in _INSIDE) and self.words[1].lower != "of"
        return not alone or word.tag == "NNS" or word.lower in _STUFF  # *Oracle* is a name, *Oil* is none

    @property
    def sure_of_case(self) -> bool:
        """Is it known whether the first word is a name? *Power* alone at the beginning may be one."""
        word = self.words[0]
        if "-" in word.lower:
            return False  # *Ex-cop*
        return word.tag != "NN" or word.lower in _STUFF or self.words[min(1, len(self.words) - 1)].tag in _INSIDE

    def object_form(self, first: int, end: int) -> str:
        """The phrase as an object: *him* for *he*."""
        alone = _OBJECT.get(self.words[first].lower) if end - first == 1 else None
        return alone or self.moved(first, end)

    def subject_form(self, first: int, end: int) -> str:
        """The phrase as a subject: *he* for *him*."""
        word = self.words[first].lower
        return _SUBJECT.get(word, self.said(first, end)) if end - first == 1 else self.said(first, end)

    def has_verb(self, first: int, end: int) -> bool:
        return any(word.tag in ("VB", "VBZ", "VBD", "MD") for word in self.words[first:end])


def capital(text: str) -> str:
    return text[:1].upper() + text[1:]


@lru_cache(64)  # each kind of rewrite asks for those of the same text
def sentences(text: str) -> tuple[Sentence, ...]:
    """The sentences of a text; one without a word is none."""
    words = tagged(text) if len(text) <= LONGEST else ()
    if not words or not _CLOSING.search(text, words[0].end, words[-1].start):
        return (Sentence(text, words),) if words else ()
    stops = []
    for i in range(1, len(words)):
        gap, before, first = text[words[i - 1].end : words[i].start], words[i - 1].lower, text[words[i].start]
        short = gap.startswith(".") and (before in _ABBREVIATED or len(before) == 1 or "." in before)
        closed = any(mark in gap for mark in ".?!;\n") and not short
        if closed and (first.isupper() or first.isdigit() or "\n" in gap):
            stops.append(i)
    return tuple(Sentence(text, words[a:b]) for a, b in pairwise([0, *stops, len(words)]))
