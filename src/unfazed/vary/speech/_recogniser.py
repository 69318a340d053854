"""A simulated Mandarin recogniser: the likeliest words for what was heard, and which words follow which."""

from __future__ import annotations

import lzma
import re
from collections.abc import Sequence
from functools import cache, lru_cache
from math import exp, log
from pathlib import Path
from typing import NamedTuple

from unfazed.core.seeds import Stream
from unfazed.vary.chinese import lexicon
from unfazed.vary.speech._sounds import LONGEST, Ear, Syllable, Vocabulary

_PAIRS_FILE = Path(__file__).parent / "data" / "pairs.txt.xz"
_FOLLOWER = re.compile(r"(\D+)(\d+)")
_TOTAL = log(60_000_000)  # running words that the word list was counted in
_PAIRS = 0.6  # how much the pair of words counts against the word alone
_NEAR = (0, 24, 14, 7, 4)  # sounds looked at for each syllable of words of 1, 2, 3, 4 syllables
_DEEPEST = 7.5  # cost of sound beyond which a word is not looked at
_KEPT = (0, 24, 30, 24, 16)  # words kept for a stretch of so many syllables
_BEAM = 5
_REMEMBERED = 2_000  # stretches of several syllables whose words are remembered
_NONE: frozenset[str] = frozenset()
_NOWHERE = float("-inf")
_SCALE = 2.0**-53

# Chosen on the even rows of READIN's speech, so that what comes out has words as long and as common as there.
_FLUENCY = 0.72  # weight of a word's frequency, and of its neighbours, against its sound
_WORD_COST = 15.0  # of every word, so that one long word goes before two short ones
_SPREAD = 0.5  # how far choices stray from the best
_RELUCTANCE = 1.3  # how unlikely a character that was said is to come out where something was misheard

_Way = tuple[float, str, str]  # what is written so far: its score, the text and its last word


class _Stretch(NamedTuple):
    """The words that sound like some syllables, best first, as a set and joined too, and their scores."""

    words: tuple[str, ...]
    known: frozenset[str]
    joined: str
    scores: tuple[float, ...]


class SimulatedRecogniser:
    """Turns syllables into words. Its choices are drawn, so that what comes out is likely, not always the likeliest."""

    def __init__(self, ear: Ear) -> None:
        self.ear = ear
        self._single = cache(self._words)  # there are only so many syllables
        self._several = lru_cache(_REMEMBERED)(self._words)

    def misheard(self, said: str, heard: tuple[Syllable, ...], before: str, after: str, rng: Stream) -> str:
        """Other words than `said` for these syllables, between the words before and after."""
        n = len(heard)
        if not n:
            return ""
        found = [[self._single(heard[at : at + 1]), *map(self._several, _longer(heard, at))] for at in range(n)]
        chances = iter(_randoms(rng, sum([len(stretch.words) for here in found for stretch in here])))
        beams: list[_Beam] = [*[_Beam() for _ in range(n)], _LastBeam(said, after)]
        beams[0].ways.append((0.0, "", before))
        for at, stretches in enumerate(found):
            here = beams[at].best()
            for end, stretch in enumerate(stretches, at + 1):
                if stretch.words:
                    # the numbers are as many as the scores of all stretches
                    drawn = [s - _SPREAD * log(-log(r + 1e-12) + 1e-12) for s, r in zip(stretch.scores, chances)]  # noqa: B905
                    if n == len(said):
                        _make_reluctant(drawn, stretch.joined, said[at:end])
                    beams[end].extend(here, stretch, drawn)
        return beams[n].best()[0][1]

    def _words(self, heard: tuple[Syllable, ...]) -> _Stretch:
        """Words that sound like these syllables, best first, with their scores."""
        size, tones = len(heard), [self.ear.tones[syllable.tone] for syllable in heard]
        near = _vocabulary().near([self.ear.near(syllable.plain, _NEAR[size]) for syllable in heard], _DEEPEST)
        if size == 1:  # these two are asked for most, and in a loop for all sizes took twice the time
            (one,) = tones
            rated = [(one[its[0]] - (worth - cost), word) for words, cost in near for worth, word, its in words]
        elif size == 2:
            one, two = tones
            rated = [
                (one[its[0]] + two[its[1]] - (worth - cost), word) for words, cost in near for worth, word, its in words
            ]
        else:
            rated = [
                (sum([costs[i] for costs, i in zip(tones, its, strict=True)]) - (worth - cost), word)
                for words, cost in near
                for worth, word, its in words
            ]
        return _least(rated, _KEPT[size])


