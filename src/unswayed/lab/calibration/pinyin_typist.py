"""Fits a typist of pinyin to pairs of clean and typed texts.

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

from unswayed.base.edits import apply
from unswayed.base.seeds import Seeds
from unswayed.vary.chinese import han, lexicon
from unswayed.vary.chinese_slips import Slip, slips
from unswayed.vary.keyboard.ime import Engine
from unswayed.vary.keyboard.pinyin import PinyinTypist
from unswayed.vary.people import (
    TYPED_CLASSES,
    TYPED_MARKS,
    WORD_KINDS,
    Sitting,
    TypistProfile,
    typed_class,
    typed_mark,
)

_HAN = re.compile(r"[\u4e00-\u9fff]+")

Rows = Sequence[Sequence[str]]  # a row holds the texts of one example
SITTING = 100  # rows that are taken to be typed in one sitting
_PRIOR = 30.0  # words' worth of the person's mean rate that each class starts with
_USUAL = 400.0  # words' worth of the person's mean rate that each sitting starts with
_MARKS = 12.0  # marks' worth of the person's mean
_SMALL = 8.0  # characters by which seen and made differ by chance
_LIKELIEST = 12.0  # times that a kind of slip may be likelier for a class of words than for all
_MEMORY = 0.6  # where nothing tells
_REPEATED = 300  # pairs of the same word in an example that tell something
_STEP = 0.4  # how much of the difference is made up for in a round: each of these changes the others
_LATE = 0.5  # how far the later rounds go, so that chance does not decide
_SELVES = 40  # people of one profile, so that the habits of none of them decide
_GO_ON = ("select_full", "select_abbr", "input_full", "input_abbr", "omitted")  # slips that may run into the next word


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
        """The slips of a kind, in words of all classes."""
        return sum(self.slips[kind, c] for c in range(TYPED_CLASSES))

    @property
    def length(self) -> float:
        """Mean number of characters of a text."""
        sizes = [size for s in self.sittings for size, _ in s.numbers]
        return sum(sizes) / max(1, len(sizes))

    @property
    def gap(self) -> float:
        """Mean number of characters that are missing where the end of a text is not typed."""
        return (sum(self.missing) + 2.0) / (len(self.missing) + 1.0)

    @property
    def spread(self) -> float:
        """Variance of the slips in a text, within a sitting, over their mean."""
        squares = expected = 0.0
        for s in self.sittings:
            rate = sum(n for _, n in s.numbers) / max(1, sum(size for size, _ in s.numbers))
            squares += sum((n - rate * size) ** 2 for size, n in s.numbers)
            expected += sum(n for _, n in s.numbers)
        return squares / max(1e-9, expected)


def count_slips(clean: Rows, typed: Rows, engine: Engine, sittings: Sequence[int] = ()) -> TypingCounts:
    """What differs between the texts and what was typed, explained and counted."""
    seated = sittings or [0] * len(clean)
    seen = TypingCounts([SittingCounts() for _ in range(max(seated, default=0) + 1)])
    for row, others, k in zip(clean, typed, seated, strict=True):
        came_out: dict[str, list[str]] = {}
        seen.sittings[k].rows += 1
        for before, after in zip(row, others, strict=True):
            found = slips(before, after)
            _count_text(seen, seen.sittings[k], before, found, engine)
            for at, word in _chinese_words(before):
                hit = [slip.new for slip in found if slip.start < at + len(word) and slip.end > at]
                came_out.setdefault(word, []).append("|".join(hit) if hit else word)
        for ways in came_out.values():
            seen.repeated += len(ways) * (len(ways) - 1) // 2
            seen.parted += sum(one != two for one, two in combinations(ways, 2))
    return seen


def _chinese_words(text: str) -> Iterator[tuple[int, str]]:
    """The Chinese words of a text, and where they stand."""
    for run in _HAN.finditer(text):
        at = run.start()
        for word in lexicon().segment(run.group()):
            yield at, word
            at += len(word)


def _count_text(seen: TypingCounts, here: SittingCounts, text: str, found: list[Slip], engine: Engine) -> None:
    here.numbers.append((len(text), len(found)))
    starts: dict[int, tuple[int, int]] = {}  # place of each word → its length and class
    for at, word in _chinese_words(text):
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
    end = len(text)  # where a text ends whose last characters were left out; more than a mark must be missing
    for slip in reversed(found):
        if slip.end < end or slip.new:
            break
        end = slip.start
    if not any(c.isalnum() for c in text[end:]):
        end = len(text)
    if end < len(text):
        here.cuts += 1
        seen.missing.append(sum(c.isalnum() for c in text[end:]))
    for slip in found:
        if slip.end > end:
            break
        _count_slip(seen, here, text, slip, starts, engine)


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
            syllables = lexicon().reading(old)
            offered = [c.text for c in engine.candidates("".join(syllables), 12)] if syllables else []
            offered = [text for text in offered if text != old and len(text) == len(old)]
            if slip.new in offered:
                seen.chosen[slip.new == offered[0]] += 1


def fit_pinyin_typist(
    clean: Rows, typed: Rows, engine: Engine, sittings: Sequence[int] = (), rounds: int = 7
) -> TypistProfile:
    """The profile under which a typist with this engine makes these slips. A row holds the texts of one example.

    `sittings` numbers the sitting of each row; without it, every hundred rows are one.
    """
    named = sittings or [i // SITTING for i in range(len(clean))]
    rows, number = Counter(named), dict[int, int]()
    for name in dict.fromkeys(named):  # one of less than half the usual number of rows goes with the one before
        number[name] = max(0, len(set(number.values())) - (2 * rows[name] < SITTING))
    seated = [number[name] for name in named]
    seen = count_slips(clean, typed, engine, seated)
    profile = _first_profile(seen)
    for n in range(rounds):
        selves, seeds = [PinyinTypist(profile, engine) for _ in range(_SELVES)], Seeds(n, "calibrate", 1)
        made = []
        for i, row in enumerate(clean):
            k = i % _SELVES
            streams = (seeds.stream(str(i), k, str(field)) for field in range(len(row)))
            typing = zip(row, streams, strict=True)
            made.append([apply(text, selves[k].type(text, rng, seated[i])) for text, rng in typing])
        profile = _correct_profile(
            profile, seen, count_slips(clean, made, engine, seated), 1.0 if n < rounds // 2 else _LATE
        )
    return profile


def _first_profile(seen: TypingCounts) -> TypistProfile:
    words = max(1, sum(seen.words.values()))
    mean: dict[str, float] = {kind: seen.total(kind) / words for kind in WORD_KINDS}
    shape: dict[str, list[float]] = {
        kind: [
            (seen.slips[kind, c] + _PRIOR * mean[kind]) / (seen.words[c] + _PRIOR) / max(mean[kind], 1e-9)
            for c in range(TYPED_CLASSES)
        ]
        for kind in WORD_KINDS
    }
    return TypistProfile(
        length=seen.length,
        memory=_MEMORY,
        words=[seen.words[c] for c in range(TYPED_CLASSES)],
        shape=shape,
        joined={
            kind: _smoothed_share(seen.joined[kind], seen.total(kind)) if kind in _GO_ON else 0.0 for kind in WORD_KINDS
        },
        others=seen.others,
        other=(seen.other + 1.0) / (seen.others + 300.0),
        pace=0.3,
        whole=_share_of_true(seen.omitted),
        first=_share_of_true(seen.chosen),
        missing=seen.gap,
        sittings=[_first_sitting(seen, here, mean) for here in seen.sittings],
    )


def _first_sitting(seen: TypingCounts, here: SittingCounts, mean: dict[str, float]) -> Sitting:
    """A sitting's rates, each drawn to the person's by as much as it rests on few words or marks."""
    sizes = {kind: max(1, sum(s.sizes[kind] for s in seen.sittings)) for kind in WORD_KINDS}
    return Sitting(
        rows=here.rows,
        rates={
            kind: (here.sizes[kind] * seen.total(kind) / sizes[kind] + _USUAL * mean[kind]) / (here.words + _USUAL)
            for kind in WORD_KINDS
        },
        lost={
            m: _share_drawn_to_mean(here.lost[m], here.marks[m], [(s.lost[m], s.marks[m]) for s in seen.sittings])
            for m in TYPED_MARKS
        },
        changed={
            m: _share_drawn_to_mean(here.changed[m], here.marks[m], [(s.changed[m], s.marks[m]) for s in seen.sittings])
            for m in TYPED_MARKS
        },
        added=_share_drawn_to_mean(here.added, here.words, [(s.added, s.words) for s in seen.sittings]),
        cut=_share_drawn_to_mean(here.cuts, here.texts, [(s.cuts, s.texts) for s in seen.sittings]),
        hasty=0.0,
    )


def _share_drawn_to_mean(part: int, whole: int, all_: list[tuple[int, int]]) -> float:
    mean = (sum(n for n, _ in all_) + 0.5) / (sum(of for _, of in all_) + 10.0)
    return min(0.95, (part + _MARKS * mean) / (whole + _MARKS))


def _correct_profile(profile: TypistProfile, seen: TypingCounts, made: TypingCounts, far: float) -> TypistProfile:
    """The profile moved towards one whose counts, as explained, are those that were seen."""
    shape: dict[str, list[float]] = {}  # how each kind falls on classes of words, moved, and 1 on average
    for kind in WORD_KINDS:
        ratio = _ratio(seen.total(kind), made.total(kind))
        moved = [
            likelier * _ratio(seen.slips[kind, c] + 3, made.slips[kind, c] * ratio + 3) ** (0.7 * far)
            for c, likelier in enumerate(profile.shape[kind])
        ]
        mean = sum(m * n for m, n in zip(moved, profile.words, strict=True)) / max(1, sum(profile.words))
        shape[kind] = [min(_LIKELIEST, m / max(mean, 1e-9)) for m in moved]
    memory = profile.memory
    if min(seen.repeated, made.repeated) >= _REPEATED:  # more where the same words came out differently too often
        much = made.parted / made.repeated / (seen.parted / seen.repeated + 1e-3)
        memory = min(0.9, max(0.05, memory + far * (much - 1)))
    joined = {
        kind: min(0.9, share * _ratio(seen.joined[kind] + 1, made.joined[kind] + 1) ** far)
        for kind, share in profile.joined.items()
    }
    return msgspec.structs.replace(
        profile,
        shape=shape,
        joined=joined,
        pace=min(1.2, max(0.0, profile.pace + _STEP * far * (seen.spread - made.spread))),
        memory=memory,
        other=min(0.5, profile.other * _ratio(seen.other + 1, made.other + 1) ** far),
        whole=min(0.95, profile.whole * _ratio(_share_of_true(seen.omitted), _share_of_true(made.omitted)) ** far),
        first=min(0.95, profile.first * _ratio(_share_of_true(seen.chosen), _share_of_true(made.chosen)) ** far),
        missing=1 + (profile.missing - 1) * _ratio(seen.gap - 1, made.gap - 1) ** far,
        sittings=[
            _corrected_sitting(*three, far)
            for three in zip(profile.sittings, seen.sittings, made.sittings, strict=True)
        ],
    )


def _corrected_sitting(sitting: Sitting, seen: SittingCounts, made: SittingCounts, far: float) -> Sitting:
    def moved(rates: dict[str, float], wanted: Counter[str], got: Counter[str]) -> dict[str, float]:
        return {mark: min(0.95, rate * _ratio(wanted[mark] + 1, got[mark] + 1) ** far) for mark, rate in rates.items()}

    return msgspec.structs.replace(
        sitting,
        rates={
            kind: rate * _ratio(seen.sizes[kind] + _SMALL, made.sizes[kind] + _SMALL) ** far
            for kind, rate in sitting.rates.items()
        },
        lost=moved(sitting.lost, seen.lost, made.lost),
        changed=moved(sitting.changed, seen.changed, made.changed),
        added=min(0.2, sitting.added * _ratio(seen.added + 1, made.added + 1) ** far),
        cut=min(0.95, sitting.cut * _ratio(seen.cuts + 1, made.cuts + 1) ** far),
        hasty=min(0.95, max(0.0, sitting.hasty + far * (made.unchanged - seen.unchanged) / (made.unchanged + 0.05))),
    )


def _smoothed_share(part: float, whole: float) -> float:
    return min(0.95, (part + 0.5) / (whole + 10.0))


def _share_of_true(counted: Counter[bool]) -> float:
    return _smoothed_share(counted[True], counted.total())


def _ratio(wanted: float, got: float) -> float:
    return min(2.0, max(0.5, (wanted + 0.5) / (got + 0.5)))
