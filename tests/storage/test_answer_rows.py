"""Answers read from a store at once are those that are looked up one by one."""

from __future__ import annotations

import sqlite3

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from unswayed.base.errors import StoredFileError
from unswayed.base.values import Output
from unswayed.storage import answer_rows
from unswayed.storage.answer_rows import StoredAnswers
from unswayed.storage.answers import AnswerStore
from unswayed.storage.keys import Keyer

KEY, MISSING = Keyer("a system"), Output(error="not asked")
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
    monkeypatch.setattr(answer_rows, "_MAX_DISTINCT", most)
    folder, keys = tmp_path_factory.mktemp("run"), [key(number) for number in asked]
    with AnswerStore.writer(folder) as store:
        for put in puts:
            store.put((key(number), output) for number, output in put.items())
    with AnswerStore.reader(folder) as store:
        outputs, codes = StoredAnswers(store, MISSING, len(keys)).codes_of(keys)
        known = store.get(keys)
    found = [(outputs[code].value, outputs[code].error) for code in codes.tolist()]
    assert found == [((known.get(k) or MISSING).value, (known.get(k) or MISSING).error) for k in keys]
    assert sorted(set(codes.tolist())) == list(range(len(outputs)))  # no answer that nobody asked for


def held(*keys: tuple[int, int]) -> answer_rows._KeyCodes:
    """Keys, each as its two halves, whose answers have the numbers 1, 2, 3 and so on."""
    parts = answer_rows._KeyParts(len(keys))
    assert parts.add(np.array(keys, dtype=np.uint64).tobytes(), range(1, len(keys) + 1))
    return answer_rows._KeyCodes(parts, [])


def test_keys_with_equal_halves_are_looked_up():
    """Half of a key can't tell two apart here, which a scan must notice."""
    assert not held((5, 1 << 20), (5, 2 << 20), (7, 1)).is_unambiguous
    assert held((5, 1 << 20), (5, 1 << 20), (7, 1)).is_unambiguous


def test_a_key_is_not_taken_for_another_with_the_same_half():
    keys = np.array([[5, 1 << 20], [5, 2 << 20], [1 << 63, 0], [6, 0]], dtype=np.uint64)
    assert held((1 << 63, 0), (5, 1 << 20)).numbers([key.tobytes() for key in keys]).tolist() == [2, 0, 1, 0]


def test_the_last_answer_of_many_to_the_same_key_counts():
    """In each part of the keys: some come again, far behind the first."""
    keys = [key(number) for number in range(2000)]
    parts = answer_rows._KeyParts(4000)
    for numbers in (range(1, 2001), range(2001, 4001)):
        assert parts.add(b"".join(keys), numbers)
    assert answer_rows._KeyCodes(parts, []).numbers(keys).tolist() == list(range(2001, 4001))


def test_keys_that_are_no_hashes_may_find_no_room_and_are_looked_up():
    keys = np.zeros((1000, 2), dtype=np.uint64).tobytes()
    assert not answer_rows._KeyParts(1000).add(keys, range(1, 1001))


@pytest.mark.parametrize("output", [Output("on"), Output("on", attempts=2)])  # with details, and without
def test_a_damaged_answer_is_named(tmp_path, output):
    with AnswerStore.writer(tmp_path) as store:
        store.put([(key(1), output)])
    with sqlite3.connect(tmp_path / "outputs.sqlite") as db:
        changed = db.execute("UPDATE batches SET answers = ?", (b'"on\n',)).rowcount
    db.close()
    assert changed == 1
    with AnswerStore.reader(tmp_path) as store, pytest.raises(StoredFileError, match=r"outputs\.sqlite"):
        StoredAnswers(store, MISSING, 1)
