"""Slips of people who type alphabets: found by aligning what they typed with what they meant, counted as a profile."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from functools import lru_cache
from math import log
from pathlib import Path
from typing import NamedTuple

import msgspec

from unfazed.vary.keyboard.layouts import Layout, layout
from unfazed.vary.keyboard.layouts.geometry import beside, hand, row
from unfazed.vary.people import read_profiles

ENDS, COMMAS, APOSTROPHES = ".?!。！？؟।", ",;:،、；：", "'’`"
_VOWELS = frozenset("aeiouy")
_ABORTED = 0.3  # share of characters above which a text was given up, or is another one
_PRIOR = 8.0  # slips that a letter's weight starts from, as if it were like any other
_MOST = 2.0  # times that a letter is likelier than others: more is one person's broken key
_ALIKE = 0.05  # log weights that are not worth writing down


class Slip(NamedTuple):
    """What happened at a place of the text that was meant: its kind, and what was typed there."""

    kind: str
    at: int
    typed: str = ""
    length: int = 1


class SlipProfile(msgspec.Struct, frozen=True, kw_only=True):
    """How people slip: chances per opportunity by kind, how letters and places in a word differ, and how people do."""

    source: str
    texts: int
    rates: dict[str, float]
    letters: dict[str, dict[str, float]]  # kind → letter → how much likelier than others
    places: dict[str, list[float]]  # kind → the same at the beginning, inside and at the end of a word
    lengths: list[float]  # how much likelier slips of letters are in words of 1–3, 4–6, 7–9 and more letters
    choices: dict[str, dict[str, float]]  # what is typed instead, by kind: directions of a key, marks
    haste: float  # shape of the gamma by which texts differ
    people: float  # shape of the gamma by which people differ; 0 where people are not known


class Profiles(msgspec.Struct, frozen=True):
    """The profiles of a file: what is left standing (`corrected`), and what is typed at first (`uncorrected`)."""

    modes: dict[str, SlipProfile]


@lru_cache(8)
def profiles(path: str) -> Profiles:
    return read_profiles(Path(path), Profiles)


def near(board: Layout, a: str, b: str) -> str:
    """How a key lies beside another: `across` in its row, `along` in another; empty if it does not."""
    first, second = board.strokes(a.lower()), board.strokes(b.lower())
    if not first or not second or not beside(first[-1].key, second[-1].key):
        return ""
    return "across" if row(first[-1].key) == row(second[-1].key) else "along"


def place(text: str, at: int) -> int:
    """0 at the beginning of a word, 2 at its end, 1 inside; words of one letter begin."""
    if at == 0 or not text[at - 1].isalnum():
        return 0
    return 2 if at + 1 >= len(text) or not text[at + 1].isalnum() else 1


def length_class(text: str, at: int) -> int:
    """Which class of length the word at a place is in."""
    start = end = at
    while start and text[start - 1].isalnum():
        start -= 1
    while end < len(text) and text[end].isalnum():
        end += 1
    return min(max(end - start - 1, 0) // 3, 3)


def slips(meant: str, typed: str, board: Layout) -> list[Slip]:
    """The slips that turn one text into the other."""
    found: list[Slip] = []
    steps = _aligned(meant, typed, board)
    k = 0
    while k < len(steps):
        way, at, new = steps[k]
        run = k
        while (
            run < len(steps)
            and steps[run][0] == way
            and (steps[run][1] == at + run - k if way == "lost" else steps[run][1] == at)
        ):
            run += 1
        size = run - k
        if way == "lost" and size > 2 and " " in meant[at : at + size]:
            found.append(Slip("word_lost", at, "", size))
            k = run
        elif way == "more" and size > 2:
            extra = "".join(step[2] for step in steps[k:run])
            again = extra.strip() and extra.strip() in (meant[:at].split()[-1:] + meant[at:].split()[:1])
            found.append(Slip("word_again" if again else "word_more", at, extra))
            k = run
        else:
            found.append(_named(way, meant, at, new, board))
            k += 1
    return found


def _named(way: str, meant: str, at: int, new: str, board: Layout) -> Slip:
    old = meant[at : at + 1]
    if way == "swapped":
        return Slip("space_moved" if " " in meant[at : at + 2] else "swap", at, meant[at + 1] + old, 2)
    if way == "lost":
        twin = old in (meant[at + 1 : at + 2], meant[at - 1 : at] if at else "")
        kind = "space_lost" if old == " " else "halve" if twin and old.isalpha() else "omit" if old.isalnum() else ""
        return Slip(kind or f"{_mark(meant, at)}_lost", at)
    if way == "more":
        before = meant[at - 1] if at else ""
        if new == " ":
            return Slip("space_added", at, new, 0)
        if not new.isalnum():
            return Slip("mark_added", at, new, 0)
        kind = "double" if new.lower() in (before.lower(), old.lower()) else "insert"
        return Slip(kind, at, new, 0)
    if old.lower() == new.lower():
        first = "first" if not meant[:at].strip() else "inner"
        return Slip(f"{first}_capital" if old.isupper() else "raised", at, new)
    if not old.isalnum():
        return Slip("space_lost" if old == " " else f"{_mark(meant, at)}_changed", at, new)
    return Slip(
        "near" if near(board, old, new) else "vowel" if {old.lower(), new.lower()} <= _VOWELS else "far", at, new
    )


def _mark(text: str, at: int) -> str:
    c = text[at]
    if c in ENDS and not text[at + 1 :].strip():
        return "end"
    return "comma" if c in COMMAS else "apostrophe" if c in APOSTROPHES else "mark"


def _aligned(meant: str, typed: str, board: Layout) -> list[tuple[str, int, str]]:
    """The cheapest steps from one text to the other: a near key is cheaper than another, a swap than two slips."""
    head = 0
    while head < min(len(meant), len(typed)) and meant[head] == typed[head]:
        head += 1
    tail = 0
    while tail < min(len(meant), len(typed)) - head and meant[-1 - tail] == typed[-1 - tail]:
        tail += 1
    a, b = meant[head : len(meant) - tail], typed[head : len(typed) - tail]
    cost = [[0.0] * (len(b) + 1) for _ in range(len(a) + 1)]
    ways = [[""] * (len(b) + 1) for _ in range(len(a) + 1)]
    for i in range(len(a) + 1):
        for j in range(len(b) + 1):
            options = []
            if i and j:
                options.append(
                    (
                        cost[i - 1][j - 1] + _price(a[i - 1], b[j - 1], board),
                        "same" if a[i - 1] == b[j - 1] else "other",
                    )
                )
            if i:
                options.append((cost[i - 1][j] + 1, "lost"))
            if j:
                options.append((cost[i][j - 1] + 1, "more"))
            if i > 1 and j > 1 and a[i - 1] == b[j - 2] != a[i - 2] == b[j - 1]:
                options.append((cost[i - 2][j - 2] + 1.2, "swapped"))
            if options:
                cost[i][j], ways[i][j] = min(options)
    steps, i, j = [], len(a), len(b)
    while i or j:
        way = ways[i][j]
        i, j = i - (2 if way == "swapped" else way != "more"), j - (2 if way == "swapped" else way != "lost")
        if way != "same":
            steps.append((way, head + i, b[j] if way in ("other", "more") else ""))
    return steps[::-1]


def _price(old: str, new: str, board: Layout) -> float:
    if old == new:
        return 0.0
    if old.lower() == new.lower():
        return 0.6
    if (old == " ") != (new == " "):
        return 1.9
    return 1.0 if near(board, old, new) else 1.3


def opportunities(text: str, board: Layout) -> Counter[str]:
    """How often each kind of slip could have happened in a text."""
    count: Counter[str] = Counter()
    for at, c in enumerate(text):
        after = text[at + 1 : at + 2]
        if c.isalnum():
            count["letter"] += 1
            count["twin"] += c == after
            if after.isalnum() and after != c:
                count["pair"] += 1
                count["across"] += crosses(board, c, after)
            if c.isupper():
                count["first" if not text[:at].strip() else "inner"] += 1
            else:
                count["small"] += 1
        elif c == " ":
            count["space"] += 1
        else:
            count[_mark(text, at)] += 1
    count["word"] = len(text.split())
    return count


def crosses(board: Layout, a: str, b: str) -> bool:
    """Are two letters typed by different hands?"""
    first, second = board.strokes(a.lower()), board.strokes(b.lower())
    return bool(first and second and hand(first[-1].key) != hand(second[-1].key))


# Kind → what it is counted against.
PER = {
    "omit": "letter", "halve": "twin", "double": "letter", "insert": "letter", "near": "letter", "far": "letter",
    "vowel": "letter", "swap": "pair", "space_lost": "space", "space_moved": "space", "space_added": "letter",
    "first_capital": "first", "inner_capital": "inner", "raised": "small", "end_lost": "end", "end_changed": "end",
    "comma_lost": "comma", "comma_changed": "comma", "apostrophe_lost": "apostrophe",
    "apostrophe_changed": "apostrophe", "mark_lost": "mark", "mark_changed": "mark", "mark_added": "word",
    "word_lost": "word", "word_again": "word", "word_more": "word",
}  # fmt: skip
_BY_LETTER = ("omit", "near", "far", "vowel", "double", "insert")


def fitted(
    meant: Sequence[str],
    typed: Sequence[str],
    people: Sequence[str] = (),
    board: Layout | None = None,
    source: str = "",
) -> SlipProfile:
    """Counts the slips of people in texts that they typed again. Texts that were given up are left out."""
    board = board or layout("en")
    rows = [
        (a.strip(), b.strip(), people[i] if people else "")
        for i, (a, b) in enumerate(zip(meant, typed, strict=True))
        if abs(len(a) - len(b)) <= _ABORTED * len(a)
    ]
    chances: Counter[str] = Counter()
    kinds: Counter[str] = Counter()
    by_letter: dict[str, Counter[str]] = defaultdict(Counter)
    by_place: dict[str, list[float]] = defaultdict(lambda: [0.0, 0.0, 0.0])
    letters: Counter[str] = Counter()
    places = [0.0, 0.0, 0.0]
    lengths, by_length = [0.0] * 4, [0.0] * 4
    choices: dict[str, Counter[str]] = defaultdict(Counter)
    made: list[tuple[str, int, Counter[str]]] = []
    for a, b, person in rows:
        found = slips(a, b, board) if a != b else []
        if len(found) > _ABORTED * len(a):
            continue
        here = opportunities(a, board)
        chances.update(here)
        made.append((person, len(found), here))
        for at, c in enumerate(a):
            if c.isalnum():
                letters[c.lower()] += 1
                places[place(a, at)] += 1
                lengths[length_class(a, at)] += 1
        for slip in found:
            kinds[slip.kind] += 1
            old = a[slip.at : slip.at + 1]
            if slip.kind in _BY_LETTER and old.isalnum():
                by_letter[slip.kind][old.lower()] += 1
                by_place[slip.kind][place(a, slip.at)] += 1
                by_length[length_class(a, slip.at)] += 1
            _choose(choices, slip, a, board)
    rates = {kind: kinds[kind] / chances[per] for kind, per in PER.items() if kinds[kind]}
    expected = [sum(rates[kind] * here[PER[kind]] for kind in rates) for _, _, here in made]
    return SlipProfile(
        source=source,
        texts=len(made),
        rates=_rounded(rates),
        letters={kind: _weights(counts, letters) for kind, counts in by_letter.items()},
        places={kind: _shares(counts, places) for kind, counts in by_place.items()},
        lengths=_shares(by_length, lengths),
        choices={kind: _rounded(dict(counts.most_common())) for kind, counts in choices.items()},
        haste=_shape([count for _, count, _ in made], expected),
        people=_people_shape([person for person, _, _ in made], [count for _, count, _ in made], expected),
    )


def _choose(choices: dict[str, Counter[str]], slip: Slip, meant: str, board: Layout) -> None:
    old = meant[slip.at : slip.at + 1]
    if slip.kind == "near":
        choices["near"][near(board, old, slip.typed)] += 1
    elif slip.kind == "swap":
        choices["swap"]["hands" if crosses(board, *meant[slip.at : slip.at + 2]) else "hand"] += 1
    elif slip.kind == "insert":
        before = meant[slip.at - 1 : slip.at] if slip.at else ""
        beside_ = any(c and near(board, c, slip.typed) for c in (before, old))
        choices["insert"]["near" if beside_ else "far"] += 1
    elif (slip.kind.endswith("_changed") or slip.kind == "mark_added") and _is_mark(slip.typed):
        choices[slip.kind][slip.typed] += 1


def _is_mark(c: str) -> bool:
    return c.isprintable() and not c.isalnum() and c != "\ufffd"


def _rounded(values: Mapping[str, float]) -> dict[str, float]:
    return {name: float(f"{value:.4g}") for name, value in values.items()}


def _weights(counts: Counter[str], letters: Counter[str]) -> dict[str, float]:
    """How much likelier each letter is than others, drawn towards 1 where little was seen."""
    share = counts.total() / max(letters.total(), 1)
    found = {c: (counts[c] + _PRIOR) / (letters[c] * share + _PRIOR) for c in sorted(letters)}
    return _rounded({c: min(weight, _MOST) for c, weight in found.items() if abs(log(weight)) > _ALIKE})


def _shares(counts: list[float], chances: list[float]) -> list[float]:
    """How much likelier each class is than all together, drawn towards 1 where little was seen."""
    share = sum(counts) / max(sum(chances), 1)
    return [float(f"{(n + _PRIOR) / (m * share + _PRIOR):.4g}") for n, m in zip(counts, chances, strict=True)]


def _shape(counts: list[int], expected: list[float]) -> float:
    """The shape of the gamma that makes slips in a text vary more than by chance, by moments."""
    squares = sum(mean**2 for mean in expected)
    excess = sum((n - mean) ** 2 - mean for n, mean in zip(counts, expected, strict=True))
    return round(min(max(squares / excess, 0.1), 50.0), 3) if excess > 0 else 50.0


def _people_shape(people: list[str], counts: list[int], expected: list[float]) -> float:
    if len(set(people)) < 5:
        return 0.0
    by: dict[str, list[float]] = defaultdict(lambda: [0.0, 0.0])
    for person, n, mean in zip(people, counts, expected, strict=True):
        by[person][0] += n
        by[person][1] += mean
    return _shape([int(n) for n, _ in by.values()], [mean for _, mean in by.values()])


def first_attempt(keys: str) -> str:
    """What would stand there without backspace: what was deleted stays, and what was typed in its place is left out."""
    out: list[str] = []
    gone: list[str] = []
    skip = 0
    for c in keys.replace("⇧", ""):
        if c == "⌫":
            if out:
                gone.append(out.pop())
            continue
        if gone:
            skip = len(gone)
            out += reversed(gone)
            gone = []
        if skip:
            skip -= 1
        else:
            out.append(c)
    return "".join(out)
