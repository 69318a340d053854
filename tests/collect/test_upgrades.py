"""Studies of earlier editions, also under the package's old name, go on; others are refused by their reason."""

from __future__ import annotations

import hashlib
import re
import sqlite3
import uuid
from contextlib import closing
from pathlib import Path

import pytest

from unswayed.base.errors import StoredFileError
from unswayed.collect.applied import applied
from unswayed.collect.assign import person_of
from unswayed.collect.backends import MIGRATIONS
from unswayed.collect.database import open_database
from unswayed.collect.export import answers_of
from unswayed.collect.forgetting import forget_people
from unswayed.collect.journey import step_of
from unswayed.collect.records import decisions
from unswayed.collect.revisions import apply
from unswayed.collect.status import progress
from unswayed.collect.study import read_study

from .conftest import write_study
from .test_assign import Desk

EARLIER = Path(__file__).parent / "earlier"
FROZEN = {  # a study has seen these files: change the database by another one
    "0001_begin.sql": "5e7943060034",
    "0002_audio.sql": "51955c8148c0",
    "0003_phases.sql": "a7c99bf0de85",
    "0004_owner.sql": "765f7fc2e323",
    "0005_copies.sql": "992d91f80a47",
}


def test_migrations_are_frozen():
    found = {file.name: hashlib.sha256(file.read_bytes()).hexdigest()[:12] for file in MIGRATIONS.glob("*.sql")}
    assert found == FROZEN, "a migration was changed or added; add a new file, and its hash here"


@pytest.fixture(params=["first", "audio", "owner"])
def earlier(request, tmp_path, database):
    """A study as an earlier edition left it, in either database."""
    items = [{"id": f"i{n}", "text": f"text {n}"} for n in range(4)]
    items.append({"id": "g", "text": "gold", "gold": {"choice": ["speech"]}})
    rules = 'k = 2\nstrata = ["s", "t"]\ngold_every = 1\nshuffle = false'
    study = read_study(write_study(tmp_path / "study", "choice", items, rules, database))
    text = (EARLIER / f"{request.param}.sql").read_text()
    if database:
        import psycopg

        with psycopg.connect(database, autocommit=True) as db:
            db.execute(text.encode().replace(b"BEGIN TRANSACTION;", b"BEGIN;"))
    else:
        with closing(sqlite3.connect(study.place)) as db:
            db.executescript(text)
    return study


def test_a_study_of_an_earlier_edition_goes_on(earlier):
    with open_database(earlier.place) as store:
        desk = Desk(earlier, store)
        for name, token in store.read(lambda tx: tx.rows("SELECT id, token FROM people")):
            desk.tokens[name] = token
        assert step_of(store.read(lambda tx: person_of(tx, desk.tokens["ben"])), earlier) == "tasks", "agreed before"
        assert desk.ask("ben") == "g", "what was given out is still theirs"
        assert desk.ask("anna") == "i1"
        assert desk.say("anna", "i1").counted
        desk.check()
        rows = answers_of(earlier, store, names=True)
        assert {(row.person, row.item) for row in rows} == {
            ("anna", "i0"),
            ("anna", "g"),
            ("ben", "i0"),
            ("anna", "i1"),
        }
        assert store.read(progress)["counted"] == 3
        store.write(lambda tx: apply(tx, earlier))
        store.write(lambda tx: tx.run("DELETE FROM strata WHERE name = 'none'"))
        gone = forget_people(earlier, store, "anna")
        assert gone.answers == 3
        assert store.read(decisions) == {}, "of an answer that both gave, and it is not known whose was meant"
    if "://" not in earlier.place:
        left = [file.name for file in earlier.folder.glob("study.sqlite*") if b"anna" in file.read_bytes()]
        assert not left


def test_an_upgraded_database_is_made_as_a_new_one(earlier, make, database):
    """Whatever the first edition was, the tables and indexes are the same in the end."""

    def objects(place):
        if "://" in place:
            import psycopg

            with psycopg.connect(place) as db:
                columns = db.execute(
                    "SELECT table_name, column_name, data_type FROM information_schema.columns "
                    "WHERE table_schema = 'public' ORDER BY 1, 2"
                ).fetchall()
                return columns, db.execute(
                    "SELECT indexname, indexdef FROM pg_indexes WHERE schemaname = 'public' ORDER BY 1"
                ).fetchall()
        with closing(sqlite3.connect(place)) as db:
            return sorted(db.execute("SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL"))

    open_database(earlier.place).close()
    name = f"n{uuid.uuid4().hex}"
    if database:
        import psycopg

        with psycopg.connect(database, autocommit=True) as db:
            db.execute(f"CREATE DATABASE {name}")
    study, _, _ = make(database=re.sub(r"/\w+\?", f"/{name}?", database))
    assert objects(earlier.place) == objects(study.place)


def test_a_revision_of_another_edition_is_refused_by_its_reason(make):
    study, store, _ = make()
    store.write(lambda tx: tx.run('INSERT INTO revisions VALUES (9, 1.0, \'{"title": "x", "payment": 1}\')'))
    with pytest.raises(StoredFileError, match="revision 9 .* another edition") as error:
        store.read(lambda tx: applied(tx, study))
    assert "payment" in str(error.value) or "kind" in str(error.value)
