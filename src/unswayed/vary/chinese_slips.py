"""What a typist of Chinese did to a text: the differences from the clean one, and the kind of slip behind each."""

from __future__ import annotations

from functools import lru_cache
from typing import Literal, NamedTuple

from rapidfuzz.distance import OSA, Levenshtein

from unswayed.vary.chinese import han, lexicon, sounds, spelled

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

_MIN_SHARED = 4  # characters in a row that both texts have, from which they can be aligned apart
_MIN_ALIKE = 0.6  # share of the keys of two words, from which one is a try at the other
_GAP, _ALIKE, _START, _OTHER, _FOREIGN = 0.75, 0.5, 0.8, 1.0, 1.7  # costs of aligning characters


class Slip(NamedTuple):
    """Characters `start` to `end` of the clean text came out as `new`, by this kind of slip."""

    start: int
    end: int
    new: str
    kind: Kind


def slips(clean: str, noisy: str) -> list[Slip]:
    """Every difference between two texts, in order, each explained."""
    return [Slip(i, j, new, _kind(clean, i, j, new)) for i, j, new in blocks(clean, noisy)]


def blocks(clean: str, noisy: str) -> list[tuple[int, int, str]]:
    """The differing stretches of two texts, aligned by sound; marks are kept apart from characters."""
    edits = []  # between stretches that both texts plainly share
    i = k = 0
    for same in (*Levenshtein.opcodes(clean, noisy), None):
        if same is None or (same.tag == "equal" and same.src_end - same.src_start >= _MIN_SHARED):
            end, last = (len(clean), len(noisy)) if same is None else (same.src_start, same.dest_start)
            if clean[i:end] != noisy[k:last]:
                edits += [(i + a, i + b, new) for a, b, new in _align(clean[i:end], noisy[k:last])]
            if same is not None:
                i, k = same.src_end, same.dest_end
    found: list[tuple[int, int, str]] = []
    for start, end, new in edits:
        if found and found[-1][1] == start:
            first, _, before = found[-1]
            letters = [han(c) or c.isalnum() for c in clean[first:end] + before + new]
            if all(letters) or not any(letters):
                found[-1] = first, end, before + new
                continue
        found.append((start, end, new))
    return found


def _align(a: str, b: str) -> list[tuple[int, int, str]]:
    """The edits of single characters in the cheapest alignment."""
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
    found = []
    i, j = len(a), len(b)
    while i or j:
        cost = rows[i][j]
        if i and j and abs(rows[i - 1][j - 1] + _cost(a[i - 1], b[j - 1]) - cost) < 1e-9:
            i, j = i - 1, j - 1
            if a[i] != b[j]:
                found.append((i, i + 1, b[j]))
        elif j and abs(rows[i][j - 1] + _GAP - cost) < 1e-9:
            j -= 1
            found.append((i, i, b[j]))
        else:
            i -= 1
            found.append((i, i + 1, ""))
    return found[::-1]


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
    one, two = spelled(old), spelled(new)
    if not old:  # a try at the next or the last word, or a word from nowhere
        ahead = clean[start : start + len(new) + 1]
        if any(sounds(tried) & sounds(wanted) for tried in new for wanted in ahead):
            return "false_start"
        for word in (ahead[: len(new)], clean[max(0, start - len(new)) : start], ahead):
            keys = spelled(word)
            begins = keys and two and (word[0] == new[0] or (keys[0] == two[0] and len(new) > 1))
            if begins or (keys and two and alike(keys, two) >= _MIN_ALIKE):
                return "false_start"
        return "stray"
    if len(old) == len(new) and all(sounds(a) & sounds(b) for a, b in zip(old, new, strict=True)):
        return "select_full"
    if one is None or two is None:
        return "input_abbr"
    if one == two:
        return "select_full"
    tails = (new[-len(old) :], new[: len(old)]) if len(new) > len(old) else ()
    if any(rest and alike(one, rest) >= 0.75 for rest in map(spelled, tails)):
        return "false_start"
    if alike(one, two) >= _MIN_ALIKE:
        return "input_full"
    first_one, first_two = ([s[0] for s in lexicon().reading(word) or ()] for word in (old, new))
    return "select_abbr" if first_one == first_two else "input_abbr"


@lru_cache(100_000)
def alike(one: str, two: str) -> float:
    """How much two key sequences share, from 0 to 1, a swap counting as one slip."""
    return 1 - OSA.distance(one, two) / max(len(one), len(two))
