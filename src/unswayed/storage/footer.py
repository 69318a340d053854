"""What a Parquet file says of itself, read before the native reader is trusted with it.

That reader ends the process on some names of columns, and a dictionary of kilobytes can make a few rows larger than the
memory. Both stand in the file's footer and page headers, which are Thrift's compact protocol.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, BinaryIO

_MOST_FOOTER = 256 << 20  # bytes
_MOST_HEADER = 1 << 16
_DEEPEST = 32
_SCHEMA, _GROUPS, _COLUMNS, _COLUMN_FACTS, _NAME = 2, 4, 1, 3, 4  # numbers of fields, as parquet.thrift has them
_DICTIONARY_AT, _UNPACKED = 11, 2


class Footer:
    """The names of all columns, and the bytes of the largest dictionary."""

    def __init__(self, file: BinaryIO) -> None:
        size = file.seek(0, 2)
        file.seek(size - 8)
        length = int.from_bytes(file.read(4), "little")
        if not 0 < length <= min(_MOST_FOOTER, size - 12):
            raise ValueError("its footer has no sound length")
        file.seek(size - 8 - length)
        facts = _Compact(file.read(length)).struct()
        elements = facts.get(_SCHEMA) or []
        self.names = [e[_NAME].decode("utf-8", "replace") for e in elements if isinstance(e.get(_NAME), bytes)]
        self.dictionary = max((_unpacked(file, at, size) for at in _dictionaries(facts)), default=0)
        file.seek(0)


def _dictionaries(facts: dict[int, Any]) -> Iterator[int]:
    """Where the dictionaries stand in the file."""
    for group in facts.get(_GROUPS) or []:
        for column in group.get(_COLUMNS) or []:
            at = (column.get(_COLUMN_FACTS) or {}).get(_DICTIONARY_AT)
            if isinstance(at, int) and at > 0:
                yield at


def _unpacked(file: BinaryIO, at: int, size: int) -> int:
    if at >= size:
        raise ValueError("a dictionary lies outside the file")
    file.seek(at)
    unpacked = _Compact(file.read(_MOST_HEADER)).struct().get(_UNPACKED, 0)
    return unpacked if isinstance(unpacked, int) else 0


class _Compact:
    """Thrift's compact protocol: structs as dictionaries by field number, whatever their fields mean."""

    def __init__(self, content: bytes) -> None:
        self._content, self._at = content, 0

    def struct(self, depth: int = 0) -> dict[int, Any]:
        if depth > _DEEPEST:
            raise ValueError("its footer is nested too deeply")
        fields: dict[int, Any] = {}
        number = 0
        while kind := self._byte():
            step, kind = kind >> 4, kind & 15
            number = number + step if step else self._signed()
            fields[number] = kind == 1 if kind in (1, 2) else self._value(kind, depth)
        return fields

    def _value(self, kind: int, depth: int) -> Any:
        if kind in (1, 2, 3):
            return self._byte()
        if kind in (4, 5, 6):
            return self._signed()
        if kind in (7, 8):
            return self._bytes(8 if kind == 7 else self._unsigned())
        if kind in (9, 10):
            head = self._byte()
            count = head >> 4 if head >> 4 < 15 else self._unsigned()
            if count > len(self._content):
                raise ValueError("a list in its footer is longer than the footer")
            return [self._value(head & 15, depth + 1) for _ in range(count)]
        if kind == 12:
            return self.struct(depth + 1)
        raise ValueError(f"its footer has a value of kind {kind}, which Parquet has not")

    def _byte(self) -> int:
        return self._bytes(1)[0]

    def _bytes(self, count: int) -> bytes:
        found = self._content[self._at : self._at + count]
        if len(found) < count:
            raise ValueError("its footer is cut off")
        self._at += count
        return found

    def _unsigned(self) -> int:
        value = shift = 0
        while True:
            byte = self._byte()
            value |= (byte & 127) << shift
            if byte < 128:
                return value
            shift += 7
            if shift > 63:
                raise ValueError("a number in its footer is too long")

    def _signed(self) -> int:
        value = self._unsigned()
        return (value >> 1) ^ -(value & 1)
