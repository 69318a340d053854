"""Chinese words and their pinyin: the words of a reading, a word's reading and frequency, and segmentation."""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Mapping, Sequence, Set
from functools import cache, cached_property, lru_cache
from importlib.resources import files
from math import log
from string import ascii_lowercase
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

WORDS_FILE = files("unswayed.vary") / "keyboard" / "data" / "words.txt.gz"
APART = "'"  # between the syllables of a reading
_NOT_INITIALS = str.maketrans("", "", ascii_lowercase + APART)
# Log frequencies by the letters that `tools/make_pinyin_words.py` writes, each step half a bit.
_LEVELS = {chr(65 + level): level * (log(2) / 2) for level in range(64)}
_UNKNOWN = -2.0  # log frequency of a character that is not in the list
_TOTAL = log(60_000_000)  # running words that the frequencies were counted in
_NEVER = float("-inf")


# Two characters that words begin with: log frequency of the word of these two, if there is one; the same as `segment`
# counts it; and the length of the longest word. Plain tuples, since named ones take three times as long to take apart.
_Pair = tuple[float | None, float, int]
# The words that begin with a character: its own log frequency and worth; pairs by their second characters; and log
# frequencies of longer words, by all characters but the first.
_Start = tuple[float | None, float, Mapping[str, _Pair], Mapping[str, float]]


@cache  # there are few frequencies and few lengths, and pairs that are alike are one
def _pair(frequency: float | None, longest: int) -> _Pair:
    return frequency, _NEVER if frequency is None else frequency - _TOTAL, longest


_Abbreviations = tuple[Mapping[str, str], Mapping[str, list[str]]]  # rows, and what follows by initials


def _joined(syllable: str, rest: str) -> str:
    """A reading, of its first syllable and those after it."""
    return f"{syllable}{APART}{rest}" if rest else syllable


def listed(row: str, size: int) -> list[tuple[str, float]]:
    """The words of a row, which have so many characters, with their log frequency."""
    return [(row[end - size : end], _LEVELS[row[end]]) for end in range(size, len(row), size + 1)]


