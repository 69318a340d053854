"""Asking through the store: nothing twice, in order, answers kept as they come, failures asked again."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from unswayed.base.errors import SystemBroken, UsageError
from unswayed.base.values import Failed, Output
from unswayed.storage.answers import AnswerStore
from unswayed.systems.asking import Asking, ask
from unswayed.systems.system import System


class Length(System):
    """Says how long a text is; remembers what it was asked, and fails where it is told to."""

    name, retries = "length", 0

    def __init__(self, identity="length 1", batch_size=3, concurrency=1, fails=()):
        self._identity, self.batch_size, self.concurrency, self.fails = identity, batch_size, concurrency, fails
        self.asked = []

    def predict(self, batch):
        self.asked.append([inputs["text"] for inputs in batch])
        return [Failed("no") if i["text"] in self.fails else len(i["text"]) for i in batch]

    def used(self):
        return {"requests": 1}


def texts(*said):
    return [{"text": text} for text in said]


@pytest.mark.parametrize("concurrency", [1, 4])
def test_answers_come_in_order_and_each_request_once(concurrency):
    system = Length(concurrency=concurrency)
    found = ask(system, texts(*(["a", "bb", "ccc", "dddd"] * 5)))
    assert [output.value for output in found] == [1, 2, 3, 4] * 5
    assert sorted(text for batch in system.asked for text in batch) == ["a", "bb", "ccc", "dddd"]
    assert all(len(batch) <= 3 for batch in system.asked)


@pytest.mark.parametrize("opened", [lambda to: AnswerStore.writer(to), lambda to: AnswerStore.shared(to / "answers")])
def test_what_was_answered_is_not_asked_again(tmp_path, opened):
    with opened(tmp_path) as store:
        ask(Length(fails=("bad",)), texts("a", "bad", "bb"), store)
    with opened(tmp_path) as store:
        again = Length()
        found = ask(again, texts("bb", "bad", "new", "a"), store, Asking(canary=0))
        assert [output.value for output in found] == [2, 3, 3, 1]
        assert again.asked == [["bad", "new"]]
        other = Length("length 2")
        ask(other, texts("a"), store)
        assert other.asked == [["a"]]
        assert store.used()["requests"] == 3


def test_a_failure_is_an_output_and_many_in_a_row_an_error(tmp_path):
    assert ask(Length(fails=("x",)), texts("x", "y"))[0] == Output(error="no", seconds=pytest.approx(0, abs=1))
    bad = Length(fails=tuple("abcdefg"))
    with pytest.raises(SystemBroken, match="failed on 6 items in a row: no"):
        ask(bad, texts(*"abcdefg"), asking=Asking(give_up=5))


def test_two_processes_write_to_one_shared_store(tmp_path):
    code = (
        "import sys; from pathlib import Path; from unswayed.storage.answers import AnswerStore\n"
        "from unswayed.storage.keys import Keyer\n"
        "from unswayed.base.values import Output\n"
        "with AnswerStore.shared(Path(sys.argv[1])) as store:\n"
        "    for n in range(200): store.put([(Keyer('s')({'n': sys.argv[2] + str(n)}), Output(n))])\n"
    )
    both = [subprocess.Popen([sys.executable, "-c", code, str(tmp_path / "a.sqlite"), name]) for name in "xy"]
    assert [process.wait(60) for process in both] == [0, 0]
    from unswayed.storage.keys import Keyer

    keys = [Keyer("s")({"n": name + str(n)}) for name in "xy" for n in range(200)]
    with AnswerStore.shared(tmp_path / "a.sqlite") as store:
        assert len(store.answered(keys)) == 400


def test_a_shared_store_needs_a_place(tmp_path: Path):
    with pytest.raises(UsageError, match="can't be kept in"):
        AnswerStore.shared(tmp_path)
    with pytest.raises(UsageError, match="can't be kept in"):
        AnswerStore.shared(tmp_path / "none" / "a")
