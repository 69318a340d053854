"""The store of answers, whoever gave them: one SQLite file, written as answers come, safe against kill -9.

A key is the system's identity and the request, so that no system is ever given another's answers. Keys are random:
once there are too many for each page to be met again while it is at hand, outputs go to a small table first, which is
moved to the large one in the order of keys whenever it is full. Each answer belongs to a session, which has a day.
"""

from __future__ import annotations

import sqlite3
import time
import weakref
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date
from hashlib import blake2b
from itertools import pairwise
from pathlib import Path
from types import NoneType
from typing import TYPE_CHECKING

import msgspec

from unfazed.core.errors import StoredFileError, UsageError
from unfazed.core.locks import Lock
from unfazed.core.session import Asked, Session
from unfazed.core.sqlite import interrupted
from unfazed.core.store_file import (
    ALL,
    RECENT,
    connect_to_read,
    connect_to_write,
    damaged,
    locked,
    make_tables,
    put_aside,
    unwritable,
)
from unfazed.core.store_keys import Key, Keyer, keyer
from unfazed.core.store_waiting import Waiting
from unfazed.core.values import Output

if TYPE_CHECKING:
    from unfazed.core.store_sieve import Sieve

__all__ = ["AnswerStore", "Key", "Keyer", "keyer"]

_ALL, _RECENT = ALL, RECENT  # what is in both is newer in the second
_DIRECTLY = 1_000_000  # outputs up to which all are written to the large table at once
_RECENTLY = 500_000  # outputs in the small table when it is moved
_PIECES = 16  # in which it is moved, so that no transaction is large
_COMMIT_SECONDS = 0.1  # a system that answers faster than this has its batches committed together,
_COMMIT_SHARE = 50  # and where a commit takes long, no more often than costs a fiftieth of the time,
_COMMIT_AT_LEAST = 1.0  # but at least every second
_KEYS_A_QUERY = 900
_ROWS_A_SCAN = 4096

_MOVE = f"INSERT OR REPLACE INTO {_ALL} SELECT * FROM {_RECENT} WHERE key >= ? AND key < ? ORDER BY key"  # noqa: S608
_USUAL = (  # told in this order, others after them
    "requests", "retries", "429", "5xx", "time-outs", "refusals", "cut off", "tokens in", "tokens out", "cost",
)  # fmt: skip
_ADD = "INSERT INTO usage VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET amount = amount + excluded.amount"


