"""Systems that answer, fail, lie and hang up: what is stored, what is asked again, and what is said."""

from __future__ import annotations

import math
import re
import threading
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from unswayed.base.errors import Interrupted, InUse, StoredFileError, SystemBroken, UsageError
from unswayed.base.values import Example, Inputs
from unswayed.run.engine import run_system
from unswayed.run.record import Run
from unswayed.storage.answers import AnswerStore
from unswayed.storage.suite import Manifest, Suite, write_suite
from unswayed.systems.asking import Asking
from unswayed.systems.system import Failed, System

pytestmark = pytest.mark.usefixtures("asked_once")

Make = Callable[..., Suite]
QUICK = Asking(backoff=0.0)
UNCHECKED = Asking(canary=0)


class Recorder(System):
    """Answers "a" and remembers what it was asked."""

    name = "recorder"
    batch_size = 4

    def __init__(self, answer: Callable[[str], Any] = lambda text: "a", identity: str = "recorder-1") -> None:
        self.answer = answer
        self.asked: list[str] = []
        self.batches: list[list[str]] = []
        self._identity = identity
        self._lock = threading.Lock()

    @property
    def identity(self) -> str:
        return self._identity

    def predict(self, batch: Sequence[Inputs]) -> list[Any]:
        texts = [item["text"] for item in batch]
        with self._lock:
            self.asked += texts
            self.batches.append(texts)
        return [self.answer(text) for text in texts]


def outputs(run: Run) -> dict[tuple[str, int], Any]:
    found: dict[tuple[str, int], Any] = {}
    for example, clean, varied in run.items():
        found[example.id, -1] = clean.value if clean.ok else clean.error
        found.update({(v.example_id, v.draw): o.value if o.ok else o.error for v, o in varied})
    return found


def test_every_request_is_asked_once_and_equal_ones_share_their_answer(make: Make, tmp_path: Path) -> None:
    system = Recorder(answer=lambda text: text)
    run = run_system(make(12), system, tmp_path / "run")
    assert max(Counter(system.asked).values()) == 1
    assert set(outputs(run).values()) == set(system.asked)
    assert len(outputs(run)) == 36 > len(system.asked)


def test_requests_that_come_again_much_later_are_asked_once(tmp_path: Path) -> None:
    """Over many windows, although one item of a batch fails; what failed is asked again where it comes again."""
    examples = [Example(i, str(i), {"text": f"text {i % 700}"}, None) for i in range(5000)]
    suite = write_suite(tmp_path / "suite", Manifest(task="text", language="en"), lambda: examples, list)
    system = Recorder(answer=lambda text: Failed("no", final=True) if text == "text 13" else text.upper())
    run = run_system(suite, system, tmp_path / "run")
    assert Counter(system.asked) - Counter(["text 13"] * 10) == Counter(f"text {i}" for i in range(700) if i != 13)
    assert [clean.error or clean.value for _, clean, _ in run.items()] == [
        "no" if i % 700 == 13 else f"TEXT {i % 700}" for i in range(5000)
    ]
    again = Recorder(answer=str.upper)
    assert run_system(suite, again, tmp_path / "run", plan={"run": {"asking": UNCHECKED}}).session.reused == 699  # type: ignore[union-attr]
    assert again.asked == ["text 13"]


def test_a_second_time_nothing_is_asked(make: Make, tmp_path: Path) -> None:
    suite = make()
    first = outputs(run_system(suite, Recorder(), tmp_path / "run"))
    again = Recorder()
    assert outputs(run_system(suite, again, tmp_path / "run", plan={"run": {"asking": UNCHECKED}})) == first
    assert again.asked == []


def test_another_system_is_never_given_the_first_ones_answers(make: Make, tmp_path: Path) -> None:
    suite = make()
    run_system(suite, Recorder(), tmp_path / "run")
    other = Recorder(answer=lambda text: "b", identity="recorder-2")
    assert set(outputs(run_system(suite, other, tmp_path / "run")).values()) == {"b"}


def test_batches_are_of_like_length_within_a_window(make: Make, tmp_path: Path) -> None:
    system = Recorder()
    run_system(make(30), system, tmp_path / "run")
    lengths = [len(text) for batch in system.batches for text in batch]
    assert lengths[:20] == sorted(lengths[:20])  # of the first window, which is eight batches with those asked twice
    assert lengths != sorted(lengths)
    assert {len(batch) for batch in system.batches[:-1]} == {4}


