"""Changed answers to be shown: what differs, a fair sample of them, and all of them as JSON lines."""

from __future__ import annotations

import heapq
import json
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import msgspec
from markupsafe import Markup

from unswayed.base.ids import content_id
from unswayed.base.text import ANSWER, outside, spelled, visible
from unswayed.base.values import Json
from unswayed.measure.changes import CLEAN, Case, Flip, FlipBlock
from unswayed.report.diff import Piece, diff
from unswayed.storage.files import replacing


def marked(pieces: list[Piece]) -> Markup:
    """The pieces as HTML: `<del>` and `<ins>`, with changed spaces made visible."""
    shape = {
        "same": Markup("{}"),
        "del": Markup("<del>{}</del>"),
        "ins": Markup("<ins>{}</ins>"),
        "cut": Markup('<span class="cut">{}</span>'),
    }
    made = Markup("")
    for kind, text in pieces:
        if kind in ("del", "ins") and text.isspace():
            text = text.replace(" ", "␣").replace("\n", "␊\n").replace("\t", "␉")
        made += shape[kind].format(visible(text))
    return made


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


EVERY = (
    *KINDS,
    *("the same answer, right", "the same answer, wrong", "the same answer"),
    *("clean input, right", "clean input, wrong", "clean input"),
    *("no answer", "cut off", "not in the task's form"),
    *("asked again: the same answer", "asked again: another answer"),
)


def kind_of_any(case: Case, flip: int) -> int:
    """The place in EVERY of any answer; `flip` says what became of it."""
    if (error := case.varied.error) is not None:
        return EVERY.index("cut off" if "cut off" in error else "not in the task's form" if case.varied.unreadable
                           else "no answer")  # fmt: skip
    if flip == 1:
        return kind_of(case)
    first = EVERY.index("clean input, right" if flip == CLEAN else "the same answer, right")
    return first + {True: 0, False: 1, None: 2}[case.right_after]


_RANKS = {(True, False): 0, (False, False): 1, (False, True): 2, (True, True): 4}


def kind_of(case: Case) -> int:
    """The place of its kind in KINDS, which begins with what matters most."""
    if case.kind.meaning == "changed":
        return 3
    if case.right_before is None or case.right_after is None:
        return 5
    return _RANKS[case.right_before, case.right_after]


class FlipSample:
    """Keeps up to `size` flips an operator: right-then-wrong ones first, else by a hash, so order changes nothing."""

    def __init__(self, size: int = SHOWN) -> None:
        self.size = size
        self.counts: Counter[str] = Counter()
        self.kinds: Counter[int] = Counter()
        self._kept: dict[str, list[tuple[int, str, Card]]] = {}

    def add(self, flips: FlipBlock) -> None:
        ranks, wanted = [kind_of(case) for case in flips.cases], set[int]()
        for number, count in Counter(flips.numbers).items():
            source, rank = flips.cases[number].kind.source, ranks[number]
            self.counts[source] += count
            self.kinds[rank] += count
            kept = self._kept.setdefault(source, [])
            if len(kept) < self.size or -rank >= kept[0][0]:
                wanted.add(number)
        for at, number in enumerate(flips.numbers):
            if number not in wanted:
                continue
            example, kind, rank = flips.examples[at], flips.cases[number].kind, ranks[number]
            kept = self._kept[kind.source]
            # repr first: an id from outside may hold a lone surrogate, which JSON can't
            chance = content_id([ascii(example.id), ascii(kind.source), kind.draw])
            # heapq keeps the smallest on top, which is the one to lose: the highest rank, then the lowest hash
            if len(kept) == self.size and (-rank, chance) <= kept[0][:2]:
                continue
            full = (-rank, chance, card(flips.flip(at), rank))
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


