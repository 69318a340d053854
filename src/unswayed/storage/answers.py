"""The store of answers, whoever gave them: one SQLite file, written as answers come, safe against kill -9.

A key is the system's identity and the request, so that no system is ever given another's answers. There is one table,
to which rows of some dozens of answers are appended (`answer_rows.py`): the last of ten million answers costs as much
to store as the first, since nothing is sorted by key. Which row has a key is looked up in memory (`keys.KeyIndex`).
Of answers to the same request, the one that was stored last counts. Each answer belongs to a session, which has a day.
"""

from __future__ import annotations

import os
import sqlite3
import time
import weakref
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from datetime import date
from functools import cached_property
from hashlib import blake2b
from itertools import chain, count
from math import ceil
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import numpy as np

from unswayed.base.errors import StoredFileError, UsageError
from unswayed.base.values import KEPT, Output
from unswayed.storage.answer_rows import (
    StoredAnswer,
    WriteBuffer,
    damaged_store,
    key_places,
    read_details,
    read_outputs,
    split_answers,
)
from unswayed.storage.files import Lock, unwritable
from unswayed.storage.keys import KEY_BYTES, MAX_ROW, Key, KeyIndex
from unswayed.storage.rests_on import RestsOn
from unswayed.storage.sqlite import connect, interrupted

_SCHEMA = (
    "CREATE TABLE IF NOT EXISTS sessions (id INTEGER PRIMARY KEY, day TEXT NOT NULL, identity TEXT NOT NULL)",
    "CREATE TABLE IF NOT EXISTS usage (name TEXT PRIMARY KEY, amount REAL NOT NULL)",
    """CREATE TABLE IF NOT EXISTS batches (
        id INTEGER PRIMARY KEY, session INTEGER NOT NULL, keys BLOB NOT NULL, details BLOB NOT NULL,
        answers BLOB NOT NULL
    )""",
)
_COMMIT_SECONDS = 0.1  # a system that answers faster than this has its answers committed together,
_COMMIT_SHARE = 50  # and where a commit takes long, no more often than costs a fiftieth of the time,
_COMMIT_AT_LEAST = 1.0  # but at least every second
_ROWS_A_QUERY = 900
_ROWS_A_READ = 1024
_MEMORY = ":memory:"
_MEMORY_KIB = 256 << 10  # of answers without a file; more are in a temporary file, which SQLite deletes

_USUAL = (  # shown in this order, others after them
    "requests", "retries", "429", "5xx", "time-outs", "refusals", "cut off", "tokens in", "tokens out", "cost",
)  # fmt: skip
_ADD_USAGE = "INSERT INTO usage VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET amount = amount + excluded.amount"


class Session(NamedTuple):
    """A time of asking: its day, and the identity of the system."""

    day: str
    identity: str


class Asked(msgspec.Struct, frozen=True, kw_only=True):
    """What a time of asking did: requests that were asked, stored answers that were used again, and from when.

    Example: `run.session.reused`.

    `checked` of the stored answers were asked again first; with `known`, none had to be, since all that decides them is
    recorded. `unseen` says what of the system can't be recorded. `aside` is the file of those that `fresh` put away.
    `used` is what asking used this time, such as requests, tokens and cost; stored answers cost nothing.
    """

    asked: int = 0
    reused: int = 0
    reused_from: tuple[str, str] | None = None
    checked: int = 0
    known: bool = False
    unseen: tuple[str, ...] = ()
    aside: str | None = None
    warnings: tuple[str, ...] = ()
    used: dict[str, float] = {}

    @property
    def sentence(self) -> str:
        """`asked 120, reused 4,780 answered 2026-11-14`, and what else is to be known."""
        first, last = self.reused_from or ("", "")
        when = "" if not first else f" answered {first}" if first == last else f" answered {first} to {last}"
        told = f"asked {self.asked:,}, reused {self.reused:,}{when}"
        if self.reused and self.known:
            told += " (all that decides them is known and unchanged)"
        elif self.reused and not self.checked:
            told += " (none of them checked)"
        elif self.reused:
            told += f" ({self.checked:,} of them checked{self._hidden})"
        if self.reused and self.unseen:
            told += f"; not recorded: {'; '.join(self.unseen)}"
        return told + (f"; the answers from before are in {self.aside}" if self.aside else "")

    @property
    def _hidden(self) -> str:
        """How many of the reused answers may differ without a trace in those that were checked."""
        share = hidden_share(self.checked, self.reused)
        percent = 100 * share
        shown = f"{ceil(percent)}" if percent >= 1 else f"{percent:.1g}"
        return f"; a change of up to {shown}% could go unseen" if share else ""


