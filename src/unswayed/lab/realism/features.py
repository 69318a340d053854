"""What the judge looks at: named numbers of a clean text and of what became of it.

In Chinese, `slip.…` comes from slips aligned by sound and explained, `shape.…` from the longest common stretches, as a
reader would mark them, whatever their cause. In alphabets, noise is counted by letter (`slip.…`), over the whole text
(`text.…`), and by word (`word.…`).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from difflib import SequenceMatcher
from functools import partial
from itertools import pairwise
from math import log
from os.path import commonprefix
from typing import NamedTuple

import numpy as np
from rapidfuzz.distance import Levenshtein

from unswayed.vary.chinese import han, lexicon, sounds, spelled
from unswayed.vary.chinese_slips import KINDS, Kind, alike, slips
from unswayed.vary.keyboard.layouts import Layout
from unswayed.vary.slips import crosses, near
from unswayed.vary.spoken._speako import ears

Named = dict[str, float]
_NONE = -1.0  # where a mean has nothing to be taken of

# Chinese
_CHINESE_FUNCTION_WORDS = frozenset("的了是在有和我你他不一个这那也就都很到说要去会着没吗呢吧")
_COUNTED_KINDS: tuple[Kind, ...] = ("false_start", "stray", "omitted", "letters", "mark_lost")
_LENGTHS = ((1, 1), (2, 2), (0, 1), (1, 0), (3, 3), (3, 4), (0, 2), (1, 2), (2, 3), (2, 1))
_LONGEST_OLD, _LONGEST_NEW = 3, 4  # longer stretches count as these
_RARE_WORD, _NO_WORD = -3.0, -9.0  # log frequencies of a word that is not in the list, and of no word at all

# Alphabets
SLIPS = (
    "near.row", "near.other_row", "vowel", "other_hand", "other", "omit", "halve", "insert", "double", "swap",
    "space.lost", "space.added", "case", "digit", "end.lost", "end.other", "comma", "apostrophe", "mark", "long",
)  # fmt: skip
_NOT_LETTERS = ("case", "space.lost", "space.added", "end.lost", "end.other")
WORDS = ("replaced", "lost", "added", "again", "split", "joined")
_VOWELS = frozenset("aeiouyàáâäåæèéêëìíîïòóôöøùúûüÿаеёиоуыэюя")
_ENDS, _COMMAS, _APOSTROPHES = ".?!。！？؟।", ",;:،", "'’`"
_LONG = 4  # letters in a row that are more than a slip
_FUNCTION = 150  # the commonest words, which carry little meaning
_UNKNOWN = 13.0  # log rank of a word that is not in the list
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")


def _mean(values: Iterable[float], otherwise: float = _NONE) -> float:
    listed = list(values)
    return sum(listed) / len(listed) if listed else otherwise


def _precise_mean(values: Iterable[float], otherwise: float = _NONE) -> float:
    """The mean as numpy rounds it, which the signatures of comparisons in Chinese rest on."""
    listed = list(values)
    return float(np.mean(listed)) if listed else otherwise


def _count_more(clean: str, noisy: str, is_such: Callable[[str], bool]) -> int:
    """How many more characters of a kind there are in the noisy text than in the clean one."""
    return sum(map(is_such, noisy)) - sum(map(is_such, clean))


def chinese_features(clean: str, noisy: str) -> Named:
    """All features of one pair of texts in Chinese by name."""
    found, size = slips(clean, noisy), max(1, len(clean))
    kinds = Counter(slip.kind for slip in found)
    lengths = Counter((min(_LONGEST_OLD, s.end - s.start), min(_LONGEST_NEW, len(s.new))) for s in found)
    starts, olds = [slip.start for slip in found], [clean[slip.start : slip.end] for slip in found]
    gaps = np.diff(starts) if len(starts) > 1 else np.array([size])
    times = Counter(zip(olds, (slip.new for slip in found), strict=True)).values()
    # Words that were typed wrong and that came out: how common they are, and how alike their keys.
    changed = [(old, slip.new) for old, slip in zip(olds, found, strict=True) if slip.new and old and han(slip.new[0])]
    keys = [(spelled(old), spelled(new)) for old, new in changed]
    known = [alike(a, b) for a, b in keys if a and b] or [alike("a", "b")]
    of_slips: Named = {
        **{f"{kind}.rate": kinds[kind] / size for kind in KINDS},
        **{f"{kind}.count": kinds[kind] for kind in _COUNTED_KINDS},
        "rate": len(found) / size,
        **{f"length.{old}→{new}.rate": lengths[old, new] / size for old, new in _LENGTHS},
        "longest.new": max((len(slip.new) for slip in found), default=0),
        "longest.old": max(map(len, olds), default=0),
        "mean_place": _precise_mean(start / size for start in starts),
        "mean_gap": float(gaps.mean()),
        "least_gap": float(gaps.min()),
        "repeated": sum(count for count in times if count > 1),
        "new_characters.frequency": _character_frequency("".join(slip.new for slip in found)),
        "old_characters.frequency": _character_frequency("".join(olds)),
        "new_words.frequency": _precise_mean((_word_frequency(new) for _, new in changed), _NO_WORD),
        "old_words.frequency": _precise_mean((_word_frequency(old) for old, _ in changed), _NO_WORD),
        "keys_alike": _precise_mean(known) if changed else _NONE,
    }
    groups = {"slip": of_slips, "shape": _chinese_shape(clean, noisy)}
    return {f"{way}.{name}": value for way, part in groups.items() for name, value in part.items()}


def _chinese_shape(clean: str, noisy: str) -> Named:
    """The stretches in which two texts differ, with no explanation."""
    size = max(1, len(clean))
    opcodes = SequenceMatcher(None, clean, noisy, autojunk=False).get_opcodes()
    stretches = [code for code in opcodes if code[0] != "equal"]
    tags: Counter[str] = Counter(code[0] for code in stretches)
    replaced = [(clean[i:j], noisy[k:m]) for tag, i, j, k, m in stretches if tag == "replace"]
    inserted = "".join(noisy[k:m] for tag, _, _, k, m in stretches if tag == "insert")
    deleted = "".join(clean[i:j] for tag, i, j, _, _ in stretches if tag == "delete")
    even = [(old, new) for old, new in replaced if len(old) == len(new)]
    before, after = (lexicon().segment("".join(filter(han, text))) for text in (clean, noisy))

    def same_initial(old: str, new: str) -> bool:
        one, other = ({sound[0] for sound in sounds(text[0])} for text in (old, new))
        return bool(one & other)

    def mark(c: str) -> bool:
        return not han(c) and not c.isalnum()

    kinds, more = ("replace", "insert", "delete"), partial(_count_more, clean, noisy)
    return {
        **{f"{tag}.rate": tags[tag] / size for tag in kinds},
        **{f"{tag}.count": tags[tag] for tag in kinds},
        "growth": len(noisy) / size,
        "size": size,
        "replaced.old_length": _mean((len(old) for old, _ in replaced), 0.0),
        "replaced.new_length": _mean((len(new) for _, new in replaced), 0.0),
        "replaced.same_length": _mean((len(old) == len(new) for old, new in replaced), 0.0),
        "replaced.same_sound": _mean(
            (all(bool(sounds(a) & sounds(b)) for a, b in zip(old, new, strict=True)) for old, new in even), 0.0
        ),
        "replaced.same_initial": _mean((same_initial(old, new) for old, new in replaced), 0.0),
        "inserted.chinese": sum(map(han, inserted)),
        "inserted.function_words": _mean((c in _CHINESE_FUNCTION_WORDS for c in inserted), 0.0),
        "deleted.function_words": _mean((c in _CHINESE_FUNCTION_WORDS for c in deleted), 0.0),
        "deleted.marks": sum(map(mark, deleted)),
        "inserted.marks": sum(map(mark, inserted)),
        "more.latin": more(lambda c: c.isascii() and c.isalpha()),
        "more.spaces": more(str.isspace),
        "more.digits": more(str.isdigit),
        "inserted.already_there": _mean((c in clean for c in set(inserted)), 0.0),
        "other_end": float(clean[-1:] != noisy[-1:]),
        "other_start": float(clean[:1] != noisy[:1]),
        "first_place": stretches[0][1] / size if stretches else _NONE,
        "last_place": stretches[-1][2] / size if stretches else _NONE,
        # fluent text has longer and commoner words
        "more.word_length": _mean(map(len, after), 0.0) - _mean(map(len, before), 0.0),
        "more.word_frequency": _mean(map(_word_frequency, after), 0.0) - _mean(map(_word_frequency, before), 0.0),
        "inserted.frequency": _character_frequency(inserted),
        "deleted.frequency": _character_frequency(deleted),
        "replaced.frequency": _character_frequency("".join(new for _, new in replaced)),
    }


def _word_frequency(word: str) -> float:
    return lexicon().frequency.get(word, _RARE_WORD)


def _character_frequency(text: str) -> float:
    """Mean log frequency of a text's Chinese characters."""
    frequency = lexicon().frequency
    return _precise_mean(frequency.get(c, 0.0) for c in text if han(c))


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
    """All features of one pair of texts in an alphabet by name."""
    more = partial(_count_more, clean, noisy)
    found, size = slips_of(clean, noisy, board), max(1, len(clean))
    counts, starts = Counter(slip.kind for slip in found), [slip.at for slip in found]
    lost = "".join(slip.old for slip in found if slip.kind in ("omit", "halve")).lower()
    came = "".join(slip.new for slip in found if slip.kind in ("insert", "double")).lower()
    inside = [_in_word(clean, slip.at) for slip in found if slip.kind not in _NOT_LETTERS]
    groups: dict[str, Named] = {
        # how many slips there are of each kind; where they stand in the text and in their words, and how near
        "slip": {
            **{kind: counts[kind] for kind in SLIPS},
            "all": len(found),
            "rate": Levenshtein.distance(clean, noisy) / size,
            "none": float(clean == noisy),
            "kinds": len(counts),
            "twice": max(counts.values(), default=0),
            "lost.vowels": _mean(c in _VOWELS for c in lost),
            "added.vowels": _mean(c in _VOWELS for c in came),
            "added.already_there": _mean(c in clean.lower() for c in came),
            "place": _mean(start / size for start in starts),
            "first": starts[0] / size if starts else _NONE,
            "last": starts[-1] / size if starts else _NONE,
            "least_gap": min((b - a for a, b in pairwise(starts)), default=size),
            "word.start": _mean(place == 0 for place, _ in inside),
            "word.end": _mean(place == 2 for place, _ in inside),
            "word.length": _mean(length for _, length in inside),
        },
        # what is written otherwise over the whole text: capitals, marks, numbers, length
        "text": {
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
        },
        "word": _word_features(words_of(clean), words_of(noisy), lexicon),
    }
    return {f"{way}.{name}": value for way, part in groups.items() for name, value in part.items()}


