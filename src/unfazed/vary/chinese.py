"""Chinese words and their pinyin, and what a typist did to a text.

The word list gives words by pinyin, their readings and frequencies, and segmentation. `slips` explains the differences
between a clean text and a typed one: edits, and the kind of slip behind each.
"""

from __future__ import annotations

import lzma
import re
from bisect import bisect_left
from collections.abc import Collection, Iterator, Sequence
from functools import cached_property, lru_cache
from math import log
from pathlib import Path
from typing import Literal, NamedTuple

from rapidfuzz.distance.Levenshtein import opcodes

WORDS_FILE = Path(__file__).parent / "keyboard" / "data" / "words.txt.xz"
APART = "'"  # between the syllables of a reading
_NOT_INITIAL = re.compile(r"(?<=[a-z])[a-z]+|'")
# Log frequencies by the letters that `tools/make_pinyin_words.py` writes, each step half a bit.
_LEVELS = {chr(65 + level): level * (log(2) / 2) for level in range(64)}
_UNKNOWN = -2.0  # log frequency of a character that is not in the list
_TOTAL = log(60_000_000)  # running words that the frequencies were counted in


class Lexicon:
    """Words with frequency and reading. A reading is its syllables joined by apostrophes: `hua'bei`.

    Little is done before it is asked for: the text has a hundred thousand rows, and most are never looked at.
    """

    def __init__(self, text: str) -> None:
        cells = text.replace("\n", "\t").split("\t")
        self._rows = dict(zip(cells[::2], cells[1::2], strict=True))
        self._parsed: dict[str, list[tuple[str, float]]] = {}

    def words(self, reading: str) -> list[tuple[str, float]]:
        """The words of a reading, commonest first, with their log frequency."""
        found = self._parsed.get(reading)
        if found is None:
            found = self._parse(reading)
            if found:
                self._parsed[reading] = found
        return found

    def _parse(self, reading: str) -> list[tuple[str, float]]:
        row, size = self._rows.get(reading, ""), reading.count("'") + 1  # a character for each syllable
        return [(row[end - size : end], _LEVELS[row[end]]) for end in range(size, len(row), size + 1)]

    def __contains__(self, reading: str) -> bool:
        return reading in self._rows

    def __iter__(self) -> Iterator[str]:
        """All readings, in order."""
        return iter(self._rows)

    @property
    def frequency(self) -> dict[str, float]:
        """Log frequency by word, that of the commonest reading."""
        return self._commonest[0]

    @cached_property
    def _commonest(self) -> tuple[dict[str, float], dict[str, str]]:
        """Each word's frequency by its commonest reading, and that reading."""
        frequency: dict[str, float] = {}
        readings: dict[str, str] = {}
        for reading, row in self._rows.items():
            size = reading.count("'") + 1
            for end in range(size, len(row), size + 1):
                word, count = row[end - size : end], _LEVELS[row[end]]
                if count > frequency.get(word, -1.0):
                    frequency[word], readings[word] = count, reading
        return frequency, readings

    @cached_property
    def _longest(self) -> dict[str, int]:
        """The length of the longest word that begins with two characters."""
        found: dict[str, int] = {}
        for word in sorted(self.frequency, key=len):
            found[word[:2]] = len(word)
        return found

    @cached_property
    def syllables(self) -> frozenset[str]:
        return frozenset(reading for reading in self._rows if "'" not in reading)

    @cached_property
    def _by_initials(self) -> dict[str, tuple[str, ...]]:
        """Readings by the first letters of their syllables."""
        found: dict[str, list[str]] = {}
        initials = _NOT_INITIAL.sub("", "\n".join(self._rows)).split("\n")
        for short, reading in zip(initials, self._rows, strict=True):
            found.setdefault(short, []).append(reading)
        return {short: tuple(readings) for short, readings in found.items()}  # which cost the collector less than lists

    def initials(self) -> Collection[str]:
        """The first letters of the syllables of each reading."""
        return self._by_initials.keys()

    def abbreviated(self, units: Sequence[str], cut: Sequence[bool]) -> list[tuple[float, str]]:
        """The words that an abbreviation may stand for, the commonest first, each after its log frequency below zero.

        It is syllables, some of which are cut to their first letters: 华北 for `h b` or `hua b`.
        """
        readings = self._by_initials.get("".join([unit[0] for unit in units]))
        if readings is None:
            return []
        known = cut.index(True) + 1  # units up to the first that is cut, by which readings, which are sorted, begin
        if known > 1 or len(units[0]) > 1:
            start = APART.join(units[:known])
            readings = readings[bisect_left(readings, start) : bisect_left(readings, start + "~")]
        for i in range(known, len(units)):
            unit = units[i]
            if not cut[i]:  # looked for anywhere first, which is sooner done
                inside = APART + unit
                readings = tuple([way for way in readings if inside in way and way.split(APART)[i] == unit])
            elif len(unit) > 1:
                readings = tuple([way for way in readings if way.split(APART)[i].startswith(unit)])
        return sorted([(-count, word) for reading in readings for word, count in self._parse(reading)])

    @cached_property
    def characters(self) -> dict[str, list[tuple[str, float]]]:
        """Single characters by syllable, commonest first."""
        return {syllable: self.words(syllable) for syllable in self.syllables}

    def reading(self, word: str) -> tuple[str, ...] | None:
        """The syllables of a word, or of its characters where it is not in the list; None if one has no reading."""
        readings = self._commonest[1]
        found = readings.get(word)
        if found:
            return tuple(found.split("'"))
        if len(word) == 1:
            return None
        parts = [readings.get(c) for c in word]
        return None if None in parts else tuple(part for part in parts if part)

    def segment(self, text: str) -> list[str]:
        """The likeliest words of a run of Chinese characters, by frequency alone."""
        known, longest, n = self.frequency.get, self._longest.get, len(text)
        score = [0.0] * (n + 1)
        step = [1] * (n + 1)
        for i in range(n - 1, -1, -1):
            best = known(text[i], _UNKNOWN) - _TOTAL + score[i + 1]
            most = longest(text[i : i + 2])
            if most:
                for j in range(i + 2, (i + most if i + most < n else n) + 1):
                    count = known(text[i:j])
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
    return Lexicon(lzma.decompress(WORDS_FILE.read_bytes()).decode("utf-8"))


