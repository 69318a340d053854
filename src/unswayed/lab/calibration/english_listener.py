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
from unswayed.lab.calibration.typist import gamma_steps
from unswayed.vary.people import ACCENTS, COMMON_RANK, LISTENER_CLASSES, NUMBER, ListenerProfile, raisable
from unswayed.vary.speech._english_lattice import lattice
from unswayed.vary.speech.english import (
    CONTRACTED,
    PIECE,
    EnglishSpeaker,
    ReadWord,
    find_mark,
    is_initials,
    look_up_word,
    other_forms,
    rewrite_word,
    text_place,
)
from unswayed.vary.spoken._phones import CODES, akin

_MAX_ALIGNED = 14  # words of a span beyond which its sounds are not align_words
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
    said: tuple[ReadWord, ...]
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
    written: dict[str, list[int]] = field(default_factory=lambda: defaultdict(lambda: [0, 0]))  # kind → done, possible

    def note(self, kind: str, done: bool) -> None:
        """Counts a place where something could be written otherwise, and whether it was."""
        self.written[kind][0] += done
        self.written[kind][1] += 1


def count_transcripts(clean: Sequence[str], heard: Sequence[str]) -> TranscriptCounts:
    """What differs between the texts and what was written for them, align_words by words and counted."""
    counts = TranscriptCounts()
    for before, after in zip(clean, heard, strict=True):
        pieces, others = PIECE.findall(before), PIECE.findall(after)
        words, lows = [look_up_word(piece) for piece in pieces], [look_up_word(other).low for other in others]
        spans, pairs = align_words(pieces, words, lows)
        counts.texts += 1
        counts.right += not spans
        counts.words.update(word.kind for word in words)
        for span in spans:
            _count_span(counts, span)
            counts.places.update(text_place(span.start + k, len(words)) for k in range(len(span.said)))
        _count_writing(counts, pieces, words, others, _open_sentences(after), pairs, spans)
        _count_gaps(counts, before, after, pairs)
    return counts


def align_words(
    pieces: Sequence[str], words: Sequence[ReadWord], heard: Sequence[str]
) -> tuple[list[MisheardSpan], list[_Right]]:
    """The misheard spans, and the words that were heard right, with what was written for them."""
    steps = _alignment_steps(pieces, words, heard)
    spans: list[MisheardSpan] = []
    right: list[_Right] = []
    at = None
    for i, j, k, m, wrong in [*steps, (len(words), len(words), len(heard), len(heard), False)]:
        if wrong and at is None:
            at = (i, k)
        elif not wrong:
            if at is not None:
                spans.append(MisheardSpan(at[0], tuple(words[at[0] : i]), tuple(heard[at[1] : k]), at[1]))
                at = None
            if j > i:
                right.append((i, j, k, m))
    return spans, right


def _alignment_steps(
    pieces: Sequence[str], words: Sequence[ReadWord], heard: Sequence[str]
) -> list[tuple[int, int, int, int, bool]]:
    """The cheapest way from one text to the other: words i to j became k to m, rightly or wrongly."""
    n, m = len(words), len(heard)
    cost = [[0.0] * (m + 1) for _ in range(n + 1)]
    back: list[list[tuple[int, int, bool]]] = [[(0, 0, False)] * (m + 1) for _ in range(n + 1)]
    for i in range(n + 1):
        for j in range(m + 1):
            ways = []
            if i and j:
                low, other = words[i - 1].low, heard[j - 1]
                price, wrong = 0.8 + 0.6 * Levenshtein.normalized_distance(low, other), True
                if low == other or _otherwise(pieces[i - 1], words[i - 1]) == other:
                    price, wrong = 0.0 if low == other else 0.1, False
                ways.append((cost[i - 1][j - 1] + price, (1, 1, wrong)))
            if i:
                ways.append((cost[i - 1][j] + 0.9, (1, 0, True)))
            if j:
                ways.append((cost[i][j - 1] + 0.9, (0, 1, True)))
            if i > 1 and j and CONTRACTED.get((words[i - 2].low, words[i - 1].low)) == heard[j - 1]:
                ways.append((cost[i - 2][j - 1] + 0.1, (2, 1, False)))
            if i and j > 1 and _otherwise(pieces[i - 1], words[i - 1]) == f"{heard[j - 2]} {heard[j - 1]}":
                ways.append((cost[i - 1][j - 2] + 0.1, (1, 2, False)))
            if ways:
                cost[i][j], back[i][j] = min(ways)
    steps, i, j = [], n, m
    while i or j:
        di, dj, wrong = back[i][j]
        steps.append((i - di, i, j - dj, j, wrong))
        i, j = i - di, j - dj
    return steps[::-1]