def letter_looks(clean: Sequence[str], noisy: Sequence[str], lexicon: KnownWords, board: Layout | None) -> Named:
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
        at, end = codes[k].src_start, codes[k].src_end
        old, new = clean[at:end], noisy[codes[k].dest_start : codes[k].dest_end]
        k += 1
        if k < len(codes):
            after = codes[k]
            lost = old + clean[after.src_start : after.src_end]
            came = new + noisy[after.dest_start : after.dest_end]
            if after.src_start - end == 1 and lost == came and len(lost) == 1:
                # A letter is lost here and found beside its neighbour, or the other way round.
                found.append(LetterSlip("swap", at, clean[at : after.src_end], ""))
                k += 1
                continue
        if len(old) == 2 and new == old[::-1]:
            found.append(LetterSlip("swap", at, old, new))
        elif max(len(old), len(new)) >= _LONG:
            found.append(LetterSlip("long", at, old, new))
        else:
            for i in range(max(len(old), len(new))):
                a, b = old[i : i + 1], new[i : i + 1]
                found.append(LetterSlip(_slip_kind(clean, at + i, a, b, board), at + i, a, b))
    return found


def _slip_kind(clean: str, at: int, old: str, new: str, board: Layout | None) -> str:
    whole = old + new
    if " " in whole:
        return "space.lost" if old == " " else "space.added"
    if old.lower() == new.lower():
        return "case"
    if any(map(str.isdigit, whole)):
        return "digit"
    if not all(map(str.isalpha, whole)):
        if any(c in _ENDS for c in whole) and at >= len(clean.rstrip()) - 1:
            return "end.lost" if not new else "end.other"
        if any(c in _APOSTROPHES for c in whole):
            return "apostrophe"
        return "comma" if any(c in _COMMAS for c in whole) else "mark"
    if not old or not new:
        beside_it = clean[at - 1 : at].lower() + clean[at + len(old) : at + len(old) + 1].lower()
        twin = whole.lower() in beside_it
        return ("double" if twin else "insert") if not old else "halve" if twin else "omit"
    old, new = old.lower(), new.lower()
    vowels = old in _VOWELS and new in _VOWELS
    if way := near(board, old, new) if board is not None else "":
        return "near.row" if way == "across" else "near.other_row"
    return "vowel" if vowels else "other_hand" if board is not None and crosses(board, old, new) else "other"


