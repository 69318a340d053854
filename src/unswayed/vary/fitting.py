"""Whether another word fits where one stands: of the same part of speech there, and as usual beside its neighbours."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from unswayed.vary.collocations import collocated, never
from unswayed.vary.english import KIND_OF, START, Word, forms, tagger

MOST_FITTING = 8  # candidates that fit, after which no more are tried


class Asked(NamedTuple):
    """A word to find others for: its place among the words of its text."""

    text: str
    words: tuple[Word, ...]
    i: int
    sure: bool = False  # take only candidates that surely fit
    strict: bool = False  # and only from a sense that is likely meant


class Place(NamedTuple):
    """What stands beside a word: the words before and after it, and the tags of the two before these, last first."""

    before: str
    after: str
    last: str
    earlier: str

    @classmethod
    def of(cls, words: Sequence[str], tags: Sequence[str], i: int) -> Place:
        """The place of a word among those of one sentence."""
        return cls(
            words[i - 1] if i else "",
            words[i + 1] if i + 1 < len(words) else "",
            tags[i - 2] if i > 1 else START,
            tags[i - 3] if i > 2 else START,
        )


def fits(word: str, tag: str, candidate: str, place: Place, sure: bool, strict: bool) -> bool:
    """May the candidate stand in this place of the word, which has this tag? A single one must be tagged there as the
    word is; where only sure ones are wanted, it must go with its neighbours."""
    if candidate in (place.before, place.after):
        return False  # nobody says *forecast forecast*
    if sure and not collocated(place.before, place.after, word, candidate, strict):
        return False
    if " " in candidate:
        return True
    new = tagger().class_of(candidate)
    if "|" in new:
        said = [word for word in (place.before, candidate, place.after) if word]
        new = tagger().tags(said, place.last, place.earlier)[1 if place.before else 0]
    return new == tag or (KIND_OF.get(new) == KIND_OF.get(tag) and tagger().could_be(candidate, tag))


def fitting(asked: Asked, candidates: Sequence[str]) -> list[str]:
    """The candidates of another lemma that fit where the word stands."""
    word = asked.words[asked.i]
    lemma = forms().lemma(word.lower, word.tag)
    said = [w.lower for w in asked.words]
    place = Place.of(said, tagger().tags(said), asked.i)
    found: list[str] = []
    for candidate in candidates:
        other = forms().lemma(candidate, word.tag)
        if candidate in found or candidate == word.lower or other == lemma or never(lemma, other):
            continue
        if asked.strict and candidate in said:
            continue
        if fits(word.lower, word.tag, candidate, place, asked.sure, asked.strict):
            found.append(candidate)
            if len(found) == MOST_FITTING:
                break
    return found
