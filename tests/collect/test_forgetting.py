"""Forgetting is whole: after it no file of the study has the person, whatever was killed, and copies are listed."""

from __future__ import annotations

import hashlib
import os
import random
import shutil
import sqlite3
import subprocess
import sys
import threading
import time
from contextlib import closing
from pathlib import Path

import commands
import httpx
import pytest

from benchmarks._crowd import Server
from unswayed.collect.answers import take_answer
from unswayed.collect.assign import next_item, person_of
from unswayed.collect.backends import Sqlite
from unswayed.collect.database import open_database
from unswayed.collect.forgetting import forget, forget_people, recorded
from unswayed.collect.items import make_study
from unswayed.collect.kinds.read_aloud import audio_file, audio_folder
from unswayed.collect.people import consent, exclude, hashed, invite, note
from unswayed.collect.records import decide, decisions
from unswayed.collect.site import signed
from unswayed.collect.study import read_study

from .conftest import tone, write_study

NAME, WORDS = "zq7anna", "zirconium marmalade"
pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="POSIX")


def answer(study, store, name, word="keyboard", count=2):
    """Invites a person who answers so many items."""
    kind, token = study.make_kind(), hashed(store.write(lambda tx: invite(tx, study, name)))
    store.write(lambda tx: consent(tx, name, {"note": WORDS if name == NAME else "x"}, time.time()))
    items = []
    for _ in range(count):

        def job(tx):
            lease = next_item(tx, person_of(tx, token), study.assign, kind, time.time())
            log = [{"e": "x", "d": WORDS if name == NAME else "x"}]
            given = {"choice": [word]}
            take_answer(tx, person_of(tx, token), lease.item, given, log, study.assign, kind, time.time(), f"{word}!")
            return lease.item

        items.append(store.write(job))
    return items


def found(folder, words):
    """What `grep -rw` finds."""
    return subprocess.run(["grep", "-rlw", words, "."], cwd=folder, capture_output=True, text=True).stdout.split()


@pytest.mark.skipif(not shutil.which("grep"), reason="grep is not installed")
def test_as_it_is_typed(make):
    """The names in the log of what was done, in reasons and in decisions too; exports with names are listed."""
    study, store, _ = make(assign="k = 3")
    items = answer(study, store, NAME)
    answer(study, store, "ben", "speech")
    store.write(lambda tx: decide(tx, items[0], NAME, f"{NAME} is right", time.time()))
    store.write(lambda tx: decide(tx, items[1], "ben", f"not as {NAME} says", time.time()))
    store.write(lambda tx: note(tx, "owner", "downloaded", f"person={NAME}&item=i1"))
    folder = Path(study.file).parent
    store.write(lambda tx: exclude(tx, "ben", f"copies {NAME}"))
    for to in ("named.jsonl", "plain.jsonl"):
        more = ["--names"] if to == "named.jsonl" else []
        commands.unswayed("collect", "export", study.file, "-o", to, *more, cwd=folder, check=True)
    assert set(found(folder, NAME)) & {"./study.sqlite", "./study.sqlite-wal"}
    line = f"unswayed collect forget study.toml {NAME} && grep -rw {NAME} ."
    there = {**os.environ, "PATH": f"{commands.path()}:{os.environ['PATH']}"}
    done = subprocess.run(line, shell=True, cwd=folder, capture_output=True, text=True, env=there)
    assert "1 person, 2 answers and 0 recordings deleted." in done.stderr
    assert {line.partition(":")[0] for line in done.stdout.splitlines()} == {"./named.jsonl"}, done.stdout
    assert f"{folder}/named.jsonl (export with names)" in done.stderr
    assert f"{folder}/plain.jsonl (export)" in done.stderr
    assert f"{folder}/plain.sheet.md (export)" in done.stderr
    assert f"{time.strftime('%Y-%m-%d', time.gmtime())}" in done.stderr, "the day of the download"
    assert set(found(folder, "zirconium")) == {"./named.jsonl", "./plain.jsonl"}
    decided = store.read(decisions)
    assert decided == {items[1]: {"answer": {"choice": ["speech"]}, "reason": "not as … says"}}
    assert store.read(lambda tx: tx.rows("SELECT excluded FROM people")) == [("copies …",)]
    (folder / "named.jsonl").unlink()
    again = subprocess.run(line, shell=True, cwd=folder, capture_output=True, text=True, env=there)
    assert (again.returncode, "There is nobody named" in again.stderr) == (4, True)