def _in_word(text: str, at: int) -> tuple[int, int]:
    """Whether a place is at the beginning of its word (0), inside (1) or at its end (2); and the word's length."""
    start = end = min(at, len(text))
    while start and text[start - 1].isalnum():
        start -= 1
    while end < len(text) and text[end].isalnum():
        end += 1
    return 0 if at <= start else 2 if at >= end - 1 else 1, end - start


def _word_features(before: Sequence[str], after: Sequence[str], lexicon: KnownWords) -> Named:
    """How many words differ, which they are, and how like what stands there instead."""
    codes = SequenceMatcher(None, before, after, autojunk=False).get_opcodes()
    changes = [(before[i:j], after[k:m]) for tag, i, j, k, m in codes if tag != "equal"]  # either side may be empty
    pairs = [(old[0], new[0]) for old, new in changes if len(old) == len(new) == 1]
    olds, news = ([word for change in changes for word in change[side]] for side in (0, 1))
    ranks, sounds, size = lexicon.ranks, lexicon.sounds, max(1, len(before))
    sorts: Counter[str] = Counter()
    alike: list[float] = []  # how alike stretches are when they are said, or where that is not known, written
    for old, new in changes:
        if old and new:
            same = "".join(old) == "".join(new)
            sorts["replaced" if not same else "split" if len(new) > len(old) else "joined"] += 1
            said = ["".join(sounds.get(word, (word,))[0] for word in words) for words in (old, new)]
            alike.append(Levenshtein.normalized_similarity(*said))
        else:
            sorts["lost" if old else "again" if set(new) <= set(before) else "added"] += 1

    def inflected(a: str, b: str) -> bool:
        """Are two words the same but for their ends?"""
        same = len(commonprefix((a, b)))
        return same >= 3 and max(len(a), len(b)) - same <= 3

    return {
        **{sort: sorts[sort] for sort in WORDS},
        "rate": (sum(max(len(old), len(new)) for old, new in changes)) / size,
        "size": size,
        "longest": max((max(len(old), len(new)) for old, new in changes), default=0),
        "runs": sum(len(old) > 1 and len(new) > 1 for old, new in changes),
        "old.rank": _mean(ranks.get(word, _UNKNOWN) for word in olds),
        "new.rank": _mean(ranks.get(word, _UNKNOWN) for word in news),
        "old.function": _mean(ranks.get(word, _UNKNOWN) < log(1 + _FUNCTION) for word in olds),
        "new.function": _mean(ranks.get(word, _UNKNOWN) < log(1 + _FUNCTION) for word in news),
        "new.known": _mean(word in ranks for word in news),
        "old.length": _mean(map(len, olds)),
        "new.length": _mean(map(len, news)),
        "letters_alike": _mean(Levenshtein.normalized_similarity(a, b) for a, b in pairs),
        "same_beginning": _mean(a[:1] == b[:1] for a, b in pairs),
        "inflected": _mean(inflected(a, b) for a, b in pairs),
        "same_sound": _mean(bool(set(sounds.get(a, ())) & set(sounds.get(b, ()))) for a, b in pairs),
        "sounds_alike": _mean(alike),
    }
