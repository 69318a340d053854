"""The store beside a plain dict; what is in its file; killed as it writes; its index of keys."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from unswayed.base import secrets
from unswayed.base.values import BatchOutputs, Output
from unswayed.storage import answer_rows, answers, keys
from unswayed.storage.answers import AnswerStore
from unswayed.storage.keys import KEY_BYTES, Keyer, KeyIndex

KEY = Keyer("a system")
ANSWER = st.one_of(
    st.text(max_size=5).map(Output),
    st.just(Output(error="it broke")),
    st.builds(
        Output,
        st.text(max_size=5),
        st.sampled_from([None, None, "too late"]),
        st.sampled_from([0.5, 2.0]),
        st.integers(1, 2),
        st.sampled_from([None, 7, 1 << 40]),
        st.sampled_from([None, 0, 3]),
    ).map(lambda output: output if output.ok else msgspec.structs.replace(output, value=None)),
)
PUTS = st.lists(st.lists(st.tuples(st.integers(0, 40), ANSWER), max_size=9), max_size=12)


@pytest.fixture
def small(monkeypatch):
    """What is done for many is done for few, and an answer may be long enough to go by itself."""
    monkeypatch.setattr(answer_rows, "_MIN_ROW_ANSWERS", 3)
    monkeypatch.setattr(answer_rows, "_MAX_ROW_ANSWERS", 5)
    monkeypatch.setattr(answer_rows, "_MAX_BUFFER_ANSWERS", 7)
    monkeypatch.setattr(answer_rows, "_MAX_ROW_BYTES", 20)
    monkeypatch.setattr(answers, "_ROWS_A_QUERY", 3)
    monkeypatch.setattr(answers, "_ROWS_A_READ", 2)
    monkeypatch.setattr(keys, "_MAX_MERGED", 12)


def key(number: int) -> bytes:
    return KEY({"text": str(number)})


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(puts=PUTS, reopened=st.sets(st.integers(0, 12)), committed=st.sets(st.integers(0, 12)), shared=st.booleans())
def test_it_is_a_dict_on_disk(small, tmp_path_factory, puts, reopened, committed, shared):
    folder = tmp_path_factory.mktemp("run")
    opened = (lambda: AnswerStore.shared(folder / "outputs.sqlite")) if shared else lambda: AnswerStore.writer(folder)
    expected = {}
    store = opened()
    for i, rows in enumerate(puts):
        store.put((key(number), output) for number, output in rows)
        expected |= {key(number): output for number, output in rows}
        if i in committed:
            store.commit()
        if i in reopened:
            store.close()
            store = opened()
        everything = [key(number) for number in range(41)]
        assert store.get(everything) == expected
        assert store.answered(everything).keys() == {k for k, output in expected.items() if output.ok}
        assert store.tried(everything) == expected.keys()
    store.close()
    with AnswerStore.reader(folder) as reader:
        assert reader.get([key(number) for number in range(41)]) == expected
        assert reader.size == sum(map(len, puts))


@settings(max_examples=25, deadline=None)
@given(puts=PUTS)
def test_without_a_file_it_is_the_same(puts):
    with AnswerStore.in_memory() as store:
        for rows in puts:
            store.put((key(number), output) for number, output in rows)
        last = {key(number): output for rows in puts for number, output in rows}
        assert store.get([key(number) for number in range(41)]) == last
        assert store.size == sum(map(len, puts))


@settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(puts=PUTS)
def test_an_index_tells_every_batch_that_has_a_key(small, puts):
    index = KeyIndex()
    batches = [b"".join(key(i) for i, _ in rows) for rows in puts]
    for number, batch in enumerate(batches, 1):
        index.add([number], [batch])
        for wanted in range(41):
            among = {n for n, of in enumerate(batches[:number], 1) if key(wanted) in of}
            assert set(index.find([key(wanted)])) >= among
    found = index.find([key(i) for i in range(41)])
    assert list(found) == sorted(found)


def test_a_key_is_not_found_across_two_others(tmp_path):
    """Keys lie in one piece: the end of one and the beginning of the next are no key."""
    one, two = b"a" * 16, b"b" * 16
    with AnswerStore.writer(tmp_path) as store:
        store.put_block([one, two, b"aaaabbbb" * 2], BatchOutputs(["one", "two", "three"], 0.5))
        across = [b"a" * n + b"b" * (16 - n) for n in range(1, 16)]
        assert store.get([one, two, *across]) == {one: Output("one", None, 0.5), two: Output("two", None, 0.5)}


def test_of_a_key_that_stands_in_a_batch_twice_the_last_answer_counts(tmp_path):
    with AnswerStore.writer(tmp_path) as store:
        store.put_block([key(1), key(2), key(1)], BatchOutputs(["first", "other", "last"], 0.5))
        assert store.get([key(1)])[key(1)].value == "last"


def test_a_reader_sees_what_is_written_after_it_was_opened(tmp_path):
    with AnswerStore.writer(tmp_path) as store, AnswerStore.reader(tmp_path) as reader:
        for number in range(3):
            store.put([(key(number), Output(number)), (key(10 + number), Output(error="it broke"))])
            store.commit()
            assert reader.get([key(number)]) == {key(number): Output(number)}
        store.put([(key(10), Output("at last"))])
        store.commit()
        assert reader.get([key(10)]) == {key(10): Output("at last")}


WRITING = """
import sys
from contextlib import closing
from pathlib import Path
from unswayed.base.values import Output
from unswayed.storage.answers import AnswerStore
from unswayed.storage.keys import Keyer
key = Keyer("a system")
with AnswerStore.writer(Path(sys.argv[1])) as kept:
    for number in range(int(sys.argv[2]), 10**9):
        kept.put([(key({"text": str(number)}), Output(number, attempts=1 + number % 2))])
        if number % 50 == 0:
            kept.commit()
            print(number, flush=True)
