"""Where a study is kept, SQLite or PostgreSQL: one writer thread makes all changes, each safe once it returns."""

from __future__ import annotations

import re
import shutil
import sqlite3
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import closing, contextmanager, suppress
from functools import lru_cache
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any, Protocol, TypeVar

from unfazed.core.errors import MissingExtra, StoredFileError
from unfazed.core.files import growing
from unfazed.core.sqlite import connect, interrupted

T = TypeVar("T")
Cells = tuple[Any, ...]
_OWN = 0o600  # what people gave is for its owner's eyes
_BUSY = 30.0  # seconds for others to end their transactions
AT_ONCE = 256  # changes in one commit, at most
_MIGRATIONS = Path(__file__).parent / "migrations"
_SEEN = "CREATE TABLE IF NOT EXISTS migrations (number INTEGER PRIMARY KEY)"
_Job = tuple[Callable[["Transaction"], Any], "Future[Any]"]


class LackingFact(LookupError):
    """What every study's database holds is not in this one."""


class Transaction(Protocol):
    """Statements inside one transaction, with `?` for parameters."""

    def rows(self, sql: str, *values: Any) -> list[Cells]: ...

    def run(self, sql: str, *values: Any) -> int:
        """Returns how many rows were changed."""
        ...


class Connection(Transaction, Protocol):
    def begin(self, write: bool) -> None: ...

    def commit(self) -> None: ...

    def rollback(self) -> None: ...

    def close(self) -> None: ...


class Backend(Protocol):
    """What differs between SQLite and PostgreSQL."""

    name: str

    def connect(self, write: bool) -> Connection: ...

    def backup(self, to: Path) -> None: ...

    def scrub(self) -> None: ...


class Database:
    """`write` and `submit` run a function inside the writer's transaction, `read` inside one that sees one moment."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self._connection = backend.connect(write=True)
        try:
            self._migrate()
        except BaseException:
            self._connection.close()
            raise
        self._jobs: SimpleQueue[_Job | None] = SimpleQueue()
        self._local = threading.local()
        self._readers: list[Connection] = []
        self._closed = False
        self._writer = threading.Thread(target=self._work, name="unfazed-writer", daemon=True)
        self._writer.start()

    @property
    def name(self) -> str:
        return self._backend.name

    def submit(self, job: Callable[[Transaction], T]) -> Future[T]:
        """The result comes when the change is durable. A job that raises changes nothing."""
        if self._closed:
            raise StoredFileError(f"{self.name}: the database is closed.")
        future: Future[T] = Future()
        self._jobs.put((job, future))
        return future

    def write(self, job: Callable[[Transaction], T]) -> T:
        return self.submit(job).result()

    def read(self, job: Callable[[Transaction], T]) -> T:
        connection = self._reader()
        try:
            return job(connection)
        except LackingFact as error:
            raise StoredFileError(f"{self.name}: {error}") from error
        finally:
            with suppress(Exception):  # where it is lost, the next transaction begins with another
                connection.rollback()

    def _reader(self) -> Connection:
        """This thread's connection, in a transaction; made anew where it was lost."""
        connection: Connection | None = getattr(self._local, "connection", None)
        if connection is not None:
            try:
                connection.begin(write=False)
                return connection
            except Exception:
                self._local.connection = None  # another may not be had at once
                self._readers.remove(connection)
                with suppress(Exception):
                    connection.close()
        connection = self._local.connection = self._backend.connect(write=False)
        self._readers.append(connection)
        connection.begin(write=False)
        return connection

    def backup(self, to: Path) -> None:
        """Copies the whole study as it is at one moment, while others go on writing."""
        if to.exists():
            raise StoredFileError(f"{to} exists. Choose another name for the backup.")
        with growing(to, "the backup") as partial:
            partial.chmod(_OWN)
            self._backend.backup(partial)

    def scrub(self) -> None:
        """Overwrites what was deleted, so that no file of the database holds it any longer."""
        self._backend.scrub()

    def close(self) -> None:
        if self._closed:
            return
        self._closed = True
        self._jobs.put(None)
        self._writer.join()
        for connection in (*self._readers, self._connection):
            with suppress(Exception):
                connection.close()

    def __enter__(self) -> Database:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def _migrate(self) -> None:
        """Runs the numbered files that this database has not seen, all or none of them."""
        connection = self._connection
        connection.begin(write=True)
        try:
            connection.run(_SEEN)
            done = {number for (number,) in connection.rows("SELECT number FROM migrations")}
            files = {int(file.name[:4]): file for file in sorted(_MIGRATIONS.glob("[0-9]*.sql"))}
            if done - files.keys():
                raise StoredFileError(f"{self.name}: a newer version of unfazed made this study. Update unfazed.")
            for number in sorted(files.keys() - done):
                for statement in _statements_of(files[number]):
                    connection.run(statement)
                connection.run("INSERT INTO migrations VALUES (?)", number)
            connection.commit()
        except BaseException:
            connection.rollback()
            raise

    def _work(self) -> None:
        open_ = True
        while open_:
            jobs = [self._jobs.get()]
            with suppress(Empty):
                while len(jobs) < AT_ONCE:
                    jobs.append(self._jobs.get_nowait())
            open_ = None not in jobs
            self._together([job for job in jobs if job and job[1].set_running_or_notify_cancel()])

    def _together(self, jobs: list[_Job]) -> None:
        if not jobs:
            return
        try:
            self._begin()
            results = [self._alone(job) for job, _ in jobs]
            self._connection.commit()
        except BaseException as error:
            with suppress(Exception):
                self._connection.rollback()
            for _, future in jobs:
                future.set_exception(error)
            return
        for (_, future), (result, problem) in zip(jobs, results, strict=True):
            if problem is None:
                future.set_result(result)
            else:
                future.set_exception(problem)

    def _begin(self) -> None:
        """A connection that was lost since the last commit is made anew."""
        try:
            self._connection.begin(write=True)
        except Exception:
            with suppress(Exception):
                self._connection.close()
            self._connection = self._backend.connect(write=True)
            self._connection.begin(write=True)

    def _alone(self, job: Callable[[Transaction], Any]) -> tuple[Any, Exception | None]:
        self._connection.run("SAVEPOINT job")
        try:
            result = job(self._connection)
        except Exception as error:
            self._connection.run("ROLLBACK TO SAVEPOINT job")
            self._connection.run("RELEASE SAVEPOINT job")
            return None, error
        self._connection.run("RELEASE SAVEPOINT job")
        return result, None


