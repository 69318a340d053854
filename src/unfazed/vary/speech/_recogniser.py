"""A recogniser: the likeliest words for the syllables that were heard, by sound and by a language model."""

from __future__ import annotations

import lzma
import re
from functools import lru_cache
from math import exp, log
from pathlib import Path

from unfazed.core.seeds import Stream
from unfazed.vary.keyboard._lexicon import lexicon
from unfazed.vary.speech._sounds import Ear, Syllable, spoken

_FILE = Path(__file__).parent / "data" / "pairs.txt.xz"
_FOLLOWER = re.compile(r"(\D+)(\d+)")
_TOTAL = log(60_000_000)  # running words that the word list was counted in
_PAIRS = 0.6  # how much the pair of words counts against the word alone
_NEAR = (0, 24, 14, 7, 4)  # sounds looked at for each syllable of words of 1, 2, 3, 4 syllables
_DEEPEST = 7.5  # cost of sound beyond which a word is not looked at
_KEPT = (0, 24, 30, 24, 16)  # words kept for a stretch of so many syllables
_BEAM = 5


class Recogniser:
    """Turns syllables into words. Its choices are drawn, so that what comes out is likely, not always the likeliest."""

    # Chosen on the even rows of READIN's speech, so that what comes out has words as long and as common as there.
    fluency = 0.72  # weight of a word's frequency, and of its neighbours, against its sound
    word_cost = 15.0  # of every word, so that one long word goes before two short ones
    spread = 0.5  # how far choices stray from the best
    reluctance = 1.3  # how unlikely a character that was said is to come out where something was misheard

    def __init__(self, ear: Ear) -> None:
        self.ear = ear
        self._found: dict[tuple[Syllable, ...], list[tuple[str, float]]] = {}

    def misheard(
        self, said: str, heard: tuple[Syllable, ...], before: str, after: str, rng: Stream, most: int = 4
    ) -> str:
        """Other words than `said` for these syllables, between the words before and after."""
        n = len(heard)
        aligned = n == len(said)
        beams: list[list[tuple[float, str, str]]] = [[(0.0, "", before)], *([] for _ in heard)]
        for at in range(n):
            here = sorted(beams[at], reverse=True)[:_BEAM]
            for size in range(1, min(most, n - at) + 1):
                end = at + size
                for word, score in self._words(heard[at:end]):
                    drawn = score - self.spread * log(-log(rng.random() + 1e-12) + 1e-12)
                    if aligned:
                        drawn -= self.reluctance * sum([a == b for a, b in zip(word, said[at:end], strict=True)])
                    beams[end] += [(s + drawn + self.fluency * follows(w, word), t + word, word) for s, t, w in here]
        ends = [(score + self.fluency * follows(word, after), text) for score, text, word in beams[n] if text != said]
        return max(ends)[1] if ends else ""

    def _words(self, heard: tuple[Syllable, ...]) -> list[tuple[str, float]]:
        """Words that sound like these syllables, best first, with their scores."""
        found = self._found.get(heard)
        if found is None:
            rated: dict[str, float] = {}
            lookup = lexicon().words
            for reading, cost in self._readings(heard):
                plain = tuple(reading.split("'"))
                for word, frequency in lookup(reading)[:12]:
                    score = (
                        self.fluency * frequency - self.word_cost - cost - self.ear.tones(heard, spoken(word, plain))
                    )
                    if score > rated.get(word, -1e9):
                        rated[word] = score
            found = sorted(rated.items(), key=lambda pair: (-pair[1], pair[0]))[: _KEPT[len(heard)]]
            self._found[heard] = found
        return found

    def _readings(self, heard: tuple[Syllable, ...]) -> list[tuple[str, float]]:
        """Readings of words that these syllables may be heard as, with the cost of that."""
        words = lexicon()
        ways = [("", 0.0)]
        for syllable in heard:
            near = self.ear.near(syllable.plain, _NEAR[len(heard)])
            ways = [
                (f"{reading}'{plain}" if reading else plain, cost + more)
                for reading, cost in ways
                for plain, more in near
                if cost + more < _DEEPEST
            ]
        return [way for way in ways if way[0] in words]


@lru_cache(1)
def _followers() -> dict[str, tuple[int, str]]:
    rows = lzma.decompress(_FILE.read_bytes()).decode("utf-8").split("\n")
    return {one: (int(count), rest) for one, count, rest in (row.split("\t") for row in rows)}


@lru_cache(20_000)
def _after(word: str) -> dict[str, float]:
    count, rest = _followers().get(word, (1, ""))
    return {two: int(n) / count for two, n in _FOLLOWER.findall(rest)}


def follows(one: str, two: str) -> float:
    """By how much, in logs, a word is likelier after another one than by itself."""
    share = _after(one).get(two) if one and two else None
    if share is None:
        return 0.0
    alone = exp(max(lexicon().frequency.get(two, 0.0), 0.0) - _TOTAL)
    return log((1 - _PAIRS) + _PAIRS * share / alone)
