"""Changed answers as columns: each text once, numbers elsewhere, so that a hundred thousand fit in a page."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from unfazed.core.text import ANSWER, shorten, spelled, visible
from unfazed.core.values import Example, Inputs, Json, Output
from unfazed.measure.answers import Changed
from unfazed.measure.measuring import Flip
from unfazed.report.flips import KINDS, NOTE, common, kind_of

_SIDE = 400  # characters kept on each side of a change
_CHANGE = 1000  # characters kept of a change
_CHANGES = ("right in A, wrong in B", "wrong in A, right in B")


class _Span(NamedTuple):
    """A changed field: what stays before and after the change, and the change itself."""

    field: int
    head: str
    old: str
    new: str
    tail: str


class Columns:
    """Collects lists of changed answers; `shared` has the texts and the examples that they refer to."""

    def __init__(self) -> None:
        self._texts: dict[str, int] = {}
        self._examples: dict[str, int] = {}
        self._rows: list[dict[str, Json]] = []
        self._flips = _Set("Changed answers", KINDS, "before", "after")

    def shared(self) -> dict[str, Json]:
        return {"texts": list(self._texts), "examples": self._rows}

    def flips(self) -> dict[str, Json]:
        """The changed answers that were added."""
        return self._flips.columns()

    def add(self, flip: Flip) -> None:
        example, variant = flip.example, flip.variant
        spans = [
            self._span(name, example.inputs.get(name, ""), text)
            for name, text in variant.inputs.items()
            if text != example.inputs.get(name, "")
        ]
        self._flips.add(
            spans,
            example=self._example(example.id, example),
            operator=self._text(variant.source),
            draw=variant.draw,
            kind=kind_of(flip),
            before=self._answer(flip.clean, example.inputs),
            after=self._answer(flip.varied, variant.inputs),
            gold=self._text(spelled(variant.gold, variant.inputs)) if variant.gold is not None else -1,
            note=self._text(variant.note, NOTE),
            loss=None if flip.loss is None else round(flip.loss, 6),
        )

    def changed(self, answers: Iterable[Changed]) -> dict[str, Json]:
        """The answers that one run has right and another wrong."""
        made = _Set("Lost and gained between A and B", _CHANGES, "A", "B")
        for one in answers:
            made.add(
                [_Span(self._text("text"), _kept(one.text, _CHANGE), "", "", "")],
                example=self._example(one.example, None),
                operator=self._text(one.operator or "clean input"),
                draw=-1 if one.draw is None else one.draw,
                kind=int(one.change == "gained"),
                before=self._text(one.answer_a),
                after=self._text(one.answer_b),
                gold=self._text(one.gold),
                note=self._text(""),
                loss=1 if one.change == "lost" else -1,
            )
        return made.columns()

    def _text(self, text: str, limit: int = ANSWER) -> int:
        return self._texts.setdefault(visible(shorten(text, limit)), len(self._texts))

    def _answer(self, output: Output, inputs: Inputs) -> int:
        return self._text(spelled(output.value, inputs) if output.error is None else f"no answer: {output.error}")

    def _example(self, name: str, example: Example | None) -> int:
        place = self._examples.setdefault(name, len(self._examples))
        if place == len(self._rows):
            self._rows.append({"id": visible(shorten(name, ANSWER)), "groups": {}, "inputs": []})
        if example is not None and not self._rows[place]["inputs"]:
            groups = {visible(key): self._text(value) for key, value in example.groups.items()}
            inputs = [[self._text(key), self._text(text)] for key, text in example.inputs.items()]
            self._rows[place] |= {"groups": groups, "inputs": inputs}
        return place

    def _span(self, name: str, before: str, after: str) -> _Span:
        start, end = common(before, after)
        old, new = before[start : len(before) - end], after[start : len(after) - end]
        head = before[max(0, start - _SIDE) : start]
        tail = before[len(before) - end :][:_SIDE]
        cut, more = "…" * (start > _SIDE), "…" * (end > _SIDE)
        return _Span(
            self._text(name), visible(cut + head), _kept(old, _CHANGE), _kept(new, _CHANGE), visible(tail + more)
        )


def _kept(text: str, limit: int) -> str:
    return visible(shorten(text, limit))


class _Set:
    """One list of answers, column by column. `spans` has where each answer's changed fields begin."""

    def __init__(self, name: str, kinds: tuple[str, ...], before: str, after: str) -> None:
        self._about = {"name": name, "kinds": kinds, "heads": [before, after]}
        self._spans = [0]
        self._columns: dict[str, list[Json]] = {name: [] for name in _Span._fields}

    def add(self, spans: list[_Span], **row: Json) -> None:
        for name, value in row.items():
            self._columns.setdefault(name, []).append(value)
        for span in spans:
            for name, value in zip(_Span._fields, span, strict=True):
                self._columns[name].append(value)
        self._spans.append(self._spans[-1] + len(spans))

    def columns(self) -> dict[str, Json]:
        return {**self._about, "size": len(self._spans) - 1, "spans": self._spans, **self._columns}
