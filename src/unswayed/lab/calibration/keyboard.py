"""Fits a typist's profile to pairs of clean and typed texts.

Slips are explained and counted by class of word. Then the fitted typist types the same texts, its slips are explained
by the same rules, and the rates are corrected until both counts agree: what the rules misread, they misread twice.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import msgspec

from unswayed.base.edits import apply
from unswayed.base.seeds import Seeds
from unswayed.lab.calibration.typing_counts import Rows, SittingCounts, TypingCounts, count
from unswayed.vary.keyboard._pinyin_typist import PinyinTypist
from unswayed.vary.keyboard.ime import Engine
from unswayed.vary.typists import CLASSES, MARKS, WORD_KINDS, Sitting, TypistProfile

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


def fit_typist(
    clean: Rows, typed: Rows, engine: Engine, sittings: Sequence[int] = (), rounds: int = 7
) -> TypistProfile:
    """The profile under which a typist with this engine makes these slips. A row holds the texts of one example.

    `sittings` numbers the sitting of each row; without it, every hundred rows are one.
    """
    seated = _numbered(sittings or [i // SITTING for i in range(len(clean))])
    seen = count(clean, typed, engine, seated)
    profile = _first(seen)
    for n in range(rounds):
        selves, seeds = [PinyinTypist(profile, engine) for _ in range(_SELVES)], Seeds(n, "calibrate", 1)
        made = []
        for i, row in enumerate(clean):
            k = i % _SELVES
            streams = (seeds.stream(str(i), k, str(field)) for field in range(len(row)))
            typing = zip(row, streams, strict=True)
            made.append([apply(text, selves[k].type(text, rng, seated[i])) for text, rng in typing])
        profile = _corrected(profile, seen, count(clean, made, engine, seated), 1.0 if n < rounds // 2 else _LATE)
    return profile


def _numbered(sittings: Sequence[int]) -> list[int]:
    """The sittings by number from 0. One of less than half the usual number of rows goes with the one before."""
    rows = Counter(sittings)
    number: dict[int, int] = {}
    for name in dict.fromkeys(sittings):
        number[name] = max(0, len(set(number.values())) - (2 * rows[name] < SITTING))
    return [number[name] for name in sittings]


def _first(seen: TypingCounts) -> TypistProfile:
    words = max(1, sum(seen.words.values()))
    mean: dict[str, float] = {kind: seen.total(kind) / words for kind in WORD_KINDS}
    shape: dict[str, list[float]] = {
        kind: [
            (seen.slips[kind, c] + _PRIOR * mean[kind]) / (seen.words[c] + _PRIOR) / max(mean[kind], 1e-9)
            for c in range(CLASSES)
        ]
        for kind in WORD_KINDS
    }
    return TypistProfile(
        length=seen.length,
        memory=_MEMORY,
        words=[seen.words[c] for c in range(CLASSES)],
        shape=shape,
        joined={kind: _share(seen.joined[kind], seen.total(kind)) if kind in _GO_ON else 0.0 for kind in WORD_KINDS},
        others=seen.others,
        other=(seen.other + 1.0) / (seen.others + 300.0),
        pace=0.3,
        whole=_yes(seen.omitted),
        first=_yes(seen.chosen),
        missing=_missing(seen),
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
        lost={m: _drawn(here.lost[m], here.marks[m], [(s.lost[m], s.marks[m]) for s in seen.sittings]) for m in MARKS},
        changed={
            m: _drawn(here.changed[m], here.marks[m], [(s.changed[m], s.marks[m]) for s in seen.sittings])
            for m in MARKS
        },
        added=_drawn(here.added, here.words, [(s.added, s.words) for s in seen.sittings]),
        cut=_drawn(here.cuts, here.texts, [(s.cuts, s.texts) for s in seen.sittings]),
        hasty=0.0,
    )


def _drawn(part: int, whole: int, all_: list[tuple[int, int]]) -> float:
    mean = (sum(n for n, _ in all_) + 0.5) / (sum(of for _, of in all_) + 10.0)
    return min(0.95, (part + _MARKS * mean) / (whole + _MARKS))


def _corrected(profile: TypistProfile, seen: TypingCounts, made: TypingCounts, far: float) -> TypistProfile:
    """The profile moved towards one whose counts, as explained, are those that were seen."""
    joined = {
        kind: min(0.9, share * _ratio(seen.joined[kind] + 1, made.joined[kind] + 1) ** far)
        for kind, share in profile.joined.items()
    }
    return msgspec.structs.replace(
        profile,
        shape={kind: _reshaped(profile, kind, seen, made, far) for kind in WORD_KINDS},
        joined=joined,
        pace=min(1.2, max(0.0, profile.pace + _STEP * far * (seen.spread - made.spread))),
        memory=_remembered(profile.memory, seen, made, far),
        other=min(0.5, profile.other * _ratio(seen.other + 1, made.other + 1) ** far),
        whole=min(0.95, profile.whole * _ratio(_yes(seen.omitted), _yes(made.omitted)) ** far),
        first=min(0.95, profile.first * _ratio(_yes(seen.chosen), _yes(made.chosen)) ** far),
        missing=1 + (profile.missing - 1) * _ratio(_missing(seen) - 1, _missing(made) - 1) ** far,
        sittings=[
            _corrected_sitting(*three, far)
            for three in zip(profile.sittings, seen.sittings, made.sittings, strict=True)
        ],
    )


def _reshaped(profile: TypistProfile, kind: str, seen: TypingCounts, made: TypingCounts, far: float) -> list[float]:
    """How a kind falls on classes of words, moved, and 1 on average."""
    ratio = _ratio(seen.total(kind), made.total(kind))
    moved = [
        likelier * _ratio(seen.slips[kind, c] + 3, made.slips[kind, c] * ratio + 3) ** (0.7 * far)
        for c, likelier in enumerate(profile.shape[kind])
    ]
    mean = sum(m * n for m, n in zip(moved, profile.words, strict=True)) / max(1, sum(profile.words))
    return [min(_LIKELIEST, m / max(mean, 1e-9)) for m in moved]


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


def _remembered(memory: float, seen: TypingCounts, made: TypingCounts, far: float) -> float:
    """More memory where the same words came out differently too often."""
    if min(seen.repeated, made.repeated) < _REPEATED:
        return memory
    much = made.parted / made.repeated / (seen.parted / seen.repeated + 1e-3)
    return min(0.9, max(0.05, memory + far * (much - 1)))


def _missing(counted: TypingCounts) -> float:
    return (sum(counted.missing) + 2.0) / (len(counted.missing) + 1.0)


def _share(part: float, whole: float) -> float:
    return min(0.95, (part + 0.5) / (whole + 10.0))


def _yes(counted: Counter[bool]) -> float:
    return _share(counted[True], counted.total())


def _ratio(wanted: float, got: float) -> float:
    return min(2.0, max(0.5, (wanted + 0.5) / (got + 0.5)))