def _otherwise(piece: str, word: ReadWord) -> str:
    other = rewrite_word(piece, word.low)
    return other[1] if other else ""


def _count_span(counts: TranscriptCounts, span: MisheardSpan) -> None:
    if not span.said:
        if len(span.heard) == 1:
            counts.strays[span.heard[0]] += 1
        return
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
            counts.inflected += not common and other in other_forms(word.low)
    said = "".join([word.sound for word in span.said])
    heard = "".join([look_up_word(word).sound for word in span.heard])
    if not said or not heard or len(span.said) > _MAX_ALIGNED:
        return
    counts.said += len(span.said)
    counts.heard += len(span.heard)
    counts.longer += len(heard)
    counts.sounds.update(_NAMES[p] for p in said)
    for old, new in _align_sounds(said, heard):
        if old != new:
            counts.changes[f"{old}>{new}"] += 1
            counts.apart += 1


def _align_sounds(said: str, heard: str) -> list[tuple[str, str]]:
    a, b = [_NAMES[p] for p in said], [_NAMES[p] for p in heard]
    cost = [[0.0] * (len(b) + 1) for _ in range(len(a) + 1)]
    back = [[(0, 0)] * (len(b) + 1) for _ in range(len(a) + 1)]
    for i in range(len(a) + 1):
        for j in range(len(b) + 1):
            ways = [(cost[i - 1][j] + 0.8, (1, 0))] if i else []
            ways += [(cost[i][j - 1] + 0.8, (0, 1))] if j else []
            if i and j:
                one, two = a[i - 1], b[j - 1]
                ways.append((cost[i - 1][j - 1] + (0 if one == two else 0.6 if akin(one, two) else 1.3), (1, 1)))
            if ways:
                cost[i][j], back[i][j] = min(ways)
    found, i, j = [], len(a), len(b)
    while i or j:
        di, dj = back[i][j]
        found.append((a[i - 1] if di else "", b[j - 1] if dj else ""))
        i, j = i - di, j - dj
    return found


def _count_writing(
    counts: TranscriptCounts, pieces: Sequence[str], words: Sequence[ReadWord], others: Sequence[str],
    opening: Sequence[bool], pairs: Sequence[_Right], spans: Sequence[MisheardSpan],
) -> None:  # fmt: skip
    note = counts.note
    for span in spans:
        for k, low in enumerate(span.heard, span.first):
            if not opening[k] and raisable(low, lattice().ranks.get(low, 0)) and low not in lattice().names:
                note("new_raised", others[k] != low)
    for i, j, k, m in pairs:
        word, piece, other = words[i], pieces[i], others[k]
        if i + 1 < len(words) and (word.low, words[i + 1].low) in CONTRACTED:
            note("contracted", j - i == 2)
        way = rewrite_word(piece, word.low)
        if way:
            note(way[0], word.low != other.lower())
        elif m - k == j - i == 1 and not opening[k]:
            lowered = other == other.lower()
            if is_initials(piece):
                note("initials_lowered", lowered)
            elif piece == word.low:
                if raisable(piece, word.rank):
                    note("raised", not lowered)
            elif i:
                note("name_lowered" if word.name else "common_lowered", lowered)


def _open_sentences(text: str) -> list[bool]:
    """For each word, whether it opens a sentence."""
    places = [m.span() for m in PIECE.finditer(text)]
    return [not k or find_mark(text[places[k - 1][1] : start]) in (*".?!",) for k, (start, _) in enumerate(places)]


