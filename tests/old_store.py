"""Turns a store into one as earlier versions wrote it: each answer in a row of its own, in one table or two."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from unswayed.storage.store import AnswerStore
from unswayed.storage.store_keys import split_keys

LATER = ("tokens_out", "tokens_in", "session")  # columns, the last that came first


def make_old(file: Path, lacking: tuple[str, ...] = (), in_recent: int = 0) -> None:
    """`lacking` are columns that came later; so many of the answers are put in the second table."""
    with AnswerStore.reading(file) as store:
        rows = {key: said for keys, some in store.scan() for key, said in zip(split_keys(keys), some, strict=True)}
    with closing(sqlite3.connect(file)) as db:
        db.execute("DROP TABLE batches")
        db.execute("DELETE FROM outputs")
        (made,) = db.execute("SELECT sql FROM sqlite_master WHERE name = 'outputs'").fetchone()
        db.execute(made.replace("outputs", "recent", 1))
        for number, (key, (value, error)) in enumerate(rows.items()):
            table = "recent" if number < in_recent else "outputs"
            db.execute(f"INSERT INTO {table} VALUES (?, ?, ?, 0.5, 1, 1, NULL, NULL)", (key, value, error))
        for table in ("outputs", "recent"):
            for column in lacking:
                db.execute(f"ALTER TABLE {table} DROP COLUMN {column}")
        if "session" in lacking:
            db.execute("DROP TABLE sessions")
        db.commit()
