"""Whether another word fits where one stands: of the same part of speech there, and as usual beside its neighbours."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from unfazed.vary.collocations import collocated, never
from unfazed.vary.english import KIND_OF, START, Reading, Tagged, Word, forms, tagger

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


def place_of(words: Sequence[Tagged], i: int) -> Place:
    """The place of a word among those of one sentence."""
    return Place(
        words[i - 1].lower if i else "",
        words[i + 1].lower if i + 1 < len(words) else "",
        words[i - 2].tag if i > 1 else START,
        words[i - 3].tag if i > 2 else START,
    )


def fits(word: Tagged, candidate: str, place: Place, sure: bool, strict: bool) -> bool:
    """May the candidate stand in this place of the word? A single one must be tagged there as the word is; where only
    sure ones are wanted, it must go with its neighbours."""
    if candidate in (place.before, place.after):
        return False  # nobody says *forecast forecast*
    if sure and not collocated(place.before, place.after, word.lower, candidate, strict):
        return False
    if " " in candidate:
        return True
    tag = _read_in(place, candidate).tag
    return tag == word.tag or (KIND_OF.get(tag) == KIND_OF.get(word.tag) and tagger().could_be(candidate, word.tag))


def _read_in(place: Place, candidate: str) -> Reading:
    """How the candidate is read there. The tag of the word before it may be another than before the old word."""
    tags = tagger()
    before, after, last, earlier = place
    new = tags.seen(candidate)
    beside = tags.read(tags.seen(before), last, new.view, earlier).tag if before else START
    return tags.read(new, beside, tags.seen(after).view if after else START, last)


def fitting(asked: Asked, candidates: Sequence[str]) -> list[str]:
    """The candidates of another lemma that fit where the word stands."""
    word = asked.words[asked.i]
    lemma = forms().lemma(word.lower, word.tag)
    said = [w.lower for w in asked.words]
    place = place_of(tagger().readings(said), asked.i)
    found: list[str] = []
    for candidate in candidates:
        other = forms().lemma(candidate, word.tag)
        if candidate in found or candidate == word.lower or other == lemma or never(lemma, other):
            continue
        if asked.strict and candidate in said:
            continue
        if fits(word, candidate, place, asked.sure, asked.strict):
            found.append(candidate)
            if len(found) == MOST_FITTING:
                break
    return found
