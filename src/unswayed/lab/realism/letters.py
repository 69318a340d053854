"""What the classifier sees of noise in alphabets: named numbers by letter (`slip.…`) and by word (`word.…`)."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from difflib import SequenceMatcher
from itertools import pairwise
from math import log
from typing import NamedTuple

from rapidfuzz.distance import Levenshtein, Opcode

from unswayed.lab.realism.chinese import Named
from unswayed.vary.keyboard.layouts import Layout, key_hand, key_row, keys_touch
from unswayed.vary.spoken._speako import ears

SLIPS = (
    "near.row", "near.other_row", "vowel", "other_hand", "other", "omit", "halve", "insert", "double", "swap",
    "space.lost", "space.added", "case", "digit", "end.lost", "end.other", "comma", "apostrophe", "mark", "long",
)  # fmt: skip
WORDS = ("replaced", "lost", "added", "again", "split", "joined")
_VOWELS = frozenset("aeiouyàáâäåæèéêëìíîïòóôöøùúûüÿаеёиоуыэюя")
_ENDS, _COMMAS, _APOSTROPHES = ".?!。！？؟।", ",;:،", "'’`"
_NONE = -1.0  # where a mean has nothing to be taken of
_LONG = 4  # letters in a row that are more than a slip
_FUNCTION = 150  # the commonest words, which carry little meaning
_UNKNOWN = 13.0  # log rank of a word that is not in the list
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")


class KnownWords(NamedTuple):
    """Log ranks of known words, and the ways to say them where these are known."""

    ranks: Mapping[str, float]
    sounds: Mapping[str, tuple[str, ...]]


def known_words(clean: Sequence[str], language: str) -> KnownWords:
    """For English the frequent words, for others those of the clean texts."""
    if language.split("-")[0] == "en":
        known = list(ears().spoken())
        ranks = {word.spelling: log(1 + rank) for rank, word in enumerate(known)}
        return KnownWords(ranks, {word.spelling: word.sounds for word in known})
    counts = Counter(word for text in clean for word in words_of(text))
    return KnownWords({word: log(1 + rank) for rank, (word, _) in enumerate(counts.most_common())}, {})


def words_of(text: str) -> list[str]:
    """The words in lower case, without marks."""
    return _WORD.findall(text.replace("’", "'").lower())


def letter_features(clean: str, noisy: str, lexicon: KnownWords, board: Layout | None) -> Named:
    """All features of one pair of texts by name."""
    found = slips_of(clean, noisy, board)
    groups = {
        "slip": (_kinds(clean, noisy, found), _places(clean, found)),
        "text": (_marks(clean, noisy),),
        "word": (word_features(words_of(clean), words_of(noisy), lexicon),),
    }
    return {f"{way}.{name}": value for way, parts in groups.items() for part in parts for name, value in part.items()}


def letter_looks(
    clean: Sequence[str], noisy: Sequence[str], lexicon: KnownWords, board: Layout | None
) -> dict[str, float]:
    """Error rates, the share of texts without a difference, and kinds of slips per 1,000 characters or words."""
    rows = [letter_features(before, after, lexicon, board) for before, after in zip(clean, noisy, strict=True)]
    letters, words = sum(row["text.size"] for row in rows), sum(row["word.size"] for row in rows)
    wrong = [row["word.new.known"] for row in rows if row["word.new.known"] != _NONE]
    return {
        "unchanged": sum(row["slip.none"] for row in rows) / len(rows),
        "character_error": sum(row["slip.rate"] for row in rows) / len(rows),
        "word_error": sum(row["word.rate"] for row in rows) / len(rows),
        "real_words": _mean(wrong),
        **{f"slip.{kind}": 1000 * sum(row[f"slip.{kind}"] for row in rows) / max(1, letters) for kind in SLIPS},
        **{f"word.{sort}": 1000 * sum(row[f"word.{sort}"] for row in rows) / max(1, words) for sort in WORDS},
    }


class LetterSlip(NamedTuple):
    """What happened at a place of the clean text."""

    kind: str
    at: int
    old: str
    new: str


def slips_of(clean: str, noisy: str, board: Layout | None) -> list[LetterSlip]:
    """The differences of two texts by letter, each with its kind."""
    found: list[LetterSlip] = []
    codes = [code for code in Levenshtein.opcodes(clean, noisy) if code.tag != "equal"]
    k = 0
    while k < len(codes):
        code = codes[k]
        old, new = clean[code.src_start : code.src_end], noisy[code.dest_start : code.dest_end]
        after = codes[k + 1] if k + 1 < len(codes) else None
        if after is not None and _swapped(clean, noisy, code, after):
            found.append(LetterSlip("swap", code.src_start, clean[code.src_start : after.src_end], ""))
            k += 2
            continue
        found += _pieces(clean, code.src_start, old, new, board)
        k += 1
    return found


def _swapped(clean: str, noisy: str, one: Opcode, other: Opcode) -> bool:
    """Is a letter lost here and found beside its neighbour, or the other way round?"""
    lost = clean[one.src_start : one.src_end] + clean[other.src_start : other.src_end]
    came = noisy[one.dest_start : one.dest_end] + noisy[other.dest_start : other.dest_end]
    return other.src_start - one.src_end == 1 and lost == came and len(lost) == 1


def _pieces(clean: str, at: int, old: str, new: str, board: Layout | None) -> list[LetterSlip]:
    if len(old) == 2 and new == old[::-1]:
        return [LetterSlip("swap", at, old, new)]
    if max(len(old), len(new)) >= _LONG:
        return [LetterSlip("long", at, old, new)]
    pairs = [(old[i : i + 1], new[i : i + 1]) for i in range(max(len(old), len(new)))]
    return [LetterSlip(_kind(clean, at + i, a, b, board), at + i, a, b) for i, (a, b) in enumerate(pairs)]


def _kind(clean: str, at: int, old: str, new: str, board: Layout | None) -> str:
    whole = old + new
    if " " in whole:
        return "space.lost" if old == " " else "space.added"
    if old.lower() == new.lower():
        return "case"
    if any(map(str.isdigit, whole)):
        return "digit"
    if not all(map(str.isalpha, whole)):
        return _mark(clean, at, old, new)
    if not old or not new:
        beside_it = clean[at - 1 : at].lower() + clean[at + len(old) : at + len(old) + 1].lower()
        twin = whole.lower() in beside_it
        return ("double" if twin else "insert") if not old else "halve" if twin else "omit"
    return _substituted(old.lower(), new.lower(), board)


def _mark(clean: str, at: int, old: str, new: str) -> str:
    if any(c in _ENDS for c in old + new) and at >= len(clean.rstrip()) - 1:
        return "end.lost" if not new else "end.other"
    if any(c in _APOSTROPHES for c in old + new):
        return "apostrophe"
    return "comma" if any(c in _COMMAS for c in old + new) else "mark"


def _substituted(old: str, new: str, board: Layout | None) -> str:
    strokes = (board.strokes(old), board.strokes(new)) if board is not None else (None, None)
    if strokes[0] and strokes[1]:
        a, b = strokes[0][-1].key, strokes[1][-1].key
        if keys_touch(a, b):
            return "near.row" if key_row(a) == key_row(b) else "near.other_row"
        if old in _VOWELS and new in _VOWELS:
            return "vowel"
        return "other_hand" if key_hand(a) != key_hand(b) else "other"
    return "vowel" if old in _VOWELS and new in _VOWELS else "other"


def _kinds(clean: str, noisy: str, found: Sequence[LetterSlip]) -> Named:
    counts, size = Counter(slip.kind for slip in found), max(1, len(clean))
    lost = "".join(slip.old for slip in found if slip.kind in ("omit", "halve")).lower()
    came = "".join(slip.new for slip in found if slip.kind in ("insert", "double")).lower()
    return {
        **{kind: counts[kind] for kind in SLIPS},
        "all": len(found),
        "rate": Levenshtein.distance(clean, noisy) / size,
        "none": float(clean == noisy),
        "kinds": len(counts),
        "twice": max(counts.values(), default=0),
        "lost.vowels": _mean(c in _VOWELS for c in lost),
        "added.vowels": _mean(c in _VOWELS for c in came),
        "added.already_there": _mean(c in clean.lower() for c in came),
    }


def _places(clean: str, found: Sequence[LetterSlip]) -> Named:
    """Where slips stand in the text and in their words, and how near to each other."""
    size, starts = max(1, len(clean)), [slip.at for slip in found]
    letters = [
        slip for slip in found if slip.kind not in ("case", "space.lost", "space.added", "end.lost", "end.other")
    ]
    inside = [_in_word(clean, slip.at) for slip in letters]
    gaps = [b - a for a, b in pairwise(starts)]
    return {
        "place": _mean(start / size for start in starts),
        "first": starts[0] / size if starts else _NONE,
        "last": starts[-1] / size if starts else _NONE,
        "least_gap": min(gaps, default=size),
        "word.start": _mean(place == 0 for place, _ in inside),
        "word.end": _mean(place == 2 for place, _ in inside),
        "word.length": _mean(length for _, length in inside),
    }


def _in_word(text: str, at: int) -> tuple[int, int]:
    """Whether a place is at the beginning of its word (0), inside (1) or at its end (2); and the word's length."""
    start = end = min(at, len(text))
    while start and text[start - 1].isalnum():
        start -= 1
    while end < len(text) and text[end].isalnum():
        end += 1
    return 0 if at <= start else 2 if at >= end - 1 else 1, end - start


