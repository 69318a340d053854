"""Whether another word fits where one stands: it agrees with its neighbours, and is as usual beside them.

It has the same part of speech there, is not much rarer, and takes no word out of an expression such as *food court*.
"""

from __future__ import annotations

import lzma
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from itertools import accumulate
from typing import NamedTuple

from unswayed.vary.english import KIND_OF, START, STOPWORDS, Word, forms, tagger
from unswayed.vary.words import word_lists, word_ranks

MAX_FITTING = 8  # candidates that fit, after which no more are tried
_SPARED = word_lists(files("unswayed.vary") / "spoken" / "data" / "synonyms_spared.toml")
OF_PEOPLE = frozenset(("me", "us", "you", "him", "her", "them"))
NOUNS = frozenset(("NN", "NNS", "NNP"))
BEFORE_NOUNS = frozenset(("DT", "JJ", "PRP$", "POS"))
BEFORE_NO_NOUN = ("VB", "IN", "MD")  # how tags begin that end the search for a determiner's noun
PARTICLES = frozenset(("up", "out", "off", "down", "away", "back", "over", "around"))
NAMING = frozenset(("called", "titled", "entitled", "named", "name", "title"))


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
            if len(found) == MAX_FITTING:
                break
    return found


# Collocations

PAIRS_FILE = files("unswayed.vary") / "speech" / "data" / "english_pairs.txt.xz"
_UNRANKED = 100_000
_FIXED, _USUAL = 5, 3  # bits from which on two words are a fixed expression, or are usually said together
_COMMON, _RARER = 10_000, 8  # ranks: a candidate may be so rare, or so many times rarer than the word


@cache
def _pair_rows() -> list[str]:
    """For each common word those that follow it, not read yet."""
    return lzma.decompress(PAIRS_FILE.read_bytes()).decode().split("\n")


@cache
def _bits_after(first: int) -> dict[int, int]:
    """The bits of a word's pairs. A cell is the bits and how far the second word is from the one before, in hex."""
    rows = _pair_rows()
    cells = rows[first].split() if first < len(rows) else []
    seconds = accumulate(int(cell[1:], 16) for cell in cells)
    return {second: int(cell[0], 16) for second, cell in zip(seconds, cells, strict=True)}


def pair_bits(first: str, second: str) -> int:
    """By how many bits the second word is likelier after the first than by chance; 0 for unknown pairs."""
    one, two = word_ranks().get(first), word_ranks().get(second)
    return 0 if one is None or two is None else _bits_after(one).get(two, 0)


def collocated(before: str, after: str, word: str, candidate: str, strict: bool = False) -> bool:
    """May the candidate stand for the word between two others? Not in a fixed expression, nor if much rarer."""
    if f"{word}/{candidate}" in _SPARED["fine"] and not strict:
        return True
    rank = word_ranks().get
    if rank(candidate, _UNRANKED) > max(_COMMON, _RARER * rank(word, _UNRANKED)):
        return False
    fixed = _USUAL if strict else _FIXED
    if pair_bits(before, word) >= fixed and not pair_bits(before, candidate):
        return False
    return pair_bits(word, after) < fixed or bool(pair_bits(candidate, after))


def in_name(words: Sequence[Word], i: int) -> bool:
    """Is the noun, adjective or verb part of a name or of a compound, as in *fort worth* and *the daily show*?"""
    kind = KIND_OF.get(words[i].tag)
    before, after = words[i - 1].tag if i else "", words[i + 1].tag if i + 1 < len(words) else ""
    if kind == "n":
        return before in NOUNS or after in NOUNS
    if kind == "a":
        return before == "NNP" or after == "NNP"
    if kind == "v":
        noun = before in BEFORE_NOUNS or (not after and before in NOUNS)
        return noun or (bool(after) and after != "RP" and words[i + 1].lower in PARTICLES)
    return False


# Pairs that are listed by hand


def vague(lemma: str, other: str, after: str) -> bool:
    """Does one of the two mean something else with each object, so that it stands for nothing else?"""
    if lemma not in _SPARED["vague"] and other not in _SPARED["vague"]:
        return False
    pair = f"{lemma}/{other}"
    return pair not in _SPARED["fine"] and (after not in OF_PEOPLE or pair not in _SPARED["fine_for_people"])


def everywhere(lemma: str, other: str, after: str) -> bool:
    """Do the two say the same with any object?"""
    pair = f"{lemma}/{other}"
    listed = pair in _SPARED["fine"] and pair not in _SPARED["fine_of_music"]
    return listed or (after in OF_PEOPLE and pair in _SPARED["fine_for_people"])


def never(lemma: str, other: str) -> bool:
    """Is this a pair that a thesaurus has and nobody means?"""
    return f"{lemma}/{other}" in _SPARED["never"]


# Closed-class words: what may stand for a determiner, a preposition or a pronoun

_PLURAL = {"this": "these", "that": "those"}
_WITH_I = frozenset(["am", "was", "m", "has", "is", "s", "have", "i'm"])  # verbs by which *we* is told from *i*
_DAYPARTS = frozenset(["morning", "afternoon", "evening"])


def stopword_candidates(word: str, tag: str, before: str, after: str, next_tag: str, far: bool) -> list[str]:
    """Other words of the same closed class, best first, that agree with what stands beside the word, and `far`, as
    `coded` flags it."""
    listed = list(STOPWORDS.get((tag, word), ()))
    if tag == "DT":  # those that agree in number with the noun
        if after in _DAYPARTS:
            return []
        if far:
            return [_PLURAL.get(other, other) for other in listed if other not in ("a", "one", "every", "each")]
        return [other for other in listed if other != "several"]
    if word == "would" and after == "like":
        return ["should"]
    if word == "at" and next_tag == "CD":
        return ["around", "by"]
    keeps = (
        (word in ("i", "we") and (before in _WITH_I or after in _WITH_I))
        # *which* asks for one of several, so only with their name
        or (word in ("what", "which") and next_tag[:2] in ("VB", "MD", "PR"))
        or (word == "to" and next_tag == "VB")
        or (word == "from" and next_tag == "RB")
        or (word == "of" and before == "out")
        or (word == "and" and far)
    )
    return [] if keeps else listed
