"""Answers read from a store at once are those that are looked up one by one."""

from __future__ import annotations

import sqlite3

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from unfazed.core import store_scan
from unfazed.core.errors import StoredFileError
from unfazed.core.store import AnswerStore, keyer
from unfazed.core.store_scan import StoredAnswers
from unfazed.core.values import Output

KEY, MISSING = keyer("a system"), Output(error="not asked")
VALUE = st.one_of(st.text(max_size=3), st.booleans(), st.integers(0, 2), st.none(), st.lists(st.text(max_size=2)))
ANSWER = st.one_of(VALUE.map(Output), st.sampled_from(["it broke", "too late"]).map(lambda said: Output(error=said)))


def key(number: int) -> bytes:
    return KEY({"text": str(number)})


@pytest.mark.parametrize("most", [1 << 14, 2, 0])  # distinct answers that are held: all, or too few, so that none are
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    puts=st.lists(st.dictionaries(st.integers(0, 20), ANSWER), max_size=3),
    asked=st.lists(st.integers(0, 30), min_size=1),
)
def test_a_scan_gives_what_a_look_up_gives(most, monkeypatch, tmp_path_factory, puts, asked):
    monkeypatch.setattr(store_scan, "_MOST_DISTINCT", most)
    folder, keys = tmp_path_factory.mktemp("run"), [key(number) for number in asked]
    with AnswerStore.writer(folder) as store:
        for put in puts:
            store.put((key(number), output) for number, output in put.items())
    with AnswerStore.reader(folder) as store:
        outputs, codes = StoredAnswers(store, MISSING, len(keys)).of(keys)
        known = store.get(keys)
    found = [(outputs[code].value, outputs[code].error) for code in codes.tolist()]
    assert found == [((known.get(k) or MISSING).value, (known.get(k) or MISSING).error) for k in keys]
    assert sorted(set(codes.tolist())) == list(range(len(outputs)))  # no answer that nobody asked for


def test_keys_with_equal_halves_are_looked_up():
    """Half of a key can't tell two apart here, which a scan must notice."""
    same, numbers = np.array([[5, 1], [5, 2], [7, 1]], dtype=np.uint64), np.array([1, 2, 1], dtype=np.int32)
    assert not store_scan._Held(same, numbers, []).sure
    assert store_scan._Held(same[1:], numbers[1:], []).sure


@pytest.mark.parametrize("output", [Output("on"), Output("on", attempts=2)])  # in a batch, and in a row
def test_a_damaged_answer_is_named(tmp_path, output):
    with AnswerStore.writer(tmp_path) as store:
        store.put([(key(1), output)])
    with sqlite3.connect(tmp_path / "outputs.sqlite") as db:
        changed = db.execute("UPDATE outputs SET value = ?", (b'"on',)).rowcount
        changed += db.execute("UPDATE batches SET answers = ?", (b'"on\n',)).rowcount
    db.close()
    assert changed == 1
    with AnswerStore.reader(tmp_path) as store, pytest.raises(StoredFileError, match=r"outputs\.sqlite"):
        StoredAnswers(store, MISSING, 1)