"""


def test_kills_lose_nothing_that_was_said_to_be_stored(tmp_path: Path) -> None:
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


VALUES = [
    "plain", 'quote " and \\ and / and \n', "ключ 钥匙 🔑", "\0 inside", "", None, True, 12, 0.1 + 0.2, 1e-300, 5e-324,
    2**63, [1, "two", [3.0]], {"b": 1, "a": {"c": None}}, "\u2028", "x" * 70_000,
]  # fmt: skip


@pytest.mark.parametrize("long", [1 << 20, 5])
@pytest.mark.parametrize("opened", [AnswerStore.writer, lambda to: AnswerStore.shared(to / "outputs.sqlite")])
def test_answers_are_those_that_were_given(tmp_path, monkeypatch, long, opened):
    """Also those that are too long to be in a row with others; a scan gives each as JSON, byte for byte."""
    monkeypatch.setattr(answer_rows, "_MAX_ROW_BYTES", long)
    given = {key(i): Output(value, None, 0.1 * i + 1e-9) for i, value in enumerate(VALUES)}
    given |= {key(100): Output("late", None, 0.5, 3), key(101): Output("counted", None, 2.0, 1, 7, 0)}
    given[key(102)] = Output(None, "it broke", 0.25, 2)
    with opened(tmp_path) as store:
        store.put(given.items())
        assert store.get(list(given)) == given
        assert store.most_tokens() == (7, 0)
    with AnswerStore.reader(tmp_path) as reader:
        assert reader.get(list(given)) == given
        stored = {
            content[at : at + KEY_BYTES]: answer
            for content, some in reader.scan()
            for at, answer in zip(range(0, len(content), KEY_BYTES), some, strict=True)
        }
    lines = {k: msgspec.json.encode(o.value) for k, o in given.items()}
    assert stored == {k: (o.error, lines[k]) if o.error else lines[k] for k, o in given.items()}


def test_columns_of_equal_values_take_no_room(tmp_path):
    """Labels that came together at the first attempt cost a few bytes beside themselves, for all of them."""
    with AnswerStore.writer(tmp_path) as store:
        store.put_block([key(i) for i in range(100)], BatchOutputs(["a"] * 100, 0.5))
    with closing(sqlite3.connect(tmp_path / "outputs.sqlite")) as db:
        assert db.execute("SELECT length(keys), length(details), length(answers) FROM batches").fetchall() == [
            (1600, 15, 400)
        ]


@pytest.mark.parametrize("output", [Output("x"), Output(error="it broke")])
def test_many_answers_are_written_before_they_fill_the_memory(tmp_path, monkeypatch, output):
    monkeypatch.setattr(answer_rows, "_MIN_ROW_ANSWERS", 1)
    monkeypatch.setattr(answer_rows, "_MAX_BUFFER_ANSWERS", 50)
    with AnswerStore.writer(tmp_path) as store:
        for start in range(0, 400, 20):
            store.put((key(number), output) for number in range(start, start + 20))
            assert store._buffer._answers < 50
        assert store.get([key(i) for i in range(401)]) == dict.fromkeys(map(key, range(400)), output)


def test_an_answer_that_its_owner_changes_later_is_stored_as_it_was(tmp_path):
    buffer = ["first"]
    with AnswerStore.writer(tmp_path) as store:
        store.put([(key(1), Output(buffer))])
        buffer[0] = "second"
        store.put([(key(2), Output(buffer))])
        assert [store.get([key(i)])[key(i)].value for i in (1, 2)] == [["first"], ["second"]]


@pytest.mark.parametrize("long", [1 << 20, 5])
def test_of_answers_to_the_same_request_the_last_is_stored(tmp_path, monkeypatch, long):
    monkeypatch.setattr(answer_rows, "_MAX_ROW_BYTES", long)
    late, failed = Output("late", None, 0.5, 3), Output(None, "it broke")
    given = [(1, Output("short")), (1, Output("a longer one")), (2, Output("a longer one")), (2, Output("s")),
             (3, failed), (3, Output("then right")), (4, Output("right")), (4, late)]  # fmt: skip
    with AnswerStore.writer(tmp_path) as store:
        for number, output in given:
            store.put([(key(number), output)])
        last = {key(number): output for number, output in given}
        assert store.get(list(last)) == last


def test_a_secret_among_answers_that_are_stored_together_is_masked(tmp_path, monkeypatch):
    monkeypatch.setattr(secrets, "_told", ["S3CRET\n-42"])
    values = ["has S3CRET\n-42 in it", "S3CRET", -42, "none"]
    with AnswerStore.writer(tmp_path) as store:
        store.put((key(i), Output(value)) for i, value in enumerate(values))
        found = store.get([key(i) for i in range(4)])
    assert [found[key(i)].value for i in range(4)] == ["has *** in it", "S3CRET", -42, "none"]


def test_keys_made_together_are_those_made_one_by_one():
    requests = [{"text": "a"}, {"b": "2", "a": "\n"}, {"text": "ключ"}, ["any", "JSON"], "text"]
    assert KEY.each(requests) == [KEY(request) for request in requests]
    assert KEY({"text": "a"}) == bytes.fromhex("411eaaa0c38d738f16b772bbbdc82ee4")  # stores on disk have it
