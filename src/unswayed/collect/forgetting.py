"""Forgetting people: their rows, recordings, what the files of the database still hold, and the copies that we made.

A run that was killed is finished by the next one, or when the study is served again.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote_plus

from unswayed.base.errors import StoredFileError, UsageError
from unswayed.collect.backends import Sqlite, Transaction, tables_about
from unswayed.collect.database import Database, open_database
from unswayed.collect.kinds.read_aloud import sweep
from unswayed.collect.people import free_all, name_in_text, note, pseudonyms, set_fact
from unswayed.collect.study import PeopleStudy
from unswayed.storage.files import clear_unfinished, followed

UNFINISHED = "forgetting"  # the fact that names, by pseudonym, those whose traces are still to be overwritten
BACKUP, EXPORT, NAMED = "backup", "export", "export with names"
_SEARCHED = 1 << 20  # bytes of a file that are read at once


class Copy(NamedTuple):
    """A file or folder that we made of the study."""

    place: Path
    what: str


class Forgotten(NamedTuple):
    """`copies` can still have what was deleted; `files` still have the name; `database` is what PostgreSQL keeps."""

    people: list[str]
    answers: int
    recordings: int
    rewritten: list[Path]
    copies: list[Copy]
    files: list[Path]
    downloads: list[str]  # days on which the owner downloaded answers
    database: str


@contextmanager
def recorded(database: Database, what: str, *places: str | Path) -> Iterator[None]:
    """Notes copies before they are made in the block, so that `forget` finds them, even if this process is killed."""
    named = {str(followed(Path(place)).absolute()) for place in places}
    known = {place for (place,) in database.read(lambda tx: tx.rows("SELECT place FROM copies"))}
    sql = "INSERT INTO copies VALUES (?, ?, ?) ON CONFLICT (place) DO UPDATE SET what = excluded.what, at = excluded.at"
    database.write(lambda tx: [tx.run(sql, place, what, time.time()) for place in named])
    try:
        yield
    except Exception:
        database.write(lambda tx: [tx.run("DELETE FROM copies WHERE place = ?", place) for place in named - known])
        raise


def copies_of(tx: Transaction) -> list[Copy]:
    """Copies that are still where we made them."""
    rows = tx.rows("SELECT place, what FROM copies ORDER BY place")
    return [Copy(Path(place), what) for place, what in rows if Path(place).exists()]


def forget(tx: Transaction, person: str) -> int:
    """Deletes a person's rows, and their name from the log of what was done; returns how many answers there were."""
    free_all(tx, person)
    tx.run("DELETE FROM heard WHERE name IN (SELECT name FROM audio WHERE person = ?)", person)
    ((count,),) = tx.rows("SELECT count(*) FROM work WHERE person = ? AND state IN ('answered', 'failed')", person)
    tx.run(
        "DELETE FROM decisions WHERE person = '' AND content IN "  # made before they had the person
        "(SELECT w.content FROM work w WHERE w.item = decisions.item AND w.person = ?)",
        person,
    )
    for table in tables_about("person"):
        tx.run(f"DELETE FROM {table} WHERE person = ?", person)  # noqa: S608 - one of our names
    if not tx.run("DELETE FROM people WHERE id = ?", person):
        raise UsageError(f"There is nobody named {person!r} in this study.")
    tx.run("DELETE FROM audit WHERE who = ? OR more = ?", person, person)
    word = name_in_text(person)
    for table, column in (("audit", "more"), ("people", "excluded"), ("decisions", "reason")):  # the owner's own words
        texts = tx.rows(f"SELECT DISTINCT {column} FROM {table} WHERE {column} <> ''")  # noqa: S608
        for (text,) in texts:
            if word.search(unquote_plus(text)):
                left = word.sub("…", unquote_plus(text))
                tx.run(f"UPDATE {table} SET {column} = ? WHERE {column} = ?", left, text)  # noqa: S608
    return int(count)


def idle_since(tx: Transaction, before: float) -> list[str]:
    """Those who were invited and did all that they did before a time."""
    sql = (
        "SELECT p.id FROM people p LEFT JOIN work w ON w.person = p.id GROUP BY p.id, p.invited, p.consented "
        "HAVING p.invited < ? AND coalesce(p.consented, 0) < ? AND coalesce(max(w.received), 0) < ? "
        "AND coalesce(max(w.taken), 0) < ? ORDER BY p.id"
    )
    return [person for (person,) in tx.rows(sql, before, before, before, before)]


def forget_before(tx: Transaction, before: float) -> tuple[list[str], int]:
    """Forgets everyone who did nothing since, and what the audit log says of that time; returns who, and how many
    answers."""
    people = idle_since(tx, before)
    count = sum(forget(tx, person) for person in people)
    tx.run("DELETE FROM audit WHERE at < ?", before)
    return people, count