Kind = Literal[
    "select_full",  # right keys, wrong word taken: 提现 → 体现
    "select_abbr",  # letters for syllables, resolved elsewhere: 申请 (sq) → 社区
    "input_full",  # wrong keys, typed out: 能 (neng) → 呢个 (neg)
    "input_abbr",  # letters, and wrong ones, or nothing that explains it
    "false_start",  # a wrong try left standing before the right word: 杰冻结 for 冻结
    "stray",  # a word that nobody asked for: 的, 是, 在
    "omitted",  # left out
    "letters",  # keys that came through as letters: 收咯iu
    "mark_lost",  # a punctuation mark or space left out
    "mark_added",
    "mark_changed",  # widened, or another mark
    "other_text",  # digits or Latin words that changed
]
KINDS: tuple[Kind, ...] = Kind.__args__  # type: ignore[attr-defined]

_SHARED = 4  # characters in a row that both texts have, from which they can be aligned apart
_GAP, _ALIKE, _START, _OTHER, _FOREIGN = 0.75, 0.5, 0.8, 1.0, 1.7  # costs of aligning characters


class Slip(NamedTuple):
    """Characters `start` to `end` of the clean text came out as `new`, by this kind of slip."""

    start: int
    end: int
    new: str
    kind: Kind


def han(c: str) -> bool:
    return "\u4e00" <= c <= "\u9fff"


def slips(clean: str, noisy: str) -> list[Slip]:
    """Every difference between two texts, in order, each explained."""
    return [Slip(i, j, new, _kind(clean, i, j, new)) for i, j, new in blocks(clean, noisy)]


def blocks(clean: str, noisy: str) -> list[tuple[int, int, str]]:
    """The differing stretches of two texts, aligned by sound; marks are kept apart from characters."""
    found: list[tuple[int, int, str]] = []
    for i, j, k, m in _pieces(clean, noisy):
        a, b = clean[i:j], noisy[k:m]
        if found and found[-1][1] == i and _joins(found[-1], clean, a, b):
            start, _, new = found[-1]
            found[-1] = (start, j, new + b)
        else:
            found.append((i, j, b))
    return found


def _joins(last: tuple[int, int, str], clean: str, a: str, b: str) -> bool:
    before = clean[last[0] : last[1]] + last[2]
    return all(han(c) or c.isalnum() for c in before + a + b) or not any(han(c) or c.isalnum() for c in before + a + b)


def _pieces(clean: str, noisy: str) -> list[tuple[int, int, int, int]]:
    """Single edits from the cheapest alignment, between stretches that both texts plainly share."""
    found = []
    i = k = 0
    for same in opcodes(clean, noisy):
        if same.tag == "equal" and same.src_end - same.src_start >= _SHARED:
            found += _aligned(clean, noisy, (i, same.src_start), (k, same.dest_start))
            i, k = same.src_end, same.dest_end
    return found + _aligned(clean, noisy, (i, len(clean)), (k, len(noisy)))


