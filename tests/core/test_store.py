"""The store beside a plain dict, through its small table and out of it; killed while it moves; and one of before."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from unfazed.core import store as store_module
from unfazed.core.store import AnswerStore, keyer
from unfazed.core.values import Output

KEY = keyer("a system")
ANSWER = st.one_of(st.text(max_size=5).map(Output), st.just(Output(error="it broke")))
PUTS = st.lists(st.lists(st.tuples(st.integers(0, 40), ANSWER), max_size=9), max_size=12)


@pytest.fixture
def small(monkeypatch):
    monkeypatch.setattr(store_module, "_DIRECTLY", 5)
    monkeypatch.setattr(store_module, "_RECENTLY", 7)


def key(number: int) -> bytes:
    return KEY({"text": str(number)})


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(puts=PUTS, reopened=st.sets(st.integers(0, 12)))
def test_it_is_a_dict_on_disk(small, tmp_path_factory, puts, reopened):
    folder = tmp_path_factory.mktemp("run")
    expected = {}
    store = AnswerStore.writer(folder)
    for i, rows in enumerate(puts):
        store.put((key(number), output) for number, output in rows)
        expected |= {key(number): output for number, output in rows}
        store.commit()
        if i in reopened:
            store.close()
            store = AnswerStore.writer(folder)
        everything = [key(number) for number in range(41)]
        assert store.get(everything) == expected
        assert store.answered(everything).keys() == {k for k, output in expected.items() if output.ok}
    store.close()
    with AnswerStore.reader(folder) as reader:
        assert reader.get([key(number) for number in range(41)]) == expected


def test_outputs_are_moved_to_the_large_table(small, tmp_path):
    with AnswerStore.writer(tmp_path) as store:
        for number in range(30):
            store.put([(key(number), Output("x"))])
            store.commit()
    with sqlite3.connect(tmp_path / "outputs.sqlite") as db:
        large, recent = (db.execute(f"SELECT count(*) FROM {table}").fetchone()[0] for table in ("outputs", "recent"))
    db.close()
    assert large + recent == 30
    assert large == 5 + 7 * 3


def test_a_store_of_before_is_read_and_continued(tmp_path):
    db = sqlite3.connect(tmp_path / "outputs.sqlite")
    db.execute(
        "CREATE TABLE outputs (key BLOB PRIMARY KEY, value BLOB, error TEXT, seconds REAL NOT NULL, "
        "attempts INTEGER NOT NULL)"
    )
    db.execute("INSERT INTO outputs VALUES (?, ?, NULL, 0.5, 1)", (key(1), b'"kept"'))
    db.commit()
    db.close()
    with AnswerStore.reader(tmp_path) as store:
        assert store.get([key(1), key(2)]) == {key(1): Output("kept", None, 0.5)}
    with AnswerStore.writer(tmp_path) as store:
        store.put([(key(2), Output("new"))])
    with AnswerStore.reader(tmp_path) as store:
        assert [output.value for output in store.get([key(1), key(2)]).values()] == ["kept", "new"]


WRITING = """
import sys
from pathlib import Path
from unfazed.core.values import Output
from unfazed.core import store
store._DIRECTLY, store._RECENTLY = 500, 1000
key = store.keyer("a system")
with store.AnswerStore.writer(Path(sys.argv[1])) as kept:
    for number in range(int(sys.argv[2]), 10**9):
        kept.put([(key({"text": str(number)}), Output(number))])
        if number % 50 == 0:
            kept.commit()
            print(number, flush=True)
"""


def test_kills_while_it_moves_lose_nothing_that_was_said_to_be_stored(tmp_path: Path) -> None:
    last = 0
    for _ in range(5):
        writing = subprocess.Popen(
            [sys.executable, "-c", WRITING, str(tmp_path), str(last + 1)], stdout=subprocess.PIPE, text=True
        )
        assert writing.stdout is not None
        seen = last
        while seen <= last + 500:
            seen = int(writing.stdout.readline())
        os.kill(writing.pid, signal.SIGKILL)
        last = max([seen, *(int(line) for line in writing.communicate()[0].splitlines() if line)])
        with AnswerStore.reader(tmp_path) as store:
            found = store.get([key(number) for number in range(1, last + 1)])
        assert [found[key(number)].value for number in range(1, last + 1)] == list(range(1, last + 1))
    assert last > 2500
