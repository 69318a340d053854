"""Where a study is kept, SQLite or PostgreSQL: one writer thread makes all changes, each safe once it returns."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any, TypeVar

from unswayed.base.errors import StoredFileError
from unswayed.collect.backends import (
    MIGRATIONS,
    OWNER_ONLY,
    SEEN,
    Backend,
    DatabaseConnection,
    Postgres,
    Sqlite,
    Transaction,
    statements_of,
)
from unswayed.storage.files import growing

T = TypeVar("T")
AT_ONCE = 256  # changes in one commit, at most
_Job = tuple[Callable[["Transaction"], Any], "Future[Any]"]


class LackingFact(LookupError):
    """What every study's database holds is not in this one."""


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
        self._readers: list[DatabaseConnection] = []
        self._closed = False
        self._writer = threading.Thread(target=self._work, name="unswayed-writer", daemon=True)
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

    def _reader(self) -> DatabaseConnection:
        """This thread's connection, in a transaction; made anew where it was lost."""
        connection: DatabaseConnection | None = getattr(self._local, "connection", None)
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

    def backup(self, to: Path, anew: bool = False) -> None:
        """Copies the whole study as it is at one moment, while others go on writing. `anew` replaces a copy."""
        if to.exists() and not anew:
            raise StoredFileError(f"{to} exists. Choose another name for the backup.")
        with growing(to, "the backup") as partial:
            partial.chmod(OWNER_ONLY)
            self._backend.backup(partial)

    def scrub(self, full: bool = False) -> str:
        """Overwrites what was deleted, in all files of the database; returns what PostgreSQL may still have."""
        return self._backend.scrub(full)

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
            connection.run(SEEN)
            done = {number for (number,) in connection.rows("SELECT number FROM migrations")}
            files = {int(file.name[:4]): file for file in sorted(MIGRATIONS.glob("[0-9]*.sql"))}
            if done - files.keys():
                raise StoredFileError(f"{self.name}: a newer version of unswayed made this study. Update unswayed.")
            for number in sorted(files.keys() - done):
                for statement in statements_of(files[number]):
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


def open_database(place: str, new: bool = False) -> Database:
    """The database at a PostgreSQL URL or in an SQLite file, which must be there unless `new`."""
    if place.startswith(("postgres://", "postgresql://")):
        return Database(Postgres(place))
    if not new and not Path(place).exists():
        raise StoredFileError(f"{place}: this study has no database yet. Make it with `unswayed collect new STUDY`.")
    return Database(Sqlite(Path(place)))
