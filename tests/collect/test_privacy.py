"""What people gave is for the owner's eyes: rights of files, pseudonyms, deletion that leaves nothing behind."""

from __future__ import annotations

import json
import stat
from pathlib import Path

import commands
import pytest

from unswayed.base.errors import UsageError
from unswayed.collect.answers import take_answer
from unswayed.collect.assign import next_item, person_of
from unswayed.collect.backends import tables_about
from unswayed.collect.database import open_database
from unswayed.collect.export import answers_of
from unswayed.collect.forgetting import forget, forget_people
from unswayed.collect.people import consent, exclude, hashed, include, invite, reissue

SECRET_WORDS = "zirconium marmalade"


def answered(study, store, name, count, at=1000.0, word="keyboard"):
    """A person who has answered so many items."""
    kind = study.make_kind()
    token = hashed(store.write(lambda tx: invite(tx, study, name, now=at)))
    store.write(lambda tx: consent(tx, name, {"note": SECRET_WORDS}, at))
    for _ in range(count):

        def job(tx):
            lease = next_item(tx, person_of(tx, token), study.assign, kind, at)
            log = [{"e": "x", "d": SECRET_WORDS}]
            take_answer(tx, person_of(tx, token), lease.item, {"choice": [word]}, log, study.assign, kind, at)
            return lease.item

        store.write(job)


def test_files_are_the_owners(make, tmp_path):
    study, store, _ = make()
    answered(study, store, "anna", 1)
    folder = Path(study.place).parent
    store.backup(tmp_path / "copy.sqlite")
    commands.unswayed("collect", "export", study.file, "-o", str(tmp_path / "out.jsonl"))
    made = [*folder.glob("*.sqlite*"), tmp_path / "copy.sqlite", tmp_path / "out.jsonl", tmp_path / "out.sheet.md"]
    assert len(made) >= 5
    assert {stat.S_IMODE(file.stat().st_mode) for file in made} == {0o600}


def test_an_older_database_is_closed_to_others(make):
    study, store, _ = make()
    store.close()
    Path(study.place).chmod(0o644)
    with open_database(study.place):
        assert stat.S_IMODE(Path(study.place).stat().st_mode) == 0o600


def test_exports_have_pseudonyms(make, tmp_path):
    study, store, _ = make(assign="k = 2")
    answered(study, store, "anna", 4)
    answered(study, store, "ben", 4)
    rows = answers_of(study, store)
    assert len({row.person for row in rows}) == 2
    assert not {"anna", "ben"} & {row.person for row in rows}
    assert rows == answers_of(study, store), "the same each time"
    assert {row.person for row in answers_of(study, store, names=True)} == {"anna", "ben"}
    out = tmp_path / "out.jsonl"
    done = commands.unswayed("collect", "export", study.file, "-o", str(out))
    assert done.returncode == 0, done.stderr
    sheet = (tmp_path / "out.sheet.md").read_text()
    assert "anna" not in out.read_text() + sheet
    for said in ("We keep what you type.", "me@example.org", "- answers: 8", "- agreed: 2", "## Agreement"):
        assert said in sheet
    commands.unswayed("collect", "export", study.file, "-o", str(out), "--names")
    assert {json.loads(line)["person"] for line in out.read_text().splitlines()} == {"anna", "ben"}


def test_what_is_forgotten_is_in_no_file(make):
    """Also in the log beside the database, while the study is open elsewhere."""
    study, store, _ = make()
    answered(study, store, "anna-the-first", 2)
    folder = Path(study.place).parent

    def found(words):
        return [file.name for file in folder.glob("*.sqlite*") if words.encode() in file.read_bytes()]

    assert found("anna-the-first")
    assert found(SECRET_WORDS)
    done = commands.unswayed("collect", "forget", study.file, "anna-the-first")
    assert (done.returncode, "1 person, 2 answers" in done.stderr) == (0, True), done.stderr
    assert not found("anna-the-first")
    assert not found(SECRET_WORDS)


@pytest.mark.parametrize("table", ["work", "logs", "audio", "barred", "set_aside", "decisions"])
def test_every_table_about_people_is_known(table):
    assert table in tables_about("person")


def test_retention(make, database):
    study, store, _ = make(assign="k = 2", database=database)
    answered(study, store, "old", 2, at=1000.0)
    answered(study, store, "new", 2, at=9000.0)
    gone = forget_people(study, store, before=5000.0)
    assert (gone.people, gone.answers) == (["old"], 2)
    assert store.read(lambda tx: tx.rows("SELECT id FROM people")) == [("new",)]
    assert store.read(lambda tx: tx.rows("SELECT count(*) FROM audit WHERE at < 5000")) == [(0,)]
    assert store.read(lambda tx: tx.rows("SELECT DISTINCT person FROM work")) == [("new",)]


def test_excluding_is_taken_back(make):
    study, store, _ = make(assign="k = 1")
    answered(study, store, "anna", 3)
    store.write(lambda tx: exclude(tx, "anna", "guesses"))
    answered(study, store, "ben", 2)  # takes two places, of which one or both were anna's
    back = store.write(lambda tx: include(tx, study, "anna"))
    live = dict(store.read(lambda tx: tx.rows("SELECT person, sum(live) FROM work GROUP BY person")))
    assert live == {"anna": back, "ben": 2}
    ((most,),) = store.read(lambda tx: tx.rows("SELECT max(n) FROM (SELECT sum(live) n FROM work GROUP BY item) x"))
    assert most == 1
    assert store.read(lambda tx: tx.rows("SELECT sum(live) FROM strata")) == [(back + 2,)]
    with pytest.raises(UsageError, match="is excluded"):
        store.write(lambda tx: include(tx, study, "anna"))
    store.write(lambda tx: exclude(tx, "ben", "x"))
    assert store.write(lambda tx: forget(tx, "ben")) == 2


def test_a_new_link_ends_the_old_one(make):
    study, store, _ = make()
    old = store.write(lambda tx: invite(tx, study, "anna"))
    new = store.write(lambda tx: reissue(tx, "anna"))
    assert store.read(lambda tx: person_of(tx, hashed(old))) is None
    assert store.read(lambda tx: person_of(tx, hashed(new))).id == "anna"
    with pytest.raises(UsageError, match="nobody"):
        store.write(lambda tx: reissue(tx, "ben"))
