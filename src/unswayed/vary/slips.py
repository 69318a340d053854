"""Slips of people who type alphabets: found and named by aligning what they typed with what they meant."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from rapidfuzz.distance import OSA

from unswayed.vary.keyboard.layouts import Layout, key_hand, key_row, keys_touch

ENDS, COMMAS, APOSTROPHES = ".?!。！？؟।", ",;:،、；：", "'’`"
INNER = APOSTROPHES + "-"  # marks inside words
VOWELS = frozenset("aeiouyаеёиоуыэюя")
_LONG = 3  # characters that come or go together: not slips of single keys
_SILENT = str.maketrans("", "", "⇧⇪")  # keys that write nothing
_TYPED, _FURTHER = re.compile(r"([^⌫]*)(⌫*)"), 3

# Kind of slip → what it is counted against, as `opportunities` names it.
PER = {
    "omit": "letter", "halve": "twin", "double": "letter", "insert": "letter", "near": "letter", "far": "letter",
    "vowel": "vowel", "swap": "pair", "space_lost": "space", "space_moved": "space", "space_twice": "space",
    "space_mark": "stop", "space_added": "letter", "raised": "small", "mark_added": "word", "mark_end": "text",
    "word_lost": "word", "word_again": "word", "word_more": "word", "retyped": "word",
    "first_capital": "first", "inner_capital": "inner", "end_lost": "end", "end_changed": "end",
    "comma_lost": "comma", "comma_changed": "comma", "apostrophe_lost": "apostrophe",
    "apostrophe_changed": "apostrophe", "hyphen_lost": "hyphen", "hyphen_changed": "hyphen", "mark_lost": "mark",
    "mark_changed": "mark",
}  # fmt: skip
STYLES = ("first", "inner", "end", "apostrophe", "comma", "hyphen", "mark")  # what people leave out, or not, by habit
LETTER_KINDS = ("omit", "halve", "double", "insert", "near", "far", "vowel", "swap", "space_added", "raised")


class Slip(NamedTuple):
    """What happened at a place of the text that was meant: its kind, and what was typed there."""

    kind: str
    at: int
    typed: str = ""
    length: int = 1


class _Step(NamedTuple):
    """One step of an alignment: `other`, `lost`, `more` or `swapped` at a place, and what was typed."""

    way: str
    at: int
    new: str


@lru_cache(65_536)
def near(board: Layout, a: str, b: str) -> str:
    """How a key lies beside another: `across` in its row, `along` in another; empty if it does not."""
    first, second = board.strokes(a.lower()), board.strokes(b.lower())
    if not first or not second or not keys_touch(first[-1].key, second[-1].key):
        return ""
    return "across" if key_row(first[-1].key) == key_row(second[-1].key) else "along"


@lru_cache(65_536)
def crosses(board: Layout, a: str, b: str) -> bool:
    """Are two letters typed by different hands?"""
    first, second = board.strokes(a.lower()), board.strokes(b.lower())
    return bool(first and second and key_hand(first[-1].key) != key_hand(second[-1].key))


def place(text: str, at: int) -> int:
    """0 at the beginning of a word, 2 at its end, 1 inside; words of one letter begin."""
    if at == 0 or not text[at - 1].isalnum():
        return 0
    return 2 if at + 1 >= len(text) or not text[at + 1].isalnum() else 1


def word_at(text: str, at: int) -> str:
    """The letters around a place."""
    start = end = at
    while start and text[start - 1].isalnum():
        start -= 1
    while end < len(text) and text[end].isalnum():
        end += 1
    return text[start:end]


def slips(meant: str, typed: str, board: Layout) -> list[Slip]:
    """The slips that turn one text into the other."""
    steps, found, k = _aligned(meant, typed, board), [], 0
    while k < len(steps):
        size = _run(steps, k)
        if size >= _LONG and steps[k].way in ("lost", "more"):
            found.append(_long(steps[k : k + size], meant))
            k += size
        else:
            found.append(_named(steps[k], meant, board))
            k += 1
    return found


def _run(steps: list[_Step], k: int) -> int:
    """How many steps from this one on take away, or add, one stretch."""
    way, at = steps[k].way, steps[k].at
    end = k + 1
    while end < len(steps) and steps[end].way == way and steps[end].at == (at + end - k if way == "lost" else at):
        end += 1
    return end - k


def _long(steps: list[_Step], meant: str) -> Slip:
    way, at = steps[0].way, steps[0].at
    if way == "lost":
        return Slip("word_lost", at, "", len(steps))
    extra = "".join(step.new for step in steps)
    beside_ = meant[:at].split()[-1:] + meant[at:].split()[:1]
    if extra != extra.strip() and extra.strip() in beside_:
        return Slip("word_again", at, extra)
    return Slip("word_more" if extra.strip().isalpha() and extra != extra.strip() else "retyped", at, extra)


def _named(step: _Step, meant: str, board: Layout) -> Slip:
    way, at, new = step
    old = meant[at : at + 1]
    if way == "swapped":
        return Slip("space_moved" if " " in meant[at : at + 2] else "swap", at, meant[at + 1] + old, 2)
    if way == "lost":
        return Slip(_lost(meant, at), at)
    if way == "more":
        return Slip(_more(meant, at, new), at, new, 0)
    if old.lower() == new.lower():
        first = "first" if not meant[:at].strip() else "inner"
        return Slip(f"{first}_capital" if old.isupper() else "raised", at, new)
    if not old.isalnum():
        return Slip("space_lost" if old == " " else f"{mark(meant, at)}_changed", at, new)
    vowel = {old.lower(), new.lower()} <= VOWELS
    return Slip("near" if near(board, old, new) else "vowel" if vowel else "far", at, new)


def _lost(meant: str, at: int) -> str:
    old = meant[at]
    if old == " ":
        return "space_lost"
    if not old.isalnum():
        return f"{mark(meant, at)}_lost"
    twin = old in (meant[at + 1 : at + 2], meant[at - 1 : at] if at else "")
    return "halve" if twin and old.isalpha() else "omit"


def _more(meant: str, at: int, new: str) -> str:
    before, after = meant[at - 1 : at] if at else "", meant[at : at + 1]
    if new == " ":
        if " " in before + after or not before or not after:
            return "space_twice"
        return "space_added" if (before + after).isalnum() or after in INNER else "space_mark"
    if not new.isalnum():
        return "mark_end" if at >= len(meant) - 1 else "mark_added"
    return "double" if new.lower() in (before.lower(), after.lower()) else "insert"


def mark(text: str, at: int) -> str:
    """What sort of mark stands at a place."""
    c = text[at]
    if c in ENDS and not text[at + 1 :].strip():
        return "end"
    if c == "-":
        return "hyphen"
    return "comma" if c in COMMAS else "apostrophe" if c in APOSTROPHES else "mark"


def _aligned(meant: str, typed: str, board: Layout) -> list[_Step]:
    """The cheapest steps from one text to the other: a near key is cheaper than another, a swap than two slips."""
    head, most = 0, min(len(meant), len(typed))
    while head < most and meant[head] == typed[head]:
        head += 1
    tail = 0
    while tail < most - head and meant[-1 - tail] == typed[-1 - tail]:
        tail += 1
    a, b = meant[head : len(meant) - tail], typed[head : len(typed) - tail]
    ways = _cheapest(a, b, board)
    steps, i, j = [], len(a), len(b)
    while i or j:
        way = ways[i][j]
        i, j = i - (2 if way == "swapped" else way != "more"), j - (2 if way == "swapped" else way != "lost")
        if way != "same":
            steps.append(_Step(way, head + i, b[j] if way in ("other", "more") else ""))
    return steps[::-1]


def _cheapest(a: str, b: str, board: Layout) -> list[list[str]]:
    """The last step of the cheapest way to each pair of places."""
    cost = [[0.0] * (len(b) + 1) for _ in range(len(a) + 1)]
    ways = [[""] * (len(b) + 1) for _ in range(len(a) + 1)]
    for i in range(len(a) + 1):
        for j in range(len(b) + 1):
            options = []
            if i and j:
                price = _price(a[i - 1], b[j - 1], board)
                options.append((cost[i - 1][j - 1] + price, "other" if price else "same"))
            if i:
                options.append((cost[i - 1][j] + 1, "lost"))
            if j:
                options.append((cost[i][j - 1] + 1, "more"))
            if i > 1 and j > 1 and a[i - 1] == b[j - 2] != a[i - 2] == b[j - 1]:
                options.append((cost[i - 2][j - 2] + 1.2, "swapped"))
            if options:
                cost[i][j], ways[i][j] = min(options)
    return ways


@lru_cache(65_536)
def _price(old: str, new: str, board: Layout) -> float:
    if old == new:
        return 0.0
    if old.lower() == new.lower():
        return 0.6
    if (old == " ") != (new == " "):
        return 1.9
    return 1.0 if near(board, old, new) else 1.3


def opportunities(text: str) -> Counter[str]:
    """How often each kind of slip could have happened in a text."""
    count: Counter[str] = Counter(text=1, word=len(text.split()))
    for at, c in enumerate(text):
        if c.isalnum():
            count.update(_of_letter(text, at, c))
        elif c == " ":
            count["space"] += 1
        else:
            count[mark(text, at)] += 1
            count["stop"] += c not in INNER
    return count


def _of_letter(text: str, at: int, c: str) -> Iterator[str]:
    after = text[at + 1 : at + 2]
    yield "letter"
    if c == after:
        yield "twin"
    elif after.isalnum():
        yield "pair"
    if c.lower() in VOWELS:
        yield "vowel"
    if not c.isupper():
        yield "small"
    else:
        yield "first" if not text[:at].strip() else "inner"


def first_attempt(keys: str) -> tuple[str, str]:
    """What would stand there without backspace, and what does, from a log of keys in which ⌫ is backspace.

    Of what is typed after backspace, the beginning that is most like what was deleted is the correction, and left out.
    """
    stands = first = gone = ""
    for typed, deleted in _TYPED.findall(keys.translate(_SILENT)):
        first += typed[_again(gone, typed) :] if gone else typed
        stands += typed
        kept = max(len(stands) - len(deleted), 0)
        stands, gone = stands[:kept], stands[kept:]
    return first, stands


def _again(gone: str, typed: str) -> int:
    """How many characters were typed again to replace those that were deleted."""
    space = gone == " " and typed[:1] != " "
    sizes = range(min(len(typed), len(gone) + _FURTHER) + 1)
    return min(sizes, key=lambda n: (OSA.distance(gone, typed[:n]) + (space and n > 0), abs(n - len(gone)), n))