def _marks(clean: str, noisy: str) -> Named:
    """What is written otherwise over the whole text: capitals, marks, numbers, length."""

    def more(is_such: Callable[[str], bool]) -> float:
        return float(sum(map(is_such, noisy)) - sum(map(is_such, clean)))

    return {
        "size": len(clean),
        "growth": len(noisy) / max(1, len(clean)),
        "capitals": more(str.isupper),
        "digits": more(str.isdigit),
        "commas": more(_COMMAS.__contains__),
        "apostrophes": more(_APOSTROPHES.__contains__),
        "spaces": more(str.isspace),
        "ends": more(_ENDS.__contains__),
        "other_end": float(clean[-1:] != noisy[-1:]),
        "other_start": float(clean[:1] != noisy[:1]),
        "no_capitals": float(noisy == noisy.lower() and clean != clean.lower()),
        "no_end": float(noisy[-1:].isalnum() and not clean[-1:].isalnum()),
    }


class WordChange(NamedTuple):
    """A stretch of words and what stands there instead; either may be empty."""

    old: list[str]
    new: list[str]


def word_changes(before: Sequence[str], after: Sequence[str]) -> list[WordChange]:
    """The stretches in which two lists of words differ."""
    codes = SequenceMatcher(None, before, after, autojunk=False).get_opcodes()
    return [WordChange(list(before[i:j]), list(after[k:m])) for tag, i, j, k, m in codes if tag != "equal"]


