"""The two databases that a study can be kept in, SQLite and PostgreSQL, behind one interface."""

from __future__ import annotations

import shutil
import sqlite3
import subprocess
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from functools import lru_cache
from pathlib import Path
from typing import Any, Protocol

from unswayed.base.errors import MissingExtra, StoredFileError, option
from unswayed.storage.sqlite import connect, interrupted

Cells = tuple[Any, ...]
MIGRATIONS = Path(__file__).parent / "migrations"
SEEN = "CREATE TABLE IF NOT EXISTS migrations (number INTEGER PRIMARY KEY)"
OWNER_ONLY = 0o600  # what people gave is for its owner's eyes
_BUSY = 30.0  # seconds for others to end their transactions


class Transaction(Protocol):
    """Statements inside one transaction, with `?` for parameters."""

    def rows(self, sql: str, *values: Any) -> list[Cells]: ...

    def run(self, sql: str, *values: Any) -> int:
        """Returns how many rows were changed."""
        ...


class DatabaseConnection(Transaction, Protocol):
    def begin(self, write: bool) -> None: ...

    def commit(self) -> None: ...

    def rollback(self) -> None: ...

    def close(self) -> None: ...


class Backend(Protocol):
    """What differs between SQLite and PostgreSQL."""

    name: str

    def connect(self, write: bool) -> DatabaseConnection: ...

    def backup(self, to: Path) -> None: ...

    def scrub(self, full: bool = False) -> str:
        """Makes files lose what was deleted; returns what they may still have."""
        ...


def statements_of(file: Path) -> list[str]:
    return [statement for statement in file.read_text(encoding="utf-8").split(";\n") if statement.strip()]


@lru_cache
def _statements() -> tuple[str, ...]:
    """All that makes the database of a study; an SQLite file with anything else in it is not one."""
    files = sorted(MIGRATIONS.glob("[0-9]*.sql"))
    return (SEEN, *(statement for file in files for statement in statements_of(file)))


@lru_cache
def tables_about(column: str) -> tuple[str, ...]:
    """The tables that have a column of this name."""
    sql = "SELECT t.name FROM sqlite_master t, pragma_table_info(t.name) c WHERE t.type = 'table' AND c.name = ?"
    with closing(sqlite3.connect(":memory:")) as db:
        for statement in _statements():
            db.execute(statement)
        return tuple(name for (name,) in db.execute(sql, (column,)))


class _Connection:
    """What connections to both databases share."""

    _db: Any

    def commit(self) -> None:
        self._db.execute("COMMIT")

    def rollback(self) -> None:
        self._db.execute("ROLLBACK")

    def close(self) -> None:
        self._db.close()


class _SqliteConnection(_Connection):
    def __init__(self, file: Path, write: bool) -> None:
        self._file = file
        # Transactions begin and end where Database says, and nowhere else.
        self._db = connect(file, _statements(), write, autocommit=True)
        if write:
            self._db.execute("PRAGMA journal_mode=WAL")
            self._db.execute("PRAGMA synchronous=FULL")
            self._db.execute("PRAGMA secure_delete=ON")
            self._db.execute("PRAGMA wal_autocheckpoint=4000")  # pages: fewer long commits than with 1,000
        self._db.execute(f"PRAGMA cache_size=-{8192 if write else 2048}")  # KiB, in each thread; the system caches more

    def rows(self, sql: str, *values: Any) -> list[Cells]:
        with self._problems():
            return list(self._db.execute(sql, values).fetchall())

    def run(self, sql: str, *values: Any) -> int:
        with self._problems():
            return int(self._db.execute(sql, values).rowcount)

    @contextmanager
    def _problems(self) -> Iterator[None]:
        """Tells with the file's name what is wrong with it; what a statement may not do is its writer's affair."""
        try:
            yield
        except sqlite3.IntegrityError:
            raise
        except (sqlite3.DatabaseError, UnicodeDecodeError) as error:
            interrupted(self._db, error)
            raise StoredFileError(f"{self._file}: the study's database can't be used ({error}).") from error

    def begin(self, write: bool) -> None:
        self._db.execute("BEGIN IMMEDIATE" if write else "BEGIN")

    def rollback(self) -> None:
        if self._db.in_transaction:
            super().rollback()


