"""Repairs as people make them: a wrong phrase, a cue such as *no wait*, the right one; found in texts, and as rates."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from importlib.resources import files
from typing import NamedTuple

import msgspec

from unswayed.vary.english import BE, DO, HAVE, Word
from unswayed.vary.people import read_profiles
from unswayed.vary.words import word_lists

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
_MOST = 0.75  # share of a text's words after which it was said anew
_LATE = 6  # words of a late repair at most
_OPENING = 3  # words of an opening at most; with more, it is a restart


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
    start = _shared(before, after)
    if before[start:] != after[start + size :]:
        return _late(before, after, start)
    places = [start]
    while places[-1] and after[places[-1] - 1] == after[places[-1] - 1 + size]:
        places.append(places[-1] - 1)  # the same text can be read with the repair one word earlier
    for at in places:
        wrong = cue_in(after[at : at + size])
        if wrong is not None:
            return Repair(_kind(at, wrong), at, wrong, at + wrong, at + size)
    if start and after[start + size - 1] == "the" and (wrong := cue_in(after[start : start + size - 1])):
        return Repair("phrase", start, wrong, start + wrong, start + size - 1, True)
    whole = places[-1] == 0 and size <= _OPENING
    return Repair("opening", 0, size, size, size) if whole else None


def _kind(at: int, wrong: int) -> str:
    if not wrong:
        return "hesitation"
    if at:
        return "phrase"
    return "opening" if wrong <= _OPENING else "restart"


def _shared(one: list[str], other: list[str]) -> int:
    n = 0
    while n < len(one) and n < len(other) and one[n] == other[n]:
        n += 1
    return n


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


def _late(before: list[str], after: list[str], start: int) -> Repair | None:
    """*What are cells unable to secrete, sorry, bacteria*: the right phrase at the end, the wrong one in its place."""
    for length in range(1, min(6, len(before) - start)):
        if after[-length:] != before[start : start + length]:
            continue
        rest = before[start + length :]
        for at in range(start + 1, len(after) - length - len(rest)):
            cue = after[at + len(rest) : len(after) - length]
            if after[at : at + len(rest)] == rest and cue_in(cue) == 0:
                return Repair("late", start, at - start, at + len(rest), len(after) - length)
    return None


def rough_repair(clean: tuple[Word, ...], said: tuple[Word, ...]) -> Repair | None:
    """Which kind of repair there is in a text that was changed more than a repair needs; None where there is no cue."""
    before, after = [w.lower for w in clean], [w.lower for w in said]
    cues = (i for i in range(1, len(after)) if _begins_cue(after, i) and after[i] not in before)
    cue = next(cues, None)
    if cue is None or not before:
        return None
    end = cue + 1
    while end < len(after) and after[end] in _INSIDE:
        end += 1
    left, same = len(after) - end, _shared(before, after)
    if left <= min(_LATE, _MOST * len(before)) and cue >= _MOST * len(before):
        kind = "late"
    elif cue > _OPENING and left and (said[end].tag == "W" or left > _MOST * len(before)):
        kind = "restart"
    else:
        kind = "opening" if left > _MOST * len(before) else "phrase"
    return Repair(kind, same, cue - same, cue, end)


def _begins_cue(words: list[str], i: int) -> bool:
    return (words[i] in _STARTS and words[i] != "or") or tuple(words[i : i + 2]) in _STARTING_PAIRS
