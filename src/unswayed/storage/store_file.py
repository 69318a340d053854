"""The file of a store: how it is opened, locked, brought up to date and put aside."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Sequence
from contextlib import closing, suppress
from datetime import date
from itertools import chain, count
from pathlib import Path

from unswayed.base.errors import StoredFileError
from unswayed.storage import files
from unswayed.storage.locks import Lock
from unswayed.storage.sqlite import connect

_FIRST = """
CREATE TABLE IF NOT EXISTS {} (
    key BLOB PRIMARY KEY, value BLOB, error TEXT, seconds REAL NOT NULL, attempts INTEGER NOT NULL{}
)
"""
_SESSION = "session INTEGER NOT NULL DEFAULT 0"
_TOKENS = ("tokens_in INTEGER", "tokens_out INTEGER")
_LATER = (_SESSION, *_TOKENS)  # columns that older stores lack, in the order in which they came
_SESSIONS = "CREATE TABLE IF NOT EXISTS sessions (id INTEGER PRIMARY KEY, day TEXT NOT NULL, identity TEXT)"
_OLD = 0  # the session of answers from before sessions were noted; its identity is not known
_USAGE = "CREATE TABLE IF NOT EXISTS usage (name TEXT PRIMARY KEY, amount REAL NOT NULL)"
_BATCHES = """
CREATE TABLE IF NOT EXISTS batches (
    id INTEGER PRIMARY KEY, session INTEGER NOT NULL, seconds REAL NOT NULL, keys BLOB NOT NULL, answers BLOB NOT NULL
)
"""
ROWS = "outputs"
RECENT = "recent"  # an older store's second table of rows; what is in both is newer there
_EMPTY_RECENT = (f"INSERT OR REPLACE INTO {ROWS} SELECT * FROM {RECENT} ORDER BY key", f"DROP TABLE {RECENT}")  # noqa: S608


def _schema(columns: Sequence[str], tables: Sequence[str] = (ROWS, RECENT)) -> tuple[str, ...]:
    made = [_FIRST.format(table, "".join(f", {column}" for column in columns)) for table in tables]
    return (*made, _USAGE, *([_SESSIONS] if columns else []))


# All that a store may hold: today's, one from before tokens were noted, and one from before sessions were.
_OURS = ((*_schema(_LATER), _BATCHES), _schema(_LATER[:1]), _schema(()))


def make_tables(db: sqlite3.Connection, file: Path, batches: bool) -> None:
    """Makes the tables that are not there, and adds to those of an older store what they lack, all at once."""
    db.execute("BEGIN IMMEDIATE")
    recent = has_table(db, RECENT)
    for schema in _schema(_LATER, (ROWS,)):
        db.execute(schema)
    if batches:
        db.execute(_BATCHES)
    for table in (ROWS, RECENT) if recent else (ROWS,):
        there = {column[1] for column in db.execute(f"PRAGMA table_info({table})").fetchall()}
        for column in _LATER:
            if column.split()[0] not in there:
                db.execute(f"ALTER TABLE {table} ADD COLUMN {column}")
        if "session" not in there:
            day = date.fromtimestamp(file.stat().st_mtime).isoformat()
            db.execute("INSERT OR IGNORE INTO sessions VALUES (?, ?, NULL)", (_OLD, day))
    for statement in _EMPTY_RECENT if recent else ():
        db.execute(statement)
    db.commit()


def has_table(db: sqlite3.Connection, name: str) -> bool:
    return db.execute("SELECT 1 FROM sqlite_master WHERE name = ?", (name,)).fetchone() is not None


def put_aside(file: Path) -> Path | None:
    """Gives a store the name of today, and returns it; None if there is none."""
    if not file.exists():
        return None
    # a damaged one is put aside as it is
    with suppress(sqlite3.DatabaseError, StoredFileError), closing(connect_to_write(file)) as db:
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    day = date.today().isoformat()
    names = (f"{file.stem}.{day}{more}{file.suffix}" for more in chain([""], (f"-{i}" for i in count(2))))
    aside = next(place for name in names if not (place := file.with_name(name)).exists())
    with files.unwritable(aside, "the old answers"):
        file.rename(aside)
        for log in ("-wal", "-shm"):
            left = file.with_name(file.name + log)
            if left.exists():
                left.rename(aside.with_name(aside.name + log))
    return aside


def connect_to_write(file: Path) -> sqlite3.Connection:
    return _connect(file, write=True)


def connect_to_read(file: Path) -> sqlite3.Connection:
    """Where nothing can be written, SQLite can't keep its log beside the file; it need not, if the file is whole."""
    if os.access(file.parent, os.W_OK):
        return _connect(file)
    log = file.with_name(f"{file.name}-wal")
    if log.exists() and log.stat().st_size:
        raise StoredFileError(
            f"{file}: the run was stopped while it wrote, and nothing can be written here to repair that. "
            f"Copy {file.parent} to a place where it can."
        )
    return _connect(file, immutable=True)


def _connect(file: Path, write: bool = False, immutable: bool = False) -> sqlite3.Connection:
    today, *before = _OURS
    try:
        return connect(file, today, write, immutable)
    except StoredFileError:
        for schema in before:
            with suppress(StoredFileError):
                return connect(file, schema, write, immutable)
        raise


def locked(folder: Path) -> Lock:
    try:
        return Lock(folder / "lock", folder)
    except OSError as error:
        raise unwritable(folder / "lock", error) from error


def damaged(file: Path, error: Exception) -> StoredFileError:
    return StoredFileError(f"{file}: the store is damaged or not a store ({error}). Run again into another folder.")


def unwritable(file: Path, error: Exception) -> StoredFileError:
    return StoredFileError(
        f"{file}: outputs can't be written ({error}). What was committed is kept: make room or get access, then rerun."
    )
