"""kill -9 at random moments loses nothing, and nothing that was stored is asked again."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

import unswayed
from benchmarks.resume import killed_runs
from unswayed.base.values import Example
from unswayed.storage.suite import Manifest, write_suite

pytestmark = pytest.mark.usefixtures("asked_once")

DYING = """
import os, signal, sys
import unswayed
from unswayed.storage import answer_rows
answer_rows._MAX_BUFFER_ANSWERS = 300  # so that some answers are in SQLite's hands, some not yet
calls = 0
def predict(batch):
    global calls
    calls += 1
    if calls == int(sys.argv[1]):
        os.kill(os.getpid(), signal.SIGKILL)
    return [item["text"].upper() for item in batch]
predict.unswayed_identity = "upper"
unswayed.run_system("suite", predict, "run", plan={"run": {"asking": {"canary": 0}}})
"""


def test_a_run_killed_in_the_midst_of_a_block_goes_on(tmp_path: Path) -> None:
    examples = [Example(i, str(i), {"text": f"text {i}"}, None) for i in range(3000)]
    suite = write_suite(tmp_path / "suite", Manifest(task="text", language="en"), lambda: examples, list)
    for call in (1, 12, 30):
        died = subprocess.run([sys.executable, "-c", DYING, str(call)], cwd=tmp_path)
        assert died.returncode == -signal.SIGKILL
    asked: list[str] = []

    def predict(batch: list[dict[str, str]]) -> list[str]:
        asked.extend(item["text"] for item in batch)
        return [item["text"].upper() for item in batch]

    predict.unswayed_identity = "upper"  # type: ignore[attr-defined]
    run = unswayed.run_system(suite, predict, tmp_path / "run", plan={"run": {"asking": unswayed.Asking(canary=0)}})
    assert run.session is not None
    assert run.session.asked == len(asked) == len(set(asked)) == 3000 - run.session.reused
    assert [clean.value for _, clean, _ in run.items()] == [f"TEXT {i}" for i in range(3000)]


@pytest.mark.slow
def test_kills_lose_nothing_and_ask_nothing_twice(tmp_path: Path) -> None:
    facts = killed_runs(tmp_path, kills=20)
    assert facts.at_work >= 10, "the kills came while it was at work"
    assert facts.stored_and_asked_again == 0
    assert facts.equal