def _aligned(clean: str, noisy: str, here: tuple[int, int], there: tuple[int, int]) -> list[tuple[int, int, int, int]]:
    a, b = clean[slice(*here)], noisy[slice(*there)]
    if a == b:
        return []
    (low, i), (far, j) = (here[0], len(a)), (there[0], len(b))
    rows = _costs(a, b)
    found = []
    while i or j:
        cost = rows[i][j]
        if i and j and abs(rows[i - 1][j - 1] + _cost(a[i - 1], b[j - 1]) - cost) < 1e-9:
            i, j = i - 1, j - 1
            if a[i] != b[j]:
                found.append((low + i, low + i + 1, far + j, far + j + 1))
        elif j and abs(rows[i][j - 1] + _GAP - cost) < 1e-9:
            j -= 1
            found.append((low + i, low + i, far + j, far + j + 1))
        else:
            i -= 1
            found.append((low + i, low + i + 1, far + j, far + j))
    return found[::-1]


def _costs(a: str, b: str) -> list[list[float]]:
    rows = [[j * _GAP for j in range(len(b) + 1)]]
    for i, c in enumerate(a):
        above, row = rows[-1], [(i + 1) * _GAP]
        left = row[0]
        for j, d in enumerate(b):
            best = above[j] + (0.0 if c == d else _cost(c, d))
            if above[j + 1] + _GAP < best:
                best = above[j + 1] + _GAP
            if left + _GAP < best:
                best = left + _GAP
            row.append(best)
            left = best
        rows.append(row)
    return rows


@lru_cache(200_000)
def _cost(c: str, d: str) -> float:
    if c == d:
        return 0.0
    if not (han(c) and han(d)):
        return _FOREIGN if han(c) or han(d) or c.isalnum() != d.isalnum() else _OTHER
    one, two = sounds(c), sounds(d)
    if one & two:
        return _ALIKE
    return _START if {s[0] for s in one} & {s[0] for s in two} else _OTHER


@lru_cache(1)
def _sounds() -> dict[str, frozenset[str]]:
    found: dict[str, set[str]] = {}
    for syllable, pairs in lexicon().characters.items():
        for c, _ in pairs:
            found.setdefault(c, set()).add(syllable)
    return {c: frozenset(s) for c, s in found.items()}


def sounds(c: str) -> frozenset[str]:
    """The syllables that a character may be read as."""
    return _sounds().get(c, frozenset())


def spelled(text: str) -> str | None:
    """The keys of a text of Chinese characters typed out, or None if it has others."""
    syllables = lexicon().reading(text) if text and all(map(han, text)) else None
    return "".join(syllables) if syllables else None


def _kind(clean: str, start: int, end: int, new: str) -> Kind:
    old = clean[start:end]
    if not any(han(c) or c.isalnum() for c in old + new):
        return "mark_lost" if not new else "mark_added" if not old else "mark_changed"
    if any(c.isascii() and c.isalpha() for c in new) and not any(c.isascii() and c.isalpha() for c in old):
        return "letters"
    if not all(map(han, old + new)):
        return "other_text"
    if not new:
        return "omitted"
    if not old:
        return _inserted(clean, start, new)
    return _replaced(old, new)


def _inserted(clean: str, at: int, new: str) -> Kind:
    """A try at the next or the last word, or a word from nowhere."""
    ahead = clean[at : at + len(new) + 1]
    if any(sounds(tried) & sounds(wanted) for tried in new for wanted in ahead):
        return "false_start"
    for word in (clean[at : at + len(new)], clean[max(0, at - len(new)) : at], ahead):
        keys, tried = spelled(word), spelled(new)
        if (
            keys
            and tried
            and (word[0] == new[0] or (keys[0] == tried[0] and len(new) > 1) or alike(keys, tried) >= 0.6)
        ):
            return "false_start"
    return "stray"


def _replaced(old: str, new: str) -> Kind:
    if len(old) == len(new) and all(sounds(a) & sounds(b) for a, b in zip(old, new, strict=True)):
        return "select_full"
    one, two = spelled(old), spelled(new)
    if one is None or two is None:
        return "input_abbr"
    if one == two:
        return "select_full"
    if len(new) > len(old):
        for tail in (new[-len(old) :], new[: len(old)]):
            rest = spelled(tail)
            if rest and alike(one, rest) >= 0.75:
                return "false_start"
    close = alike(one, two) >= 0.6
    if close:
        return "input_full"
    first_one = [s[0] for s in lexicon().reading(old) or ()]
    first_two = [s[0] for s in lexicon().reading(new) or ()]
    return "select_abbr" if first_one == first_two else "input_abbr"


@lru_cache(100_000)
def alike(one: str, two: str) -> float:
    """How much two key sequences share, from 0 to 1, a swap counting as one slip."""
    rows = [list(range(len(two) + 1))]
    for i, c in enumerate(one):
        row = [i + 1]
        for j, d in enumerate(two):
            best = min(rows[i][j] + (c != d), rows[i][j + 1] + 1, row[j] + 1)
            if i and j and c == two[j - 1] and d == one[i - 1]:
                best = min(best, rows[i - 1][j - 1] + 1)
            row.append(best)
        rows.append(row)
    return 1 - rows[-1][-1] / max(len(one), len(two))