def word_features(before: Sequence[str], after: Sequence[str], lexicon: KnownWords) -> Named:
    """How many words differ, which they are, and how like what stands there instead."""
    changes = word_changes(before, after)
    pairs = [(change.old[0], change.new[0]) for change in changes if len(change.old) == len(change.new) == 1]
    old, new = [w for change in changes for w in change.old], [w for change in changes for w in change.new]
    size = max(1, len(before))
    return {
        **_sorts(before, changes),
        "rate": (sum(max(len(c.old), len(c.new)) for c in changes)) / size,
        "size": size,
        "longest": max((max(len(c.old), len(c.new)) for c in changes), default=0),
        "runs": sum(len(c.old) > 1 and len(c.new) > 1 for c in changes),
        "old.rank": _mean(lexicon.ranks.get(word, _UNKNOWN) for word in old),
        "new.rank": _mean(lexicon.ranks.get(word, _UNKNOWN) for word in new),
        "old.function": _mean(lexicon.ranks.get(w, _UNKNOWN) < log(1 + _FUNCTION) for w in old),
        "new.function": _mean(lexicon.ranks.get(w, _UNKNOWN) < log(1 + _FUNCTION) for w in new),
        "new.known": _mean(word in lexicon.ranks for word in new),
        "old.length": _mean(map(len, old)),
        "new.length": _mean(map(len, new)),
        "letters_alike": _mean(Levenshtein.normalized_similarity(a, b) for a, b in pairs),
        "same_beginning": _mean(a[:1] == b[:1] for a, b in pairs),
        "inflected": _mean(_inflected(a, b) for a, b in pairs),
        "same_sound": _mean(bool(set(lexicon.sounds.get(a, ())) & set(lexicon.sounds.get(b, ()))) for a, b in pairs),
        "sounds_alike": _mean(_sound_alike(c, lexicon) for c in changes if c.old and c.new),
    }


def _sorts(before: Sequence[str], changes: Sequence[WordChange]) -> Named:
    counts: Counter[str] = Counter()
    for old, new in changes:
        if old and new and "".join(old) == "".join(new):
            counts["split" if len(new) > len(old) else "joined"] += 1
        elif old and new:
            counts["replaced"] += 1
        elif old:
            counts["lost"] += 1
        else:
            counts["again" if set(new) <= set(before) else "added"] += 1
    return {sort: counts[sort] for sort in WORDS}


def _inflected(a: str, b: str) -> bool:
    """Are two words the same but for their ends?"""
    same = next((i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))
    return same >= 3 and max(len(a), len(b)) - same <= 3


def _sound_alike(change: WordChange, lexicon: KnownWords) -> float:
    """How alike two stretches are when they are said, or where that is not known, written."""
    old, new = ("".join(lexicon.sounds.get(w, (w,))[0] for w in words) for words in change)
    return float(Levenshtein.normalized_similarity(old, new))


def _mean(values: Iterable[float]) -> float:
    listed = list(values)
    return sum(listed) / len(listed) if listed else _NONE