def card(flip: Flip, rank: int) -> Card:
    example, variant, before, after, *_ = flip
    names = sorted(variant.inputs, key=lambda name: variant.inputs[name] == example.inputs.get(name, ""))
    fields = []
    for name in names[:FIELDS]:
        old, new = example.inputs.get(name, ""), variant.inputs[name]
        fields.append(Field(name, outside(new, ANSWER) if old == new else marked(diff(old, new)), old != new))
    gold, new_gold = spelled(example.gold, example.inputs), spelled(variant.gold, variant.inputs)
    answers = []
    for output, item in ((before, example), (after, variant)):
        if output.error is not None:
            answers.append(Markup("<em>no answer:</em> {}").format(outside(output.error, ANSWER)))
        else:
            answers.append(outside(spelled(output.value, item.inputs), ANSWER))
    return Card(
        source=variant.source,
        rank=rank,
        kind=KINDS[rank],
        example=example.id,
        draw=variant.draw,
        groups=list(example.groups.items())[:FIELDS],
        fields=fields,
        note=outside(variant.note, NOTE),
        gold=outside(gold, ANSWER),
        new_gold=None if new_gold == gold else outside(new_gold, ANSWER),
        before=answers[0],
        after=answers[1],
    )


_LINES = 256  # that are written together
_encode = msgspec.json.Encoder().encode
_encode_lines = msgspec.json.Encoder().encode_lines
_ODD = (UnicodeEncodeError, TypeError)


def lines(flips: FlipBlock) -> Iterator[bytes]:
    """Flips as lines of JSON, some at a time. Most pieces of a line are in many lines, and spelled once."""
    parts: list[tuple[dict[str, Json], dict[str, Json]]] = []
    for case in flips.cases:
        draw, source, meaning, family = case.kind
        said = {"varied_gold": case.gold, "before": case.clean.value, "after": case.varied.value}
        said |= {"right_before": case.right_before, "right_after": case.right_after, "loss": case.loss}
        parts.append(({"draw": draw, "source": source, "family": family, "meaning": meaning}, said))
    pieces = None
    with suppress(*_ODD):  # where JSON can't spell one, no line is put together
        pieces = [(_encode(kind)[1:-1], _encode(said)[1:] + b"\n") for kind, said in parts]
    for at in range(0, len(flips.numbers), _LINES):
        some, joined = flips.between(at, at + _LINES), b""
        with suppress(*_ODD):
            joined = b"" if pieces is None else _joined_lines(some, pieces)
        if joined:
            yield joined
            continue
        for example, varied, note, number in some.rows():  # some of which JSON can't spell: a lone surrogate
            own = {"note": note, "groups": example.groups, "inputs": example.inputs, "varied": varied}
            place, (kind, said) = {"row": example.row, "example_id": example.id}, parts[number]
            whole = {**place, **kind, **own, "gold": example.gold, **said}
            try:
                yield _encode(whole) + b"\n"
            except _ODD:  # it needs an escape
                yield json.dumps(whole, default=repr).encode("ascii") + b"\n"


def _joined_lines(flips: FlipBlock, pieces: list[tuple[bytes, bytes]]) -> bytes:
    notes, varied = (_encode_lines(column).split(b"\n")[:-1] for column in (flips.notes, flips.varied))
    made: list[bytes] = []
    last = None
    for example, note, inputs, number in zip(flips.examples, notes, varied, flips.numbers, strict=True):
        if example is not last:
            last = example
            place = _encode({"row": example.row, "example_id": example.id})[:-1]
            own = _encode({"groups": example.groups, "inputs": example.inputs})[1:-1]
            gold = _encode(example.gold)
        kind, said = pieces[number]
        made += place, b",", kind, b',"note":', note, b",", own, b',"varied":', inputs, b',"gold":', gold, b",", said
    return b"".join(made)


def write_flips(blocks: Iterable[FlipBlock], path: Path, sample: FlipSample) -> int:
    """Writes all flips to `path` and offers each to the sample; gives how many there were."""
    count = 0
    with replacing(path, "the report") as write:
        for flips in blocks:
            for some in lines(flips):
                write(some)
            sample.add(flips)
            count += len(flips.numbers)
    return count
