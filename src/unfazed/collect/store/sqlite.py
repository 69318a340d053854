"""SQLite: one file, write-ahead log, full sync, and deleted rows overwritten with zeros."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from unfazed.collect.store._store import Row
from unfazed.core.errors import StoredFileError


class _Connection:
    def __init__(self, file: Path, write: bool) -> None:
        self._file = file
        # Isolation level None: transactions begin and end where the store says, and nowhere else.
        self._db = sqlite3.connect(file, timeout=30, isolation_level=None, check_same_thread=False)
        if write:
            self._db.execute("PRAGMA journal_mode=WAL")
            self._db.execute("PRAGMA synchronous=FULL")
            self._db.execute("PRAGMA secure_delete=ON")
            self._db.execute("PRAGMA wal_autocheckpoint=4000")  # pages: fewer long commits than with 1,000
        self._db.execute("PRAGMA cache_size=-65536")  # KiB

    def rows(self, sql: str, *values: Any) -> list[Row]:
        with self._problems():
            return self._db.execute(sql, values).fetchall()

    def run(self, sql: str, *values: Any) -> int:
        with self._problems():
            return self._db.execute(sql, values).rowcount

    @contextmanager
    def _problems(self) -> Iterator[None]:
        """Tells with the file's name what is wrong with it; what a statement may not do is its writer's affair."""
        try:
            yield
        except sqlite3.IntegrityError:
            raise
        except (sqlite3.DatabaseError, UnicodeDecodeError) as error:
            raise StoredFileError(f"{self._file}: the study's database can't be used ({error}).") from error

    def begin(self, write: bool) -> None:
        self._db.execute("BEGIN IMMEDIATE" if write else "BEGIN")

    def commit(self) -> None:
        self._db.execute("COMMIT")

    def rollback(self) -> None:
        if self._db.in_transaction:
            self._db.execute("ROLLBACK")

    def close(self) -> None:
        self._db.close()


class Sqlite:
    def __init__(self, file: Path) -> None:
        self.file = file
        self.name = str(file)

    def connect(self, write: bool) -> _Connection:
        try:
            return _Connection(self.file, write)
        except (sqlite3.DatabaseError, UnicodeDecodeError) as error:
            raise StoredFileError(f"{self.file}: this is not a study's database ({error}).") from error

    def backup(self, to: Path) -> None:
        try:
            with closing(sqlite3.connect(self.file)) as here, closing(sqlite3.connect(to)) as there:
                here.backup(there, pages=1000)
        except sqlite3.DatabaseError as error:
            raise StoredFileError(f"{self.file}: there is no copy of it in {to.parent} ({error}).") from error