def test_a_name_in_the_items_is_told(make):
    study, store, _ = make(items=[{"id": "a", "text": "x", "not_for": [NAME]}, {"id": "b", "text": "y"}])
    answer(study, store, NAME, count=1)
    gone = forget_people(study, store, NAME)
    assert gone.files == [study.folder / "items.jsonl"], "not the database, which had it in `barred`"


def test_decisions_of_studies_that_did_not_note_whose_answer_it_was(make):
    study, store, _ = make(assign="k = 2")
    items = answer(study, store, NAME)
    answer(study, store, "ben", "speech")
    for item in items:
        store.write(lambda tx, item=item: decide(tx, item, NAME if item == items[0] else "ben", "", 1.0))
    store.write(lambda tx: tx.run("UPDATE decisions SET person = ''"))
    store.write(lambda tx: forget(tx, NAME))
    assert list(store.read(decisions)) == [items[1]]


def test_backups_are_listed_and_rewritten(make):
    study, store, _ = make(assign="k = 3")
    folder = Path(study.file).parent
    answer(study, store, "ben")
    commands.unswayed("collect", "backup", study.file, "-o", "early.sqlite", cwd=folder, check=True)
    answer(study, store, NAME)
    commands.unswayed("collect", "backup", study.file, "-o", "copy.sqlite", cwd=folder, check=True)
    (folder / ".copy.sqlite.partial-0011").write_bytes(NAME.encode())
    done = commands.unswayed("collect", "forget", "study.toml", NAME, cwd=folder)
    assert done.returncode == 0, done.stderr
    assert f"{folder}/copy.sqlite" in done.stderr
    assert "early.sqlite" not in done.stderr, "they are not in it"
    assert found(folder, NAME) == ["./copy.sqlite"]
    done = commands.unswayed("collect", "forget", "study.toml", NAME, "--backups", cwd=folder)
    assert (done.returncode, "Backups rewritten:" in done.stderr) == (0, True), done.stderr
    assert not found(folder, NAME) + found(folder, "zirconium")
    with open_database(str(folder / "copy.sqlite")) as copy:
        assert copy.read(lambda tx: tx.rows("SELECT DISTINCT person FROM work")) == [("ben",)]
    done = commands.unswayed("collect", "forget", "study.toml", NAME, "--backups", cwd=folder)
    assert done.returncode == 4


def test_a_backup_that_cannot_be_read_is_listed(make):
    study, store, _ = make()
    folder = Path(study.file).parent
    answer(study, store, NAME, count=1)
    commands.unswayed("collect", "backup", study.file, "-o", "copy.sqlite", cwd=folder, check=True)
    (folder / "copy.sqlite").write_text("damaged " * 1000)
    done = commands.unswayed("collect", "forget", "study.toml", NAME, cwd=folder)
    assert (done.returncode, f"{folder}/copy.sqlite" in done.stderr) == (0, True), done.stderr
    done = commands.unswayed("collect", "forget", "study.toml", NAME, "--backups", cwd=folder)
    assert done.returncode in (3, 4), "it was not rewritten"


def test_a_copy_that_failed_is_not_listed(make, tmp_path):
    _, store, _ = make()
    (tmp_path / "theirs.txt").write_text("x")
    with pytest.raises(RuntimeError), recorded(store, "export", tmp_path / "theirs.txt"):
        raise RuntimeError
    assert store.read(lambda tx: tx.rows("SELECT * FROM copies")) == []