class Sqlite:
    def __init__(self, file: Path) -> None:
        self.file = file
        self.name = str(file)

    def connect(self, write: bool) -> _SqliteConnection:
        try:
            if write:
                self._close_to_others()
            return _SqliteConnection(self.file, write)
        except (sqlite3.DatabaseError, UnicodeDecodeError) as error:
            raise StoredFileError(f"{self.file}: this is not a study's database ({error}).") from error

    def _close_to_others(self) -> None:
        """The log of SQLite, which it makes beside the file, gets the rights of the file."""
        with suppress(PermissionError):  # somebody else's file, which we may write
            self.file.touch(OWNER_ONLY)
            if self.file.stat().st_mode & 0o077:
                self.file.chmod(OWNER_ONLY)

    def scrub(self, full: bool = False) -> str:
        """Rewrites the file, and empties its log. `secure_delete` overwrites deleted rows, but not the copies of them
        that SQLite left on other pages when it moved rows there."""
        end = time.monotonic() + _BUSY
        with closing(connect(self.file, _statements(), write=True, autocommit=True)) as db:
            try:
                db.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 1)  # VACUUM attaches the new file
                db.execute("VACUUM")
            except sqlite3.OperationalError as error:
                interrupted(db, error)
                raise StoredFileError(
                    f"{self.file}: what was deleted could not be overwritten ({error}). Make room, wait for other "
                    "programs that write to it, and run the command again."
                ) from error
            while db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]:
                if time.monotonic() > end:
                    raise StoredFileError(
                        f"{self.file}-wal still holds what was deleted: another program is reading the database. "
                        "Stop it and run the command again."
                    )
                time.sleep(0.05)
        return ""

    def backup(self, to: Path) -> None:
        try:
            with closing(connect(self.file, _statements())) as here, closing(sqlite3.connect(to)) as there:
                here.backup(there, pages=1000)
        except sqlite3.DatabaseError as error:
            raise StoredFileError(f"{self.file}: the backup can't be written to {to.parent} ({error}).") from error


_LOCK = 0x756E737761796564  # "unswayed" in ASCII: the advisory lock that writers hold


@lru_cache(maxsize=256)
def _spelled(sql: str) -> str:
    return sql.replace("%", "%%").replace("?", "%s")


class _PostgresConnection(_Connection):
    def __init__(self, url: str) -> None:
        import psycopg

        self._db = psycopg.connect(url, autocommit=True)

    def rows(self, sql: str, *values: Any) -> list[Cells]:
        return list(self._db.execute(_spelled(sql), values or None).fetchall())

    def run(self, sql: str, *values: Any) -> int:
        return int(self._db.execute(_spelled(sql), values or None).rowcount)

    def begin(self, write: bool) -> None:
        self._db.execute("BEGIN" if write else "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
        if write:
            self._db.execute("SELECT pg_advisory_xact_lock(%s)", (_LOCK,))


class Postgres:
    def __init__(self, url: str) -> None:
        self.url = url
        self.name = "the PostgreSQL database"  # the URL may hold a password

    def connect(self, write: bool) -> _PostgresConnection:
        try:
            import psycopg
        except ImportError as error:
            raise MissingExtra("PostgreSQL", "postgres") from error
        try:
            return _PostgresConnection(self.url)
        except psycopg.OperationalError as error:
            raise StoredFileError(f"PostgreSQL can't be reached: {str(error).splitlines()[0]}") from error

    def scrub(self, full: bool = False) -> str:
        """Plain VACUUM frees the space of deleted rows; only VACUUM FULL writes the tables anew without them."""
        with closing(self.connect(write=True)) as connection:
            connection.run("VACUUM FULL" if full else "VACUUM")
        log = "its write-ahead log until that is recycled, and its own backups and replicas"
        if full:
            return f"PostgreSQL's tables were rewritten. The deleted rows can still be in {log}."
        return (
            f"PostgreSQL can still have the deleted rows in free space inside its files, {log}. "
            f"{option('full')} rewrites the tables (VACUUM FULL). The study waits meanwhile."
        )

    def backup(self, to: Path) -> None:
        program = shutil.which("pg_dump")
        if program is None:
            raise StoredFileError("A backup of PostgreSQL needs its program pg_dump, which is not installed here.")
        command = [program, "--format=custom", f"--file={to}", self.url]
        done = subprocess.run(command, capture_output=True, text=True)  # noqa: S603
        if done.returncode:
            raise StoredFileError(f"pg_dump failed: {done.stderr.strip()}")
