"""Changed answers: all of them written as JSON lines while they stream by, a fair sample to show, and what differs."""

from __future__ import annotations

import heapq
import json
import re
from collections import Counter
from collections.abc import Iterable
from difflib import SequenceMatcher
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import Literal, NamedTuple

import msgspec
from markupsafe import Markup
from rapidfuzz.distance import Postfix, Prefix

from unfazed.core.files import replacing
from unfazed.core.ids import content_id
from unfazed.core.text import ANSWER, outside, spelled, visible
from unfazed.core.values import Example, Inputs, Json, Output, Variant
from unfazed.measure.changes import Flip

LIMIT = 500  # characters shown of one text

Kind = Literal["same", "del", "ins", "cut"]

_UNSPACED = r"\u0e00-\u0e7f\u2e80-\u2fdf\u3040-\u30ff\u31f0-\u31ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_MARKS = r"\u0e31\u0e34-\u0e3a\u0e47-\u0e4e\u3099\u309a\ufe00-\ufe0f\U000e0100-\U000e01ef"
_STOPS = r"!-&(-,./:-@\[-`{-~\u2010-\u2018\u201a-\u205e\u3000-\u303f\uff01-\uff0f\uff1a-\uff20"
# A word is whatever is not space, punctuation or unspaced script, so that accents and joiners stay in it.
_TOKEN = re.compile(rf"\s+|[{_UNSPACED}][{_MARKS}]*|[^\s{_STOPS}{_UNSPACED}]+|.", re.DOTALL)


class Piece(NamedTuple):
    """A stretch that stayed, was taken out, was put in, or (`cut`) is not shown."""

    kind: Kind
    text: str


def diff(before: str, after: str, limit: int = LIMIT) -> list[Piece]:
    """The pieces of both texts in order; of long ones only what is around the first change."""
    start, end = common(before, after)
    tail = before[len(before) - end :] if end else ""
    old, new = before[start : len(before) - end], after[start : len(after) - end]
    changed = max(len(old), len(new))
    whole = max(len(before), len(after)) <= limit
    room = limit if whole else limit * 3 // 5
    side = limit if whole else (limit - min(changed, room)) // 2
    pieces = []
    if start > side:
        pieces.append(_cut(start - side))
    pieces.append(Piece("same", before[max(0, start - side) : start]))
    pieces += _changes(old[:room], new[:room])
    if changed > room:
        pieces.append(_cut(changed - room + end))
    else:
        pieces.append(Piece("same", tail[:side]))
        if end > side:
            pieces.append(_cut(end - side))
    return [piece for piece in pieces if piece.text]


def _cut(count: int) -> Piece:
    return Piece("cut", f"… {count:,} character{'' if count == 1 else 's'} …")


def common(before: str, after: str) -> tuple[int, int]:
    """Lengths of the common start and end, moved outwards so that neither splits a word."""
    one, other = len(before), len(after)
    start = longest = Prefix.similarity(before, after)
    if not (_splits(before, start) and _splits(after, start)):
        whole = (i for i in _nearby(longest) if _splits(before, i) and _splits(after, i))
        start = next(whole, longest)
    end = longest = min(Postfix.similarity(before, after), min(one, other) - start)
    if not (_splits(before, one - end) and _splits(after, other - end)):
        whole = (i for i in _nearby(longest) if _splits(before, one - i) and _splits(after, other - i))
        end = next(whole, longest)
    return start, end


def _nearby(length: int) -> range:
    """Lengths to try, longest first; a word that is longer than this is split."""
    return range(length, max(-1, length - 100), -1)


def _splits(text: str, at: int) -> bool:
    """Does a token end at that character?"""
    if not 0 < at < len(text):
        return True
    return _apart(text[at - 1 : at + 1])


@lru_cache(maxsize=1 << 14)
def _apart(two: str) -> bool:
    """Are two characters of two tokens?"""
    match = _TOKEN.match(two)
    return match is not None and match.end() == 1


def _changes(before: str, after: str) -> list[Piece]:
    a, b = _TOKEN.findall(before), _TOKEN.findall(after)
    pieces = []
    for kind, a1, a2, b1, b2 in SequenceMatcher(None, a, b, autojunk=False).get_opcodes():
        if kind == "equal":
            pieces.append(Piece("same", "".join(a[a1:a2])))
        else:
            pieces += [Piece("del", "".join(a[a1:a2])), Piece("ins", "".join(b[b1:b2]))]
    return pieces


def marked(pieces: list[Piece]) -> Markup:
    """The pieces as HTML: `<del>` and `<ins>`, with changed spaces made visible."""
    shape = {
        "same": Markup("{}"),
        "del": Markup("<del>{}</del>"),
        "ins": Markup("<ins>{}</ins>"),
        "cut": Markup('<span class="cut">{}</span>'),
    }
    return Markup("").join(shape[kind].format(_shown(kind, text)) for kind, text in pieces)


def _shown(kind: Kind, text: str) -> str:
    if kind in ("del", "ins") and text.isspace():
        text = text.replace(" ", "␣").replace("\n", "␊\n").replace("\t", "␉")
    return visible(text)


_LINES = 256  # that are written together
SHOWN = 50
FIELDS = 6  # inputs of one example that are shown
NOTE = 200


class Field(NamedTuple):
    """One input of a flip: its name, its differences, and whether it has any."""

    name: str
    text: Markup
    changed: bool


class Card(NamedTuple):
    """One flip, ready to show. All texts are bounded, so a card is small however long the texts were."""

    source: str
    rank: int
    kind: str
    example: str
    draw: int
    groups: list[tuple[str, str]]
    fields: list[Field]
    note: Markup
    gold: Markup
    new_gold: Markup | None
    before: Markup
    after: Markup


