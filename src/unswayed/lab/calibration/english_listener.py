"""Fits a profile of `speech/english` to texts that people read aloud and to what a recogniser wrote.

Differences are aligned by words and counted; then the fitted listener hears the same texts, its differences are counted
by the same rules, and the rates are corrected until both counts agree.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import msgspec
from rapidfuzz.distance import Levenshtein

from unswayed.base.edits import apply
from unswayed.base.seeds import Seeds
from unswayed.lab.calibration import EventCounts, cheapest_path, gamma_steps, round_numbers
from unswayed.vary.people import ACCENTS, COMMON_RANK, LISTENER_CLASSES, NUMBER, ListenerProfile, raisable
from unswayed.vary.speech import english
from unswayed.vary.speech._english_lattice import lattice
from unswayed.vary.spoken._speako import CODES, akin

_MAX_ALIGNED = 14  # words of a span beyond which its sounds are not aligned
_NAMES = {code: name for name, code in CODES.items()}
_Right = tuple[int, int, int, int]  # words i to j were heard right and written as words k to m
_ROUNDS = 8
_SHAPE, _LEVEL = 1.8, 0.4  # what the gamma of haste and the level of noise start from
_LEVELS = 1.5  # shape of the gamma by which mishearings differ
_CLASS_WORDS = 30  # words on which a rate is as much its own class's as that of words as common
_MIN_SWAPS = 2  # times that a common word must be written for another
_MAX_STRAYS = 8
_MARKED = 0.01  # share of pauses that a recogniser with marks marks at least


@dataclass(frozen=True, slots=True)
class MisheardSpan:
    """Words that were misheard, and what was written for them; either may be empty."""

    start: int
    said: tuple[english.ReadWord, ...]
    heard: tuple[str, ...]  # in small letters
    first: int  # place of the first word that was written


@dataclass(slots=True)
class TranscriptCounts:
    """What was counted in some texts."""

    texts: int = 0
    right: int = 0  # texts without mishearing
    words: Counter[int] = field(default_factory=Counter)
    wrong: Counter[int] = field(default_factory=Counter)
    places: Counter[int] = field(default_factory=Counter)
    lengths: Counter[int] = field(default_factory=Counter)  # of spans
    alone: Counter[int] = field(default_factory=Counter)  # words misheard alone, by class
    lost: Counter[int] = field(default_factory=Counter)
    swaps: dict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    inflected: int = 0
    strays: Counter[str] = field(default_factory=Counter)
    sounds: Counter[str] = field(default_factory=Counter)
    changes: Counter[str] = field(default_factory=Counter)
    said: int = 0  # words of spans in which something was written for something
    heard: int = 0
    longer: int = 0  # sounds that were written
    apart: float = 0.0  # sounds that differ
    marks: dict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))  # what is written for a pause
    writing: EventCounts = field(default_factory=EventCounts)  # places where something could be written otherwise


def count_transcripts(clean: Sequence[str], heard: Sequence[str]) -> TranscriptCounts:
    """What differs between the texts and what was written for them, aligned by words and counted."""
    counts = TranscriptCounts()
    for before, after in zip(clean, heard, strict=True):
        pieces = english.PIECE.findall(before)
        words = [english.look_up_word(piece) for piece in pieces]
        lows = [english.look_up_word(other).low for other in english.PIECE.findall(after)]
        spans, pairs = align_words(pieces, words, lows)
        counts.texts += 1
        counts.right += not spans
        counts.words.update(word.kind for word in words)
        for span in spans:
            counts.places.update(english.text_place(span.start + k, len(words)) for k in range(len(span.said)))
            if span.said:
                _count_span(counts, span)
            elif len(span.heard) == 1:
                counts.strays[span.heard[0]] += 1
        _count_writing(counts, before, after, words, pairs, spans)
    return counts


def align_words(
    pieces: Sequence[str], words: Sequence[english.ReadWord], heard: Sequence[str]
) -> tuple[list[MisheardSpan], list[_Right]]:
    """The misheard spans, and the words that were heard right, with what was written for them."""
    otherwise = [(english.rewrite_word(p, word.low) or ("", ""))[1] for p, word in zip(pieces, words, strict=True)]

    def steps(i: int, j: int) -> list[tuple[float, int, int, bool]]:
        """How words before i may have become words before j, with a mark for what was misheard."""
        ways = [(0.9, 1, 0, True)] if i else []
        if j:
            ways.append((0.9, 0, 1, True))
        if i and j:
            low, other = words[i - 1].low, heard[j - 1]
            if low == other or otherwise[i - 1] == other:
                ways.append((0.0 if low == other else 0.1, 1, 1, False))
            else:
                ways.append((0.8 + 0.6 * Levenshtein.normalized_distance(low, other), 1, 1, True))
            if i > 1 and english.CONTRACTED.get((words[i - 2].low, low)) == other:
                ways.append((0.1, 2, 1, False))
            if j > 1 and otherwise[i - 1] == f"{heard[j - 2]} {other}":
                ways.append((0.1, 1, 2, False))
        return ways

    spans: list[MisheardSpan] = []
    right: list[_Right] = []
    at = None
    end, last = len(words), len(heard)
    for i, j, k, m, wrong in [*cheapest_path(end, last, steps), (end, end, last, last, False)]:
        if wrong and at is None:
            at = (i, k)
        elif not wrong:
            if at is not None:
                spans.append(MisheardSpan(at[0], tuple(words[at[0] : i]), tuple(heard[at[1] : k]), at[1]))
                at = None
            if j > i:
                right.append((i, j, k, m))
    return spans, right


def _count_span(counts: TranscriptCounts, span: MisheardSpan) -> None:
    """Words that were misheard, by class and sound."""
    counts.wrong.update(word.kind for word in span.said)
    counts.lengths[len(span.said)] += 1
    if len(span.said) == 1:
        word = span.said[0]
        common = 0 <= word.rank < COMMON_RANK
        counts.alone[word.kind] += 1
        counts.lost[word.kind] += not span.heard
        if len(span.heard) == 1:
            other = span.heard[0]
            if common and lattice().ranks.get(other, COMMON_RANK) < COMMON_RANK:
                counts.swaps[word.low][other] += 1
            counts.inflected += not common and other in english.other_forms(word.low)
    said = [_NAMES[p] for word in span.said for p in word.sound]
    heard = [_NAMES[p] for word in span.heard for p in english.look_up_word(word).sound]
    if not said or not heard or len(span.said) > _MAX_ALIGNED:
        return
    counts.said += len(span.said)
    counts.heard += len(span.heard)
    counts.longer += len(heard)
    counts.sounds.update(said)

    def steps(i: int, j: int) -> list[tuple[float, int, int, bool]]:
        ways = [(0.8, 1, 0, False)] if i else []
        ways += [(0.8, 0, 1, False)] if j else []
        if i and j:
            one, two = said[i - 1], heard[j - 1]
            ways.append((0.0 if one == two else 0.6 if akin(one, two) else 1.3, 1, 1, False))
        return ways

    for i, j, k, m, _ in cheapest_path(len(said), len(heard), steps):
        old, new = "".join(said[i:j]), "".join(heard[k:m])
        if old != new:
            counts.changes[f"{old}>{new}"] += 1
            counts.apart += 1


def _count_writing(
    counts: TranscriptCounts, before: str, after: str, words: Sequence[english.ReadWord], pairs: Sequence[_Right],
    spans: Sequence[MisheardSpan],
) -> None:  # fmt: skip
    """How words that were heard right are written, and what is written for the pauses between them."""
    places, others = ([m.span() for m in english.PIECE.finditer(text)] for text in (before, after))
    gaps = [english.find_mark(after[one[1] : two[0]]) for one, two in pairwise(others)]  # marks before words
    opening = [True, *(mark in (*".?!",) for mark in gaps)]
    note, ranks = counts.writing.add, lattice().ranks
    for span in spans:
        for k, low in enumerate(span.heard, span.first):
            if not opening[k] and raisable(low, ranks.get(low, 0)) and low not in lattice().names:
                note("new_raised", after[slice(*others[k])] != low)
    for i, j, k, m in pairs:
        word, piece, other = words[i], before[slice(*places[i])], after[slice(*others[k])]
        if i + 1 < len(words) and (word.low, words[i + 1].low) in english.CONTRACTED:
            note("contracted", j - i == 2)
        way = english.rewrite_word(piece, word.low)
        if way:
            note(way[0], word.low != other.lower())
        elif m - k == j - i == 1 and not opening[k]:
            lowered = other == other.lower()
            if english.is_initials(piece):
                note("initials_lowered", lowered)
            elif piece == word.low:
                if raisable(piece, word.rank):
                    note("raised", not lowered)
            elif i:
                note("name_lowered" if word.name else "common_lowered", lowered)
    for (_, j, _, m), (i, _, k, _) in pairwise(pairs):
        if i == j and k == m:
            gap = before[places[j - 1][1] : places[j][0]]
            if gap == "-":
                note("hyphen", after[others[m - 1][1] : others[m][0]] == "-")
            else:
                counts.marks[english.find_mark(gap)][gaps[m - 1]] += 1
                if opening[m]:
                    note("sentence", after[others[m][0]].isupper())
    if pairs and pairs[-1][1] == len(places):
        end = english.find_mark(after[others[-1][1] :])
        counts.marks["end" + english.find_mark(before[places[-1][1] :])][end] += 1
    if pairs and not pairs[0][2] and not words[0].name:
        note("sentence", after[others[0][0]].isupper() and before[slice(*places[0])] != "I")


def fit_listener(clean: Sequence[str], heard: Sequence[str], source: str = "") -> ListenerProfile:
    """The profile of a recogniser that wrote `heard` for `clean`."""
    real = count_transcripts(clean, heard)
    often = {word: [pair for pair in news.items() if pair[1] >= _MIN_SWAPS] for word, news in real.swaps.items()}
    swaps = {word: {new: float(n) for new, n in pairs} for word, pairs in sorted(often.items()) if pairs}
    alone = {kind: n - real.lost[kind] for kind, n in real.alone.items()}  # misheard alone and not lost, by class
    common = sum(n for kind, n in alone.items() if kind < 4)
    other = sum(n for kind, n in alone.items() if 4 <= kind < NUMBER)
    strays = dict(real.strays.most_common(_MAX_STRAYS)) or {"the": 1}
    # Shares of what is written for each kind of pause; none for a recogniser that writes hardly any marks.
    pauses, unmarked = (sum(n[""] if k else n.total() for n in real.marks.values()) for k in (0, 1))
    marks = {
        kind: {mark: n / seen.total() for mark, n in sorted(seen.items()) if n > 1} or {"": 1.0}
        for kind, seen in sorted(real.marks.items())
    }
    profile = ListenerProfile(  # rates as counted, before they are corrected
        source=source,
        texts=real.texts,
        misheard=_rates_by_class(real.wrong, real.words),
        places=[1.0, 1.0, 1.0],
        lost=_rates_by_class(real.lost, real.alone),
        spread=_spread_shares(real.lengths),
        haste=gamma_steps(_SHAPE),
        levels=[_LEVEL * step for step in gamma_steps(_LEVELS)],
        each=20.0,
        heard={change: n / max(1, real.sounds[change.split(">")[0]] or real.sounds.total())
               for change, n in sorted(real.changes.items()) if n >= 2},
        swaps=swaps,
        swapped=min(0.9, sum(sum(news.values()) for news in swaps.values()) / max(1, common)),
        inflected=min(0.8, real.inflected / max(1, other)),
        stray=real.strays.total() / max(1, real.words.total()),
        strays={word: float(n) for word, n in sorted(strays.items())},
        writes={kind: real.writing.share(kind, 1, 0.2) for kind in sorted(real.writing.places)},
        marks=marks if pauses - unmarked >= _MARKED * pauses else {},
    )  # fmt: skip
    shape, level = _SHAPE, _LEVEL
    for turn in range(_ROUNDS):
        made = count_transcripts(clean, simulate_transcripts(profile, clean, turn))
        rights = [(counts.right + 1) / (counts.texts + 2) for counts in (made, real)]
        shape = min(6.0, max(0.8, shape * rights[0] / rights[1]))
        aparts = [counts.apart / max(1, counts.sounds.total()) for counts in (real, made)]
        level = min(5.0, level * _bounded_ratio(*aparts))
        levels = [level * step for step in gamma_steps(_LEVELS)]
        profile = _correct_profile(profile, real, made)
        profile = msgspec.structs.replace(profile, haste=gamma_steps(shape), levels=levels)
    return msgspec.convert(round_numbers(msgspec.to_builtins(profile)), ListenerProfile)


def simulate_transcripts(profile: ListenerProfile, clean: Sequence[str], seed: int) -> list[str]:
    """What the listener hears, each text from a speaker of another group in turn."""
    seeds = Seeds(seed, "calibrate/listener", 1)
    listeners = [english.EnglishSpeaker(profile, accent) for accent in ACCENTS]
    made = []
    for k, text in enumerate(clean):
        edits = listeners[k % len(listeners)].say(text, [], seeds.stream(str(k), k % len(listeners)))
        made.append(apply(text, edits) if edits else text)
    return made


def _rates_by_class(part: Counter[int], whole: Counter[int]) -> list[float]:
    """Rates by class, drawn to that of words as common where little was seen."""
    overall = part.total() / max(1, whole.total())
    found = []
    for kind in range(LISTENER_CLASSES):
        twin = kind ^ 1 if kind < NUMBER else kind
        both = (part[kind] + part[twin] + 5 * overall) / (whole[kind] + whole[twin] + 5)
        found.append((part[kind] + _CLASS_WORDS * both) / (whole[kind] + _CLASS_WORDS))
    return found


def _spread_shares(lengths: Counter[int]) -> list[float]:
    """Of the spans of at least 1, 2 and 3 words, the shares that are longer."""
    at_least = [sum(n for length, n in lengths.items() if length >= size) for size in (1, 2, 3, 4)]
    return [longer / max(1, whole) for whole, longer in pairwise(at_least)]


def _correct_profile(profile: ListenerProfile, real: TranscriptCounts, made: TranscriptCounts) -> ListenerProfile:
    ratio, both = _bounded_ratio, (real, made)
    wrong = [_rates_by_class(counts.wrong, counts.words) for counts in both]
    lost = [_rates_by_class(counts.lost, counts.alone) for counts in both]
    spread = [_spread_shares(counts.lengths) for counts in both]
    rates = [[counts.places[k] / max(1, counts.wrong.total()) for k in range(3)] for counts in both]
    places = [profile.places[k] * ratio(rates[0][k], rates[1][k]) for k in range(3)]
    longer = ratio(*(counts.longer / counts.sounds.total() for counts in both))

    def corrected(rates: list[float], pairs: list[list[float]]) -> list[float]:
        return [min(0.9, rate * ratio(aim, got)) for rate, aim, got in zip(rates, *pairs, strict=True)]

    return msgspec.structs.replace(
        profile,
        misheard=corrected(profile.misheard, wrong),
        places=[rate / places[2] for rate in places],
        lost=corrected(profile.lost, lost),
        spread=corrected(profile.spread, spread),
        # more sounds from nowhere and fewer that are lost, or the other way round
        heard={change: rate * (longer**2 if change[0] == ">" else longer**-2 if change[-1] == ">" else 1.0)
               for change, rate in profile.heard.items()},
        each=min(60.0, max(0.0, profile.each + 20 * (made.heard / max(1, made.said) - real.heard / max(1, real.said)))),
        inflected=min(0.8, profile.inflected * ratio(real.inflected + 1, made.inflected + 1)),
        stray=profile.stray * ratio(real.strays.total() + 1, made.strays.total() + 1),
    )  # fmt: skip


def _bounded_ratio(aim: float, got: float) -> float:
    return min(1.6, max(0.6, (aim + 1e-3) / (got + 1e-3)))
