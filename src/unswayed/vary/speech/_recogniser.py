"""A simulated Mandarin recogniser: the likeliest words for what was heard, and which words follow which."""

from __future__ import annotations

import lzma
import re
from collections.abc import Sequence, Set
from functools import cache, lru_cache
from importlib.resources import files
from math import exp, log
from typing import NamedTuple

from unswayed.base.seeds import Stream
from unswayed.vary.chinese import lexicon
from unswayed.vary.speech._sounds import LONGEST, Ear, Syllable, Vocabulary

_PAIRS_FILE = files("unswayed.vary.speech") / "data" / "pairs.txt.xz"
_FOLLOWER = re.compile(r"(\D+)(\d+)")
_TOTAL = log(60_000_000)  # running words that the word list was counted in
_PAIRS = 0.6  # how much the pair of words counts against the word alone
_NEAR = (0, 24, 14, 7, 4)  # sounds looked at for each syllable of words of 1, 2, 3, 4 syllables
_DEEPEST = 7.5  # cost of sound beyond which a word is not looked at
_KEPT = (0, 24, 30, 24, 16)  # words kept for a stretch of so many syllables
_BEAM = 5
_HEAD = 8  # words of a stretch that are drawn in any case, the likeliest; more than the ways that are kept
_BEST = 2  # ways to the end that are kept, so that one is left where rounding made another the better
_SAME = 1e-9  # scores that differ by less may be equal but for rounding
_REMEMBERED = 2_000  # stretches of several syllables whose words are remembered
_NONE: frozenset[str] = frozenset()
_NOWHERE = float("-inf")
_SCALE = 2.0**-53

# Chosen on the even rows of READIN's speech, so that what comes out has words as long and as common as there.
_FLUENCY = 0.72  # weight of a word's frequency, and of its neighbours, against its sound
_WORD_COST = 15.0  # of every word, so that one long word goes before two short ones
_SPREAD = 0.5  # how far choices stray from the best
_RELUCTANCE = 1.3  # how unlikely a character that was said is to come out where something was misheard

_Drawn = tuple[float, str]  # a word after the score that was drawn for it
_Reached = tuple[float, str, dict[str, float]]  # a way, and by how much words are likelier after its last
_Way = tuple[float, str, str]  # what is written so far: its score, the text and its last word


class _Stretch(NamedTuple):
    """The words that sound like some syllables, best first, and their scores; the place of each; the words joined."""

    words: tuple[str, ...]
    scores: tuple[float, ...]
    places: dict[str, int]
    joined: str

    @classmethod
    def of(cls, best: dict[str, float]) -> _Stretch:
        return cls(tuple(best), tuple(best.values()), {word: k for k, word in enumerate(best)}, "".join(best))


_NO_WORDS = _Stretch.of({})


class SimulatedRecogniser:
    """Turns syllables into words. Its choices are drawn, so that what comes out is likely, not always the likeliest."""

    def __init__(self, ear: Ear) -> None:
        self.ear = ear
        single = cache(self._words)  # there are only so many syllables
        double = lru_cache(_REMEMBERED)(self._words)
        longer = lru_cache(_REMEMBERED)(self._words)  # there are few words of so many syllables: most have none
        self._sizes = (single, double, *[longer] * (LONGEST - 2))

    def misheard(self, said: str, heard: tuple[Syllable, ...], before: str, after: str, rng: Stream) -> str:
        """Other words than `said` for these syllables, between the words before and after."""
        n = len(heard)
        if not n:
            return ""
        found = [[find(heard[at:end]) for end, find in enumerate(self._sizes[: n - at], at + 1)] for at in range(n)]
        numbers = rng.numbers(sum([len(stretch.words) for here in found for stretch in here]))
        beams = [*[_Beam() for _ in range(n)], _Beam(_BEST, said, after)]
        beams[0].ways.append((0.0, "", before))
        used = 0
        for at, stretches in enumerate(found):
            here = [(score, text, _after(word)) for score, text, word in beams[at].ways]
            for end, stretch in enumerate(stretches, at + 1):
                if stretch.words:
                    chances = numbers[used : used + len(stretch.words)]
                    used += len(chances)
                    beams[end].extend(here, stretch, chances, said[at:end] if n == len(said) else "")
        return beams[n].ways[0][1] if beams[n].ways else ""

    def _words(self, heard: tuple[Syllable, ...]) -> _Stretch:
        """Words that sound like these syllables, best first, with their scores."""
        size, ear = len(heard), self.ear
        near = _vocabulary().near([ear.near(plain, _NEAR[size]) for plain, _ in heard], _DEEPEST)
        if not near:
            return _NO_WORDS
        tones = ear.hearing([tone for _, tone in heard], near)
        rated = [(tones[its] - (worth - cost), word) for words, cost in near for worth, word, its in words]
        return _least(rated, _KEPT[size])