def test_postgres_says_what_it_keeps(make, postgres):
    import psycopg

    with psycopg.connect(postgres, autocommit=True) as owner:
        owner.execute("CREATE DATABASE forgetting")
    study, store, _ = make(assign="k = 3", database=postgres.replace("/postgres?", "/forgetting?"))
    answer(study, store, NAME)
    answer(study, store, "ben")
    folder = Path(study.file).parent
    commands.unswayed("collect", "backup", study.file, "-o", "copy.dump", cwd=folder, check=True)
    done = commands.unswayed("collect", "forget", study.file, NAME, cwd=folder)
    assert (done.returncode, "--full rewrites the tables (VACUUM FULL)" in done.stderr) == (0, True), done.stderr
    assert f"{folder}/copy.dump" in done.stderr
    answer(study, store, NAME)
    done = commands.unswayed("collect", "forget", study.file, NAME, "--full", "--backups", cwd=folder)
    assert (done.returncode, "PostgreSQL's tables were rewritten" in done.stderr) == (0, True), done.stderr
    text = subprocess.run(["pg_restore", "-f", "-", folder / "copy.dump"], capture_output=True, text=True).stdout
    assert "ben" in text
    assert NAME not in text
    with psycopg.connect(study.database, autocommit=True) as own:
        own.execute("CHECKPOINT")
        ((data,),) = own.execute("SHOW data_directory").fetchall()
        ((database,),) = own.execute("SELECT oid FROM pg_database WHERE datname = current_database()").fetchall()
    files = [file for file in Path(data, "base", str(database)).iterdir() if file.is_file()]
    assert not [file for file in files if NAME.encode() in file.read_bytes()], "VACUUM FULL leaves none in the tables"


def test_rows_moved_between_pages_leave_no_copy(make):
    """SQLite moves rows when pages fill; deleting a row does not overwrite where it was before."""
    study, store, _ = make(items=[{"id": f"i{n}", "text": "x"} for n in range(300)], assign="k = 3")
    answer(study, store, NAME, count=60)
    rng = random.Random(5)
    for _ in range(400):
        who, size = rng.choice(["c", "d", NAME]), rng.randrange(3000)
        store.write(lambda tx, who=who, size=size: note(tx, who, "x", "y" * size))
        if rng.random() < 0.5:
            store.write(lambda tx: tx.run("DELETE FROM audit WHERE who = 'c'"))
    forget_people(study, store, NAME)
    assert not [f.name for f in Path(study.file).parent.iterdir() if f.is_file() and NAME.encode() in f.read_bytes()]


def test_interrupted_forgetting_is_finished(make):
    """Killed after the rows are gone: the next `forget`, or the next server, overwrites what the files still have."""
    study, store, _ = make()
    answer(study, store, NAME)
    pages = sqlite3.connect(study.place)  # somebody reads, so that the log can't be emptied

    def traces():
        return [f.name for f in Path(study.file).parent.glob("*.sqlite*") if NAME.encode() in f.read_bytes()]

    with closing(pages):
        pages.execute("BEGIN")
        pages.execute("SELECT count(*) FROM work").fetchall()
        scrub, Sqlite.scrub = Sqlite.scrub, lambda self, full=False: (_ for _ in ()).throw(KeyboardInterrupt)
        try:
            with pytest.raises(KeyboardInterrupt):
                forget_people(study, store, NAME)
        finally:
            Sqlite.scrub = scrub
        assert traces()
    done = commands.unswayed("collect", "forget", study.file, NAME)
    assert (done.returncode, "1 person, 0 answers" in done.stderr) == (0, True), done.stderr
    assert not traces()
    assert not store.read(lambda tx: tx.rows("SELECT * FROM facts WHERE name = 'forgetting'"))