def forget_people(
    study: PeopleStudy, database: Database, person: str | None = None, before: float = 0.0, backups: bool = False,
    full: bool = False,
) -> Forgotten:  # fmt: skip
    """Forgets a person, or everybody who did nothing since a time, in all that we have; with `backups`, also there.

    A backup loses everybody who is not in the study any more.
    """
    sweep(study, database)
    copies = database.read(copies_of)
    elsewhere = backups and any(person in _people_in(copy.place) for copy in copies if copy.what == BACKUP)

    def job(tx: Transaction) -> tuple[list[str], int, int]:
        pseudonym, waiting = pseudonyms(tx), _unfinished(tx)
        ((takes,),) = tx.rows("SELECT count(*) FROM audio")
        if person is None:
            people, answers = forget_before(tx, before)
        elif (elsewhere or pseudonym(person) in waiting) and not tx.rows("SELECT 1 FROM people WHERE id = ?", person):
            people, answers = [person], 0
        else:
            people, answers = [person], forget(tx, person)
        ((left,),) = tx.rows("SELECT count(*) FROM audio")
        for place, _ in copies:
            if any(name_in_text(name).search(str(place)) for name in people):
                tx.run("DELETE FROM copies WHERE place = ?", str(place))
        set_fact(tx, UNFINISHED, " ".join([*waiting, *map(pseudonym, people)]))
        note(tx, "owner", f"forgot {len(people):,} people")
        return people, answers, int(takes) - int(left)

    people, answers, recordings = database.write(job)
    for copy in copies:
        clear_unfinished(copy.place)
    told = _overwrite(study, database, full)
    present = {name for (name,) in database.read(lambda tx: tx.rows("SELECT id FROM people"))}
    rewritten = [copy.place for copy in copies if backups and copy.what == BACKUP and _people_in(copy.place) - present]
    for place in rewritten:
        _rewrite(database, place, present)
    left = [copy for copy in copies if copy.what != BACKUP or _people_in(copy.place) - present]
    files = [file for file in _files_of(study) if file not in {place for place, _ in left} and _holds(file, people)]
    sql = "SELECT at FROM audit WHERE what = 'downloaded' ORDER BY at"
    days = [f"{datetime.fromtimestamp(at, UTC):%Y-%m-%d}" for (at,) in database.read(lambda tx: tx.rows(sql))]
    return Forgotten(people, answers, recordings, rewritten, left, files, list(dict.fromkeys(days)), told)


def finish(study: PeopleStudy, database: Database) -> None:
    """Does what a killed server or `forget` left undone."""
    sweep(study, database)
    if database.read(_unfinished):
        _overwrite(study, database)


def _unfinished(tx: Transaction) -> list[str]:
    return [
        name for (value,) in tx.rows("SELECT value FROM facts WHERE name = ?", UNFINISHED) for name in value.split()
    ]


def _overwrite(study: PeopleStudy, database: Database, full: bool = False) -> str:
    """Deletes files whose rows are gone, then what the database's files still hold; returns what PostgreSQL keeps."""
    sweep(study, database)
    told = database.scrub(full)
    database.write(lambda tx: tx.run("DELETE FROM facts WHERE name = ?", UNFINISHED))
    return told


def _is_dump(backup: Path) -> bool:
    with backup.open("rb") as file:
        return file.read(5) == b"PGDMP"


def _people_in(backup: Path) -> set[str]:
    """The people of a backup. Where nobody can look into it, as into a dump of PostgreSQL: a name that is nobody's."""
    try:
        if _is_dump(backup):
            return {""}
        with closing(Sqlite(backup).connect(write=False)) as copy:
            return {name for (name,) in copy.rows("SELECT id FROM people")}
    except (StoredFileError, OSError):
        return {""}


def _rewrite(database: Database, backup: Path, present: set[str]) -> None:
    """A backup without those who are not in the study any more. A dump of PostgreSQL is made anew."""
    if _is_dump(backup):
        database.backup(backup, anew=True)
        return
    with open_database(str(backup)) as copy:
        for person in _people_in(backup) - present:
            copy.write(lambda tx, person=person: forget(tx, person))  # type: ignore[misc]
        copy.scrub()


def _files_of(study: PeopleStudy) -> list[Path]:
    """The files beside the study, and those that it names."""
    named = [study.items.path, *(part.path for part in (study.training, study.qualification) if part)]
    files = {study.folder / name for name in named if name} | set(study.folder.iterdir())
    return sorted(file for file in files if file.is_file() and not file.is_symlink())


def _holds(file: Path, people: Sequence[str]) -> bool:
    """Has the file one of the names as a word?"""
    spelled = {form for name in people for form in (name.encode(errors="replace"), json.dumps(name)[1:-1].encode())}
    names = b"|".join(map(re.escape, spelled))
    word, before = re.compile(rb"(?<![0-9A-Za-z_])(" + names + rb")(?![0-9A-Za-z_])"), b""
    with file.open("rb") as opened:
        while spelled and (part := opened.read(_SEARCHED)):
            if word.search(before + part):
                return True
            before = part[-max(map(len, spelled)) - 2 :]
    return False
