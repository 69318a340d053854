"""Answers in the batches in which they came: a row of the file for each batch, behind those that are there.

Keys are random. A table that is sorted by them has a page to read and to write for each of them, and the more there
are the less often it is at hand. Here all is written behind what is there, which takes as long for the last batch as
for the first. Which batch has a key is looked up in memory; that index is made when it is first needed.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from unswayed.base.secrets import without_known_bytes
from unswayed.base.values import BatchOutputs, Output
from unswayed.storage.store_keys import KEY_BYTES, Key

if TYPE_CHECKING:
    from unswayed.storage.store_index import KeyIndex

_MOST_ANSWERS = 16_384  # that wait to be written together
_MOST_TEXT = 8 << 20  # bytes of them
_BATCHES_A_QUERY = 900
_BATCHES_A_READ = 1024
_LONG = 1 << 20  # bytes of the answers of a batch; longer ones go by themselves

_INSERT = "INSERT INTO batches VALUES (?, ?, ?, ?, ?)"
_UNEQUAL = "a batch with more keys than answers, or fewer"
_encoder = msgspec.json.Encoder()


def lines_of(batch: BatchOutputs) -> bytes | None:
    """The answers as lines of JSON, with secrets masked; None if they are too long to be kept in one piece."""
    lines = _encoder.encode_lines(batch.values)
    if len(lines) > _LONG:
        return None
    if without_known_bytes(lines) != lines:  # not over the end of a line
        lines = b"".join([without_known_bytes(line) + b"\n" for line in lines.split(b"\n")[:-1]])
    return lines


class Batches:
    """The table of batches, where a store has one. Of batches that have the same key, the last one counts."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db
        self.there = db.execute("SELECT 1 FROM sqlite_master WHERE name = 'batches'").fetchone() is not None
        self._last = int(db.execute("SELECT max(id) FROM batches").fetchone()[0] or 0) if self.there else 0
        self._new: list[tuple[int, int, float, bytes, bytes]] = []
        self._answers = self._text = 0  # of those
        self._index: KeyIndex | None = None
        self._indexed = -(1 << 63)  # the number of the last batch that the index has

    @property
    def waiting(self) -> bool:
        """Is there something that was not written yet?"""
        return bool(self._new)

    @property
    def enough(self) -> bool:
        """Are there so many that they had better be written?"""
        return self._answers >= _MOST_ANSWERS or self._text >= _MOST_TEXT

    @property
    def size(self) -> int:
        """How many answers there are in the file."""
        if not self.there:
            return 0
        return int(self._db.execute("SELECT sum(length(keys)) FROM batches").fetchone()[0] or 0) // KEY_BYTES

    def add(self, session: int, keys: Sequence[Key], lines: bytes, seconds: float) -> None:
        self._last += 1
        self._new.append((self._last, session, seconds, b"".join(keys), lines))
        self._answers += len(keys)
        self._text += len(lines)

    def write(self) -> bytes:
        """Hands what waits to SQLite; returns its keys in one piece."""
        new, self._new = self._new, []
        self._answers = self._text = 0
        if new:
            self._db.executemany(_INSERT, new)
        return b"".join([row[3] for row in new])

    def sessions(self, keys: Sequence[Key]) -> Iterator[tuple[Key, int]]:
        """Those of the keys that are there, with the sessions of their answers."""
        for content, wanted, session in self._rows("session", keys):
            for key in wanted:
                if _place(content, key) is not None:
                    yield key, int(session)

    def outputs(self, keys: Sequence[Key]) -> Iterator[tuple[Key, Output]]:
        """Those of the keys that are there, with their outputs."""
        decode = msgspec.json.decode
        for content, wanted, seconds, text in self._rows("seconds, answers", keys):
            places = {key: place for key in wanted if (place := _place(content, key)) is not None}
            last = max(places.values(), default=0)
            lines = text.split(b"\n", last + 1)  # no further than is needed
            if len(lines) < last + 2:
                raise ValueError(_UNEQUAL)
            for key, place in places.items():
                yield key, Output(decode(lines[place]), None, float(seconds))

    def scan(self) -> Iterator[list[tuple[bytes, bytes]]]:
        """All batches from the first to the last, some at a time: the keys of each in one piece, and its answers."""
        if self.there:
            rows = self._db.execute("SELECT keys, answers FROM batches ORDER BY id")
            yield from iter(lambda: rows.fetchmany(_BATCHES_A_READ), [])

    def _rows(self, columns: str, keys: Sequence[Key]) -> Iterator[tuple[Any, ...]]:
        """Of each batch that may have some of the keys: all its keys, those that are wanted, and the columns."""
        found = self._numbers(keys) if self.there and keys else {}
        numbers = list(found)
        for at in range(0, len(numbers), _BATCHES_A_QUERY):
            part = numbers[at : at + _BATCHES_A_QUERY]
            marks = ",".join("?" * len(part))
            query = f"SELECT id, keys, {columns} FROM batches WHERE id IN ({marks}) ORDER BY id"  # noqa: S608 - ours
            for number, content, *rest in self._db.execute(query, part):
                yield content, found[number], *rest

    def _numbers(self, keys: Sequence[Key]) -> dict[int, list[Key]]:
        """Which batches may have the keys; those that were written since it was asked last are read first."""
        if self._index is None:
            from unswayed.storage.store_index import KeyIndex

            self._index = KeyIndex()
        rows = self._db.execute("SELECT id, keys FROM batches WHERE id > ? ORDER BY id", (self._indexed,))
        while new := rows.fetchmany(_BATCHES_A_READ):
            numbers, contents = zip(*new, strict=True)
            check_batches(numbers, contents)
            self._index.add(numbers, contents)
            self._indexed = numbers[-1]
        return self._index.find(keys)


def check_batches(numbers: Sequence[int], contents: Sequence[bytes]) -> None:
    """Raises where no store of ours has such numbers or keys."""
    from unswayed.storage.store_index import MOST_BATCHES

    if not 0 < numbers[0] <= numbers[-1] <= MOST_BATCHES:
        raise ValueError("a batch of an odd number")
    if any(len(content) % KEY_BYTES for content in contents):
        raise ValueError("a key of another length")


def split_lines(content: bytes, text: bytes) -> list[bytes]:
    """The answers of a batch with these keys."""
    lines = text.split(b"\n")
    if lines.pop() or len(lines) * KEY_BYTES != len(content):
        raise ValueError(_UNEQUAL)
    return lines


def _place(content: bytes, key: Key) -> int | None:
    """Which of the keys in one piece this is: the last, if it is there several times."""
    at = content.rfind(key)
    while at >= 0 and at % KEY_BYTES:
        at = content.rfind(key, 0, at + KEY_BYTES - 1)
    return at // KEY_BYTES if at >= 0 else None