def _count_gaps(counts: TranscriptCounts, before: str, after: str, pairs: Sequence[_Right]) -> None:
    places, others = ([m.span() for m in PIECE.finditer(text)] for text in (before, after))
    for (_, j, _, m), (i, _, k, _) in pairwise(pairs):
        if i == j and k == m:
            gap, new = before[places[j - 1][1] : places[j][0]], after[others[m - 1][1] : others[m][0]]
            if gap == "-":
                counts.note("hyphen", new == "-")
            else:
                counts.marks[find_mark(gap)][find_mark(new)] += 1
                if find_mark(new) in (*".?!",):
                    counts.note("sentence", after[others[m][0]].isupper())
    if pairs and pairs[-1][1] == len(places):
        counts.marks["end" + find_mark(before[places[-1][1] :])][find_mark(after[others[-1][1] :])] += 1
    if pairs and not pairs[0][2] and not look_up_word(before[slice(*places[0])]).name:
        counts.note("sentence", after[others[0][0]].isupper() and before[slice(*places[0])] != "I")


def fit_listener(clean: Sequence[str], heard: Sequence[str], source: str = "") -> ListenerProfile:
    """The profile of a recogniser that wrote `heard` for `clean`."""
    real = count_transcripts(clean, heard)
    profile, shape, level = _first_profile(real, source), _SHAPE, _LEVEL
    for turn in range(_ROUNDS):
        made = count_transcripts(clean, simulate_transcripts(profile, clean, turn))
        shape = min(
            6.0, max(0.8, shape * ((made.right + 1) / (made.texts + 2)) / ((real.right + 1) / (real.texts + 2)))
        )
        level = min(
            5.0, level * _bounded_ratio(*(counts.apart / max(1, counts.sounds.total()) for counts in (real, made)))
        )
        levels = [level * step for step in gamma_steps(_LEVELS)]
        profile = _correct_profile(profile, real, made)
        profile = msgspec.structs.replace(profile, haste=gamma_steps(shape), levels=levels)

    def rounded(value: object) -> object:
        if isinstance(value, float):
            return float(f"{value:.4g}")
        if isinstance(value, dict):
            return {name: rounded(inner) for name, inner in value.items()}
        return [rounded(inner) for inner in value] if isinstance(value, list) else value

    return msgspec.convert(rounded(msgspec.to_builtins(profile)), ListenerProfile)


def simulate_transcripts(profile: ListenerProfile, clean: Sequence[str], seed: int) -> list[str]:
    """What the listener hears, each text from a speaker of another group in turn."""
    seeds = Seeds(seed, "calibrate/listener", 1)
    listeners = [EnglishSpeaker(profile, accent) for accent in ACCENTS]
    made = []
    for k, text in enumerate(clean):
        edits = listeners[k % len(listeners)].say(text, [], seeds.stream(str(k), k % len(listeners)))
        made.append(apply(text, edits) if edits else text)
    return made


def _first_profile(real: TranscriptCounts, source: str) -> ListenerProfile:
    """Rates as count_transcripts, before they are corrected."""
    total = max(1, real.words.total())
    swaps = {
        word: {new: float(n) for new, n in news.items() if n >= _MIN_SWAPS} for word, news in sorted(real.swaps.items())
    }  # fmt: skip
    swaps = {word: news for word, news in swaps.items() if news}
    alone = {kind: n - real.lost[kind] for kind, n in real.alone.items()}  # misheard alone and not lost, by class
    common = sum(n for kind, n in alone.items() if kind < 4)
    other = sum(n for kind, n in alone.items() if 4 <= kind < NUMBER)
    strays = dict(real.strays.most_common(_MAX_STRAYS)) or {"the": 1}
    return ListenerProfile(
        source=source,
        texts=real.texts,
        misheard=_rates_by_class(real.wrong, real.words),
        places=[1.0, 1.0, 1.0],
        lost=_rates_by_class(real.lost, real.alone),
        spread=[_share_longer(real.lengths, size) for size in (1, 2, 3)],
        haste=gamma_steps(_SHAPE),
        levels=[_LEVEL * step for step in gamma_steps(_LEVELS)],
        each=20.0,
        heard={change: n / max(1, real.sounds[change.split(">")[0]] or real.sounds.total())
               for change, n in sorted(real.changes.items()) if n >= 2},
        swaps=swaps,
        swapped=min(0.9, sum(sum(news.values()) for news in swaps.values()) / max(1, common)),
        inflected=min(0.8, real.inflected / max(1, other)),
        stray=real.strays.total() / total,
        strays={word: float(n) for word, n in sorted(strays.items())},
        writes={kind: (done + 0.2) / (possible + 1) for kind, (done, possible) in sorted(real.written.items())},
        marks=_mark_shares(real.marks),
    )  # fmt: skip


