"""SQLite files that somebody made to act: views without end, triggers, journals, links. None of it acts."""

from __future__ import annotations

import os
import shutil
import signal
import sqlite3
import struct
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import commands
import pytest

import unswayed
from unswayed.base.errors import StoredFileError
from unswayed.collect.database import open_database
from unswayed.collect.items import make_study
from unswayed.collect.people import invite
from unswayed.collect.study import read_study
from unswayed.run.record import Run
from unswayed.storage.answers import AnswerStore
from unswayed.storage.sqlite import connect

from .conftest import collecting, make_place

ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)"
RUN = "run suite --system my_module:predict -o run --bootstrap 50"


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("store")
    make_place(folder)
    (folder / "mine.jsonl").write_text("\n".join((folder / "mine.jsonl").read_text().splitlines()[:20]) + "\n")
    vary = "vary mine.jsonl --with keyboard/adjacent --seed 7 -o suite"
    commands.unswayed(*vary.split(), cwd=folder, check=True)
    commands.unswayed(*RUN.split(), cwd=folder, check=True)
    return folder


@pytest.fixture
def place(whole: Path, tmp_path: Path) -> Path:
    shutil.copytree(whole, tmp_path, dirs_exist_ok=True)
    return tmp_path


def sql(file: Path, *statements: str) -> None:
    with closing(sqlite3.connect(file)) as db:
        for statement in statements:
            db.execute(statement)
        db.commit()


def endless_view(file: Path) -> None:
    columns = "i AS id, 1 AS session, CAST(i AS BLOB) AS keys, x'95' AS details, x'0a' AS answers"
    sql(file, "ALTER TABLE batches RENAME TO hidden", f"CREATE VIEW batches AS {ENDLESS} SELECT {columns} FROM n")


def trigger(file: Path) -> None:
    sql(
        file,
        "DELETE FROM batches WHERE id % 2",
        "CREATE TRIGGER t AFTER INSERT ON batches BEGIN UPDATE batches SET answers = '\"long\"'; END",
    )


def generated(file: Path) -> None:
    sql(file, "ALTER TABLE batches ADD COLUMN extra AS (length(answers))")


def index(file: Path) -> None:
    sql(file, "CREATE INDEX i ON batches (length(answers))")


def virtual(file: Path) -> None:
    sql(file, "CREATE VIRTUAL TABLE v USING fts5(text)")


def other_table(file: Path) -> None:
    sql(file, "CREATE TABLE other (x)")


SCHEMAS: dict[str, Callable[[Path], None]] = {
    f.__name__: f for f in (endless_view, trigger, generated, index, virtual, other_table)
}


@pytest.mark.parametrize(("name", "command"), [("endless_view", "report run -o r.html"), ("trigger", RUN)])
def test_a_command_refuses_a_schema_of_somebody_else(place: Path, name: str, command: str) -> None:
    SCHEMAS[name](place / "run/outputs.sqlite")
    done = commands.unswayed(*command.split(), cwd=place)
    assert done.returncode == 3, done.stdout
    assert "outputs.sqlite: unswayed did not make" in done.stderr


@pytest.mark.parametrize("name", SCHEMAS)
def test_a_schema_of_somebody_else_is_refused(place: Path, name: str) -> None:
    """By readers, by writers, and by those that share a file, such as what chat operators remember."""
    file = place / "run/outputs.sqlite"
    SCHEMAS[name](file)
    before = file.read_bytes()
    for open_, at in ((AnswerStore.reader, file.parent), (AnswerStore.writer, file.parent), (AnswerStore.shared, file)):
        with pytest.raises(StoredFileError, match=r"outputs\.sqlite: (unswayed did not make|its table)"):
            open_(at)
    assert file.read_bytes() == before


@pytest.mark.parametrize("name", ["endless_view", "trigger"])
def test_kept_scores_of_somebody_else_are_made_anew(place: Path, name: str) -> None:
    """They can all be scored again, so the file is replaced; the numbers are the same."""
    expected = unswayed.measure_run(unswayed.Run(place / "run"), {"measure": {"bootstrap": 50}})
    (place / "run/results.json").unlink()
    SCHEMAS[name](place / "run/scores.sqlite")
    assert unswayed.measure_run(unswayed.Run(place / "run"), {"measure": {"bootstrap": 50}}).clean == expected.clean
    with closing(sqlite3.connect(place / "run/scores.sqlite")) as db:
        kinds = {kind for (kind,) in db.execute("SELECT type FROM sqlite_master WHERE sql IS NOT NULL")}
    assert kinds <= {"table"}


