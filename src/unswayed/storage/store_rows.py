"""Outputs by key, a row of the file for each: failures, those that took several attempts or counted tokens, and all of
a file to which several processes write. What is here counts before an answer of the same key in a batch."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from types import NoneType
from typing import Any

import msgspec

from unswayed.base.values import Output
from unswayed.storage.store_file import RECENT, ROWS, has_table
from unswayed.storage.store_keys import Key, split_keys
from unswayed.storage.store_waiting import Waiting

_KEYS_A_QUERY = 900
_ROWS_A_SCAN = 4096
_FAILED = -1  # stands for the session of a failure


class Rows:
    """The table of rows. An older store may have a second one, whose rows are newer, if it is only read."""

    def __init__(self, db: sqlite3.Connection, alone: bool) -> None:
        """`alone`: no other process writes here."""
        self._db = db
        self._tables = (ROWS, RECENT) if has_table(db, RECENT) else (ROWS,)
        self._columns = "key, value, error, seconds, attempts"
        if any(column[1] == "tokens_out" for column in db.execute(f"PRAGMA table_info({ROWS})").fetchall()):
            self._columns += ", tokens_in, tokens_out"
        self._any = not alone or bool(self.size)  # may there be any? Most runs have none

    @property
    def size(self) -> int:
        """About how many rows there are; counting them would read all."""
        last = [self._db.execute(f"SELECT max(rowid) FROM {table}").fetchone()[0] for table in self._tables]  # noqa: S608
        return sum(int(number or 0) for number in last)

    def outputs(self, keys: Sequence[Key]) -> Iterator[tuple[Key, Output]]:
        """Those of the keys that are there, with their outputs; if one comes again, the last one counts."""
        decode = msgspec.json.decode
        for key, value, error, seconds, attempts, *tokens in self._select(self._columns, keys):
            if not isinstance(error, (str, NoneType)) or not isinstance(attempts, int):
                raise TypeError("a value of another type")
            if not all(isinstance(count, (int, NoneType)) for count in tokens):
                raise TypeError("a count of tokens of another type")
            answer = None if error is not None else decode(value)
            yield key, Output(answer, error, float(seconds), attempts, *tokens)

    def sessions(self, keys: Sequence[Key]) -> dict[Key, int | None]:
        """Those of the keys that are there, with the sessions of their answers, None for failures."""
        found = dict(self._select(f"key, CASE WHEN error IS NULL THEN session ELSE {_FAILED} END", keys))
        return {key: None if session == _FAILED else session for key, session in found.items()}

    def tried(self, keys: Sequence[Key]) -> set[Key]:
        """Those of the keys that are there."""
        return {key for (key,) in self._select("key", keys)}

    def most_tokens(self) -> tuple[int, int]:
        """The most tokens that any answer took, in and out; 0 where none are known."""
        if "tokens_in" not in self._columns:
            return 0, 0
        found = [self._db.execute(f"SELECT max(tokens_in), max(tokens_out) FROM {t}").fetchone() for t in self._tables]  # noqa: S608
        return max(int(row[0] or 0) for row in found), max(int(row[1] or 0) for row in found)

    def scan(self) -> Iterator[list[tuple[Key, bytes | None, str | None]]]:
        """All keys with answers, as JSON, or errors, some at a time. If a key comes again, the last one counts."""
        for table in self._tables:
            rows = self._db.execute(f"SELECT key, value, error FROM {table}")  # noqa: S608 - one of our names
            yield from iter(lambda rows=rows: rows.fetchmany(_ROWS_A_SCAN), [])  # type: ignore[misc]

    def write(self, waiting: Waiting) -> None:
        if waiting:
            self._any = True
            waiting.write(self._db, ROWS)

    def drop(self, keys: bytes) -> None:
        """Drops the rows of keys that were answered since, which are in one piece."""
        if self._any:
            self._db.executemany(f"DELETE FROM {ROWS} WHERE key = ?", zip(split_keys(keys), strict=True))  # noqa: S608

    def _select(self, columns: str, keys: Sequence[Key]) -> Iterator[tuple[Any, ...]]:
        for at in range(0, len(keys) if self._any else 0, _KEYS_A_QUERY):
            part = keys[at : at + _KEYS_A_QUERY]
            marks = ",".join("?" * len(part))
            for table in self._tables:
                yield from self._db.execute(f"SELECT {columns} FROM {table} WHERE key IN ({marks})", part)  # noqa: S608