@pytest.mark.parametrize(
    "kills", [pytest.param(3, marks=pytest.mark.slow), pytest.param(20, marks=[pytest.mark.long, pytest.mark.slow])]
)
def test_killed_during_uploads_and_forgetting(tmp_path, kills):
    """The server and `forget` are killed at random moments while somebody uploads; then they are forgotten."""
    items = [{"id": f"i{n}", "text": "x"} for n in range(40)]
    study = read_study(write_study(tmp_path / "study", "read_aloud", items, assign="k = 2"))
    rng, sounds = random.Random(kills), {n: tone(0.6 + n / 100, hertz=300 + n) for n in range(8)}
    store, _, _ = make_study(study)
    with store:
        tokens = {name: store.write(lambda tx, name=name: invite(tx, study, name)) for name in (NAME, "ben")}
        for name in tokens:
            store.write(lambda tx, name=name: consent(tx, name, {"dialect": f"{WORDS} of {name}"}, 1.0))
        ((secret,),) = store.read(lambda tx: tx.rows("SELECT value FROM facts WHERE name = 'secret'"))
        commands.unswayed("collect", "backup", study.file, "-o", tmp_path / "study" / "copy.sqlite", check=True)

    def speak(server, name, stop):
        """Records items, some takes twice, until there is no server."""
        token, own = tokens[name], random.Random(f"{name}{time.time()}")
        http = httpx.Client(base_url=f"http://127.0.0.1:{server.port}", cookies={"token": token}, timeout=30)
        headers = {"x-csrf": signed(secret, hashed(token))}
        with http:
            try:
                while not stop.is_set():
                    item = http.get("/task").text.partition('data-item="')[2].partition('"')[0]
                    take = own.randbytes(16).hex()
                    place = {"item": item, "take": take}
                    http.post("/audio", params=place, content=sounds[own.randrange(8)], headers=headers)
                    if own.random() < 0.5:
                        http.post("/answer", json={"item": item, "answer": {"audio": take}}, headers=headers)
            except httpx.TransportError:
                return

    for kill in range(kills):
        server, stop = Server(Path(study.file)), threading.Event()
        people = [threading.Thread(target=speak, args=(server, name, stop)) for name in tokens for _ in range(2)]
        for one in people:
            one.start()
        time.sleep(0.3 + rng.random())
        if kill >= kills // 2:  # `forget` runs beside it, and one of them or both are killed
            command = [sys.executable, "-m", "unswayed", "collect", "forget", study.file, NAME, "--backups"]
            forgetting = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            time.sleep(rng.random() * 1.5)
            if kill % 2:
                forgetting.kill()
            forgetting.wait()
        server.kill()
        stop.set()
        for one in people:
            one.join()
    done = commands.unswayed("collect", "forget", study.file, NAME, "--backups")
    # one that was killed at its very end, or that the server finished, has left nobody to forget
    assert done.returncode == 0 or "nobody named" in done.stderr, done.stderr
    with open_database(study.place) as store:
        names = {name for (name,) in store.read(lambda tx: tx.rows("SELECT name FROM audio"))}
        assert store.read(lambda tx: tx.rows("SELECT DISTINCT person FROM audio")) == [("ben",)]
    left = {file.stem for file in audio_folder(study).iterdir()}
    assert left <= names, "a recording of nobody's"
    for file in (tmp_path / "study").rglob("*"):
        if file.is_file():
            content = file.read_bytes()
            assert NAME.encode() not in content, file
            assert hashed(tokens[NAME]).encode() not in content, file
            assert f"{WORDS} of {NAME}".encode() not in content, file
    sizes = [audio_file(study, name).stat().st_size for name in left]
    assert all(size > 10_000 for size in sizes), "no file is a part of one"
    assert len({hashlib.sha256(audio_file(study, name).read_bytes()).digest() for name in left}) <= len(sounds)