def _drawn(stretch: _Stretch, chances: Sequence[int], said: str, most: int, linked: Set[str]) -> list[_Drawn]:
    """The words with the highest scores that are drawn, so many that are not linked to others, and all that are.

    A score strays from the word's own by 64 random bits: the more of them, the higher. Few words but the first have so
    many that they could be among the best; for the others, nothing is computed.
    """
    words, scores, size = stretch.words, stretch.scores, len(stretch.words)
    kept = most + len(linked)
    first = _HEAD if kept <= _HEAD < size else size
    drawn = [
        score - _SPREAD * log(-log((bits >> 11) * _SCALE + 1e-12) + 1e-12)
        for score, bits in zip(scores[:first], chances[:first], strict=True)
    ]
    lower = _reluctances(stretch.joined, said) if said else {}
    for k in lower:
        if k < first:
            drawn[k] -= lower[k]
    found = list(zip(drawn, words))  # noqa: B905
    found.sort(reverse=True)
    if first < size:
        enough = _bits(found[kept - 1][0] - scores[first])
        more = [k for k, bits in enumerate(chances[first:], first) if bits >= enough]
        more += [k for word in linked if (k := stretch.places[word]) >= first and chances[k] < enough]
        if more:
            found += [
                (
                    scores[k] - _SPREAD * log(-log((chances[k] >> 11) * _SCALE + 1e-12) + 1e-12) - lower.get(k, 0.0),
                    words[k],
                )
                for k in more
            ]
            found.sort(reverse=True)
    return found[:kept] + [pair for pair in found[kept:] if pair[1] in linked] if linked else found[:kept]


def _bits(strays: float) -> int:
    """Random bits by fewer than which no score strays so far, or nearly so many."""
    return int((exp(-exp(-strays / _SPREAD)) - _SAME) * 2.0**64)


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
    return _Stretch.of(best)


def _reluctances(joined: str, said: str) -> dict[int, float]:
    """By how much unlikelier words are, by their places, that have characters of what was said at theirs."""
    size, same = len(said), []
    for place, c in enumerate(said):
        at = joined.find(c)
        while at >= 0:
            if at % size == place:
                same.append(at // size)
            at = joined.find(c, at + 1)
    return {k: _RELUCTANCE * same.count(k) for k in same}


class _Beam:
    """The best ways that reach a place, best first.

    At the end of what was heard, the word after counts too, and what was said is not taken.
    """

    def __init__(self, most: int = _BEAM, said: str = "", after: str = "") -> None:
        self.ways: list[_Way] = []
        self._most, self._said, self._next = most, said, after
        self._before = _before().get(after, _NONE) if after else _NONE
        self._least = _NOWHERE  # ways with lower scores are none of the best

    def extend(self, here: Sequence[_Reached], stretch: _Stretch, chances: Sequence[int], said: str) -> None:
        """Takes in the ways that go on by one of these words. Those with characters of what was said are unlikelier.

        Of the words that follow none of the ways better than by themselves, only the best could go on.
        """
        known = stretch.places.keys()
        ends = {word: _FLUENCY * follows(word, self._next) for word in known & self._before} if self._before else {}
        linked = set(ends)
        for _, _, after in here:
            if after:
                linked |= after.keys() & known
        few, least = _drawn(stretch, chances, said, self._most, linked), self._least
        if ends:
            found = [
                (value, text + word, word)
                for score, text, after in here
                for more, word in few
                if (value := score + more + _FLUENCY * after.get(word, 0.0) + ends.get(word, 0.0)) >= least
            ]
        else:
            found = [
                (value, text + word, word)
                for score, text, after in here
                for more, word in few
                if (value := score + more + _FLUENCY * after.get(word, 0.0)) >= least
            ]
        self._take([way for way in found if way[1] != self._said] if self._said else found)

    def _take(self, found: list[_Way]) -> None:
        if found:
            ways = self.ways
            ways += found
            ways.sort(reverse=True)
            if len(ways) >= self._most:
                del ways[self._most :]
                self._least = ways[-1][0] - _SAME


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


_NOTHING: dict[str, float] = {}


@cache
def _tables() -> dict[str, dict[str, float]]:
    """What `_after` gives for the words that it was asked for and that are in the table."""
    return {}


def _after(word: str) -> dict[str, float]:
    """By how much, in logs, words are likelier after this one than by themselves."""
    return _tables().get(word) or _read_after(word)


def _read_after(word: str) -> dict[str, float]:
    row = _followers().get(word)
    if row is None:
        return _NOTHING
    count, rest = row.split("\t")
    common = lexicon().log_frequency
    _tables()[word] = found = {
        two: log((1 - _PAIRS) + _PAIRS * (int(n) / int(count)) / exp(max(common(two), 0.0) - _TOTAL))
        for two, n in _FOLLOWER.findall(rest)
    }
    return found


def follows(one: str, two: str) -> float:
    """By how much, in logs, a word is likelier after another one than by itself."""
    return _after(one).get(two, 0.0)
