"""Changed answers as columns: each text once, numbers elsewhere, so that a hundred thousand fit in a page.

Columns are long lists, spilled to a file some values at a time as JSON, so that memory holds few of them.
"""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice

import msgspec
import numpy as np

from unswayed.base.text import ANSWER, shorten, spelled, visible
from unswayed.base.values import Example, Inputs, Json, Output
from unswayed.measure.changes import Case, Changed, FlipBlock
from unswayed.measure.spill import Kept, Spill
from unswayed.report.diff import common
from unswayed.report.flips import KINDS, NOTE, kind_of

_SIDE = 400  # characters kept on each side of a change
_CHANGE = 1000  # characters kept of a change
_SHORT, _MOST = 64, 4096  # characters of a text that is remembered, and how many are
_TOGETHER = 1 << 12  # answers that are taken apart into columns together
_CHANGES = ("right in A, wrong in B", "wrong in A, right in B")


_VALUES = 1 << 12  # that are encoded together
_encode = msgspec.json.Encoder().encode


class LongList:
    """A list that is only added to, and read as JSON."""

    def __init__(self, spill: Spill) -> None:
        self._spill = spill
        self._new: list[Json] = []
        self._kept: list[Kept] = []
        self.append = self._new.append
        self.extend = self._new.extend

    def put_aside(self) -> None:
        """To be called now and then."""
        if len(self._new) >= _VALUES:
            self._kept.append(self._spill.put(np.frombuffer(_encode(self._new)[1:-1], dtype=np.uint8)))
            self._new.clear()

    def pieces(self) -> Iterator[bytes]:
        yield b"["
        for i, kept in enumerate(self._kept):
            yield b"," * (i > 0) + self._spill.get(kept).tobytes()
        yield b"," * bool(self._kept and self._new) + _encode(self._new)[1:-1] + b"]"


def json_pieces(value: Json) -> Iterator[bytes]:
    """The JSON of a value, in which there may be long lists."""
    if isinstance(value, LongList):
        yield from value.pieces()
    elif isinstance(value, dict):
        yield b"{"
        for i, (key, part) in enumerate(value.items()):
            yield b"," * (i > 0) + _encode(key) + b":"
            yield from json_pieces(part)
        yield b"}"
    elif isinstance(value, list) and any(isinstance(part, (dict, LongList)) for part in value):
        for i, part in enumerate(value):
            yield b",["[i == 0 :][:1]
            yield from json_pieces(part)
        yield b"]"
    elif isinstance(value, list) and len(value) > _VALUES:
        rest = iter(value)
        start = b"["
        while some := list(islice(rest, _VALUES)):
            yield start + _encode(some)[1:-1]
            start = b","
        yield b"]"
    else:
        yield _encode(value)


_Span = tuple[int, str, str, str, str]  # field, then what stays before the change, the change (old, new), what follows
_SPAN = ("field", "head", "old", "new", "tail")