@pytest.mark.parametrize("concurrency", [1, 4])
def test_an_item_that_fails_twice_and_then_answers(make: Make, tmp_path: Path, concurrency: int) -> None:
    seen: Counter[str] = Counter()

    def answer(text: str) -> str:
        seen[text] += 1
        if text == "text 1" and seen[text] <= 2:
            raise RuntimeError("try later")
        return "a"

    asking = Asking(backoff=0.0, concurrency=concurrency)
    run = run_system(make(), Recorder(answer), tmp_path / "run", plan={"run": {"asking": asking}})
    assert set(outputs(run).values()) == {"a"}
    assert max(Counter(seen).values()) <= 3


def test_an_item_that_always_fails_is_an_explicit_failure_and_asked_again_next_time(make: Make, tmp_path: Path) -> None:
    suite = make()
    bad = Recorder(lambda text: 1 / 0 if text == "text 1" else "a")
    found = outputs(run_system(suite, bad, tmp_path / "run", plan={"run": {"asking": QUICK}}))
    assert re.fullmatch(r"ZeroDivisionError: division by zero \(test_engine.py, line \d+\)", found["e1", -1])
    assert [key for key, value in found.items() if value != "a"] == [("e1", -1)]
    good = Recorder()
    assert set(outputs(run_system(suite, good, tmp_path / "run", plan={"run": {"asking": UNCHECKED}})).values()) == {
        "a"
    }
    assert good.asked == ["text 1"]


def test_a_final_failure_is_not_retried(make: Make, tmp_path: Path) -> None:
    system = Recorder(lambda text: Failed("refused", final=True) if text == "text 1" else "a")
    found = outputs(run_system(make(), system, tmp_path / "run", plan={"run": {"asking": QUICK}}))
    assert found["e1", -1] == "refused"
    assert system.asked.count("text 1") == 1


def test_a_system_that_fails_on_everything_is_stopped_soon(make: Make, tmp_path: Path) -> None:
    suite, system = make(300), Recorder(lambda text: 1 / 0)
    with pytest.raises(SystemBroken, match="same error for the first 3 inputs") as broken:
        run_system(suite, system, tmp_path / "run", plan={"run": {"asking": QUICK}})
    assert len(system.asked) <= system.batch_size + 3, "none is retried"
    assert isinstance(broken.value.__cause__, ZeroDivisionError)
    assert re.search(
        r'File ".*test_engine.py", line \d+, in .*\n    .*1 / 0.*\n+ZeroDivisionError: division', str(broken.value)
    )
    varied = Recorder(lambda text: {}[text])  # an error of its own for each
    with pytest.raises(SystemBroken, match="KeyError.* 0 new answers are kept in .*, .* requests failed"):
        run_system(suite, varied, tmp_path / "other", plan={"run": {"asking": QUICK}})
    assert len(varied.asked) < 300


def test_a_few_odd_items_do_not_stop_a_run_although_they_come_first_and_fail_alike(make: Make, tmp_path: Path) -> None:
    system = Recorder(lambda text: 1 / 0 if len(text) == len("text 1") else "a")
    system.batch_size = 64
    found = outputs(run_system(make(300), system, tmp_path / "run", plan={"run": {"asking": QUICK}}))
    assert sum(value != "a" for value in found.values()) > 3


def test_failures_of_an_earlier_session_do_not_stop_the_next_one(make: Make, tmp_path: Path) -> None:
    """Only what failed is left to ask, so that all of it may fail once more, one after another."""
    suite, asking, patient = make(300), Asking(backoff=0, give_up=2), Asking(backoff=0, give_up=100)
    bad = Recorder(lambda text: 1 / 0 if text.endswith("3") else "a")
    found = outputs(run_system(suite, bad, tmp_path / "run", plan={"run": {"asking": patient}}))
    assert outputs(run_system(suite, bad, tmp_path / "run", plan={"run": {"asking": asking}})) == found
    with pytest.raises(SystemBroken, match="one after another"):
        run_system(suite, Recorder(lambda text: 1 / 0), tmp_path / "other", plan={"run": {"asking": asking}})