def hot_journal(file: Path, victim: Path) -> None:
    """A journal as a killed transaction leaves it, which names a file that SQLite deletes when it rolls back."""
    grow = (
        f"import os, shutil, sqlite3\ndb = sqlite3.connect({str(file)!r}, isolation_level=None)\n"
        "db.execute('PRAGMA journal_mode=DELETE')\ndb.execute('PRAGMA cache_size=1')\ndb.execute('BEGIN IMMEDIATE')\n"
        "for i in range(3000): db.execute('INSERT INTO batches VALUES (NULL, 1, ?, ?, ?)',"
        " (bytes(16), bytes(250), bytes(250)))\nos._exit(0)"
    )
    subprocess.run([sys.executable, "-c", grow], check=True)
    name = os.fsencode(victim)
    sum_ = sum(byte if byte < 128 else byte - 256 for byte in name) & 0xFFFFFFFF
    page = 0x40000000 // 4096 + 1
    record = struct.pack(">I", page) + name + struct.pack(">II", len(name), sum_) + bytes.fromhex("d9d505f920a163d7")
    with (file.parent / f"{file.name}-journal").open("ab") as journal:
        journal.write(record)


@pytest.mark.parametrize(
    ("name", "command"),
    [("outputs.sqlite", "measure run run"), ("outputs.sqlite", RUN), ("scores.sqlite", "measure run run")],
)
def test_a_journal_deletes_nothing(place: Path, name: str, command: str) -> None:
    (place / "thesis.txt").write_text("all of it")
    (place / "run/results.json").unlink()
    hot_journal(place / "run" / name, place / "thesis.txt")
    done = commands.unswayed(*command.split(), cwd=place)
    assert (place / "thesis.txt").exists()
    assert "Traceback" not in done.stderr
    if name == "outputs.sqlite":
        assert done.returncode == 3
        assert "outputs.sqlite-journal" in done.stderr


def test_without_the_check_the_journal_deletes(place: Path) -> None:
    """The attack above is a true one."""
    (place / "thesis.txt").write_text("all of it")
    hot_journal(place / "run/outputs.sqlite", place / "thesis.txt")
    with closing(sqlite3.connect(place / "run/outputs.sqlite")) as db:
        db.execute("SELECT count(*) FROM batches").fetchone()
    assert not (place / "thesis.txt").exists()


@pytest.mark.parametrize("suffix", ["", "-wal", "-shm", "-journal"])
def test_links_are_not_followed(place: Path, suffix: str) -> None:
    (place / "mine").write_bytes((place / "run/outputs.sqlite").read_bytes())
    link = place / f"run/outputs.sqlite{suffix}"
    link.unlink(missing_ok=True)
    link.symlink_to(place / "mine")
    before = (place / "mine").read_bytes()
    for open_ in (AnswerStore.reader, AnswerStore.writer):
        with pytest.raises(StoredFileError, match=rf"outputs\.sqlite{suffix}: "):
            open_(place / "run")
    assert (place / "mine").read_bytes() == before


def test_a_pipe_does_not_hang(place: Path) -> None:
    (place / "run/outputs.sqlite").unlink()
    os.mkfifo(place / "run/outputs.sqlite")
    done = commands.unswayed("measure", "run", "run", cwd=place)
    assert done.returncode == 3
    assert "not a regular file" in done.stderr


NESTED = "[" * 5000 + "]" * 5000
ODD = [
    "UPDATE batches SET keys = zeroblob(300000000)",
    "UPDATE batches SET keys = 7",
    "UPDATE batches SET keys = keys || x'00'",
    "UPDATE batches SET keys = keys || keys",
    "UPDATE batches SET id = -1",
    "UPDATE batches SET id = 1 << 40",
    "UPDATE batches SET answers = 7",
    "UPDATE batches SET answers = x''",
    "UPDATE batches SET answers = replace(answers, x'22', x'ff')",
    f"UPDATE batches SET answers = replace(answers, x'0a', CAST('{NESTED}' AS BLOB) || x'0a')",
    "UPDATE batches SET details = 7",
    "UPDATE batches SET details = zeroblob(300000000)",
    "UPDATE batches SET details = x'ff'",
    "UPDATE batches SET details = x'95a46c6f6e6701c0c080'",  # seconds are a text
    "UPDATE batches SET details = x'9592000001c0c080'",  # seconds of two answers
    "UPDATE batches SET details = x'950001c0c081cd0fffa161'",  # an error of the 4096th answer
    "UPDATE batches SET details = x'950001c0c081ffa161'",  # an error of the answer before the first
    "UPDATE batches SET details = x'950001c0c08100a1ff'",  # an error that is no text
]


