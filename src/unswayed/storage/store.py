"""The store of answers, whoever gave them: one SQLite file, written as answers come, safe against kill -9.

A key is the system's identity and the request, so that no system is ever given another's answers. Answers to a whole
batch are kept together, as one row; what differs from others, such as failures, has a row of its own, by its key. Each
answer belongs to a session, which has a day.
"""

from __future__ import annotations

import sqlite3
import time
import weakref
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import date
from hashlib import blake2b
from itertools import repeat
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from unswayed.base.errors import StoredFileError, UsageError
from unswayed.base.values import BatchOutputs, Output
from unswayed.storage.locks import Lock
from unswayed.storage.session import Asked, Session
from unswayed.storage.sqlite import interrupted
from unswayed.storage.store_batches import Batches, lines_of, split_lines
from unswayed.storage.store_file import (
    connect_to_read,
    connect_to_write,
    damaged,
    locked,
    make_tables,
    put_aside,
    unwritable,
)
from unswayed.storage.store_keys import Key, Keyer, keyer
from unswayed.storage.store_rows import Rows
from unswayed.storage.store_waiting import Waiting, batch_and_others

if TYPE_CHECKING:
    from unswayed.storage.store_sieve import Sieve

__all__ = ["AnswerStore", "Key", "Keyer", "keyer"]

