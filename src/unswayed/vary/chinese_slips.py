"""What a typist of Chinese did to a text: the differences from the clean one, and the kind of slip behind each."""

from __future__ import annotations

from functools import lru_cache
from typing import Literal, NamedTuple

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

_SHARED = 4  # characters in a row that both texts have, from which they can be aligned apart
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
    from rapidfuzz.distance.Levenshtein import opcodes

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
