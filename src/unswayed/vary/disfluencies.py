"""Repairs as people make them: a wrong phrase, a cue such as *no wait*, the right one; found in texts, and as rates.

Also the phrases of a text, and those of other texts that could be said in their place by mistake.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from functools import lru_cache
from importlib.resources import files
from itertools import pairwise
from typing import NamedTuple

import msgspec

from unswayed.vary.english import BE, DO, HAVE, Word, tagged
from unswayed.vary.people import read_profiles
from unswayed.vary.sentence import LONGEST, Sentence
from unswayed.vary.words import common_ends, word_lists

# opening: another beginning. phrase: another phrase in place. restart: much of another sentence. late: the right
# phrase only at the end. hesitation: nothing but a filler.
KINDS = ("opening", "phrase", "restart", "late", "hesitation")
SHIPPED = files("unswayed.vary") / "spoken" / "data" / "disfluencies.json"
_LISTS = word_lists(files("unswayed.vary") / "spoken" / "data" / "cues.toml")
_STARTS, _NO_END = _LISTS["starts"], _LISTS["no_end"]
_INSIDE = _STARTS | _LISTS["inside"]
_CLOSED = BE | HAVE | DO | _LISTS["openings"]
_STARTING_PAIRS = frozenset((("i", "mean"), ("i", "meant"), ("make", "that"), ("let", "me")))
AGAIN = frozenset(("DT", "IN", "TO", "PRP$"))  # tags of words that may be said again before the right phrase
BARE = frozenset(("IN", "TO", "VB", "VBD", "VBZ", "VBG", "VBN", "MD", "CC"))  # after these, a phrase has no article
_ANEW = 0.75  # share of a text's words after which it was said anew
_MAX_LATE = 6  # words of a late repair
_MAX_OPENING = 3  # words of an opening; with more, it is a restart


class Disfluencies(msgspec.Struct, frozen=True):
    """Counts of what people did. Cues and openings are made of function words alone."""

    kinds: dict[str, float]
    cues: dict[str, dict[str, int]]  # by kind
    commas: dict[str, dict[str, int]]  # by the cue's first word, where there are any: "", "before", "after", "both"
    sites: dict[str, float]  # by kind of phrase, how often one that could be repaired was
    repeated: dict[str, float]  # by kind of phrase, how often an article or preposition before it is said again
    lengths: dict[str, dict[str, int]]  # by kind of phrase, or `opening` and `restart`, the words of what was wrong
    openings: dict[str, dict[str, int]]  # by the text's first word, what was said instead
    borrowed: float  # share of openings that are made of other words
    same_start: float  # share of restarts that begin as the sentence does
    through: float  # share of these that are said to the end
    article: float  # share of repaired phrases without an article that get a *the*
    capital: float  # share of restarts that keep the capital of the first word


@lru_cache(8)
def disfluencies(path: str = "") -> Disfluencies:
    """What is in a file, or what ships with the package."""
    return read_profiles(path or SHIPPED, Disfluencies)


class Repair(NamedTuple):
    """A repair that was found: as many words from `at` on are `wrong`, and words `cue` to before `end` are the cue."""

    kind: str
    at: int
    wrong: int
    cue: int
    end: int
    article: bool = False


def find_repair(clean: tuple[Word, ...], said: tuple[Word, ...]) -> Repair | None:
    """The repair in a text whose fluent form is known; None where more was changed than a repair needs."""
    before, after = [w.lower for w in clean], [w.lower for w in said]
    size = len(after) - len(before)
    if size <= 0 or not before:
        return None
    start, _ = common_ends(before, after)
    if before[start:] != after[start + size :]:
        # *What are cells unable to secrete, sorry, bacteria*: the right phrase at the end, the wrong one in its place.
        for length in range(1, min(_MAX_LATE, len(before) - start)):
            rest, last = before[start + length :], len(after) - length
            for at in range(start + 1, last - len(rest)) if after[last:] == before[start : start + length] else ():
                if after[at : at + len(rest)] == rest and cue_in(after[at + len(rest) : last]) == 0:
                    return Repair("late", start, at - start, at + len(rest), last)
        return None
    places = [start]
    while places[-1] and after[places[-1] - 1] == after[places[-1] - 1 + size]:
        places.append(places[-1] - 1)  # the same text can be read with the repair one word earlier
    for at in places:
        wrong = cue_in(after[at : at + size])
        if wrong is not None:
            kind = "phrase" if at else "opening" if wrong <= _MAX_OPENING else "restart"
            return Repair(kind if wrong else "hesitation", at, wrong, at + wrong, at + size)
    if start and after[start + size - 1] == "the" and (wrong := cue_in(after[start : start + size - 1])):
        return Repair("phrase", start, wrong, start + wrong, start + size - 1, True)
    whole = places[-1] == 0 and size <= _MAX_OPENING
    return Repair("opening", 0, size, size, size) if whole else None


def only_closed(words: Sequence[Word]) -> bool:
    """Are these function words, as in *when was the*?"""
    return all(word.tag in ("W", "MD") or word.lower in _CLOSED for word in words)


def cue_in(words: list[str]) -> int | None:
    """Where the cue begins with which these words end; None where they end with none."""
    i = len(words)
    if i and words[-1] in _NO_END:
        return None
    while i and words[i - 1] in _INSIDE:
        i -= 1
    for k in range(i, len(words)):
        if words[k] in _STARTS or tuple(words[k : k + 2]) in _STARTING_PAIRS:
            return k
    return None


def rough_repair(clean: tuple[Word, ...], said: tuple[Word, ...]) -> Repair | None:
    """Which kind of repair there is in a text that was changed more than a repair needs; None where there is no cue."""
    before, after = [w.lower for w in clean], [w.lower for w in said]
    pairs = list(pairwise([*after, ""]))
    begins = [(pair[0] in _STARTS and pair[0] != "or") or pair in _STARTING_PAIRS for pair in pairs]
    cue = next((i for i in range(1, len(after)) if begins[i] and after[i] not in before), None)
    if cue is None or not before:
        return None
    end = cue + 1
    while end < len(after) and after[end] in _INSIDE:
        end += 1
    left, (same, _) = len(after) - end, common_ends(before, after)
    if left <= min(_MAX_LATE, _ANEW * len(before)) and cue >= _ANEW * len(before):
        kind = "late"
    elif cue > _MAX_OPENING and left and (said[end].tag == "W" or left > _ANEW * len(before)):
        kind = "restart"
    else:
        kind = "opening" if left > _ANEW * len(before) else "phrase"
    return Repair(kind, same, cue - same, cue, end)


# Phrases

PHRASE_KINDS = ("name", "number", "noun", "nouns", "adjective", "VB", "VBD", "VBN", "VBG", "VBZ")
NAMING = ("name", "noun", "nouns")
_ADJECTIVES = frozenset(("JJ", "JJR", "JJS"))
_NOUNS = {"NN": "noun", "NNS": "nouns"}
_VERBS = frozenset(("VB", "VBD", "VBN", "VBG", "VBZ"))
_HELPERS = BE | HAVE | DO | frozenset(("let", "please", "like", "ca", "wo", "gon", "wan"))
_LINKS = frozenset(("of", "de", "von", "van", "del", "la"))  # inside names
_MAX_NAME = 5  # words
_MAX_NEAR = 40  # texts on the same topic that are looked at
_MAX_TOPICAL = 0.1  # a word in more than this share of the texts says nothing about the topic


class Phrase(NamedTuple):
    """Words `first` to before `end` of a text, and the word before them in small letters."""

    kind: str
    first: int
    end: int
    said: str
    before: str


@lru_cache(8192)
def phrases(text: str) -> tuple[Phrase, ...]:
    """The names, numbers, nouns with their adjectives, adjectives and verbs of a text, in order."""
    words = tagged(text) if len(text) <= LONGEST else ()
    whole, found, i = Sentence(text, words), list[Phrase](), 0

    def add(kind: str, end: int) -> None:
        found.append(Phrase(kind, i, end, whole.said(i, end), whole.word_at(i - 1)))

    while i < len(words):
        tag, end = words[i].tag, i + 1
        if tag == "NNP":
            while whole.after_space(end) and end - i < _MAX_NAME:
                if words[end].tag == "NNP":
                    end += 1
                elif words[end].lower in _LINKS and whole.after_space(end + 1) and words[end + 1].tag == "NNP":
                    end += 2
                else:
                    break
            add("name", end)
        elif tag == "CD":
            add("number", end)
        elif tag in _ADJECTIVES or tag in _NOUNS:
            after = end
            while whole.after_space(after) and (words[after].tag in _NOUNS or words[after].tag in _ADJECTIVES):
                after += 1
                end = after if words[after - 1].tag in _NOUNS else end  # adjectives behind the last noun don't belong
            if end > i + 1 and tag in _ADJECTIVES:
                add("adjective", i + 1)
            if words[end - 1].tag in _NOUNS:
                add(_NOUNS[words[end - 1].tag], end)
        elif tag in _VERBS and words[i].lower not in _HELPERS and len(words[i].lower) > 2:
            add(tag, end)
        i = end
    return tuple(found)


class PhrasePool:
    """The phrases of many texts, found by kind, by the word before them, and by what the texts are about."""

    def __init__(self, texts: Iterable[str]) -> None:
        # Sorted, so that the order of the rows decides nothing.
        self.texts = sorted({text.strip() for text in texts if text.strip() and len(text) <= LONGEST})
        self._by_kind: dict[str, list[Phrase]] = defaultdict(list)
        self._after: dict[tuple[str, str], list[Phrase]] = defaultdict(list)
        self._about: dict[str, list[int]] = defaultdict(list)
        for n, text in enumerate(self.texts):
            for word in _topic(text):
                self._about[word].append(n)
            for phrase in phrases(text):
                self._by_kind[phrase.kind].append(phrase)
                self._after[phrase.kind, phrase.before].append(phrase)

    def near(self, text: str) -> list[str]:
        """Texts that share with this one its rarest words; none twice, not itself."""
        most = max(2.0, _MAX_TOPICAL * len(self.texts))
        shared = sorted((len(found), word) for word in _topic(text) if (found := self._about.get(word)))
        seen: dict[int, None] = {}
        for count, word in shared:
            if count <= most and len(seen) < _MAX_NEAR:
                seen.update(dict.fromkeys(self._about[word][:_MAX_NEAR]))
        return [self.texts[n] for n in seen if self.texts[n] != text.strip()]

    def like(self, phrase: Phrase, near: Sequence[str]) -> list[list[Phrase]]:
        """Phrases that could stand in this one's place, in groups, the most fitting first."""
        close = [p for text in near for p in phrases(text) if p.kind == phrase.kind]
        same = [p for p in close if p.before == phrase.before]
        return [same, close, self._after.get((phrase.kind, phrase.before), []), self._by_kind.get(phrase.kind, [])]


@lru_cache(8192)
def _topic(text: str) -> frozenset[str]:
    return frozenset(w.lower for w in tagged(text) if w.tag in ("NNP", "NN", "NNS", "JJ") and len(w.lower) > 2)