class Lexicon:
    """Words with frequency and reading. A reading is its syllables joined by apostrophes: `hua'bei`.

    The table has a line for each syllable that words begin with. A line is not read before one of its words is needed:
    there are a hundred thousand words, and to read them all takes longer than to vary a thousand texts. A word of
    several characters has one reading.
    """

    def __init__(self, table: bytes) -> None:
        highest, *lines = table.split(b"\n")
        self.highest = [_LEVELS[level] for level in highest.decode()]  # of the commonest words, by length from 1
        self._heads: dict[str, str] = {}  # by first syllable, the characters that words begin with
        self._lines: dict[str, bytes] = {}  # by first syllable, what is not read yet
        for line in lines:
            first, heads, rest = line.split(b"\t", 2)
            self._heads[first.decode()], self._lines[first.decode()] = heads.decode(), rest
        self._rows: dict[str, dict[str, str]] = {}
        self._parsed: dict[str, list[tuple[str, float]]] = {}
        self._units: dict[str, _Abbreviations] = {}
        self._starts: dict[str, _Start] = {}
        self._readings: dict[str, str] = {}  # of the words that begin as those in `_starts` do

    @classmethod
    def read(cls, file: Traversable) -> Lexicon:
        return cls(zlib.decompress(file.read_bytes(), 31))  # 31: as gzip writes it

    def rows(self, syllable: str) -> Mapping[str, str]:
        """Of the readings that begin with a syllable: the rest of each → its words, each before its frequency."""
        found = self._rows.get(syllable)
        if found is None:
            line = self._lines.pop(syllable, b"").decode()
            cells = line.split("\t") if line else []
            found = self._rows[syllable] = dict(zip(cells[::2], cells[1::2], strict=True))
        return found

    def words(self, reading: str) -> list[tuple[str, float]]:
        """The words of a reading, commonest first, with their log frequency."""
        found = self._parsed.get(reading)
        if found is None:
            first, _, rest = reading.partition(APART)
            row = self.rows(first).get(rest, "")
            if not row:  # not kept, since what is no reading has no end
                return []
            found = self._parsed[reading] = listed(row, reading.count(APART) + 1)  # a character for each syllable
        return found

    def __iter__(self) -> Iterator[str]:
        """All readings, in order."""
        return (_joined(syllable, rest) for syllable in self._heads for rest in self.rows(syllable))

    @cached_property
    def frequency(self) -> dict[str, float]:
        """Log frequency by word, that of the commonest reading. This reads all words; see `log_frequency`."""
        found: dict[str, float] = {}
        for syllable in self._heads:
            for rest, row in self.rows(syllable).items():
                for word, count in listed(row, rest.count(APART) + 2 if rest else 1):
                    if count > found.get(word, -1.0):
                        found[word] = count
        return found

    def commonest_readings(self) -> dict[str, tuple[float, str]]:
        """By single character the log frequency of its commonest reading, and that. No word is read for it."""
        found: dict[str, tuple[float, str]] = {}
        for syllable in self._heads:
            line = self._lines.get(syllable)  # whose first row, of what follows nothing, has the characters
            row = self._rows[syllable].get("", "") if line is None else line.decode().split("\t", 2)[1]
            for c, count in listed(row, 1) if line is None or line.startswith(b"\t") else ():
                if c not in found or count > found[c][0]:
                    found[c] = count, syllable
        return found

    def log_frequency(self, word: str) -> float:
        """That of one word by its commonest reading, 0 if it is not in the list."""
        single, _, pairs, longer = self._starts.get(word[0]) or self._start(word[0])
        if len(word) == 1:
            return single or 0.0
        if len(word) > 2:
            return longer.get(word[1:], 0.0)
        pair = pairs.get(word[1])
        return (pair[0] or 0.0) if pair else 0.0

    def _start(self, c: str) -> _Start:
        """The words that begin with a character, whose readings are noted too."""
        single: float | None = None
        pairs: dict[str, _Pair] = {}
        longer: dict[str, float] = {}
        rows = [
            (_joined(syllable, rest), rest.count(APART) + 2 if rest else 1, row)
            for syllable, heads in self._heads.items()
            if c in heads
            for rest, row in self.rows(syllable).items()
            if c in row
        ]
        for reading, size, row in rows:
            for at in range(0, len(row), size + 1):
                if row[at] != c:
                    continue
                word, frequency = row[at : at + size], _LEVELS[row[at + size]]
                if size == 1:
                    if single is not None and frequency <= single:
                        continue
                    single = frequency
                else:
                    known, _, longest = pairs.get(word[1]) or _pair(None, 2)
                    if size == 2:
                        pairs[word[1]] = _pair(frequency, longest)
                    else:
                        longer[word[1:]] = frequency
                        pairs[word[1]] = _pair(known, max(longest, size))
                self._readings[word] = reading
        worth = (_UNKNOWN if single is None else single) - _TOTAL
        self._starts[c] = start = (single, worth, pairs, longer)
        return start

    @cached_property
    def syllables(self) -> frozenset[str]:
        return frozenset(self._heads)

    def initials(self, unit: str, cut: bool) -> Set[str]:
        """The first letters of what follows a unit in readings: a syllable, or letters to which one is cut."""
        return self._abbreviations(unit, cut)[1].keys()

    def _abbreviations(self, unit: str, cut: bool) -> _Abbreviations:
        """The rows of the syllables that a unit may stand for, as those of one, and what follows it by initials."""
        found = self._units.get(unit)
        if found is None:
            rows: dict[str, str] = {}
            for syllable in [known for known in self._heads if known.startswith(unit)] if cut else [unit]:
                for rest, row in self.rows(syllable).items():
                    rows[rest] = rows.get(rest, "") + row
            by_initials: dict[str, list[str]] = {}
            initials = "\n".join(rows).title().translate(_NOT_INITIALS).lower().split("\n") if rows else ()
            for short, rest in zip(initials, rows, strict=True):
                by_initials.setdefault(short, []).append(rest)
            found = self._units[unit] = rows, by_initials
        return found

    def abbreviated(self, units: Sequence[str], cut: Sequence[bool]) -> list[tuple[float, str]]:
        """The words that an abbreviation may stand for, the commonest first, each after its log frequency below zero.

        It is syllables, some of which are cut to their first letters: 华北 for `h b` or `hua b`.
        """
        rows, by_initials = self._abbreviations(units[0], cut[0])
        size, others, rests = len(units), units[1:], [APART.join(units[1:])]
        if True in cut[1:]:
            rests = by_initials.get("".join([unit[0] for unit in others]), [])
            for i, unit in enumerate(others) if rests else ():
                if not cut[i + 1]:  # looked for anywhere first, which is sooner done
                    rests = [rest for rest in rests if unit in rest and rest.split(APART)[i] == unit]
                elif len(unit) > 1:
                    rests = [rest for rest in rests if rest.split(APART)[i].startswith(unit)]
        return sorted((-count, word) for rest in rests if rest in rows for word, count in listed(rows[rest], size))

    @cached_property
    def characters(self) -> dict[str, list[tuple[str, float]]]:
        """Single characters by syllable, commonest first."""
        return {syllable: self.words(syllable) for syllable in self._heads}

    def reading(self, word: str) -> tuple[str, ...] | None:
        """The syllables of a word, or of its characters where it is not in the list; None if one has no reading."""
        found = self._reading(word)
        if found:
            return tuple(found.split(APART))
        if len(word) == 1:
            return None
        parts = [self._reading(c) for c in word]
        return None if None in parts else tuple(part for part in parts if part)

    def _reading(self, word: str) -> str | None:
        if word and word[0] not in self._starts:
            self._start(word[0])
        return self._readings.get(word)

    def segment(self, text: str) -> list[str]:
        """The likeliest words of a run of Chinese characters, by frequency alone."""
        starts, n, i, after = self._starts, len(text), len(text), ""
        score, step = [0.0] * (n + 1), [1] * n
        one = two = 0.0  # the scores of what follows the character, and the next
        for c in reversed(text):
            i -= 1
            _, worth, pairs, longer = starts.get(c) or self._start(c)
            best = worth + one
            pair = pairs.get(after)
            if pair:
                _, worth, longest = pair
                value = worth + two
                if value > best:
                    best, step[i] = value, 2
                if longest > 2:
                    for j in range(i + 3, (i + longest if i + longest < n else n) + 1):
                        count = longer.get(text[i + 1 : j])
                        if count is not None:
                            value = count - _TOTAL + score[j]
                            if value > best:
                                best, step[i] = value, j - i
            after, two = c, one
            score[i] = one = best
        words, at = [], 0
        while at < n:
            end = at + step[at]
            words.append(text[at:end])
            at = end
        return words


@lru_cache(1)
def lexicon() -> Lexicon:
    """The shipped list, read once a process."""
    return Lexicon.read(WORDS_FILE)


def han(c: str) -> bool:
    return "\u4e00" <= c <= "\u9fff"


@lru_cache(1)
def _sounds() -> dict[str, frozenset[str]]:
    found: dict[str, frozenset[str]] = {}
    for syllable, pairs in lexicon().characters.items():
        found |= {c: found.get(c, frozenset()) | {syllable} for c, _ in pairs}
    return found


def sounds(c: str) -> frozenset[str]:
    """The syllables that a character may be read as."""
    return _sounds().get(c, frozenset())


def spelled(text: str) -> str | None:
    """The keys of a text of Chinese characters typed out, or None if it has others."""
    syllables = lexicon().reading(text) if text and all(map(han, text)) else None
    return "".join(syllables) if syllables else None
