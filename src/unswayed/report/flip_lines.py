"""All changed answers of a run as JSON lines, written while they stream by."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path

import msgspec

from unswayed.base.values import Example, Inputs, Json
from unswayed.measure.changes import Case, Flip, FlipBlock
from unswayed.report.flips import FlipSample
from unswayed.storage.files import replacing

_LINES = 256  # that are written together


class _Place(msgspec.Struct, frozen=True, gc=False):
    """A flip as it is written: what comes first, and then what the following have."""

    row: int
    example_id: str


class _Kind(msgspec.Struct, frozen=True, gc=False):
    draw: int
    source: str
    family: str
    meaning: str


class _Own(msgspec.Struct, frozen=True, gc=False):
    groups: dict[str, str]
    inputs: Inputs


class _Said(msgspec.Struct, frozen=True, gc=False):
    varied_gold: Json
    before: Json
    after: Json
    right_before: bool | None
    right_after: bool | None
    loss: float | None


def lines(flips: FlipBlock) -> Iterator[bytes]:
    """Flips as lines of JSON, some at a time."""
    pieces = _pieces(flips.cases)
    for at in range(0, len(flips.numbers), _LINES):
        some = flips.between(at, at + _LINES)
        try:
            made = None if pieces is None else _lines(some, pieces)
        except _ODD:
            made = None
        yield made or b"".join(
            [_line(example, varied, note, flips.cases[number]) for example, varied, note, number in some.rows()]
        )


def _pieces(cases: Sequence[Case]) -> list[tuple[bytes, bytes]] | None:
    """The pieces of a line that are the same wherever the case is; None if JSON can't spell one."""
    try:
        return [(_encoder.encode(_kind(case))[1:-1], _encoder.encode(_said(case))[1:] + b"\n") for case in cases]
    except _ODD:
        return None


def _lines(flips: FlipBlock, pieces: list[tuple[bytes, bytes]]) -> bytes:
    """A few flips, put together of pieces, as most of these are in many lines."""
    notes, varied = (_encoder.encode_lines(column).split(b"\n")[:-1] for column in (flips.notes, flips.varied))
    made: list[bytes] = []
    last = None
    for example, note, inputs, number in zip(flips.examples, notes, varied, flips.numbers, strict=True):
        if example is not last:
            last = example
            place = _encoder.encode(_Place(example.row, example.id))[:-1]
            own = _encoder.encode(_Own(example.groups, example.inputs))[1:-1]
            gold = _encoder.encode(example.gold)
        kind, said = pieces[number]
        made += place, b",", kind, b',"note":', note, b",", own, b',"varied":', inputs, b',"gold":', gold, b",", said
    return b"".join(made)


def _line(example: Example, varied: Inputs, note: str, case: Case) -> bytes:
    """One flip, some of which JSON can't spell: a lone surrogate, which needs an escape."""
    parts = (_Place(example.row, example.id), _kind(case), {"note": note}, _Own(example.groups, example.inputs),
             {"varied": varied, "gold": example.gold}, _said(case))  # fmt: skip
    whole = {name: value for part in parts for name, value in _fields(part).items()}
    try:
        return _encoder.encode(whole) + b"\n"
    except _ODD:
        return json.dumps(whole, default=repr).encode("ascii") + b"\n"


def _fields(part: dict[str, Json] | msgspec.Struct) -> dict[str, Json]:
    return part if isinstance(part, dict) else msgspec.structs.asdict(part)


def _kind(case: Case) -> _Kind:
    draw, source, meaning, family = case.kind
    return _Kind(draw, source, family, meaning)


def _said(case: Case) -> _Said:
    return _Said(case.gold, case.clean.value, case.varied.value, case.right_before, case.right_after, case.loss)


_encoder = msgspec.json.Encoder()
_ODD = (UnicodeEncodeError, TypeError)


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


def blocks_of_flips(flips: Iterable[Flip]) -> Iterator[FlipBlock]:
    """Flips that come one by one as columns."""
    stream = iter(flips)
    while some := list(islice(stream, _LINES)):
        yield FlipBlock.of(some)
