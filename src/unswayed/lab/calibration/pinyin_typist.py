"""Fits a typist of pinyin to pairs of clean and typed texts.

Slips are explained and counted by class of word. Then the fitted typist types the same texts, its slips are explained
by the same rules, and the rates are corrected until both counts agree: what the rules misread, they misread twice.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import combinations

import msgspec

from unswayed.base.edits import apply
from unswayed.base.seeds import Seeds
from unswayed.lab.calibration import EventCounts
from unswayed.vary import people
from unswayed.vary.chinese import han, lexicon
from unswayed.vary.chinese_slips import Slip, slips
from unswayed.vary.keyboard.ime import PinyinEngine
from unswayed.vary.keyboard.pinyin import PinyinTypist

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


class SittingCounts(EventCounts):
    """What was seen in the texts of one sitting: marks that were lost, changed or added, and ends not typed."""

    def __init__(self) -> None:
        super().__init__()
        self.rows = 0
        self.sizes: Counter[str] = Counter()  # characters that slips replaced or put, by kind
        self.numbers: list[tuple[int, int]] = []  # characters and slips of each text

    @property
    def unchanged(self) -> float:
        """The share of the texts without a slip."""
        return sum(n == 0 for _, n in self.numbers) / max(1, len(self.numbers))


class TypingCounts(EventCounts):
    """What was seen in the pairs of one person.

    The events are slips over several words, by kind; omissions of whole words and choices of the first on the list,
    among all such slips; wrong digits and letters; and words that came out differently in one example.
    """

    def __init__(self, sittings: int) -> None:
        super().__init__()
        self.sittings = [SittingCounts() for _ in range(sittings)]
        self.words: Counter[int] = Counter()  # by class
        self.slips: Counter[tuple[str, int]] = Counter()  # by kind and class of the first word
        self.missing: list[int] = []  # characters left out at the end

    def total(self, kind: str) -> int:
        """The slips of a kind, in words of all classes."""
        return sum(self.slips[kind, c] for c in range(people.TYPED_CLASSES))

    def smoothed(self, name: str) -> float:
        """The share of the places where an event was, drawn to a small one."""
        return min(0.95, self.share(name, 10.0, 0.05))

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


def count_slips(clean: Rows, typed: Rows, engine: PinyinEngine, sittings: Sequence[int] = ()) -> TypingCounts:
    """What differs between the texts and what was typed, explained and counted."""
    seated = sittings or [0] * len(clean)
    seen = TypingCounts(max(seated, default=0) + 1)
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
            for one, two in combinations(ways, 2):
                seen.add("parted", one != two)
    return seen


def _chinese_words(text: str) -> Iterator[tuple[int, str]]:
    """The Chinese words of a text, and where they stand."""
    for run in _HAN.finditer(text):
        at = run.start()
        for word in lexicon().segment(run.group()):
            yield at, word
            at += len(word)


def _count_text(seen: TypingCounts, here: SittingCounts, text: str, found: list[Slip], engine: PinyinEngine) -> None:
    here.numbers.append((len(text), len(found)))
    starts: dict[int, tuple[int, int]] = {}  # place of each word → its length and class
    for at, word in _chinese_words(text):
        syllables = lexicon().reading(word)
        if syllables:
            c = people.typed_class(word, engine.rank(word, syllables))
            starts[at] = len(word), c
            seen.words[c] += 1
    here.places["added"] += len(starts)
    for at, character in enumerate(text):
        if not han(character) and character.isalnum():
            seen.places["other"] += 1
        elif not han(character):
            here.places.update(f"{kind}/{people.typed_mark(text, at)}" for kind in ("mark_lost", "mark_changed"))
    end = len(text)  # where a text ends whose last characters were left out; more than a mark must be missing
    for slip in reversed(found):
        if slip.end < end or slip.new:
            break
        end = slip.start
    missing = sum(c.isalnum() for c in text[end:])
    here.add("cut", missing > 0)
    if missing:
        seen.missing.append(missing)
    for slip in found:
        if missing and slip.end > end:
            break
        old = text[slip.start : slip.end]
        if slip.kind == "mark_added":
            here.seen["added"] += 1
        elif slip.kind in ("mark_lost", "mark_changed"):
            here.seen.update(f"{slip.kind}/{people.typed_mark(text, at)}" for at in range(slip.start, slip.end))
        elif slip.kind == "other_text":
            seen.seen["other"] += 1
        elif starts:
            length, c = starts[max((at for at in starts if at <= slip.start), default=min(starts))]
            seen.slips[slip.kind, c] += 1
            here.sizes[slip.kind] += max(len(old), len(slip.new))
            seen.add(f"joined/{slip.kind}", any(slip.start < at < slip.end for at in starts))
            if slip.kind == "omitted" and length > 1:
                seen.add("whole", slip.end - slip.start >= length)
            if slip.kind == "select_full" and (syllables := lexicon().reading(old)):
                offered = [c.text for c in engine.candidates("".join(syllables), 12)]
                offered = [other for other in offered if other != old and len(other) == len(old)]
                if slip.new in offered:
                    seen.add("first", slip.new == offered[0])


def fit_pinyin_typist(
    clean: Rows, typed: Rows, engine: PinyinEngine, sittings: Sequence[int] = (), rounds: int = 7
) -> people.TypistProfile:
    """The profile under which a typist with this engine makes these slips. A row holds the texts of one example.

    `sittings` numbers the sitting of each row; without it, every hundred rows are one.
    """
    named = sittings or [i // SITTING for i in range(len(clean))]
    rows, number = Counter(named), dict[int, int]()
    for name in dict.fromkeys(named):  # one of less than half the usual number of rows goes with the one before
        number[name] = max(0, len(set(number.values())) - (2 * rows[name] < SITTING))
    seated = [number[name] for name in named]
    seen = count_slips(clean, typed, engine, seated)
    words, classes = max(1, sum(seen.words.values())), range(people.TYPED_CLASSES)
    mean: dict[str, float] = {kind: seen.total(kind) / words for kind in people.WORD_KINDS}
    shape: dict[str, list[float]] = {}
    for kind, rate in mean.items():
        shares = [(seen.slips[kind, c] + _PRIOR * rate) / (seen.words[c] + _PRIOR) for c in classes]
        shape[kind] = [share / max(rate, 1e-9) for share in shares]
    characters = [size for s in seen.sittings for size, _ in s.numbers]
    sizes = {kind: max(1, sum(s.sizes[kind] for s in seen.sittings)) for kind in mean}

    def drawn(here: SittingCounts, name: str) -> float:
        """A sitting's rate, drawn to the person's by as much as it rests on few words or marks."""
        part, whole = sum(s.seen[name] for s in seen.sittings), sum(s.places[name] for s in seen.sittings)
        rate = (part + 0.5) / (whole + 10.0)
        return min(0.95, (here.seen[name] + _MARKS * rate) / (here.places[name] + _MARKS))

    first = [
        people.Sitting(
            rows=here.rows,
            rates={
                kind: (here.sizes[kind] * seen.total(kind) / sizes[kind] + _USUAL * rate)
                / (here.places["added"] + _USUAL)
                for kind, rate in mean.items()
            },
            lost={m: drawn(here, f"mark_lost/{m}") for m in people.TYPED_MARKS},
            changed={m: drawn(here, f"mark_changed/{m}") for m in people.TYPED_MARKS},
            added=drawn(here, "added"),
            cut=drawn(here, "cut"),
            hasty=0.0,
        )
        for here in seen.sittings
    ]
    profile = people.TypistProfile(  # as counted, before it is corrected
        length=sum(characters) / max(1, len(characters)),
        memory=_MEMORY,
        words=[seen.words[c] for c in classes],
        shape=shape,
        joined={kind: seen.smoothed(f"joined/{kind}") if kind in _GO_ON else 0.0 for kind in mean},
        others=seen.places["other"],
        other=(seen.seen["other"] + 1.0) / (seen.places["other"] + 300.0),
        pace=0.3,
        whole=seen.smoothed("whole"),
        first=seen.smoothed("first"),
        missing=seen.gap,
        sittings=first,
    )
    for n in range(rounds):
        selves, seeds = [PinyinTypist(profile, engine) for _ in range(_SELVES)], Seeds(n, "calibrate", 1)
        made = []
        for i, row in enumerate(clean):
            k = i % _SELVES
            streams = (seeds.stream(str(i), k, str(field)) for field in range(len(row)))
            typing = zip(row, streams, strict=True)
            made.append([apply(text, selves[k].type(text, rng, seated[i])) for text, rng in typing])
        again = count_slips(clean, made, engine, seated)
        profile = _correct_profile(profile, seen, again, 1.0 if n < rounds // 2 else _LATE)
    return profile


def _correct_profile(
    profile: people.TypistProfile, seen: TypingCounts, made: TypingCounts, far: float
) -> people.TypistProfile:
    """The profile moved towards one whose counts, as explained, are those that were seen."""
    shape: dict[str, list[float]] = {}  # how each kind falls on classes of words, moved, and 1 on average
    for kind in people.WORD_KINDS:
        ratio = _bounded_ratio(seen.total(kind), made.total(kind))
        moved = [
            likelier * _bounded_ratio(seen.slips[kind, c] + 3, made.slips[kind, c] * ratio + 3) ** (0.7 * far)
            for c, likelier in enumerate(profile.shape[kind])
        ]
        mean = sum(m * n for m, n in zip(moved, profile.words, strict=True)) / max(1, sum(profile.words))
        shape[kind] = [min(_LIKELIEST, m / max(mean, 1e-9)) for m in moved]
    memory = profile.memory
    if min(seen.places["parted"], made.places["parted"]) >= _REPEATED:
        # more where the same words came out differently too often
        much = made.share("parted") / (seen.share("parted") + 1e-3)
        memory = min(0.9, max(0.05, memory + far * (much - 1)))

    def corrected(
        rate: float, name: str, both: tuple[EventCounts, EventCounts] = (seen, made), most: float = 0.95
    ) -> float:
        return float(min(most, rate * _bounded_ratio(both[0].seen[name] + 1, both[1].seen[name] + 1) ** far))

    sittings = []
    for sitting, wanted, got in zip(profile.sittings, seen.sittings, made.sittings, strict=True):
        both, hasty = (wanted, got), (got.unchanged - wanted.unchanged) / (got.unchanged + 0.05)
        new = msgspec.structs.replace(
            sitting,
            rates={
                kind: rate * _bounded_ratio(wanted.sizes[kind] + _SMALL, got.sizes[kind] + _SMALL) ** far
                for kind, rate in sitting.rates.items()
            },
            lost={mark: corrected(rate, f"mark_lost/{mark}", both) for mark, rate in sitting.lost.items()},
            changed={mark: corrected(rate, f"mark_changed/{mark}", both) for mark, rate in sitting.changed.items()},
            added=corrected(sitting.added, "added", both, 0.2),
            cut=corrected(sitting.cut, "cut", both),
            hasty=min(0.95, max(0.0, sitting.hasty + far * hasty)),
        )
        sittings.append(new)
    return msgspec.structs.replace(
        profile,
        shape=shape,
        joined={kind: corrected(share, f"joined/{kind}", most=0.9) for kind, share in profile.joined.items()},
        pace=min(1.2, max(0.0, profile.pace + _STEP * far * (seen.spread - made.spread))),
        memory=memory,
        other=corrected(profile.other, "other", most=0.5),
        whole=min(0.95, profile.whole * _bounded_ratio(seen.smoothed("whole"), made.smoothed("whole")) ** far),
        first=min(0.95, profile.first * _bounded_ratio(seen.smoothed("first"), made.smoothed("first")) ** far),
        missing=1 + (profile.missing - 1) * _bounded_ratio(seen.gap - 1, made.gap - 1) ** far,
        sittings=sittings,
    )


def _bounded_ratio(wanted: float, got: float) -> float:
    return min(2.0, max(0.5, (wanted + 0.5) / (got + 0.5)))