class Columns:
    """Collects lists of changed answers; `shared` has the texts and the examples that they refer to.

    Those of a run come example by example. `several` says that another list follows, which may name any of them again.
    """

    def __init__(self, several: bool = False) -> None:
        self._spill, self._several = Spill(), several
        self._texts, self._count = LongList(self._spill), 0
        self._numbers: dict[str, int] = {}  # of texts, but examples' own: there may be millions, of which few are alike
        self._known = _Known(self._text)
        self._examples: dict[str, int] = {}  # the places of those that may be named again
        self._size = 0  # of examples
        self._rows = LongList(self._spill)
        self._flips = _Set("Changed answers", KINDS, "before", "after", self._spill)

    def shared(self) -> dict[str, Json]:
        return {"texts": self._texts, "examples": self._rows}

    def flips(self) -> dict[str, Json]:
        """The changed answers that were added."""
        return self._flips.columns()

    def __len__(self) -> int:
        return self._flips.size

    def add(self, flips: FlipBlock, kinds: Sequence[int] | None = None) -> None:
        """Texts are numbered as they come: fields, the example's, what was said, then the note.

        `kinds` are the places of their kinds where these are not those of changed answers.
        """
        known, said_of = self._known, list[tuple[Json, ...] | None]([None] * len(flips.cases))
        places, said, notes = list[int](), list[tuple[Json, ...]](), list[int]()
        spans, ends = list[_Span](), list[int]()
        last, place, plain, own = None, -1, False, dict[str, str]()
        for example, inputs, note, number in flips.rows():
            is_new = example is not last
            if is_new:
                last, own = example, example.inputs
                plain = all(map(_plain, own.values()))
            for name, after in inputs.items():
                before = own.get(name, "")
                if before != after:
                    spans.append(_span(known[name], before, after, plain))
            ends.append(len(spans))
            if is_new:
                place = self._example(example.id, example, plain)
            places.append(place)
            told = said_of[number]
            if told is None:
                case = flips.cases[number]
                told = self._said(case, own, inputs)
                texts = [output.error is not None or type(output.value) is str for output in (case.clean, case.varied)]
                if all(texts) and (case.gold is None or type(case.gold) is str):  # the same whatever the inputs are
                    said_of[number] = told
            said.append(told)
            notes.append(known[note] if len(note) <= NOTE else self._text(note, NOTE))
        self._put_aside()
        if places:
            columns: list[Sequence[Json]] = [places, *zip(*said, strict=True), notes]
            if kinds is not None:
                columns[_ROW.index("kind")] = kinds
            self._flips.add(columns, spans, ends)

    def _said(self, case: Case, own: Inputs, inputs: Inputs) -> tuple[Json, ...]:
        """The columns of a changed answer that are neither its example's nor its note's."""
        kind, gold, clean, varied, *_, loss = case
        return (
            self._known[kind.source],
            kind.draw,
            kind_of(case),
            self._answer(clean, own),
            self._answer(varied, inputs),
            -1 if gold is None else self._known[gold if type(gold) is str else spelled(gold, inputs)],
            None if loss is None else round(loss, 6),
        )

    def changed(self, answers: Iterable[Changed]) -> dict[str, Json]:
        """The answers that one run has right and another wrong."""
        known, stream = self._known, iter(answers)
        made = _Set("Lost and gained between A and B", _CHANGES, "A", "B", self._spill)
        while some := list(islice(stream, _TOGETHER)):
            spans, rows = list[_Span](), list[tuple[Json, ...]]()
            for one in some:
                spans.append((known["text"], _kept(one.text, _CHANGE), "", "", ""))
                place, operator = self._example(one.example), known[one.operator or "clean input"]
                draw, kind = -1 if one.draw is None else one.draw, int(one.change == "gained")
                said = known[one.answer_a], known[one.answer_b], known[one.gold]
                rows.append((place, operator, draw, kind, *said, 1 if one.change == "lost" else -1, known[""]))
            self._put_aside()
            made.add(list(zip(*rows, strict=True)), spans, range(1, len(spans) + 1))
        return made.columns()

    def _text(self, text: str, limit: int = ANSWER) -> int:
        shown = visible(shorten(text, limit))
        number = self._numbers.get(shown)
        if number is None:
            number = self._numbers[shown] = self._new_text(shown)
        return number

    def _new_text(self, shown: str) -> int:
        self._texts.append(shown)
        self._count += 1
        return self._count - 1

    def _put_aside(self) -> None:
        self._texts.put_aside()
        self._rows.put_aside()

    def _answer(self, output: Output, inputs: Inputs) -> int:
        if output.error is not None:
            return self._known[f"no answer: {output.error}"]
        value = output.value
        return self._known[value if type(value) is str else spelled(value, inputs)]

    def _example(self, name: str, example: Example | None = None, plain: bool = False) -> int:
        """The place of an example, whose texts, `plain` or not, are noted when a flip first names it."""
        place = self._examples.get(name)
        if place is None:
            if not self._several:
                self._examples.clear()
            place = self._examples[name] = self._size
            self._size += 1
            known = self._known
            groups: dict[str, int] = {}
            inputs: list[list[int]] = []
            if example is not None:
                if example.groups:
                    groups = {visible(key): known[value] for key, value in example.groups.items()}
                for key, text in example.inputs.items():
                    short = plain and len(text) <= ANSWER  # as most are: it stays as it is
                    inputs.append([known[key], self._new_text(text if short else visible(shorten(text, ANSWER)))])
            self._rows.append({"id": visible(shorten(name, ANSWER)), "groups": groups, "inputs": inputs})
        return place


class _Known(dict[str, int]):
    """The numbers of short texts, which come again and again."""

    def __init__(self, number: Callable[[str], int]) -> None:
        super().__init__()
        self._number = number

    def __missing__(self, text: str) -> int:
        number = self._number(text)
        if len(text) <= _SHORT and len(self) < _MOST:
            self[text] = number
        return number


