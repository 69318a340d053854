"""What differs between texts that were read aloud and what a recogniser wrote, aligned by words and counted."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from rapidfuzz.distance import Levenshtein

from unswayed.vary.listeners import COMMON_RANK, raisable
from unswayed.vary.speech._english_lattice import lattice
from unswayed.vary.speech._english_speaker import (
    CONTRACTED,
    PIECE,
    ReadWord,
    find_mark,
    is_initials,
    look_up_word,
    other_forms,
    rewrite_word,
    text_place,
)
from unswayed.vary.spoken._phones import CODES, akin

_FAR = 14  # words of a span beyond which its sounds are not aligned
_NAMES = {code: name for name, code in CODES.items()}
_Right = tuple[int, int, int, int]  # words i to j were heard right and written as words k to m


@dataclass(frozen=True, slots=True)
class Span:
    """Words that were misheard, and what was written for them; either may be empty."""

    start: int
    said: tuple[ReadWord, ...]
    heard: tuple[str, ...]  # in small letters
    first: int  # place of the first word that was written


@dataclass(slots=True)
class Counts:
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
        self.written[kind][0] += done
        self.written[kind][1] += 1


def counted(clean: Sequence[str], heard: Sequence[str]) -> Counts:
    counts = Counts()
    for before, after in zip(clean, heard, strict=True):
        pieces, others = PIECE.findall(before), PIECE.findall(after)
        words, lows = [look_up_word(piece) for piece in pieces], [look_up_word(other).low for other in others]
        spans, pairs = aligned(pieces, words, lows)
        counts.texts += 1
        counts.right += not spans
        counts.words.update(word.kind for word in words)
        for span in spans:
            _count(counts, span)
            counts.places.update(text_place(span.start + k, len(words)) for k in range(len(span.said)))
        _count_writing(counts, pieces, words, others, _opening(after), pairs, spans)
        _count_gaps(counts, before, after, pairs)
    return counts


def aligned(pieces: Sequence[str], words: Sequence[ReadWord], heard: Sequence[str]) -> tuple[list[Span], list[_Right]]:
    """The misheard spans, and the words that were heard right, with what was written for them."""
    steps = _steps(pieces, words, heard)
    spans: list[Span] = []
    right: list[_Right] = []
    at = None
    for i, j, k, m, wrong in [*steps, (len(words), len(words), len(heard), len(heard), False)]:
        if wrong and at is None:
            at = (i, k)
        elif not wrong:
            if at is not None:
                spans.append(Span(at[0], tuple(words[at[0] : i]), tuple(heard[at[1] : k]), at[1]))
                at = None
            if j > i:
                right.append((i, j, k, m))
    return spans, right


def _steps(
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
                price, wrong = _price(pieces[i - 1], words[i - 1], heard[j - 1])
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


def _price(piece: str, word: ReadWord, heard: str) -> tuple[float, bool]:
    if word.low == heard:
        return 0.0, False
    if _otherwise(piece, word) == heard:
        return 0.1, False
    return 0.8 + 0.6 * Levenshtein.normalized_distance(word.low, heard), True


def _otherwise(piece: str, word: ReadWord) -> str:
    other = rewrite_word(piece, word.low)
    return other[1] if other else ""


def _count(counts: Counts, span: Span) -> None:
    if not span.said:
        if len(span.heard) == 1:
            counts.strays[span.heard[0]] += 1
        return
    counts.wrong.update(word.kind for word in span.said)
    counts.lengths[len(span.said)] += 1
    if len(span.said) == 1:
        _count_alone(counts, span.said[0], span.heard)
    _count_sounds(counts, span)


def _count_alone(counts: Counts, word: ReadWord, heard: tuple[str, ...]) -> None:
    counts.alone[word.kind] += 1
    if not heard:
        counts.lost[word.kind] += 1
    elif len(heard) == 1:
        if 0 <= word.rank < COMMON_RANK and lattice().ranks.get(heard[0], COMMON_RANK) < COMMON_RANK:
            counts.swaps[word.low][heard[0]] += 1
        counts.inflected += not 0 <= word.rank < COMMON_RANK and heard[0] in other_forms(word.low)


def _count_sounds(counts: Counts, span: Span) -> None:
    said = "".join([word.sound for word in span.said])
    heard = "".join([look_up_word(word).sound for word in span.heard])
    if not said or not heard or len(span.said) > _FAR:
        return
    counts.said += len(span.said)
    counts.heard += len(span.heard)
    counts.longer += len(heard)
    counts.sounds.update(_NAMES[p] for p in said)
    for old, new in _aligned_sounds(said, heard):
        if old != new:
            counts.changes[f"{old}>{new}"] += 1
            counts.apart += 1


def _aligned_sounds(said: str, heard: str) -> list[tuple[str, str]]:
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
    counts: Counts, pieces: Sequence[str], words: Sequence[ReadWord], others: Sequence[str],
    opening: Sequence[bool], pairs: Sequence[_Right], spans: Sequence[Span],
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
            _note_case(counts, word, piece, other, not i)


def _note_case(counts: Counts, word: ReadWord, piece: str, other: str, first: bool) -> None:
    lowered = other == other.lower()
    if is_initials(piece):
        counts.note("initials_lowered", lowered)
    elif piece == word.low:
        if raisable(piece, word.rank):
            counts.note("raised", not lowered)
    elif not first:
        counts.note("name_lowered" if word.name else "common_lowered", lowered)


def _opening(text: str) -> list[bool]:
    """For each word, whether it opens a sentence."""
    places = [m.span() for m in PIECE.finditer(text)]
    return [not k or find_mark(text[places[k - 1][1] : start]) in (*".?!",) for k, (start, _) in enumerate(places)]


def _count_gaps(counts: Counts, before: str, after: str, pairs: Sequence[_Right]) -> None:
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
