"""The store's promises, on both databases: durable, all or nothing, one failing job harms no other."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from unswayed.base.errors import StoredFileError, UsageError
from unswayed.collect import backends
from unswayed.collect.backends import Sqlite
from unswayed.collect.database import Database, open_database
from unswayed.collect.people import set_fact


def facts(tx):
    return dict(tx.rows("SELECT name, value FROM facts WHERE name LIKE 'x' || '_' OR name LIKE 'x' || '__'"))


@pytest.fixture
def store(make, database):
    return make(database=database)[1]


def test_a_job_that_raises_changes_nothing_and_others_go_on(store):
    def bad(tx):
        set_fact(tx, "x0", "lost")
        raise UsageError("no")

    with ThreadPoolExecutor(8) as pool:
        jobs = [bad if n % 3 == 0 else lambda tx, n=n: set_fact(tx, f"x{n}", str(n)) for n in range(30)]
        futures = list(pool.map(store.submit, jobs))
    for n, future in enumerate(futures):
        if n % 3 == 0:
            with pytest.raises(UsageError):
                future.result()
        else:
            assert future.result() is None
    assert store.read(facts) == {f"x{n}": str(n) for n in range(30) if n % 3}


def test_a_wrong_statement_harms_no_other_job(store):
    wrong = store.submit(lambda tx: tx.run("INSERT INTO nowhere VALUES (1)"))
    right = store.submit(lambda tx: set_fact(tx, "x1", "kept"))
    assert wrong.exception() is not None
    assert right.result() is None
    assert store.read(facts) == {"x1": "kept"}


def test_reading_sees_one_moment(store):
    def two_looks(tx):
        first = facts(tx)
        store.write(lambda inner: set_fact(inner, "x7", "later"))
        return first, facts(tx)

    assert store.read(two_looks) == ({}, {})
    assert store.read(facts) == {"x7": "later"}


def test_a_lost_connection_is_made_anew(make, postgres, request):
    import psycopg

    url = postgres.replace("/postgres?", "/lost?")
    with psycopg.connect(postgres, autocommit=True) as owner:
        owner.execute("CREATE DATABASE lost")
        _, store, _ = make(database=url)
        store.read(facts)
        owner.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = 'lost'")
    assert store.read(facts) == {}
    store.write(lambda tx: set_fact(tx, "x1", "y"))
    assert store.read(facts) == {"x1": "y"}


def test_a_newer_database_is_refused(make):
    study, store, _ = make()
    store.write(lambda tx: tx.run("INSERT INTO migrations VALUES (9999)"))
    store.close()
    with pytest.raises(StoredFileError, match="newer version"):
        open_database(study.place)


def test_a_database_of_an_edited_migration_is_called_what_it_is(make, monkeypatch, tmp_path):
    """Nobody attacked: the table's name is ours, and its definition is that of another version."""
    study, store, _ = make()
    store.close()
    for file in backends.MIGRATIONS.glob("*.sql"):
        text = file.read_text("utf-8")
        (tmp_path / file.name).write_text(text.replace("CREATE TABLE people (", "CREATE TABLE people (added TEXT, "))
    monkeypatch.setattr(backends, "MIGRATIONS", tmp_path)
    backends._statements.cache_clear()
    try:
        with pytest.raises(StoredFileError, match="Another version made the file, or its definition was edited") as e:
            open_database(study.place)
    finally:
        backends._statements.cache_clear()
    assert "its table 'people' is not made as this version" in str(e.value)
    assert "harmful" not in str(e.value)


def test_files_that_are_no_study(tmp_path):
    with pytest.raises(StoredFileError, match="collect new"):
        open_database(str(tmp_path / "absent.sqlite"))
    (tmp_path / "bad.sqlite").write_bytes(b"not a database at all" * 100)
    with pytest.raises(StoredFileError, match="not a study"):
        open_database(str(tmp_path / "bad.sqlite"))


def test_a_closed_store_says_so(make):
    _, store, _ = make()
    store.close()
    with pytest.raises(StoredFileError, match="closed"):
        store.submit(lambda tx: None)


def test_backup_while_others_write(make, database, tmp_path):
    _, store, _ = make(database=database)
    futures = [store.submit(lambda tx, n=n: set_fact(tx, f"x{n}", "y")) for n in range(50)]
    futures[0].result()
    store.backup(tmp_path / "copy")
    for future in futures:
        future.result()
    with pytest.raises(StoredFileError, match="exists"):
        store.backup(tmp_path / "copy")
    if not database:
        with open_database(str(tmp_path / "copy")) as copy:
            assert "x0" in copy.read(facts)
    else:
        assert (tmp_path / "copy").read_bytes()[:5] == b"PGDMP"


_WRITES = textwrap.dedent("""
    import sys
    from unswayed.collect.people import set_fact
    from unswayed.collect.database import open_database
    store = open_database(sys.argv[1])
    for n in range(100000):
        last = store.submit(lambda tx, n=n: set_fact(tx, f"key{n}", "v"))
        last.add_done_callback(
            lambda f, n=n: f.exception() or sys.stdout.write(f"{n}\\n") and sys.stdout.flush())
    last.result()  # the writer would end with the program
""")


def test_what_was_acknowledged_survives_kill_9(make):
    study, store, _ = make()
    store.close()
    process = subprocess.Popen([sys.executable, "-c", _WRITES, study.place], stdout=subprocess.PIPE, text=True)
    assert process.stdout
    lines = [process.stdout.readline() for _ in range(300)]
    process.kill()
    lines += process.stdout.readlines()
    process.wait()
    process.stdout.close()
    said = {f"key{line.strip()}" for line in lines if line.endswith("\n")}
    with open_database(study.place) as again:
        kept = {name for (name,) in again.read(lambda tx: tx.rows("SELECT name FROM facts"))}
    assert len(said) >= 300
    assert said <= kept


def test_sqlite_syncs_every_commit(make):
    study, store, _ = make()
    assert store.write(lambda tx: tx.rows("PRAGMA synchronous")) == [(2,)]
    assert store.write(lambda tx: tx.rows("PRAGMA journal_mode")) == [("wal",)]
    assert Path(study.place).exists()


def test_readers_come_back_after_the_database_was_away(tmp_path):
    """Also where it could not be reached when another connection was wanted."""

    open_database(str(tmp_path / "d.sqlite"), new=True).close()
    away = False

    class Away(Exception):
        pass

    class Lost:
        def __init__(self, own):
            self.own = own

        def begin(self, write):
            if away:
                raise Away
            self.own.begin(write)

        def __getattr__(self, name):
            return getattr(self.own, name)

    class Backend(Sqlite):
        def connect(self, write):
            if away:
                raise Away
            return Lost(super().connect(write))

    with Database(Backend(tmp_path / "d.sqlite")) as store:
        for away in (False, True, True, False, False):
            if away:
                with pytest.raises(Away):
                    store.read(lambda tx: tx.rows("SELECT 1"))
            else:
                assert store.read(lambda tx: tx.rows("SELECT 1")) == [(1,)]
