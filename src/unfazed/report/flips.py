"""Changed answers: all of them written as JSON lines while they stream by, and a small fair sample kept to show."""

from __future__ import annotations

import heapq
import json
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import msgspec
from markupsafe import Markup

from unfazed.core.files import replacing
from unfazed.core.ids import content_id
from unfazed.core.values import Example, Json, Output, Variant
from unfazed.report.diff import diff, marked
from unfazed.report.text import ANSWER, outside, spelled

SHOWN = 50
FIELDS = 6  # inputs of one example that are shown
NOTE = 200

# What `measure` gives for each variant whose answer differs from its example's: the two, their outputs, and
# whether each was right (None where the score can't say).
Flip = tuple[Example, Variant, Output, Output, bool | None, bool | None]


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


KINDS = ("right, then wrong", "wrong, then differently wrong", "wrong, then right", "a control, which should differ")


def _rank(flip: Flip) -> int:
    _, variant, _, _, right_before, right_after = flip
    if variant.meaning == "changed":
        return 3
    if right_before is None or right_after is None:
        return 1
    return {(True, False): 0, (False, True): 2}.get((right_before, right_after), 1)


class Sample:
    """Keeps up to `size` flips an operator: right-then-wrong ones first, else by a hash, so order changes nothing."""

    def __init__(self, size: int = SHOWN) -> None:
        self.size = size
        self.counts: Counter[str] = Counter()
        self.kinds: Counter[int] = Counter()
        self._kept: dict[str, list[tuple[int, str, Card]]] = {}

    def add(self, flip: Flip) -> None:
        example, variant = flip[0], flip[1]
        rank = _rank(flip)
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
    example, variant, before, after, _, _ = flip
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


def line(flip: Flip) -> bytes:
    """A flip as one line of JSON."""
    example, variant, before, after, right_before, right_after = flip
    row: dict[str, Json] = {
        "row": example.row,
        "example_id": example.id,
        "draw": variant.draw,
        "source": variant.source,
        "family": variant.family,
        "meaning": variant.meaning,
        "note": variant.note,
        "groups": example.groups,
        "inputs": example.inputs,
        "varied": variant.inputs,
        "gold": example.gold,
        "varied_gold": variant.gold,
        "before": before.value,
        "after": after.value,
        "right_before": right_before,
        "right_after": right_after,
    }
    try:
        return msgspec.json.encode(row) + b"\n"
    except (UnicodeEncodeError, TypeError):  # a lone surrogate, which only an escape can spell
        return json.dumps(row, default=repr).encode("ascii") + b"\n"


def write_flips(flips: Iterable[Flip], path: Path, sample: Sample) -> int:
    """Writes all flips to `path` and offers each to the sample; gives how many there were."""
    count = 0
    with replacing(path, "the report") as write:
        for flip in flips:
            write(line(flip))
            sample.add(flip)
            count += 1
    return count