_COMMIT_SECONDS = 0.1  # a system that answers faster than this has its batches committed together,
_COMMIT_SHARE = 50  # and where a commit takes long, no more often than costs a fiftieth of the time,
_COMMIT_AT_LEAST = 1.0  # but at least every second

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
        self._waiting = Waiting()  # rows; while there are any, no batch waits
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
            self._rows = Rows(connection, alone=lock is not None)
            self._batches = Batches(connection)
        except (sqlite3.DatabaseError, ValueError, TypeError) as error:
            connection.close()
            interrupted(connection, error)
            raise damaged(self.file, error) from error

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
            make_tables(db, folder / "outputs.sqlite", batches=True)
            store = cls(folder / "outputs.sqlite", db, lock)
            store.aside = aside
            if not store.size:
                from unswayed.storage.store_sieve import MOST, Sieve

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
            make_tables(db, file, batches=False)
        except sqlite3.DatabaseError as error:
            raise damaged(file, error) from error
        return cls(file, db, None, shared=True)

    @classmethod
    def in_memory(cls) -> AnswerStore:
        """A store that is gone when it is closed."""
        db = sqlite3.connect(":memory:", check_same_thread=False)
        make_tables(db, Path(":memory:"), batches=False)
        store = cls(Path(":memory:"), db, None, shared=True)
        weakref.finalize(store, db.close)  # also where nobody calls close()
        return store

    @classmethod
    def reader(cls, folder: Path) -> AnswerStore:
        file = folder / "outputs.sqlite"
        if not file.exists():
            raise StoredFileError(f"{file}: the run has no outputs yet. Start it with `unswayed run`.")
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
        self.asked += len(keys)
        if self._sieve is not None:
            self._sieve.add(keys)
        if self._shared:
            self._put_rows(keys, outputs)
        elif isinstance(outputs, BatchOutputs):
            self._put_batch(keys, outputs)
        else:
            batch, others = batch_and_others(keys, outputs)
            if batch:
                seconds = next(iter(batch.values())).seconds
                self._put_batch(list(batch), BatchOutputs([output.value for output in batch.values()], seconds))
            if others:
                self._put_rows(list(others), list(others.values()))
        if self._shared or time.monotonic() - self._committed > self._commit_every:
            self.commit()
        elif self._waiting.enough or self._batches.enough:
            self._flush()

    def _put_batch(self, keys: Sequence[Key], outputs: BatchOutputs) -> None:
        lines = lines_of(outputs)
        if lines is None:
            self._put_rows(keys, outputs)
        else:
            if self._waiting:  # of rows and batches that are written together, rows would count
                self._flush()
            self._batches.add(self._session(), keys, lines, outputs.seconds)

    def _put_rows(self, keys: Sequence[Key], outputs: Sequence[Output]) -> None:
        session = self._session()
        if self._batches.waiting or session != self._waiting.session:
            self._flush()
            self._waiting.session = session
        self._waiting.add(keys, outputs)

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
        self._committed = time.monotonic()
        cost = self._committed - began
        self._commit_every = min(max(_COMMIT_SECONDS, _COMMIT_SHARE * cost), _COMMIT_AT_LEAST)

    def get(self, keys: Sequence[Key]) -> dict[Key, Output]:
        """The stored outputs of these keys; keys that were never asked are not in it."""
        with self._reading():
            keys = self._perhaps_there(keys)
            found = dict(self._rows.outputs(keys))
            return found | dict(self._batches.outputs([key for key in keys if key not in found]))

    def answered(self, keys: Sequence[Key]) -> dict[Key, int]:
        """Which of these keys have an answer that is not a failure, each with its session."""
        with self._reading():
            keys = self._perhaps_there(keys)
            found = self._rows.sessions(keys)
            answered = {key: session for key, session in found.items() if session is not None}
            return answered | dict(self._batches.sessions([key for key in keys if key not in found]))

    def tried(self, keys: Sequence[Key]) -> set[Key]:
        """Which of these keys have an answer or a failure."""
        with self._reading():
            keys = self._perhaps_there(keys)
            return self._rows.tried(keys) | {key for key, _ in self._batches.sessions(keys)}

    def most_tokens(self) -> tuple[int, int]:
        """The most tokens that any answer took, in and out; 0 where none are known."""
        return self._rows.most_tokens()

    @property
    def size(self) -> int:
        """About how many outputs there are."""
        return self._rows.size + self._batches.size

    def scan(self) -> Iterator[tuple[bytes, Iterator[tuple[Any, Any]]]]:
        """All outputs, some at a time: their keys in one piece, and each one's answer as JSON and its error.

        If a key comes again, the last one counts.
        """
        with self._reading():
            for some in self._batches.scan():
                answers = [line for batch in some for line in split_lines(*batch)]
                yield b"".join([keys for keys, _ in some]), zip(answers, repeat(None))
            for rows in self._rows.scan():
                column, *said = zip(*rows, strict=True)
                yield b"".join(column), zip(*said, strict=True)

    def damage(self, error: Exception) -> StoredFileError:
        """The error of a store that holds what no store writes."""
        return damaged(self.file, error)

    def content(self) -> str:
        """An id of all outputs, which is another once one is added or changed."""
        h = blake2b(digest_size=16)
        with self._reading():
            for some in self._batches.scan():
                h.update(msgspec.msgpack.encode(some))
            for rows in self._rows.scan():
                h.update(msgspec.msgpack.encode(rows))
        return h.hexdigest()

    def _perhaps_there(self, keys: Sequence[Key]) -> Sequence[Key]:
        """Those of the keys that may be in the file, which has all by then that was put."""
        keys = keys if self._sieve is None else self._sieve.through(keys)
        if keys and (self._waiting or self._batches.waiting):
            self._flush()
        return keys

    @contextmanager
    def _reading(self) -> Iterator[None]:
        """Whatever is wrong with what is read is an error that names the file."""
        try:
            yield
        except sqlite3.DatabaseError as error:
            interrupted(self._db, error)
            raise damaged(self.file, error) from error
        except (msgspec.MsgspecError, ValueError, TypeError, AttributeError, RecursionError) as error:
            raise damaged(self.file, error) from error

    def _flush(self) -> None:
        """Hands what waits to SQLite."""
        waiting, self._waiting = self._waiting, Waiting(self._waiting.session)
        try:
            self._rows.write(waiting)
            self._rows.drop(self._batches.write())
            if self._used:
                self._db.executemany(_ADD, self._used.items())
                self._used.clear()
        except sqlite3.OperationalError as error:
            raise unwritable(self.file, error) from error
        except sqlite3.DatabaseError as error:
            raise damaged(self.file, error) from error

    def close(self) -> None:
        try:
            if self._lock or self._shared:
                self.commit()
        finally:
            self._db.close()
            if self._lock:
                self._lock.close()