class AnswerStore:
    """Outputs by key. `writer` also keeps other writers out until it is closed or its process dies.

    A store in a file of its own is `shared`: several processes may write to it, as workers do. Used by one thread.
    """

    def __init__(self, file: Path, connection: sqlite3.Connection, lock: Lock | None, shared: bool = False) -> None:
        self.file = file
        self._db = connection
        self._lock = lock
        self._shared = shared  # other processes wait for what is not committed
        self._committed = time.monotonic()
        self._commit_every = _COMMIT_SECONDS
        self._waiting = Waiting()
        self._sieve: Sieve | None = None  # holds back keys that are surely not there, where that is known
        self._used: Counter[str] = Counter()
        self.spent: Counter[str] = Counter()  # what was used since this was opened
        self._identity = ""
        self.own: dict[str, int] = {}  # the sessions that were begun here, by identity
        self.aside: Path | None = None  # where the answers are that were here before
        self.asked = 0  # requests whose outputs were put here
        self._reused = bytearray()  # the beginnings of the keys of answers that were used again
        self._reused_from: set[int] = set()  # their sessions
        self.checked: Counter[str] = Counter()  # answers that were asked again first, by identity
        self.warnings: list[str] = []
        try:
            there = connection.execute("SELECT 1 FROM sqlite_master WHERE name = ?", (_RECENT,)).fetchone()
            self._tables = (_ALL, _RECENT) if there else (_ALL,)  # a run of before this was made has no second table
            self._sizes = {table: self._rows(table) for table in self._tables} if lock else {}
            self._columns = "key, value, error, seconds, attempts"
            if any(column[1] == "tokens_out" for column in connection.execute(f"PRAGMA table_info({_ALL})").fetchall()):
                self._columns += ", tokens_in, tokens_out"
            if shared:
                self._tables, self._sizes = (_ALL,), {_ALL: 0, _RECENT: 0}
        except (sqlite3.DatabaseError, ValueError, TypeError) as error:
            connection.close()
            interrupted(connection, error)
            raise damaged(self.file, error) from error

    def _rows(self, table: str) -> int:
        """About how many rows there are; counting them would read all."""
        (last,) = self._db.execute(f"SELECT max(rowid) FROM {table}").fetchone()  # noqa: S608 - one of our names
        return int(last or 0)

    @classmethod
    def writer(cls, folder: Path, fresh: bool = False, expected: int | None = None) -> AnswerStore:
        """The store of a folder, with `outputs.sqlite` in it; raises InUse where another process writes there.

        A `fresh` one is empty; what was there is kept aside, under another name. About as many outputs as `expected`
        will be put there.
        """
        folder.mkdir(parents=True, exist_ok=True)
        lock = locked(folder)
        try:
            aside = put_aside(folder / "outputs.sqlite") if fresh else None
            db = connect_to_write(folder / "outputs.sqlite")
            db.execute("PRAGMA journal_mode=WAL")
            db.execute("PRAGMA synchronous=NORMAL")
            db.execute("PRAGMA cache_size=-65536")  # KiB; keys are random, so pages come up again and again
            make_tables(db, folder / "outputs.sqlite", (_ALL, _RECENT))
            store = cls(folder / "outputs.sqlite", db, lock)
            store.aside = aside
            if not any(store._sizes.values()):
                from unfazed.core.store_sieve import MOST, Sieve

                store._sieve = Sieve(MOST if expected is None else expected)
        except sqlite3.DatabaseError as error:
            lock.close()
            raise damaged(folder / "outputs.sqlite", error) from error
        except BaseException:
            lock.close()
            raise
        return store

    @classmethod
    def shared(cls, file: Path) -> AnswerStore:
        """A store in this file, to which several processes may write at once."""
        if file.is_dir() or not file.parent.is_dir():
            raise UsageError(f"Answers can't be kept in {file}: it is a folder, or its folder does not exist.")
        try:
            db = connect_to_write(file)
            db.execute("PRAGMA journal_mode=WAL")
            db.execute("PRAGMA synchronous=NORMAL")
            make_tables(db, file, (_ALL,))
        except sqlite3.DatabaseError as error:
            raise damaged(file, error) from error
        return cls(file, db, None, shared=True)

    @classmethod
    def in_memory(cls) -> AnswerStore:
        """A store that is gone when it is closed."""
        db = sqlite3.connect(":memory:", check_same_thread=False)
        make_tables(db, Path(":memory:"), (_ALL,))
        store = cls(Path(":memory:"), db, None, shared=True)
        weakref.finalize(store, db.close)  # also where nobody calls close()
        return store

    @classmethod
    def reader(cls, folder: Path) -> AnswerStore:
        file = folder / "outputs.sqlite"
        if not file.exists():
            raise StoredFileError(f"{file}: the run has no outputs yet. Start it with `unfazed run`.")
        return cls.reading(file)

    @classmethod
    def reading(cls, file: Path) -> AnswerStore:
        """The store in this file, to read."""
        try:
            return cls(file, connect_to_read(file), None)
        except sqlite3.DatabaseError as error:
            raise damaged(file, error) from error

    def __enter__(self) -> AnswerStore:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def begin(self, identity: str) -> None:
        """What is put from now on was answered by this system, in a session of its own."""
        self._identity = identity

    def sessions(self) -> dict[int, Session]:
        """When answers were given, and by whom; by number."""
        try:
            found = self._db.execute("SELECT id, day, identity FROM sessions").fetchall()
            return {int(i): Session(str(day), None if who is None else str(who)) for i, day, who in found}
        except sqlite3.OperationalError as error:
            interrupted(self._db, error)
            return {}  # a run of before this was noted
        except (sqlite3.DatabaseError, ValueError, TypeError) as error:
            raise damaged(self.file, error) from error

    def reuse(self, answered: Mapping[Key, int]) -> list[Key]:
        """Counts answers that are used again; returns the keys of those that were not given since this was opened."""
        own = set(self.own.values())
        old = {key: session for key, session in answered.items() if session not in own}
        self._reused += b"".join([key[:8] for key in old])
        self._reused_from.update(old.values())
        return list(old)

    @property
    def reused(self) -> int:
        """How many answers were used again."""
        import numpy as np

        return len(np.unique(np.frombuffer(self._reused, dtype=np.uint64)))

    def told(self) -> Asked:
        """What asking did since this was opened."""
        known = self.sessions()
        days = sorted({known[number].day for number in self._reused_from if number in known})
        return Asked(
            asked=self.asked,
            reused=self.reused,
            reused_from=(days[0], days[-1]) if days else None,
            checked=self.checked.total(),
            aside=None if self.aside is None else str(self.aside),
            warnings=tuple(self.warnings),
            used=dict(self.spent),
        )

    def _session(self) -> int:
        if self._identity not in self.own:
            made = "INSERT INTO sessions (day, identity) VALUES (?, ?)"
            identity = self._identity.encode("utf-8", "replace").decode()
            try:
                number = self._db.execute(made, (date.today().isoformat(), identity)).lastrowid
            except sqlite3.OperationalError as error:
                raise unwritable(self.file, error) from error
            self.own[self._identity] = int(number or 0)
        return self.own[self._identity]

    def put(self, rows: Iterable[tuple[Key, Output]]) -> None:
        """Adds outputs; a later answer to the same request takes the place of an earlier one."""
        rows = list(rows)
        self.put_block([key for key, _ in rows], [output for _, output in rows])

    def put_block(self, keys: Sequence[Key], outputs: Sequence[Output]) -> None:
        """The same for keys and their outputs apart."""
        session = self._session()
        if session != self._waiting.session:
            self._flush()
            self._waiting.session = session
        self._waiting.add(keys, outputs)
        self.asked += len(keys)
        if self._sieve is not None:
            self._sieve.add(keys)
        if self._shared or time.monotonic() - self._committed > self._commit_every:
            self.commit()
        elif self._waiting.enough:
            self._flush()

    def use(self, amounts: Mapping[str, float]) -> None:
        """Adds to what the run has used, which is written with the outputs."""
        for name, amount in amounts.items():
            self._used[name] += amount  # type: ignore[assignment]
            self.spent[name] += amount  # type: ignore[assignment]

    def used(self) -> dict[str, float]:
        """What the run has used in all, by name."""
        try:
            found = self._db.execute("SELECT name, amount FROM usage ORDER BY name LIMIT 1000").fetchall()
            used = {str(name): float(amount) for name, amount in found}
            return {name: used[name] for name in (*_USUAL, *used) if name in used}
        except sqlite3.OperationalError as error:
            interrupted(self._db, error)
            return {}  # a run of before this was counted
        except (sqlite3.DatabaseError, ValueError, TypeError) as error:
            raise damaged(self.file, error) from error

    def commit(self) -> None:
        began = time.monotonic()
        self._flush()
        try:
            self._db.commit()
        except sqlite3.OperationalError as error:
            raise unwritable(self.file, error) from error
        if self._sizes[_RECENT] >= _RECENTLY and not self._shared:
            self._move()
        self._committed = time.monotonic()
        cost = self._committed - began
        self._commit_every = min(max(_COMMIT_SECONDS, _COMMIT_SHARE * cost), _COMMIT_AT_LEAST)

    def get(self, keys: Sequence[Key]) -> dict[Key, Output]:
        """The stored outputs of these keys; keys that were never asked are not in it."""
        decode = msgspec.json.decode
        found = {}
        try:
            for key, value, error, seconds, attempts, *tokens in self._select(self._columns, keys):
                if not isinstance(error, (str, NoneType)) or not isinstance(attempts, int):
                    raise TypeError("a value of another type")
                if not all(isinstance(count, (int, NoneType)) for count in tokens):
                    raise TypeError("a count of tokens of another type")
                answer = None if error is not None else decode(value)
                found[key] = Output(answer, error, float(seconds), attempts, *tokens)
        except (msgspec.MsgspecError, ValueError, TypeError, RecursionError) as damage:
            raise damaged(self.file, damage) from damage
        return found

    def most_tokens(self) -> tuple[int, int]:
        """The most tokens that any answer took, in and out; 0 where none are known."""
        if "tokens_in" not in self._columns:
            return 0, 0
        found = [self._db.execute(f"SELECT max(tokens_in), max(tokens_out) FROM {t}").fetchone() for t in self._tables]  # noqa: S608
        return max(int(row[0] or 0) for row in found), max(int(row[1] or 0) for row in found)

    @property
    def size(self) -> int:
        """About how many outputs there are."""
        return sum(self._rows(table) for table in self._tables)

    def scan(self) -> Iterator[list[tuple[Key, bytes | None, str | None]]]:
        """All keys with answers, as JSON, or errors, some at a time. If a key comes again, the last one counts."""
        try:
            for table in self._tables:
                rows = self._db.execute(f"SELECT key, value, error FROM {table}")  # noqa: S608 - one of our names
                yield from iter(lambda rows=rows: rows.fetchmany(_ROWS_A_SCAN), [])  # type: ignore[misc]
        except sqlite3.DatabaseError as error:
            interrupted(self._db, error)
            raise damaged(self.file, error) from error

    def damage(self, error: Exception) -> StoredFileError:
        """The error of a store that holds what no store writes."""
        return damaged(self.file, error)

    def content(self) -> str:
        """An id of all outputs, which is another once one is added or changed."""
        h = blake2b(digest_size=16)
        for rows in self.scan():
            h.update(msgspec.msgpack.encode(rows))
        return h.hexdigest()

    def answered(self, keys: Sequence[Key]) -> dict[Key, int]:
        """Which of these keys have an answer that is not a failure, each with its session."""
        found = dict(self._select("key, CASE WHEN error IS NULL THEN session ELSE -1 END", keys))
        return {key: session for key, session in found.items() if session != -1}

    def tried(self, keys: Sequence[Key]) -> set[Key]:
        """Which of these keys have an answer or a failure."""
        return {key for (key,) in self._select("key", keys)}

    def _select(self, columns: str, keys: Sequence[Key]) -> Iterator[tuple]:  # type: ignore[type-arg]
        keys = keys if self._sieve is None else self._sieve.through(keys)
        if keys and self._waiting:
            self._flush()
        for at in range(0, len(keys), _KEYS_A_QUERY):
            part = keys[at : at + _KEYS_A_QUERY]
            marks = ",".join("?" * len(part))
            for table in self._tables if self._sizes.get(_RECENT, 1) else (_ALL,):
                query = f"SELECT {columns} FROM {table} WHERE key IN ({marks})"  # noqa: S608 - no outside text
                try:
                    yield from self._db.execute(query, part)
                except sqlite3.DatabaseError as error:
                    interrupted(self._db, error)
                    raise damaged(self.file, error) from error

    def _flush(self) -> None:
        """Hands waiting rows to SQLite."""
        waiting, self._waiting = self._waiting, Waiting(self._waiting.session)
        table = _ALL if self._shared or self._sizes[_ALL] < _DIRECTLY else _RECENT
        self._sizes[table] += len(waiting)
        try:
            waiting.write(self._db, table)
            self._db.executemany(_ADD, self._used.items())
            self._used.clear()
        except sqlite3.OperationalError as error:
            raise unwritable(self.file, error) from error
        except sqlite3.DatabaseError as error:
            raise damaged(self.file, error) from error

    def _move(self) -> None:
        """Moves the small table to the large one. Stopped half-way, all is still in one of them, and is moved again."""
        ends = [bytes([i * 256 // _PIECES]) for i in range(_PIECES)] + [b"\xff" * 17]
        try:
            for piece in pairwise(ends):
                self._db.execute(_MOVE, piece)
                self._db.commit()
            self._db.execute(f"DELETE FROM {_RECENT}")  # noqa: S608 - one of our names
            self._db.commit()
        except sqlite3.OperationalError as error:
            raise unwritable(self.file, error) from error
        self._sizes[_RECENT] = 0

    def close(self) -> None:
        try:
            if self._lock or self._shared:
                self.commit()
        finally:
            self._db.close()
            if self._lock:
                self._lock.close()
