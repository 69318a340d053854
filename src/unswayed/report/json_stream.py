"""JSON of long lists, made some values at a time and put aside, so that memory holds few of them."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

import msgspec
import numpy as np

from unswayed.base.values import Json
from unswayed.measure.spill import Kept, Spill

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