@pytest.mark.parametrize("count", [0, 3, 5])
def test_too_few_or_too_many_outputs_stop_the_run(make: Make, tmp_path: Path, count: int) -> None:
    class Liar(Recorder):
        def predict(self, batch: Sequence[Inputs]) -> list[Any]:
            return ["a"] * count

    with pytest.raises(SystemBroken, match=f"returned {count} outputs for 4 inputs.*'text"):
        run_system(make(), Liar(), tmp_path / "run", plan={"run": {"asking": QUICK}})


@pytest.mark.parametrize(
    ("value", "message"),
    [(math.nan, "nan"), (None, "None"), ([1], "label"), ({"label": 1.5}, "label"), ("zzz", "not in the set: a, b")],
)
def test_an_output_that_the_task_cannot_read_is_a_failure_that_names_the_item(
    make: Make, tmp_path: Path, value: Any, message: str
) -> None:
    system = Recorder(lambda text: value if text == "text 1" else "a")
    found = outputs(run_system(make(labels=["a", "b"]), system, tmp_path / "run", plan={"run": {"asking": QUICK}}))
    assert message in found["e1", -1]
    assert "text 1" in found["e1", -1]


def test_any_callable_will_do(make: Make, tmp_path: Path) -> None:
    run = run_system(make(), lambda batch: ["a"] * len(batch), tmp_path / "run")
    assert set(outputs(run).values()) == {"a"}


def test_ctrl_c_keeps_what_came_and_says_how_to_go_on(make: Make, tmp_path: Path) -> None:
    class Impatient(Recorder):
        def predict(self, batch: Sequence[Inputs]) -> list[Any]:
            if len(self.batches) == 3:
                raise KeyboardInterrupt
            return super().predict(batch)

    suite = make(20)
    first = Impatient()
    with pytest.raises(Interrupted, match=r"12 new answers are kept.*rerun to resume"):
        run_system(suite, first, tmp_path / "run")
    second = Recorder()
    run_system(suite, second, tmp_path / "run", plan={"run": {"asking": UNCHECKED}})
    assert not set(first.asked) & set(second.asked)
    assert "not asked yet" not in outputs(Run(tmp_path / "run")).values()


def test_two_processes_cannot_write_one_run(make: Make, tmp_path: Path) -> None:
    suite = make()
    run_system(suite, Recorder(), tmp_path / "run")
    with (
        AnswerStore.writer(tmp_path / "run"),
        pytest.raises(InUse, match=r"Another process.*process [0-9]+ on .* since 2"),
    ):
        run_system(suite, Recorder(), tmp_path / "run")
    run_system(suite, Recorder(), tmp_path / "run")


def test_a_run_is_of_one_suite(make: Make, tmp_path: Path) -> None:
    run_system(make(), Recorder(), tmp_path / "run")
    with pytest.raises(UsageError, match="another suite"):
        run_system(make(11, name="other"), Recorder(), tmp_path / "run")
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes/diary.txt").write_text("mine")
    with pytest.raises(UsageError, match="not a run"):
        run_system(make(12, name="third"), Recorder(), tmp_path / "notes")


def test_a_damaged_store_is_named(make: Make, tmp_path: Path) -> None:
    suite = make()
    run_system(suite, Recorder(), tmp_path / "run")
    file = tmp_path / "run/outputs.sqlite"
    file.write_bytes(b"not a database at all" * 500)
    with pytest.raises(StoredFileError, match=r"outputs\.sqlite"):
        run_system(suite, Recorder(), tmp_path / "run")
    with pytest.raises(StoredFileError, match=r"outputs\.sqlite"):
        outputs(Run(tmp_path / "run"))


def test_a_suite_that_changed_under_a_run_is_noticed(make: Make, tmp_path: Path) -> None:
    run_system(make(), Recorder(), tmp_path / "run")
    import shutil

    shutil.rmtree(tmp_path / "suite")
    make(11)
    with pytest.raises(StoredFileError, match="the suite changed"):
        Run(tmp_path / "run")


def test_a_run_and_its_suite_can_be_moved_together(make: Make, tmp_path: Path) -> None:
    (tmp_path / "here").mkdir()
    run_system(make(name="here/suite"), Recorder(), tmp_path / "here/run")
    (tmp_path / "here").rename(tmp_path / "there")
    assert set(outputs(Run(tmp_path / "there/run")).values()) == {"a"}
