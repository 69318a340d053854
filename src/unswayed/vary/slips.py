"""Slips of people who type alphabets: found and named by aligning what they typed with what they meant; and how people
slip, as numbers, which `keyboard/typist` reads and `calibrate typist` writes."""

from __future__ import annotations

import re
from collections import Counter
from functools import lru_cache
from importlib.resources import files
from pathlib import Path
from typing import NamedTuple

import msgspec
from rapidfuzz.distance import OSA

from unswayed.base.errors import DataError, UsageError
from unswayed.vary.keyboard.layouts import Layout, key_hand, key_row, keys_touch
from unswayed.vary.people import read_profiles
from unswayed.vary.words import common_ends

ENDS, COMMAS, APOSTROPHES = ".?!。！？؟।", ",;:،、；：", "'’`"
INNER = APOSTROPHES + "-"  # marks inside words
VOWELS = frozenset("aeiouyаеёиоуыэюя")
_MIN_LONG = 3  # characters that come or go together: not slips of single keys
_SILENT = str.maketrans("", "", "⇧⇪")  # keys that write nothing
_TYPED = re.compile(r"([^⌫]*)(⌫*)")
_MAX_FURTHER = 3  # characters by which a correction may be longer than what it replaces

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


class KeySlip(NamedTuple):
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


def slips(meant: str, typed: str, board: Layout) -> list[KeySlip]:
    """The slips that turn one text into the other."""
    steps, found, k = _align(meant, typed, board), list[KeySlip](), 0
    while k < len(steps):
        way, at, end = steps[k].way, steps[k].at, k + 1  # of steps that take away, or add, one stretch
        while end < len(steps) and steps[end].way == way and steps[end].at == (at + end - k if way == "lost" else at):
            end += 1
        if end - k < _MIN_LONG or way not in ("lost", "more"):
            found.append(_slip(steps[k], meant, board))
            k += 1
            continue
        extra = "".join(step.new for step in steps[k:end])
        apart = extra != extra.strip()
        if way == "lost":
            found.append(KeySlip("word_lost", at, "", end - k))
        elif apart and extra.strip() in meant[:at].split()[-1:] + meant[at:].split()[:1]:
            found.append(KeySlip("word_again", at, extra))
        else:
            found.append(KeySlip("word_more" if apart and extra.strip().isalpha() else "retyped", at, extra))
        k = end
    return found


def _slip(step: _Step, meant: str, board: Layout) -> KeySlip:
    """The slip of a single key."""
    way, at, new = step
    old, before, after = meant[at : at + 1], meant[at - 1 : at] if at else "", meant[at + 1 : at + 2]
    if way == "swapped":
        return KeySlip("space_moved" if " " in meant[at : at + 2] else "swap", at, after + old, 2)
    if way == "more":  # between what is before and what is old
        if new == " ":
            inside = before and old and " " not in before + old
            letters = (before + old).isalnum() or old in INNER
            kind = "space_twice" if not inside else "space_added" if letters else "space_mark"
        elif not new.isalnum():
            kind = "mark_end" if at >= len(meant) - 1 else "mark_added"
        else:
            kind = "double" if new.lower() in (before.lower(), old.lower()) else "insert"
        return KeySlip(kind, at, new, 0)
    if not old.isalnum() and old.lower() != new.lower():
        return KeySlip(
            "space_lost" if old == " " else f"{mark(meant, at)}_{'lost' if way == 'lost' else 'changed'}", at, new
        )
    if way == "lost":
        return KeySlip("halve" if old in (after, before) and old.isalpha() else "omit", at)
    if old.lower() == new.lower():
        first = "first" if not meant[:at].strip() else "inner"
        return KeySlip(f"{first}_capital" if old.isupper() else "raised", at, new)
    vowel = {old.lower(), new.lower()} <= VOWELS
    return KeySlip("near" if near(board, old, new) else "vowel" if vowel else "far", at, new)


def mark(text: str, at: int) -> str:
    """What sort of mark stands at a place."""
    c = text[at]
    if c in ENDS and not text[at + 1 :].strip():
        return "end"
    if c == "-":
        return "hyphen"
    return "comma" if c in COMMAS else "apostrophe" if c in APOSTROPHES else "mark"


def _align(meant: str, typed: str, board: Layout) -> list[_Step]:
    """The cheapest steps from one text to the other: a near key is cheaper than another, a swap than two slips."""
    head, tail = common_ends(meant, typed)
    a, b = meant[head : len(meant) - tail], typed[head : len(typed) - tail]
    cost = [[0.0] * (len(b) + 1) for _ in range(len(a) + 1)]
    ways = [[""] * (len(b) + 1) for _ in range(len(a) + 1)]  # the last step of the cheapest way to each pair of places
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
    steps, i, j = [], len(a), len(b)
    while i or j:
        way = ways[i][j]
        i, j = i - (2 if way == "swapped" else way != "more"), j - (2 if way == "swapped" else way != "lost")
        if way != "same":
            steps.append(_Step(way, head + i, b[j] if way in ("other", "more") else ""))
    return steps[::-1]


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
        if c == " ":
            count["space"] += 1
        elif not c.isalnum():
            count[mark(text, at)] += 1
            count["stop"] += c not in INNER
        else:
            after = text[at + 1 : at + 2]
            count.update(("letter", "small" if not c.isupper() else "inner" if text[:at].strip() else "first"))
            if c == after:
                count["twin"] += 1
            elif after.isalnum():
                count["pair"] += 1
            if c.lower() in VOWELS:
                count["vowel"] += 1
    return count