_SURE = 0.95


def hidden_share(checked: int, reused: int) -> float:
    """The exact upper limit of the share of changed answers where none of those checked had changed."""
    return 0.0 if checked >= reused else 1.0 - (1.0 - _SURE) ** (1 / checked)


class MemoryStores(NamedTuple):
    """What a run in memory has in place of a folder: its answers, and what a judge said of them."""

    answers: AnswerStore
    verdicts: AnswerStore


Place = Path | MemoryStores


class AnswerStore:
    """Outputs by key. `writer` also keeps other writers out until it is closed or its process dies.

    A store in a file of its own is `shared`: several processes may write to it, as workers do. Used by one thread.
    """

    def __init__(
        self, file: Path, connection: sqlite3.Connection, lock: Lock | None = None, alone: bool = False,
        shared: bool = False,
    ) -> None:  # fmt: skip
        """`alone`: nobody else writes here, so the index is made once; `shared`: others wait for what is committed."""
        self.file = file
        self._db = connection
        self._lock, self._alone, self._shared = lock, alone, shared
        self._committed = time.monotonic()
        self._commit_every = _COMMIT_SECONDS
        self._buffer = WriteBuffer()
        self._index = KeyIndex()
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
        self.known_whole = False  # were answers used again without a check, as all that decides them is recorded?
        self.unseen: set[str] = set()  # what of a system can't be recorded
        try:
            (last,) = connection.execute("SELECT max(id) FROM batches").fetchone()
            self._last = int(last or 0)  # the number of the last row, as far as this knows
        except (sqlite3.DatabaseError, ValueError, TypeError) as error:
            connection.close()
            interrupted(connection, error)
            raise damaged_store(self.file, error) from error
        self._indexed = 0 if last is None else -(1 << 63)  # the number of the last row that the index has

    @classmethod
    def writer(cls, folder: Place, fresh: bool = False) -> AnswerStore:
        """The store of a folder, with `outputs.sqlite` in it; raises InUse where another process writes there.

        A `fresh` one is empty; what was there is kept aside, under another name.
        """
        if isinstance(folder, MemoryStores):
            return folder.answers
        folder.mkdir(parents=True, exist_ok=True)
        file = folder / "outputs.sqlite"
        try:
            lock = Lock(folder / "lock", folder)
        except OSError as error:
            raise _unwritable(folder / "lock", error) from error
        try:
            aside = _put_aside(file) if fresh else None
            store = cls(file, _connect_to_write(file), lock, alone=True)
            store.aside = aside
        except BaseException:
            lock.close()
            raise
        return store

    @classmethod
    def shared(cls, file: Path) -> AnswerStore:
        """A store in this file, to which several processes may write at once."""
        if file.is_dir() or not file.parent.is_dir():
            raise UsageError(f"Answers can't be kept in {file}: it is a folder, or its folder does not exist.")
        return cls(file, _connect_to_write(file), shared=True)

    @classmethod
    def in_memory(cls) -> AnswerStore:
        """A store that is gone when nobody has it; what does not fit in 256 MB is in a temporary file until then."""
        db = sqlite3.connect("", check_same_thread=False)
        for statement in (f"PRAGMA cache_size=-{_MEMORY_KIB}", "PRAGMA journal_mode=OFF", *_SCHEMA):
            db.execute(statement)
        store = cls(Path(_MEMORY), db, alone=True)
        weakref.finalize(store, db.close)  # also where nobody calls close()
        return store

    @classmethod
    def reader(cls, folder: Place) -> AnswerStore:
        if isinstance(folder, MemoryStores):
            return folder.answers
        file = folder / "outputs.sqlite"
        if not file.exists():
            raise StoredFileError(f"{file}: the run has no outputs yet. Start it with `unswayed run`.")
        return cls.reading(file)

    @classmethod
    def reading(cls, file: Path) -> AnswerStore:
        """The store in this file, to read."""
        log = file.with_name(f"{file.name}-wal")
        writable = os.access(file.parent, os.W_OK)
        if not writable and log.exists() and log.stat().st_size:
            raise StoredFileError(
                f"{file}: the run was stopped while it wrote, and nothing can be written here to repair that. "
                f"Copy {file.parent} to a place where it can."
            )
        try:  # where nothing can be written, SQLite can't keep its log beside the file; it need not, if that is whole
            return cls(file, connect(file, _SCHEMA, immutable=not writable))
        except sqlite3.DatabaseError as error:
            raise damaged_store(file, error) from error

    def __enter__(self) -> AnswerStore:
        return self

    def __exit__(self, *error: object) -> None:
        if str(self.file) != _MEMORY:  # which others may use again
            self.close()

    def save(self, file: Path) -> None:
        """Copies what is stored to a file."""
        self.commit()
        with self._reading(), closing(sqlite3.connect(file)) as copy:
            self._db.backup(copy)

    def begin(self, identity: str) -> None:
        """What is put from now on was answered by this system, in a session of its own."""
        self._identity = identity

    def sessions(self) -> dict[int, Session]:
        """When answers were given, and by whom; by number."""
        with self._reading():
            found = self._db.execute("SELECT id, day, identity FROM sessions").fetchall()
            return {int(number): Session(str(day), str(identity)) for number, day, identity in found}

    def reuse(self, answered: Mapping[Key, int]) -> list[Key]:
        """Counts answers that are used again; returns the keys of those that were not given since this was opened."""
        own = set(self.own.values())
        old = {key: session for key, session in answered.items() if session not in own}
        self._reused += b"".join([key[:8] for key in old])
        self._reused_from.update(old.values())
        return list(old)

    @cached_property
    def rests_on(self) -> RestsOn:
        """What the answers rest on beside the identities of systems."""
        return RestsOn(None if str(self.file) == _MEMORY else self.file)

    @property
    def reused(self) -> int:
        """How many answers were used again."""
        return len(np.unique(np.frombuffer(self._reused, dtype=np.uint64)))

    def reuse_summary(self) -> Asked:
        """What asking did since this was opened."""
        known = self.sessions()
        days = sorted({known[number].day for number in self._reused_from if number in known})
        return Asked(
            asked=self.asked,
            reused=self.reused,
            reused_from=(days[0], days[-1]) if days else None,
            checked=self.checked.total(),
            known=self.known_whole,
            unseen=tuple(sorted(self.unseen)),
            aside=None if self.aside is None else str(self.aside),
            warnings=tuple(self.warnings),
            used=dict(self.spent),
        )

    def put(self, rows: Iterable[tuple[Key, Output]]) -> None:
        """Adds outputs; a later answer to the same request takes the place of an earlier one."""
        rows = list(rows)
        self.put_block([key for key, _ in rows], [output for _, output in rows])

    def put_block(self, keys: Sequence[Key], outputs: Sequence[Output]) -> None:
        """The same for keys and their outputs apart."""
        self.asked += len(keys)
        if self._identity not in self.own:
            identity = self._identity.encode("utf-8", "replace").decode()
            with self._writing():
                new = self._db.execute(
                    "INSERT INTO sessions (day, identity) VALUES (?, ?)", (date.today().isoformat(), identity)
                )
            self.own[self._identity] = int(new.lastrowid or 0)
        self._buffer.add(self.own[self._identity], keys, outputs)
        if self._shared or time.monotonic() - self._committed > self._commit_every:
            self.commit()
        elif self._buffer.is_full:
            self._flush()

    def use(self, amounts: Mapping[str, float]) -> None:
        """Adds to what the run has used, which is written with the outputs."""
        for name, amount in amounts.items():
            self._used[name] += amount  # type: ignore[assignment]
            self.spent[name] += amount  # type: ignore[assignment]

    def used(self) -> dict[str, float]:
        """What the run has used in all, by name."""
        with self._reading():
            found = self._db.execute("SELECT name, amount FROM usage ORDER BY name LIMIT 1000").fetchall()
            used = {str(name): float(amount) for name, amount in found}
        return {name: used[name] for name in (*_USUAL, *used) if name in used}

    def commit(self) -> None:
        began = time.monotonic()
        self._flush()
        with self._writing():
            self._db.commit()
        self._committed = time.monotonic()
        cost = self._committed - began
        self._commit_every = min(max(_COMMIT_SECONDS, _COMMIT_SHARE * cost), _COMMIT_AT_LEAST)

    def get(self, keys: Sequence[Key]) -> dict[Key, Output]:
        """The stored outputs of these keys; keys that were never asked are not in it."""
        found: dict[Key, Output] = {}
        with self._reading():
            for wanted, content, details, answers in self._rows_of(keys, "keys, details, answers"):
                found.update(read_outputs(content, details, answers, wanted))
        return found

    def answered(self, keys: Sequence[Key]) -> dict[Key, int]:
        """Which of these keys have an answer, if only a part of one or one in another form, each with its session."""
        found: dict[Key, int] = {}
        with self._reading():
            for wanted, content, details, session in self._rows_of(keys, "keys, details, session"):
                errors, number = read_details(details, content).errors, int(session)
                for key, at in key_places(content, wanted):
                    if at not in errors or errors[at].startswith(KEPT):
                        found[key] = number
                    else:
                        found.pop(key, None)
        return found

    def tried(self, keys: Sequence[Key]) -> set[Key]:
        """Which of these keys have an answer or a failure."""
        with self._reading():
            rows = self._rows_of(keys, "keys")
            return {key for wanted, content in rows for key, _ in key_places(content, wanted)}

    def most_tokens(self) -> tuple[int, int]:
        """The most tokens that any answer took, in and out; 0 where none are known."""
        most = [0, 0]
        with self._reading():
            for keys, details in self._db.execute("SELECT keys, details FROM batches"):
                row = read_details(details, keys)
                for i, column in enumerate((row.tokens_in, row.tokens_out)):
                    for tokens in column if isinstance(column, list) else [column]:
                        most[i] = max(most[i], tokens or 0)
        return most[0], most[1]

    @property
    def size(self) -> int:
        """How many outputs were stored, those included that took the place of others."""
        with self._reading():
            self._flush()
            return int(self._db.execute("SELECT sum(length(keys)) FROM batches").fetchone()[0] or 0) // KEY_BYTES

    def scan(self) -> Iterator[tuple[bytes, list[StoredAnswer]]]:
        """All outputs, many at a time: their keys in one piece, and of each its answer as JSON, after its error if any.

        If a key comes again, the last one counts.
        """
        with self._reading():
            for rows in self._all_rows():
                found: list[StoredAnswer] = []
                for keys, details, answers in rows:
                    start, lines = len(found), split_answers(keys, answers)
                    found += lines
                    for at, error in read_details(details, keys).errors.items():
                        found[start + at] = error, lines[at]
                yield b"".join([keys for keys, _, _ in rows]), found

    def content(self) -> str:
        """An id of all outputs, which is another once one is added or changed."""
        keys_seen, answers_seen = blake2b(digest_size=16), blake2b(digest_size=16)
        with self._reading():
            for rows in self._all_rows():
                for keys, details, answers in rows:  # whichever answers are in a row together
                    keys_seen.update(keys)
                    answers_seen.update(answers)
                    for at, error in sorted(read_details(details, keys).errors.items()):
                        keys_seen.update(keys[KEY_BYTES * at :][:KEY_BYTES])
                        answers_seen.update(error.encode() + b"\n")
        return blake2b(keys_seen.digest() + answers_seen.digest(), digest_size=16).hexdigest()

    def close(self) -> None:
        try:
            if self._lock or self._shared:
                self.commit()
        finally:
            self._db.close()
            if self._lock:
                self._lock.close()

    def _all_rows(self) -> Iterator[list[tuple[bytes, bytes, bytes]]]:
        """The keys, details and answers of all rows, some at a time."""
        self._flush()
        rows = self._db.execute("SELECT keys, details, answers FROM batches ORDER BY id")
        yield from iter(lambda: rows.fetchmany(_ROWS_A_READ), [])

    def _rows_of(self, keys: Sequence[Key], columns: str) -> Iterator[tuple[Any, ...]]:
        """Of each row that may have some of the keys, from the first to the last: those keys, and its columns."""
        if not keys:
            return
        self._buffer.seal()
        if not self._alone:
            self._flush()
        # Of a store that only this process writes to, rows of which it looks nothing up are never read again.
        if not self._alone or self._indexed < self._last:
            rows = self._db.execute("SELECT id, keys FROM batches WHERE id > ? ORDER BY id", (self._indexed,))
            while new := rows.fetchmany(_ROWS_A_READ):
                self._index_some(*zip(*new, strict=True))
        self._index_waiting()
        if self._indexed > 0:
            found = self._index.find(keys)
            numbers = list(found)
            if numbers and numbers[-1] > self._last:
                self._flush()
            for at in range(0, len(numbers), _ROWS_A_QUERY):
                part = numbers[at : at + _ROWS_A_QUERY]
                marks = ",".join("?" * len(part))
                query = f"SELECT id, {columns} FROM batches WHERE id IN ({marks}) ORDER BY id"  # noqa: S608 - ours
                for number, *row in self._db.execute(query, part):
                    yield found[number], *row

    def _index_waiting(self) -> None:
        """Adds the rows that wait in the buffer, by the numbers that SQLite will give them."""
        new = [(n, row.keys) for n, row in enumerate(self._buffer.rows, self._last + 1) if n > self._indexed]
        if new and self._alone:
            self._index_some(*zip(*new, strict=True))

    def _index_some(self, numbers: Sequence[int], keys: Sequence[bytes]) -> None:
        if not 0 < numbers[0] <= numbers[-1] <= MAX_ROW:
            raise ValueError("a row of an odd number")
        if any(len(content) % KEY_BYTES for content in keys):
            raise ValueError("a key of another length")
        self._index.add(numbers, keys)
        self._indexed = numbers[-1]

    def _flush(self) -> None:
        """Hands what waits to SQLite."""
        if self._alone and self._indexed >= self._last:  # else they are read when they are looked for
            self._buffer.seal()
            self._index_waiting()
        rows = self._buffer.take_rows()
        if not rows and not self._used:
            return
        with self._writing():
            self._db.executemany("INSERT INTO batches VALUES (NULL, ?, ?, ?, ?)", rows)
            self._last += len(rows)
            self._db.executemany(_ADD_USAGE, self._used.items())
            self._used.clear()

    @contextmanager
    def _reading(self) -> Iterator[None]:
        """Whatever is wrong with what is read is an error that names the file."""
        try:
            yield
        except sqlite3.DatabaseError as error:
            interrupted(self._db, error)
            raise damaged_store(self.file, error) from error
        except (msgspec.MsgspecError, ValueError, TypeError, AttributeError, RecursionError) as error:
            raise damaged_store(self.file, error) from error

    @contextmanager
    def _writing(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.OperationalError as error:
            raise _unwritable(self.file, error) from error
        except sqlite3.DatabaseError as error:
            raise damaged_store(self.file, error) from error


def _connect_to_write(file: Path) -> sqlite3.Connection:
    try:
        db = connect(file, _SCHEMA, write=True)
        try:
            for statement in ("PRAGMA journal_mode=WAL", "PRAGMA synchronous=NORMAL", "BEGIN IMMEDIATE", *_SCHEMA):
                db.execute(statement)
            db.commit()
        except BaseException:
            db.close()
            raise
    except sqlite3.DatabaseError as error:
        raise damaged_store(file, error) from error
    return db


def _put_aside(file: Path) -> Path | None:
    """Gives a store the name of today, and returns it; None if there is none."""
    if not file.exists():
        return None
    # a damaged one is put aside as it is
    with suppress(sqlite3.DatabaseError, StoredFileError), closing(connect(file, _SCHEMA, write=True)) as db:
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    day = date.today().isoformat()
    names = (f"{file.stem}.{day}{more}{file.suffix}" for more in chain([""], (f"-{i}" for i in count(2))))
    aside = next(place for name in names if not (place := file.with_name(name)).exists())
    with unwritable(aside, "the old answers"):
        file.rename(aside)
        for log in ("-wal", "-shm"):
            left = file.with_name(file.name + log)
            if left.exists():
                left.rename(aside.with_name(aside.name + log))
    return aside


def _unwritable(file: Path, error: Exception) -> StoredFileError:
    return StoredFileError(
        f"{file}: outputs can't be written ({error}). What was committed is kept: make room or get access, then rerun."
    )