def _statements_of(file: Path) -> list[str]:
    return [statement for statement in file.read_text(encoding="utf-8").split(";\n") if statement.strip()]


@lru_cache
def _statements() -> tuple[str, ...]:
    """All that makes the database of a study; an SQLite file with anything else in it is not one."""
    files = sorted(_MIGRATIONS.glob("[0-9]*.sql"))
    return (_SEEN, *(statement for file in files for statement in _statements_of(file)))


@lru_cache
def tables_about(column: str) -> tuple[str, ...]:
    """The tables that have a column of this name."""
    table = re.compile(r"CREATE TABLE (\w+) \((.*)\)\s*", re.DOTALL)
    made = (table.fullmatch(statement.strip().rstrip(";")) for statement in _statements())
    return tuple(m[1] for m in made if m and re.search(rf"(^|[(,\s]){column} TEXT", m[2]))


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
        self._db.execute("PRAGMA cache_size=-65536")  # KiB

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
            self.file.touch(_OWN)
            if self.file.stat().st_mode & 0o077:
                self.file.chmod(_OWN)

    def scrub(self) -> None:
        """What is deleted is overwritten in the file (`secure_delete`), but stays in the log until that is emptied."""
        end = time.monotonic() + _BUSY
        with closing(connect(self.file, _statements(), write=True, autocommit=True)) as db:
            while db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]:
                if time.monotonic() > end:
                    raise StoredFileError(
                        f"{self.file}-wal still holds what was deleted: another program is reading the database. "
                        "Stop it and run the command again."
                    )
                time.sleep(0.05)

    def backup(self, to: Path) -> None:
        try:
            with closing(connect(self.file, _statements())) as here, closing(sqlite3.connect(to)) as there:
                here.backup(there, pages=1000)
        except sqlite3.DatabaseError as error:
            raise StoredFileError(f"{self.file}: the backup can't be written to {to.parent} ({error}).") from error


_LOCK = 0x756E66617A6564  # "unfazed" in ASCII: the advisory lock that writers hold


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

    def scrub(self) -> None:
        with closing(self.connect(write=True)) as connection:
            connection.run("VACUUM")

    def backup(self, to: Path) -> None:
        program = shutil.which("pg_dump")
        if program is None:
            raise StoredFileError("A backup of PostgreSQL needs its program pg_dump, which is not installed here.")
        command = [program, "--format=custom", f"--file={to}", self.url]
        done = subprocess.run(command, capture_output=True, text=True)  # noqa: S603
        if done.returncode:
            raise StoredFileError(f"pg_dump failed: {done.stderr.strip()}")


def open_database(place: str, new: bool = False) -> Database:
    """The database at a PostgreSQL URL or in an SQLite file, which must be there unless `new`."""
    if place.startswith(("postgres://", "postgresql://")):
        return Database(Postgres(place))
    if not new and not Path(place).exists():
        raise StoredFileError(f"{place}: this study has no database yet. Make it with `unfazed collect new STUDY`.")
    return Database(Sqlite(Path(place)))