def first_attempt(keys: str) -> tuple[str, str]:
    """What would stand there without backspace, and what does, from a log of keys in which ⌫ is backspace.

    Of what is typed after backspace, the beginning that is most like what was deleted is the correction, and left out.
    """
    stands = first = gone = ""
    for typed, deleted in _TYPED.findall(keys.translate(_SILENT)):
        if gone:  # how many characters were typed again to replace those that were deleted
            space = gone == " " and typed[:1] != " "
            sizes = range(min(len(typed), len(gone) + _MAX_FURTHER) + 1)
            ways = ((OSA.distance(gone, typed[:n]) + (space and n > 0), abs(n - len(gone)), n) for n in sizes)
            _, _, again = min(ways)
        first += typed[again:] if gone else typed
        stands += typed
        kept = max(len(stands) - len(deleted), 0)
        stands, gone = stands[:kept], stands[kept:]
    return first, stands


class SlipProfile(msgspec.Struct, frozen=True, kw_only=True):
    """How the people of one source slip. Chances are per opportunity; weights say how much likelier than others."""

    source: str
    texts: int
    rates: dict[str, float]  # kind → chance, as `slips.PER` counts it
    letters: dict[str, dict[str, float]]  # kind → letter → weight
    places: dict[str, list[float]]  # kind → weight at the beginning, inside and at the end of a word
    lengths: list[float]  # weight of slips of letters in words of 1–3, 4–6, 7–9 and more letters
    frequencies: list[float]  # the same by class of frequency, from the most frequent words to unknown ones
    choices: dict[str, dict[str, float]]  # what is typed instead, by kind: directions of a key, letters, marks, words
    burst: float  # chance that a second slip follows in the same word
    noticed: float  # share of slips that give no word, seen and put right before others are
    haste: list[float]  # equally likely factors by which slips of letters differ between one person's texts
    people: list[list[float]]  # people: a factor of slips of letters, then the chance of each habit of `slips.STYLES`


class Profiles(msgspec.Struct, frozen=True):
    """The profiles of a file: what is left standing (`corrected`), and what is typed at first (`uncorrected`)."""

    modes: dict[str, SlipProfile]
    language: str = "en"


SHIPPED = ("noiseqa", "ruspellru")
_OF_ANY_LANGUAGE = ("insert", "near", "swap", "word_lost")  # choices that name directions and places, no characters


def in_other_language(profile: SlipProfile) -> SlipProfile:
    """The profile without the letters, words and marks that were counted in its own language.

    The layout of the other language then decides which letters and marks come instead, and no word is added.
    """
    rates = {kind: rate for kind, rate in profile.rates.items() if kind != "word_more"}
    choices = {kind: weights for kind, weights in profile.choices.items() if kind in _OF_ANY_LANGUAGE}
    return msgspec.structs.replace(profile, rates=rates, choices=choices, letters={})


@lru_cache(16)
def profiles(name: str) -> Profiles:
    """The profiles that ship under a name, or those in a file, checked."""
    shipped = files("unswayed.vary.keyboard") / "data" / f"typing_{name}.json"
    if name not in SHIPPED and not Path(name).suffix and not Path(name).exists():
        raise UsageError(
            f"There is no profile of typists {name!r}. Use {' or '.join(SHIPPED)}, or a file. `unswayed calibrate "
            f"typist` fits one, also to Aalto's data, which may not be shipped. See docs/typing.md."
        )
    found = read_profiles(shipped if name in SHIPPED else Path(name), Profiles)
    for mode, profile in found.modes.items():
        sizes = {"lengths": (4, len(profile.lengths)), "frequencies": (5, len(profile.frequencies))}
        sizes |= {f"places of {kind}": (3, len(weights)) for kind, weights in profile.places.items()}
        sizes |= {f"people[{k}]": (1 + len(STYLES), len(row)) for k, row in enumerate(profile.people)}
        wrong = [f"{what} has {n} numbers, not {size}" for what, (size, n) in sizes.items() if n != size]
        if not profile.haste:
            wrong.append("haste is empty")
        shares = [*profile.rates.values(), profile.burst, profile.noticed]
        numbers = [*shares, *profile.lengths, *profile.frequencies, *profile.haste]
        tables = [*profile.letters.values(), *profile.choices.values()]
        for weights in (*map(dict.values, tables), *profile.places.values(), *profile.people):
            numbers += weights
        if not all(0 <= number < 1e6 for number in numbers):
            wrong.append("a number is negative or too large")
        if not all(0 <= share <= 1 for share in shares):
            wrong.append("a chance is above 1")
        if wrong:
            raise DataError(f"this is not a profile of typists: in {mode}, {wrong[0]}.", name)
    return found