def _span(field: int, before: str, after: str, plain: bool) -> _Span:
    """`plain` says whether all of `before` is: then all of `after` is if what is new in it is."""
    start, end = common(before, after)
    stop, last = len(before) - end, len(after) - end
    old, new = before[start:stop], after[start:last]
    if plain and len(before) <= _SIDE and last <= _SIDE - end and new.isascii() and new.isprintable():
        return field, before[:start], old, new, before[stop:]
    head, tail = before[max(0, start - _SIDE) : start], before[stop : stop + _SIDE]
    head, tail = f"…{head}" if start > _SIDE else head, f"{tail}…" if end > _SIDE else tail
    return field, visible(head), _kept(old, _CHANGE), _kept(new, _CHANGE), visible(tail)


def _plain(text: str) -> bool:
    """Does `visible` leave all of it as it is?"""
    return text.isascii() and text.isprintable()


def _kept(text: str, limit: int) -> str:
    return visible(shorten(text, limit))


_ROW = ("example", "operator", "draw", "kind", "before", "after", "gold", "loss", "note")
_ON_A_PAGE = ("spans", *_SPAN, *_ROW[:-2], "note", "loss")  # in which order


class _Set:
    """One list of answers, column by column. `spans` has where each answer's changed fields begin."""

    def __init__(self, name: str, kinds: tuple[str, ...], before: str, after: str, spill: Spill) -> None:
        self._about = {"name": name, "kinds": kinds, "heads": [before, after]}
        self._columns = {name: LongList(spill) for name in _ON_A_PAGE}
        self._columns["spans"].append(0)
        self.size = self._end = 0

    def add(self, columns: Sequence[Sequence[Json]], spans: Sequence[_Span], ends: Iterable[int]) -> None:
        """Adds answers: their columns of `_ROW`, all their changes, and where among these each one's end."""
        self._extend(("spans",), [[self._end + end for end in ends]])
        self._extend(_ROW, columns)
        self._extend(_SPAN, list(zip(*spans, strict=True)))
        self._end += len(spans)
        self.size += len(columns[0])

    def _extend(self, names: Sequence[str], columns: Sequence[Sequence[Json]]) -> None:
        for name, column in zip(names, columns, strict=False):  # without a change there are no spans
            self._columns[name].extend(column)
            self._columns[name].put_aside()

    def columns(self) -> dict[str, Json]:
        return {**self._about, "size": self.size, **self._columns}


PART = 20_000  # answers that a page unpacks together


class Parts:
    """Every answer of a run in parts, each with its own texts, packed when it is full and unpacked when it is read.

    `index` has what a page must know of each part to leave it packed: how many answers of which operator and kind.
    """

    def __init__(self) -> None:
        self._spill, self._packed = Spill(), list[Kept]()
        self._part, self.index = Columns(), list[dict[str, Json]]()
        self._counts: list[Counter[str]] = [Counter(), Counter()]

    def add(self, rows: FlipBlock, kinds: Sequence[int]) -> None:
        sources = [visible(shorten(case.kind.source, ANSWER)) for case in rows.cases]
        for start in range(0, len(kinds), PART):
            some, own = rows.between(start, start + PART), kinds[start : start + PART]
            self._part.add(some, own)
            self._counts[0].update(sources[number] for number in some.numbers)
            self._counts[1].update(map(str, own))
            if len(self._part) >= PART:
                self.close()

    def close(self) -> None:
        """Packs the part that is open."""
        if not len(self._part):
            return
        packed = b"".join(packed_json({"set": self._part.flips(), **self._part.shared()}))
        self._packed.append(self._spill.put(np.frombuffer(packed, dtype=np.uint8)))
        operators, kinds = self._counts
        self.index.append({"size": len(self._part), "operator": dict(operators), "kind": dict(kinds)})
        self._part, self._counts = Columns(), [Counter(), Counter()]

    def packed(self) -> Iterator[bytes]:
        """The parts, in the order of the index."""
        return (self._spill.get(kept).tobytes() for kept in self._packed)


def packed_json(value: Json) -> Iterator[bytes]:
    """The JSON of a value, packed with gzip, without the time."""
    packer = zlib.compressobj(6, wbits=31)
    yield from map(packer.compress, json_pieces(value))
    yield packer.flush()
