"""Counts what a typist of Chinese did: slips in pairs of texts, by kind, class of word and sitting."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations

from unswayed.vary.chinese import han, lexicon
from unswayed.vary.chinese_slips import Slip, slips
from unswayed.vary.keyboard.ime import Engine
from unswayed.vary.typists import CLASSES, typed_class, typed_mark

_HAN = re.compile(r"[\u4e00-\u9fff]+")

Rows = Sequence[Sequence[str]]  # a row holds the texts of one example


@dataclass
class SittingCounts:
    """What was seen in the texts of one sitting."""

    rows: int = 0
    texts: int = 0
    words: int = 0
    sizes: Counter[str] = field(default_factory=Counter)  # characters that slips replaced or put, by kind
    marks: Counter[str] = field(default_factory=Counter)
    lost: Counter[str] = field(default_factory=Counter)
    changed: Counter[str] = field(default_factory=Counter)
    added: int = 0
    cuts: int = 0
    numbers: list[tuple[int, int]] = field(default_factory=list)  # characters and slips of each text

    @property
    def unchanged(self) -> float:
        """The share of the texts without a slip."""
        return sum(n == 0 for _, n in self.numbers) / max(1, len(self.numbers))


@dataclass
class TypingCounts:
    """What was seen in the pairs of one person."""

    sittings: list[SittingCounts]
    words: Counter[int] = field(default_factory=Counter)  # by class
    slips: Counter[tuple[str, int]] = field(default_factory=Counter)  # by kind and class of the first word
    joined: Counter[str] = field(default_factory=Counter)  # slips over several words, by kind
    others: int = 0
    other: int = 0
    omitted: Counter[bool] = field(default_factory=Counter)  # of words of several characters: whole or in part
    chosen: Counter[bool] = field(default_factory=Counter)  # wrong choices: the first on the list or not
    repeated: int = 0  # pairs of the same word in one example
    parted: int = 0  # those of them that came out differently
    missing: list[int] = field(default_factory=list)  # characters left out at the end

    def total(self, kind: str) -> int:
        return sum(self.slips[kind, c] for c in range(CLASSES))

    @property
    def length(self) -> float:
        sizes = [size for s in self.sittings for size, _ in s.numbers]
        return sum(sizes) / max(1, len(sizes))

    @property
    def spread(self) -> float:
        """Variance of the slips in a text, within a sitting, over their mean."""
        squares = expected = 0.0
        for s in self.sittings:
            rate = sum(n for _, n in s.numbers) / max(1, sum(size for size, _ in s.numbers))
            squares += sum((n - rate * size) ** 2 for size, n in s.numbers)
            expected += sum(n for _, n in s.numbers)
        return squares / max(1e-9, expected)


def count(clean: Rows, typed: Rows, engine: Engine, sittings: Sequence[int] = ()) -> TypingCounts:
    """What differs between the texts and what was typed, explained and counted."""
    seated = sittings or [0] * len(clean)
    seen = TypingCounts([SittingCounts() for _ in range(max(seated, default=0) + 1)])
    for row, others, k in zip(clean, typed, seated, strict=True):
        came_out: dict[str, list[str]] = {}
        seen.sittings[k].rows += 1
        for before, after in zip(row, others, strict=True):
            found = slips(before, after)
            _count_text(seen, seen.sittings[k], before, found, engine)
            for at, word in _words(before):
                hit = [slip.new for slip in found if slip.start < at + len(word) and slip.end > at]
                came_out.setdefault(word, []).append("|".join(hit) if hit else word)
        for ways in came_out.values():
            seen.repeated += len(ways) * (len(ways) - 1) // 2
            seen.parted += sum(one != two for one, two in combinations(ways, 2))
    return seen


def _words(text: str) -> Iterator[tuple[int, str]]:
    """The Chinese words of a text, and where they stand."""
    for run in _HAN.finditer(text):
        at = run.start()
        for word in lexicon().segment(run.group()):
            yield at, word
            at += len(word)


def _count_text(seen: TypingCounts, here: SittingCounts, text: str, found: list[Slip], engine: Engine) -> None:
    here.numbers.append((len(text), len(found)))
    starts: dict[int, tuple[int, int]] = {}  # place of each word → its length and class
    for at, word in _words(text):
        syllables = lexicon().reading(word)
        if syllables:
            c = typed_class(word, engine.rank(word, syllables))
            starts[at] = len(word), c
            seen.words[c] += 1
    here.texts += 1
    here.words += len(starts)
    for at, character in enumerate(text):
        if character.isalnum() and not han(character):
            seen.others += 1
        elif not han(character):
            here.marks[typed_mark(text, at)] += 1
    end = _end(text, found)
    if end < len(text):
        here.cuts += 1
        seen.missing.append(sum(c.isalnum() for c in text[end:]))
    for slip in found:
        if slip.end > end:
            break
        _count_slip(seen, here, text, slip, starts, engine)


def _end(text: str, found: list[Slip]) -> int:
    """Where a text ends whose last characters were left out; more than a mark must be missing."""
    end = len(text)
    for slip in reversed(found):
        if slip.end < end or slip.new:
            break
        end = slip.start
    return end if any(c.isalnum() for c in text[end:]) else len(text)


def _count_slip(
    seen: TypingCounts, here: SittingCounts, text: str, slip: Slip, starts: dict[int, tuple[int, int]], engine: Engine
) -> None:
    old = text[slip.start : slip.end]
    if slip.kind == "mark_added":
        here.added += 1
    elif slip.kind in ("mark_lost", "mark_changed"):
        counted = here.lost if slip.kind == "mark_lost" else here.changed
        counted.update(typed_mark(text, at) for at in range(slip.start, slip.end))
    elif slip.kind == "other_text":
        seen.other += 1
    else:
        begin = max((at for at in starts if at <= slip.start), default=min(starts, default=-1))
        if begin < 0:
            return
        length, c = starts[begin]
        seen.slips[slip.kind, c] += 1
        here.sizes[slip.kind] += max(len(old), len(slip.new))
        if sum(slip.start < at < slip.end for at in starts):
            seen.joined[slip.kind] += 1
        if slip.kind == "omitted" and length > 1:
            seen.omitted[slip.end - slip.start >= length] += 1
        if slip.kind == "select_full":
            _count_choice(seen, old, slip.new, engine)


def _count_choice(seen: TypingCounts, old: str, new: str, engine: Engine) -> None:
    syllables = lexicon().reading(old)
    if syllables:
        offered = [
            c.text for c in engine.candidates("".join(syllables), 12) if c.text != old and len(c.text) == len(old)
        ]
        if new in offered:
            seen.chosen[new == offered[0]] += 1
