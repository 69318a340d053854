"""The word list that ships with the package: words by pinyin, their readings and frequencies, and segmentation."""

from __future__ import annotations

import lzma
import re
from functools import cached_property, lru_cache
from math import log
from pathlib import Path

Spelled = tuple[float, str, list[str]]  # log frequency, word, syllables

_FILE = Path(__file__).parent / "data" / "words.txt.xz"
_WORD = re.compile(r"([\u4e00-\u9fff]+)(.)")
_HALF_LOG2 = log(2) / 2  # a step of the frequency letters that `tools/make_pinyin_words.py` writes
_UNKNOWN = -2.0  # log frequency of a character that is not in the list
_LONGEST = 7
_TOTAL = log(60_000_000)  # running words that the frequencies were counted in


class Lexicon:
    """Words with frequency and reading. A reading is its syllables joined by apostrophes: `hua'bei`."""

    def __init__(self, text: str) -> None:
        self._rows = dict(line.split("\t") for line in text.split("\n"))
        self._parsed: dict[str, list[tuple[str, float]]] = {}
        self._sorted: set[str] = set()

    def words(self, reading: str) -> list[tuple[str, float]]:
        """The words of a reading, commonest first, with their log frequency."""
        found = self._parsed.get(reading)
        if found is None:
            row = self._rows.get(reading, "")
            found = [(word, (ord(level) - 65) * _HALF_LOG2) for word, level in _WORD.findall(row)]
            self._parsed[reading] = found
        return found

    def __contains__(self, reading: str) -> bool:
        return reading in self._rows

    @cached_property
    def frequency(self) -> dict[str, float]:
        """Log frequency by word, that of the commonest reading."""
        return {word: count for word, (_, count) in self._index[0].items()}

    @cached_property
    def _index(self) -> tuple[dict[str, tuple[str, float]], dict[str, list[Spelled]]]:
        """Each word's commonest reading, and the words that each abbreviation may stand for, from one pass."""
        best: dict[str, tuple[str, float]] = {}
        short: dict[str, list[Spelled]] = {}
        for reading, row in self._rows.items():
            syllables = reading.split("'")
            same = short.setdefault("".join([s[0] for s in syllables]), [])
            for word, level in _WORD.findall(row):
                count = (ord(level) - 65) * _HALF_LOG2
                same.append((count, word, syllables))
                if word not in best or count > best[word][1]:
                    best[word] = reading, count
        return best, short

    @cached_property
    def syllables(self) -> frozenset[str]:
        return frozenset(reading for reading in self._rows if "'" not in reading)

    def abbreviated(self, initials: str) -> list[Spelled]:
        """The words that an abbreviation may stand for, commonest first: 华北 for `hb`."""
        found = self._index[1].get(initials, [])
        if initials not in self._sorted:
            self._sorted.add(initials)
            found.sort(key=lambda spelled: (-spelled[0], spelled[1]))
        return found

    @cached_property
    def characters(self) -> dict[str, list[tuple[str, float]]]:
        """Single characters by syllable, commonest first."""
        return {syllable: self.words(syllable) for syllable in self.syllables}

    def reading(self, word: str) -> tuple[str, ...] | None:
        """The syllables of a word, or of its characters where it is not in the list; None if one has no reading."""
        found = self._index[0].get(word)
        if found:
            return tuple(found[0].split("'"))
        if len(word) == 1:
            return None
        parts = [self._index[0].get(c) for c in word]
        return None if None in parts else tuple(part[0] for part in parts if part)

    def segment(self, text: str) -> list[str]:
        """The likeliest words of a run of Chinese characters, by frequency alone."""
        frequency = self.frequency
        n = len(text)
        score = [0.0] * (n + 1)
        step = [1] * (n + 1)
        for i in range(n - 1, -1, -1):
            best = frequency.get(text[i], _UNKNOWN) - _TOTAL + score[i + 1]
            for j in range(i + 2, min(n, i + _LONGEST) + 1):
                count = frequency.get(text[i:j])
                if count is not None:
                    value = count - _TOTAL + score[j]
                    if value > best:
                        best, step[i] = value, j - i
            score[i] = best
        words, at = [], 0
        while at < n:
            words.append(text[at : at + step[at]])
            at += step[at]
        return words


@lru_cache(1)
def lexicon() -> Lexicon:
    """The shipped list, read once a process."""
    return Lexicon(lzma.decompress(_FILE.read_bytes()).decode("utf-8"))