KINDS = (
    *("right, then wrong", "wrong, then differently wrong", "wrong, then right", "a control, which should differ"),
    *("right, then differently right", "changed, and no gold says which is right"),
)


_RANKS = {(True, False): 0, (False, False): 1, (False, True): 2, (True, True): 4}


def kind_of(flip: Flip) -> int:
    """The place of its kind in KINDS, which begins with what matters most."""
    variant, right_before, right_after = flip.variant, flip.right_before, flip.right_after
    if variant.meaning == "changed":
        return 3
    if right_before is None or right_after is None:
        return 5
    return _RANKS[right_before, right_after]


class FlipSample:
    """Keeps up to `size` flips an operator: right-then-wrong ones first, else by a hash, so order changes nothing."""

    def __init__(self, size: int = SHOWN) -> None:
        self.size = size
        self.counts: Counter[str] = Counter()
        self.kinds: Counter[int] = Counter()
        self._kept: dict[str, list[tuple[int, str, Card]]] = {}

    def add(self, flip: Flip) -> None:
        example, variant = flip[0], flip[1]
        rank = kind_of(flip)
        self.counts[variant.source] += 1
        self.kinds[rank] += 1
        kept = self._kept.setdefault(variant.source, [])
        if len(kept) == self.size and -rank < kept[0][0]:
            return
        # heapq keeps the smallest on top, which is the one to lose: the highest rank, then the lowest hash
        entry = (-rank, _chance(example, variant))
        if len(kept) == self.size and entry <= kept[0][:2]:
            return
        full = (*entry, card(flip, rank))
        if len(kept) < self.size:
            heapq.heappush(kept, full)
        else:
            heapq.heapreplace(kept, full)

    def cards(self) -> list[Card]:
        """The sample: right-then-wrong first, and within a kind each operator in turn."""
        turns = []
        for source in sorted(self._kept):
            seen: Counter[int] = Counter()
            for worst, _, shown in sorted(self._kept[source], key=lambda entry: entry[:2], reverse=True):
                turns.append((-worst, seen[worst], source, shown))
                seen[worst] += 1
        turns.sort(key=lambda turn: turn[:3])
        return [turn[3] for turn in turns[: self.size]]


def _chance(example: Example, variant: Variant) -> str:
    # repr first: an id from outside may hold a lone surrogate, which JSON can't
    return content_id([ascii(example.id), ascii(variant.source), variant.draw])


def card(flip: Flip, rank: int) -> Card:
    example, variant, before, after, *_ = flip
    names = sorted(variant.inputs, key=lambda name: variant.inputs[name] == example.inputs.get(name, ""))
    gold, new_gold = spelled(example.gold, example.inputs), spelled(variant.gold, variant.inputs)
    return Card(
        source=variant.source,
        rank=rank,
        kind=KINDS[rank],
        example=example.id,
        draw=variant.draw,
        groups=list(example.groups.items())[:FIELDS],
        fields=[_field(name, example, variant) for name in names[:FIELDS]],
        note=outside(variant.note, NOTE),
        gold=outside(gold, ANSWER),
        new_gold=None if new_gold == gold else outside(new_gold, ANSWER),
        before=_answer(before, example),
        after=_answer(after, variant),
    )


def _field(name: str, example: Example, variant: Variant) -> Field:
    old, new = example.inputs.get(name, ""), variant.inputs[name]
    if old == new:
        return Field(name, outside(new, ANSWER), False)
    return Field(name, marked(diff(old, new)), True)


def _answer(output: Output, item: Example | Variant) -> Markup:
    if output.error is not None:
        return Markup("<em>no answer:</em> {}").format(outside(output.error, ANSWER))
    return outside(spelled(output.value, item.inputs), ANSWER)


class _Line(msgspec.Struct, frozen=True, gc=False):
    """A flip as it is written."""

    row: int
    example_id: str
    draw: int
    source: str
    family: str
    meaning: str
    note: str
    groups: dict[str, str]
    inputs: Inputs
    varied: Inputs
    gold: Json
    varied_gold: Json
    before: Json
    after: Json
    right_before: bool | None
    right_after: bool | None
    loss: float | None


def _line(flip: Flip) -> _Line:
    example, variant, before, after, right_before, right_after, loss = flip
    return _Line(
        example.row, example.id, variant.draw, variant.source, variant.family, variant.meaning, variant.note,
        example.groups, example.inputs, variant.inputs, example.gold, variant.gold, before.value, after.value,
        right_before, right_after, loss,
    )  # fmt: skip


def lines(flips: Iterable[Flip]) -> bytes:
    """Flips as lines of JSON."""
    made = [_line(flip) for flip in flips]
    try:
        return _encoder.encode_lines(made)
    except (UnicodeEncodeError, TypeError):
        return b"".join(map(_encoded, made))


_encoder = msgspec.json.Encoder()


def _encoded(made: _Line) -> bytes:
    try:
        return _encoder.encode(made) + b"\n"
    except (UnicodeEncodeError, TypeError):  # a lone surrogate, which only an escape can spell
        return json.dumps(msgspec.structs.asdict(made), default=repr).encode("ascii") + b"\n"


def write_flips(flips: Iterable[Flip], path: Path, sample: FlipSample) -> int:
    """Writes all flips to `path` and offers each to the sample; gives how many there were."""
    count, stream = 0, iter(flips)
    with replacing(path, "the report") as write:
        while some := list(islice(stream, _LINES)):
            write(lines(some))
            for flip in some:
                sample.add(flip)
            count += len(some)
    return count
