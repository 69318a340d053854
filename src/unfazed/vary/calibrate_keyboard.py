"""Fits a typist's profile to pairs of clean and typed texts.

Slips are explained and counted by class of word. Then the fitted typist types the same texts, its slips are explained
by the same rules, and the rates are corrected until both counts agree: what the rules misread, they misread twice.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations

import msgspec

from unfazed.core.edits import apply
from unfazed.core.seeds import Seeds
from unfazed.vary.chinese import Slip, han, lexicon, slips
from unfazed.vary.keyboard._typist import Typist
from unfazed.vary.keyboard.ime import Engine
from unfazed.vary.people import TYPED_CLASSES, TYPED_MARKS, WORD_KINDS, TypistProfile, typed_class, typed_mark

_PRIOR = 30.0  # words' worth of the person's mean rate that each class starts with
_MEMORY = 0.4  # where nothing tells
_REPEATED = 300  # pairs of the same word in an example that tell something
_EVEN = 4.0  # how much the share of texts without a slip counts beside the spread of slips
_STEP = 0.4  # how much of the difference is made up for in a round: each of these changes the others
_SELVES = 40  # people of one profile, so that the habits of none of them decide
_GO_ON = ("select_full", "select_abbr", "input_full", "input_abbr", "omitted")  # slips that may run into the next word
_HAN = re.compile(r"[\u4e00-\u9fff]+")


@dataclass
class TypingCounts:
    """What was seen in the pairs of one person."""

    words: Counter[int] = field(default_factory=Counter)  # by class
    slips: Counter[tuple[str, int]] = field(default_factory=Counter)  # by kind and class of the first word
    sizes: Counter[str] = field(default_factory=Counter)  # characters that slips replaced or put, by kind
    joined: Counter[str] = field(default_factory=Counter)  # slips over several words, by kind
    marks: Counter[str] = field(default_factory=Counter)
    lost: Counter[str] = field(default_factory=Counter)
    changed: Counter[str] = field(default_factory=Counter)
    added: int = 0
    others: int = 0
    other: int = 0
    omitted: Counter[bool] = field(default_factory=Counter)  # of words of several characters: whole or in part
    chosen: Counter[bool] = field(default_factory=Counter)  # wrong choices: the first on the list or not
    repeated: int = 0  # pairs of the same word in one example
    parted: int = 0  # those of them that came out differently
    length: float = 0.0
    spread: float = 0.0  # variance of the slips in a sentence over their mean
    unchanged: float = 0.0  # share of the texts without a slip

    def total(self, kind: str) -> int:
        return sum(self.slips[kind, c] for c in range(TYPED_CLASSES))


def fit_typist(
    clean: Sequence[Sequence[str]], typed: Sequence[Sequence[str]], engine: Engine, rounds: int = 8
) -> TypistProfile:
    """The profile under which a typist with this engine makes these slips. A row holds the texts of one example."""
    seen = count(clean, typed, engine)
    profile = _first(seen)
    for n in range(rounds):
        selves, seeds = [Typist(profile, engine) for _ in range(_SELVES)], Seeds(n, "calibrate", 1)
        made = []
        for i, row in enumerate(clean):
            k = i % _SELVES
            streams = (seeds.stream(str(i), k, str(field)) for field in range(len(row)))
            made.append([apply(text, selves[k].type(text, rng)) for text, rng in zip(row, streams, strict=True)])
        profile = _corrected(profile, seen, count(clean, made, engine))
    return profile


def count(clean: Sequence[Sequence[str]], typed: Sequence[Sequence[str]], engine: Engine) -> TypingCounts:
    seen, sizes, numbers = TypingCounts(), [], []
    for row, others in zip(clean, typed, strict=True):
        came_out: dict[str, list[str]] = {}
        for before, after in zip(row, others, strict=True):
            found = slips(before, after)
            _count_text(seen, before, found, engine)
            sizes.append(len(before))
            numbers.append(len(found))
            for at, word in _words(before):
                hit = [slip.new for slip in found if slip.start < at + len(word) and slip.end > at]
                came_out.setdefault(word, []).append("|".join(hit) if hit else word)
        for ways in came_out.values():
            seen.repeated += len(ways) * (len(ways) - 1) // 2
            seen.parted += sum(one != two for one, two in combinations(ways, 2))
    seen.length = sum(sizes) / max(1, len(sizes))
    seen.unchanged = numbers.count(0) / max(1, len(numbers))
    rate = sum(numbers) / max(1, sum(sizes))
    seen.spread = sum((n - rate * s) ** 2 for n, s in zip(numbers, sizes, strict=True)) / max(1e-9, rate * sum(sizes))
    return seen


def _words(text: str) -> Iterator[tuple[int, str]]:
    """The Chinese words of a text, and where they stand."""
    for run in _HAN.finditer(text):
        at = run.start()
        for word in lexicon().segment(run.group()):
            yield at, word
            at += len(word)


def _count_text(seen: TypingCounts, text: str, found: list[Slip], engine: Engine) -> None:
    starts: dict[int, tuple[int, int]] = {}  # place of each word → its length and class
    for at, word in _words(text):
        syllables = lexicon().reading(word)
        if syllables:
            c = typed_class(word, engine.rank(word, syllables))
            starts[at] = len(word), c
            seen.words[c] += 1
    for character in text:
        if character.isalnum() and not han(character):
            seen.others += 1
        elif not han(character):
            seen.marks[typed_mark(character)] += 1
    for slip in found:
        _count_slip(seen, text, slip, starts, engine)


def _count_slip(seen: TypingCounts, text: str, slip: Slip, starts: dict[int, tuple[int, int]], engine: Engine) -> None:
    old = text[slip.start : slip.end]
    if slip.kind == "mark_added":
        seen.added += 1
    elif slip.kind in ("mark_lost", "mark_changed"):
        (seen.lost if slip.kind == "mark_lost" else seen.changed).update(typed_mark(c) for c in old)
    elif slip.kind == "other_text":
        seen.other += 1
    else:
        begin = max((at for at in starts if at <= slip.start), default=min(starts, default=-1))
        if begin < 0:
            return
        length, c = starts[begin]
        seen.slips[slip.kind, c] += 1
        seen.sizes[slip.kind] += max(len(old), len(slip.new))
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


def _first(seen: TypingCounts) -> TypistProfile:
    words = max(1, sum(seen.words.values()))
    rates: dict[str, list[float]] = {}
    for kind in WORD_KINDS:
        mean = seen.total(kind) / words
        rates[kind] = [(seen.slips[kind, c] + _PRIOR * mean) / (seen.words[c] + _PRIOR) for c in range(TYPED_CLASSES)]
    return TypistProfile(
        length=seen.length,
        memory=_MEMORY,
        words=[seen.words[c] for c in range(TYPED_CLASSES)],
        rates=rates,
        joined={kind: _share(seen.joined[kind], seen.total(kind)) if kind in _GO_ON else 0.0 for kind in WORD_KINDS},
        lost={mark: _share(seen.lost[mark], seen.marks[mark]) for mark in TYPED_MARKS},
        changed={mark: _share(seen.changed[mark], seen.marks[mark]) for mark in TYPED_MARKS},
        added=seen.added / words,
        others=seen.others,
        other=(seen.other + 1.0) / (seen.others + 300.0),
        pace=0.3,
        care=0.0,
        whole=_yes(seen.omitted),
        first=_yes(seen.chosen),
    )


def _corrected(profile: TypistProfile, seen: TypingCounts, made: TypingCounts) -> TypistProfile:
    """The profile moved towards one whose counts, as explained, are those that were seen."""
    rates = {}
    for kind, old in profile.rates.items():
        ratio = _ratio(seen.sizes[kind], made.sizes[kind])
        rates[kind] = [
            min(0.6, rate * ratio * _ratio(seen.slips[kind, c] + 3, made.slips[kind, c] * ratio + 3) ** 0.7)
            for c, rate in enumerate(old)
        ]
    joined = {
        kind: min(0.9, share * _ratio(seen.joined[kind] + 1, made.joined[kind] + 1))
        for kind, share in profile.joined.items()
    }
    lack = seen.spread - made.spread + _EVEN * (seen.unchanged - made.unchanged)
    pace, care = _paced(profile, _STEP * lack)
    return msgspec.structs.replace(
        profile,
        rates=rates,
        joined=joined,
        pace=pace,
        care=care,
        memory=_remembered(profile.memory, seen, made),
        added=min(0.2, profile.added * _ratio(seen.added + 1, made.added + 1)),
        other=min(0.5, profile.other * _ratio(seen.other + 1, made.other + 1)),
        lost={m: min(0.95, v * _ratio(seen.lost[m] + 1, made.lost[m] + 1)) for m, v in profile.lost.items()},
        changed={
            m: min(0.95, v * _ratio(seen.changed[m] + 1, made.changed[m] + 1)) for m, v in profile.changed.items()
        },
        whole=min(0.95, profile.whole * _ratio(_yes(seen.omitted), _yes(made.omitted))),
        first=min(0.95, profile.first * _ratio(_yes(seen.chosen), _yes(made.chosen))),
    )


def _remembered(memory: float, seen: TypingCounts, made: TypingCounts) -> float:
    """More memory where the same words came out differently too often."""
    if min(seen.repeated, made.repeated) < _REPEATED:
        return memory
    much = made.parted / made.repeated / (seen.parted / seen.repeated + 1e-3)
    return min(0.9, max(0.05, memory + _STEP * (much - 1)))


def _paced(profile: TypistProfile, lack: float) -> tuple[float, float]:
    """Haste spreads slips unevenly over sentences, care evenly: one of them gives way before the other comes in."""
    if lack < 0:
        return max(0.0, profile.pace + lack), min(1.5, profile.care - 1.2 * min(0.0, profile.pace + lack))
    return min(1.2, profile.pace + max(0.0, lack - profile.care)), max(0.0, profile.care - 1.2 * lack)


def _share(part: float, whole: float) -> float:
    return min(0.95, (part + 0.5) / (whole + 10.0))


def _yes(counted: Counter[bool]) -> float:
    return _share(counted[True], counted.total())


def _ratio(wanted: float, got: float) -> float:
    return min(2.0, max(0.5, (wanted + 0.5) / (got + 0.5)))
