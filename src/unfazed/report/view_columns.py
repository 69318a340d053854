"""Changed answers as columns: each text once, numbers elsewhere, so that a hundred thousand fit in a page."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from unfazed.core.text import ANSWER, shorten, spelled, visible
from unfazed.core.values import Example, Inputs, Json, Output
from unfazed.measure.answers import Changed
from unfazed.measure.changes import Flip
from unfazed.measure.spill import Spill
from unfazed.report.flips import KINDS, NOTE, common, kind_of
from unfazed.report.json_stream import LongList

_SIDE = 400  # characters kept on each side of a change
_CHANGE = 1000  # characters kept of a change
_SHORT, _MOST = 64, 4096  # characters of a text that is remembered, and how many are
_TOGETHER = 1 << 12  # answers that are taken apart into columns together
_CHANGES = ("right in A, wrong in B", "wrong in A, right in B")


_Span = tuple[int, str, str, str, str]  # field, then what stays before the change, the change (old, new), what follows
_SPAN = ("field", "head", "old", "new", "tail")


class Columns:
    """Collects lists of changed answers; `shared` has the texts and the examples that they refer to."""

    def __init__(self) -> None:
        self._spill = Spill()
        self._texts: dict[str, int] = {}
        self._known = _Known(self._text)
        self._examples: dict[str, int] = {}
        self._rows = LongList(self._spill)
        self._flips = _Set("Changed answers", KINDS, "before", "after", self._spill)

    def shared(self) -> dict[str, Json]:
        return {"texts": list(self._texts), "examples": self._rows}

    def flips(self) -> dict[str, Json]:
        """The changed answers that were added."""
        return self._flips.columns()

    def add(self, flip: Flip) -> None:
        example, variant, clean, varied, _, _, loss = flip
        own, inputs, known, gold = example.inputs, variant.inputs, self._known, variant.gold
        texts = ((name, own.get(name, ""), text) for name, text in inputs.items())
        spans = [_span(known[name], before, after) for name, before, after in texts if before != after]
        self._flips.add(
            spans,
            self._example(example.id, example),
            known[variant.source],
            variant.draw,
            kind_of(flip),
            self._answer(clean, own),
            self._answer(varied, inputs),
            -1 if gold is None else known[gold if type(gold) is str else spelled(gold, inputs)],
            known[variant.note] if len(variant.note) <= NOTE else self._text(variant.note, NOTE),
            None if loss is None else round(loss, 6),
        )

    def changed(self, answers: Iterable[Changed]) -> dict[str, Json]:
        """The answers that one run has right and another wrong."""
        made = _Set("Lost and gained between A and B", _CHANGES, "A", "B", self._spill)
        for one in answers:
            made.add(
                [(self._known["text"], _kept(one.text, _CHANGE), "", "", "")],
                self._example(one.example, None),
                self._known[one.operator or "clean input"],
                -1 if one.draw is None else one.draw,
                int(one.change == "gained"),
                self._known[one.answer_a],
                self._known[one.answer_b],
                self._known[one.gold],
                self._known[""],
                1 if one.change == "lost" else -1,
            )
        return made.columns()

    def _text(self, text: str, limit: int = ANSWER) -> int:
        return self._texts.setdefault(visible(shorten(text, limit)), len(self._texts))

    def _answer(self, output: Output, inputs: Inputs) -> int:
        if output.error is not None:
            return self._known[f"no answer: {output.error}"]
        value = output.value
        return self._known[value if type(value) is str else spelled(value, inputs)]

    def _example(self, name: str, example: Example | None) -> int:
        """The place of an example, whose texts are noted when a flip first names it."""
        place = self._examples.get(name)
        if place is None:
            place = self._examples[name] = len(self._examples)
            row: dict[str, Json] = {"id": visible(shorten(name, ANSWER)), "groups": {}, "inputs": []}
            if example is not None:
                row["groups"] = {visible(key): self._known[value] for key, value in example.groups.items()}
                row["inputs"] = [[self._known[key], self._text(text)] for key, text in example.inputs.items()]
            self._rows.append(row)
            self._rows.put_aside()
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


def _span(field: int, before: str, after: str) -> _Span:
    start, end = common(before, after)
    stop, last = len(before) - end, len(after) - end
    if len(before) <= _SIDE and len(after) <= _SIDE and _plain(before) and _plain(after):
        return field, before[:start], before[start:stop], after[start:last], before[stop:]
    head, tail = before[max(0, start - _SIDE) : start], before[stop : stop + _SIDE]
    head, tail = f"…{head}" if start > _SIDE else head, f"{tail}…" if end > _SIDE else tail
    old, new = before[start:stop], after[start:last]
    return field, visible(head), _kept(old, _CHANGE), _kept(new, _CHANGE), visible(tail)


def _plain(text: str) -> bool:
    """Does `visible` leave all of it as it is?"""
    return text.isascii() and text.isprintable()


def _kept(text: str, limit: int) -> str:
    return visible(shorten(text, limit))


_ROW = ("example", "operator", "draw", "kind", "before", "after", "gold", "note", "loss")


class _Set:
    """One list of answers, column by column. `spans` has where each answer's changed fields begin."""

    def __init__(self, name: str, kinds: tuple[str, ...], before: str, after: str, spill: Spill) -> None:
        self._about = {"name": name, "kinds": kinds, "heads": [before, after]}
        self._columns = {name: LongList(spill) for name in ("spans", *_SPAN, *_ROW)}
        self._columns["spans"].append(0)
        self._waiting: list[tuple[Json, ...]] = []
        self._waiting_spans: list[_Span] = []
        self._size = self._end = 0

    def add(self, spans: list[_Span], *row: Json) -> None:
        """Adds an answer; `row` has the columns of `_ROW`."""
        self._end += len(spans)
        self._waiting.append((self._end, *row))
        self._waiting_spans += spans
        self._size += 1
        if len(self._waiting) >= _TOGETHER:
            self._put_aside()

    def _put_aside(self) -> None:
        for names, rows in ((("spans", *_ROW), self._waiting), (_SPAN, self._waiting_spans)):
            for name, column in zip(names, zip(*rows, strict=True), strict=False):
                self._columns[name].extend(column)
                self._columns[name].put_aside()
        self._waiting, self._waiting_spans = [], []

    def columns(self) -> dict[str, Json]:
        self._put_aside()
        return {**self._about, "size": self._size, **self._columns}