@pytest.mark.parametrize("change", ODD)
def test_odd_values_are_refused(place: Path, change: str) -> None:
    file = place / "run/outputs.sqlite"
    with closing(sqlite3.connect(file)) as db:
        assert db.execute(f"{change} WHERE rowid = (SELECT min(rowid) FROM {change.split()[1]})").rowcount == 1
        db.commit()
    with pytest.raises(StoredFileError, match=r"outputs\.sqlite"):
        list(Run(place / "run").items())


STEP = """
import os, signal, sqlite3, sys, threading
from unswayed.storage.sqlite import connect, interrupted
signal.signal(signal.SIGTERM, lambda *_: (_ for _ in ()).throw(KeyboardInterrupt()))
db = connect(__import__("pathlib").Path(sys.argv[1]), [], write=True)
print("ready", flush=True)
try:
    db.execute({query!r}).fetchall()
except sqlite3.OperationalError as error:
    try:
        interrupted(db, error)
    except KeyboardInterrupt:
        sys.exit(7)
    sys.exit(8)
"""


@pytest.mark.parametrize("by_signal", [True, False])
def test_a_query_without_end_ends(tmp_path: Path, by_signal: bool) -> None:
    """At a signal, or after more steps than its file can need."""
    code = STEP.format(query=f"{ENDLESS} SELECT count(*) FROM n")
    child = subprocess.Popen([sys.executable, "-c", code, tmp_path / "x.sqlite"], stdout=subprocess.PIPE)
    with child:
        assert child.stdout is not None
        child.stdout.readline()
        if by_signal:
            time.sleep(0.2)
            child.send_signal(signal.SIGTERM)
        assert child.wait(120) == (7 if by_signal else 8)


def test_what_may_be_there_need_not_be(tmp_path: Path) -> None:
    with closing(connect(tmp_path / "new.sqlite", ["CREATE TABLE IF NOT EXISTS a (x)"], write=True)) as db:
        db.execute("CREATE TABLE a (x)")
    connect(tmp_path / "new.sqlite", ["CREATE TABLE IF NOT EXISTS a (x)", "CREATE TABLE b (y)"]).close()
    with pytest.raises(StoredFileError, match="the table 'a'"):
        connect(tmp_path / "new.sqlite", ["CREATE TABLE b (y)"])


def study_of(folder: Path) -> Path:
    """A study with its database, in which a person read aloud."""
    file: Path = collecting.write_study(folder, "read_aloud", [{"id": "1", "text": "hello"}])
    study = read_study(file)
    store, _, _ = make_study(study)
    store.write(lambda tx: invite(tx, study, "anna", ""))
    store.close()
    return file


STUDY_FILES = {
    "a view": "CREATE VIEW v AS SELECT 1",
    "a trigger": "CREATE TRIGGER t AFTER INSERT ON audit BEGIN DELETE FROM items; END",
    "a table": "CREATE TABLE moz_cookies (x)",
    "an index": "CREATE INDEX i ON items (length(content))",
}


@pytest.mark.parametrize("name", STUDY_FILES)
def test_the_database_of_a_study_must_be_one(tmp_path: Path, name: str) -> None:
    """Also where a study names another file: nothing is written into a browser's cookies."""
    study = read_study(study_of(tmp_path))
    sql(Path(study.place), STUDY_FILES[name])
    before = Path(study.place).read_bytes()
    with pytest.raises(StoredFileError, match="unswayed did not make"):
        open_database(study.place)
    assert Path(study.place).read_bytes() == before


def test_a_recordings_name_leads_nowhere_else(tmp_path: Path) -> None:
    file = study_of(tmp_path / "study")
    (tmp_path / "mine.wav").write_bytes(b"a song")
    place = Path(read_study(file).place)
    sql(place, "INSERT INTO audio VALUES ('../../mine', '1', 'anna', 1, 1.0, 1.0)")
    done = commands.unswayed("collect", "forget", file, "anna", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "mine.wav").exists()
