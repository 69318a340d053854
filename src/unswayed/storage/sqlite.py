"""SQLite files that others may have sent, opened so that nothing in them acts.

A view or a trigger is code, a journal makes SQLite rewrite the file and delete another, and damaged pages can make a
query endless. So the schema must be exactly ours, no journal may lie beside the file, and each query is bounded.
"""

from __future__ import annotations

import os
import sqlite3
import stat
from collections.abc import Iterable
from contextlib import closing
from functools import lru_cache
from pathlib import Path
from typing import Any
from urllib.parse import quote

from unswayed.base.errors import StoredFileError

MOST_VALUE = 256 << 20  # bytes
_OPCODES = 1_000_000  # between two looks; about a hundredth of a second
_OPCODES_A_BYTE = 20  # of the file, that a query may take: reading a row takes fewer
_LOOKS_AT_LEAST = 100

Object = tuple[str, str, str, str]


class Guarded(sqlite3.Connection):
    """A connection whose queries end: at a signal, or after more steps than a file of that size can need."""

    looks = 0
    most = _LOOKS_AT_LEAST

    def execute(self, sql: str, *values: Any) -> sqlite3.Cursor:
        self.looks = 0
        return super().execute(sql, *values)

    def executemany(self, sql: str, values: Iterable[Any], /) -> sqlite3.Cursor:
        self.looks = 0
        return super().executemany(sql, values)

    def look(self) -> bool:
        self.looks += 1  # a signal's exception can only come up here, and SQLite tells it as "interrupted"
        return self.looks > self.most


def connect(
    file: Path, schema: Iterable[str], write: bool = False, immutable: bool = False, autocommit: bool = False
) -> Guarded:
    """A connection to a file that holds nothing but what the statements of `schema` make, or a part of that."""
    size = sum(_size(file.with_name(file.name + suffix)) for suffix in ("", "-wal", "-shm"))
    journal = file.with_name(f"{file.name}-journal")
    if os.path.lexists(journal):
        # SQLite would do what a journal says: change the file, and delete whatever file the journal names.
        if _size(file):
            raise StoredFileError(
                f"{journal}: unswayed leaves no such file; it may be harmful. Delete it, then run again."
            )
        journal.unlink()  # a process was killed while it made the file; nothing is in it
    mode = "rwc" if write else "ro&immutable=1" if immutable else "ro"
    place = f"file:{quote(str(file.absolute()))}?mode={mode}"
    db = sqlite3.connect(place, uri=True, timeout=30, check_same_thread=False, factory=Guarded)
    try:
        if autocommit:
            db.isolation_level = None
        db.most = _LOOKS_AT_LEAST + size * _OPCODES_A_BYTE // _OPCODES
        db.set_progress_handler(db.look, _OPCODES)
        db.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, MOST_VALUE)
        db.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
        for pragma in ("trusted_schema=OFF", "cell_size_check=ON", "mmap_size=0"):
            db.execute(f"PRAGMA {pragma}")
        if not write:
            db.execute("PRAGMA query_only=ON")
        ours = _objects_of(tuple(schema))
        for object_ in _objects(db, len(ours) + 1):
            if object_ not in ours:  # a table, index, view or trigger that is not made by `schema`, or made otherwise
                kind, name, *_ = object_
                if (kind, name) in {(own_kind, own_name) for own_kind, own_name, *_ in ours}:
                    raise StoredFileError(
                        f"{file}: its {kind} {name!r} is not made as this version of unswayed makes it. Another "
                        f"version made the file, or its definition was edited. Use the version that made it, or a copy "
                        f"from before the edit."
                    )
                raise StoredFileError(
                    f"{file}: unswayed did not make the {kind} {name!r:.60} in it, at least not this version. If no "
                    f"newer version made the file, it may be harmful: don't use it."
                )
    except BaseException:
        db.close()
        raise
    return db


def interrupted(db: sqlite3.Connection, error: BaseException) -> None:
    """Raises KeyboardInterrupt where a query failed because of a signal."""
    stopped = getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_INTERRUPT
    if stopped and isinstance(db, Guarded) and db.looks <= db.most:
        raise KeyboardInterrupt from None


@lru_cache
def _objects_of(schema: tuple[str, ...]) -> frozenset[Object]:
    """What there is after each of the statements: a file may have seen only the first of them."""
    found: set[Object] = set()
    with closing(sqlite3.connect(":memory:")) as db:
        for statement in schema:
            db.execute(statement)
            found.update(_objects(db, 1_000))
    return frozenset(found)


def _objects(db: sqlite3.Connection, most: int) -> list[Object]:
    rows = db.execute("SELECT type, name, tbl_name, sql FROM sqlite_master LIMIT ?", (most,)).fetchall()
    return [(str(kind), str(name), str(table), "".join(str(sql).split())) for kind, name, table, sql in rows]


def _size(file: Path) -> int:
    """The size of a file, 0 where there is none; a link, a pipe or a device is refused."""
    try:
        there = os.lstat(file)
    except FileNotFoundError:
        return 0
    if not stat.S_ISREG(there.st_mode):
        raise StoredFileError(f"{file}: this is a link or not a regular file. Replace it with a file of your own.")
    return there.st_size