def _mark_shares(count_transcripts: dict[str, Counter[str]]) -> dict[str, dict[str, float]]:
    """Shares of what is written for each kind of pause; none for a recogniser that writes hardly any marks."""
    total, none = (sum(n[""] if k else n.total() for n in count_transcripts.values()) for k in (0, 1))
    if total - none < _MARKED * total:
        return {}
    return {
        kind: {mark: n / seen.total() for mark, n in sorted(seen.items()) if n > 1} or {"": 1.0}
        for kind, seen in sorted(count_transcripts.items())
    }


def _rates_by_class(part: Counter[int], whole: Counter[int]) -> list[float]:
    """Rates by class, drawn to that of words as common where little was seen."""
    overall = part.total() / max(1, whole.total())
    found = []
    for kind in range(LISTENER_CLASSES):
        twin = kind ^ 1 if kind < NUMBER else kind
        both = (part[kind] + part[twin] + 5 * overall) / (whole[kind] + whole[twin] + 5)
        found.append((part[kind] + _CLASS_WORDS * both) / (whole[kind] + _CLASS_WORDS))
    return found


def _share_longer(lengths: Counter[int], size: int) -> float:
    at_least = sum(n for length, n in lengths.items() if length >= size)
    return sum(n for length, n in lengths.items() if length > size) / max(1, at_least)


def _correct_profile(profile: ListenerProfile, real: TranscriptCounts, made: TranscriptCounts) -> ListenerProfile:
    aim, got = _rates_by_class(real.wrong, real.words), _rates_by_class(made.wrong, made.words)
    spread = [
        min(0.9, rate * _bounded_ratio(_share_longer(real.lengths, k), _share_longer(made.lengths, k)))
        for k, rate in enumerate(profile.spread, 1)
    ]
    rates = [[counts.places[k] / max(1, counts.wrong.total()) for k in range(3)] for counts in (real, made)]
    places = [profile.places[k] * _bounded_ratio(rates[0][k], rates[1][k]) for k in range(3)]
    longer = _bounded_ratio(real.longer / real.sounds.total(), made.longer / made.sounds.total())
    return msgspec.structs.replace(
        profile,
        misheard=[min(0.9, rate * _bounded_ratio(a, b)) for rate, a, b in zip(profile.misheard, aim, got, strict=True)],
        places=[rate / places[2] for rate in places],
        lost=[min(0.9, rate * _bounded_ratio(a, b)) for rate, a, b in zip(
            profile.lost, _rates_by_class(real.lost, real.alone), _rates_by_class(made.lost, made.alone), strict=True)],
        spread=spread,
        # more sounds from nowhere and fewer that are lost, or the other way round
        heard={change: rate * (longer**2 if change[0] == ">" else longer**-2 if change[-1] == ">" else 1.0)
               for change, rate in profile.heard.items()},
        each=min(60.0, max(0.0, profile.each + 20 * (made.heard / max(1, made.said) - real.heard / max(1, real.said)))),
        inflected=min(0.8, profile.inflected * _bounded_ratio(real.inflected + 1, made.inflected + 1)),
        stray=profile.stray * _bounded_ratio(real.strays.total() + 1, made.strays.total() + 1),
    )  # fmt: skip


def _bounded_ratio(aim: float, got: float) -> float:
    return min(1.6, max(0.6, (aim + 1e-3) / (got + 1e-3)))