def _least(rated: list[tuple[float, str]], most: int) -> _Stretch:
    """The words with the least costs, each once, and their scores, which are the costs below zero."""
    few = rated
    if len(rated) > 3 * most:  # nearly all of them would be sorted for nothing
        limit = sorted([cost for cost, _ in rated])[2 * most]
        few = [pair for pair in rated if pair[0] <= limit]
    best: dict[str, float] = {}
    for cost, word in sorted(few):
        if word not in best:
            best[word] = -cost
            if len(best) == most:
                break
    if len(best) < most and few is not rated:
        return _least(rated, len(rated))
    return _Stretch(tuple(best), frozenset(best), "".join(best), tuple(best.values()))


def _longer(heard: tuple[Syllable, ...], at: int) -> list[tuple[Syllable, ...]]:
    """The stretches of several syllables that words from a place on may have."""
    return [heard[at:end] for end in range(at + 2, min(at + LONGEST, len(heard)) + 1)]


def _make_reluctant(scores: list[float], joined: str, said: str) -> None:
    """Lowers the scores of words that have characters of what was said, at their places."""
    size, same = len(said), []
    for place, c in enumerate(said):
        at = joined.find(c)
        while at >= 0:
            if at % size == place:
                same.append(at // size)
            at = joined.find(c, at + 1)
    for k in set(same):
        scores[k] -= _RELUCTANCE * same.count(k)


class _Beam:
    """The ways that reach a place, of which the best go on."""

    most = _BEAM

    def __init__(self) -> None:
        self.ways: list[_Way] = []

    def extend(self, here: Sequence[_Way], stretch: _Stretch, drawn: list[float]) -> None:
        """Adds the ways that go on from these by one of these words, with the scores that were drawn for them.

        Of the words that follow none of these better than by themselves, only the best could go on.
        """
        afters = [_after(word) for _, _, word in here]
        known = stretch.known
        linked = self._linked(known).union(*[after.keys() & known for after in afters if after])
        kept = self.most + len(linked)
        least = sorted(drawn)[-kept] if kept < len(drawn) else _NOWHERE
        few = [pair for pair in zip(drawn, stretch.words, strict=True) if pair[0] >= least or pair[1] in linked]
        for (score, text, _), after in zip(here, afters, strict=True):
            if after:
                follow = after.get
                self.ways += [(score + more + _FLUENCY * follow(word, 0.0), text + word, word) for more, word in few]
            else:
                self.ways += [(score + more, text + word, word) for more, word in few]

    def _linked(self, words: frozenset[str]) -> frozenset[str]:
        """Words that are likelier before what follows than by themselves."""
        return _NONE

    def best(self) -> list[_Way]:
        return sorted(self.ways, reverse=True)[: self.most]


class _LastBeam(_Beam):
    """The ways to the end, of which the best that is not what was said is taken."""

    most = 2

    def __init__(self, said: str, after: str) -> None:
        super().__init__()
        self._said, self._next = said, after

    def _linked(self, words: frozenset[str]) -> frozenset[str]:
        return words & _before().get(self._next, _NONE)

    def best(self) -> list[_Way]:
        ends = [
            (score + _FLUENCY * follows(word, self._next), text, word)
            for score, text, word in self.ways
            if text != self._said
        ]
        return [max(ends, default=(0.0, "", ""))]


def _randoms(rng: Stream, n: int) -> list[float]:
    """As many numbers as `rng.random()` gives in turn."""
    bits = rng.bits
    return [(bits() >> 11) * _SCALE for _ in range(n)]


@cache
def _vocabulary() -> Vocabulary:
    """The shipped list by sound, made once a process."""
    return Vocabulary(_FLUENCY, _WORD_COST)


@cache
def _followers() -> dict[str, str]:
    """What follows a word in the table, and how often."""
    rows = lzma.decompress(_PAIRS_FILE.read_bytes()).decode("utf-8").split("\n")
    return dict(row.split("\t", 1) for row in rows)


@cache
def _before() -> dict[str, frozenset[str]]:
    """The words of the table that a word follows."""
    found: dict[str, set[str]] = {}
    for one, row in _followers().items():
        for two, _ in _FOLLOWER.findall(row.split("\t")[1]):
            found.setdefault(two, set()).add(one)
    return {two: frozenset(ones) for two, ones in found.items()}


@cache  # the words of the table, and no others, have an entry of their own
def _table(word: str) -> dict[str, float]:
    count, rest = _followers()[word].split("\t")
    alone = lexicon().frequency
    return {
        two: log((1 - _PAIRS) + _PAIRS * (int(n) / int(count)) / exp(max(alone.get(two, 0.0), 0.0) - _TOTAL))
        for two, n in _FOLLOWER.findall(rest)
    }


_NOTHING: dict[str, float] = {}


def _after(word: str) -> dict[str, float]:
    """By how much, in logs, words are likelier after this one than by themselves."""
    return _table(word) if word in _followers() else _NOTHING


def follows(one: str, two: str) -> float:
    """By how much, in logs, a word is likelier after another one than by itself."""
    row = _followers().get(one)
    return _table(one).get(two, 0.0) if row and two and two in row else 0.0
