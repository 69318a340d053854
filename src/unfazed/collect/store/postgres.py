"""PostgreSQL by URL: the same statements; one lock makes writers of several processes take turns."""

from __future__ import annotations

import shutil
import subprocess
from functools import lru_cache
from pathlib import Path
from typing import Any

from unfazed.collect.store._store import Row
from unfazed.core.errors import MissingExtra, StoredFileError

_LOCK = 0x756E66617A6564  # "unfazed" in ASCII: the advisory lock that writers hold


@lru_cache(maxsize=256)
def _spelled(sql: str) -> str:
    return sql.replace("%", "%%").replace("?", "%s")


class _Connection:
    def __init__(self, url: str) -> None:
        import psycopg

        self._db = psycopg.connect(url, autocommit=True)

    def rows(self, sql: str, *values: Any) -> list[Row]:
        return self._db.execute(_spelled(sql), values or None).fetchall()

    def run(self, sql: str, *values: Any) -> int:
        return self._db.execute(_spelled(sql), values or None).rowcount

    def begin(self, write: bool) -> None:
        self._db.execute("BEGIN" if write else "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
        if write:
            self._db.execute("SELECT pg_advisory_xact_lock(%s)", (_LOCK,))

    def commit(self) -> None:
        self._db.execute("COMMIT")

    def rollback(self) -> None:
        self._db.execute("ROLLBACK")

    def close(self) -> None:
        self._db.close()


class Postgres:
    def __init__(self, url: str) -> None:
        self.url = url
        self.name = "the PostgreSQL database"  # the URL may hold a password

    def connect(self, write: bool) -> _Connection:
        try:
            import psycopg
        except ImportError as error:
            raise MissingExtra("PostgreSQL", "postgres") from error
        try:
            return _Connection(self.url)
        except psycopg.OperationalError as error:
            raise StoredFileError(f"PostgreSQL can't be reached: {str(error).splitlines()[0]}") from error

    def backup(self, to: Path) -> None:
        program = shutil.which("pg_dump")
        if program is None:
            raise StoredFileError("A backup of PostgreSQL needs its program pg_dump, which is not installed here.")
        command = [program, "--format=custom", f"--file={to}", self.url]
        done = subprocess.run(command, capture_output=True, text=True)  # noqa: S603
        if done.returncode:
            raise StoredFileError(f"pg_dump failed: {done.stderr.strip()}")
