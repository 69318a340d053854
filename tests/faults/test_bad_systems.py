"""Functions under test that do what they should not: the results are whole, or the command says that they are not."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import commands
import pytest

from .conftest import COMMAND

# Each answers "a" to everything after its mischief; those of LOSES leave one item of twenty without an answer.
MODULE = """
import itertools, os, signal, sys, threading, time

import numpy as np

kept, forked = [], []


def _a(batch):
    return ["a"] * len(batch)


def _odd(inputs, value):
    return value if inputs["text"] == "number 3" else "a"


def leaks(batch):
    kept.append(bytearray(20_000_000))
    return _a(batch)


def forks(batch):
    if os.fork() == 0:
        os._exit(0)
    os.wait()
    return _a(batch)


def forks_and_comes_back(batch):
    if not forked:
        forked.append(True)
        os.fork()
    return _a(batch)


def prints(batch):
    print("garbage", "{" * 1000)
    sys.stdout.buffer.write(b"\\xff}")
    os.write(1, b"\\xff\\xfe\\x00{")
    os.write(2, b"\\xff\\x1b[2J")
    return _a(batch)


def closes_its_output(batch):
    for close in (sys.stdout.close, lambda: os.close(1)):
        try:
            close()
        except (OSError, ValueError):
            pass
    return _a(batch)


def takes_the_output_away(batch):
    sys.stdout = sys.stderr = None
    return _a(batch)


def goes_elsewhere(batch):
    os.chdir("/")
    os.environ.clear()
    return _a(batch)


def ignores_signals(batch):
    for number in (signal.SIGINT, signal.SIGTERM):
        try:
            signal.signal(number, signal.SIG_IGN)
        except ValueError:
            pass  # not in the main thread
    return _a(batch)


def leaves_threads(batch):
    threading.Thread(target=time.sleep, args=(3600,)).start()
    return _a(batch)


def returns_100_megabytes(batch):
    return [_odd(inputs, "x" * 100_000_000) for inputs in batch]


def returns_a_generator(batch):
    yield from _a(batch)


def returns_an_array(batch):
    return np.array(_a(batch))


class Text(str):
    def __eq__(self, other):
        raise RuntimeError

    __hash__ = str.__hash__


def returns_odd_texts(batch):
    return [Text("a") for _ in batch]


def returns_nan(batch):
    return [_odd(inputs, float("nan")) for inputs in batch]


def returns_infinity(batch):
    return [_odd(inputs, np.float32("inf")) for inputs in batch]


def returns_half_a_character(batch):
    return [_odd(inputs, "\\ud800") for inputs in batch]


def returns_depths(batch):
    nest = "a"
    for _ in range(100_000):
        nest = [nest]
    return [_odd(inputs, nest) for inputs in batch]


def returns_itself(batch):
    loop = {}
    loop["loop"] = loop
    return [_odd(inputs, loop) for inputs in batch]


def exits(batch):
    if any(inputs["text"] == "number 3" for inputs in batch):
        sys.exit(0)
    return _a(batch)


class Strange(BaseException):
    def __str__(self):
        raise RuntimeError


def raises_what_can_not_be_shown(batch):
    if any(inputs["text"] == "number 3" for inputs in batch):
        raise Strange
    return _a(batch)


def never_ends(batch):
    return itertools.repeat("a")


def returns_a_dict(batch):
    return {"a": 1}


def vanishes(batch):
    if any(inputs["text"] == "number 13" for inputs in batch):
        os._exit(7)
    with open("asked.log", "a") as log:
        log.writelines(inputs["text"] + "\\n" for inputs in batch)
    time.sleep(0.5)  # longer than answers wait to be written together
    return _a(batch)


def hangs(batch):
    open("asked", "w").close()
    time.sleep(3600)


def interrupts(batch):
    raise KeyboardInterrupt
"""
WHOLE = [
    *("leaks", "forks", "forks_and_comes_back", "prints", "closes_its_output", "takes_the_output_away"),
    *("goes_elsewhere", "ignores_signals", "leaves_threads", "returns_a_generator", "returns_an_array"),
    "returns_odd_texts",
]
LOSES = [
    *("returns_nan", "returns_infinity", "returns_half_a_character", "returns_depths", "returns_itself", "exits"),
    "raises_what_can_not_be_shown",
]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("systems")
    (folder / "bad.py").write_text(MODULE)
    (folder / "mine.jsonl").write_text("".join(f'{{"text": "number {i}", "label": "a"}}\n' for i in range(20)))
    command = "vary mine.jsonl --lang en --with keyboard/adjacent --seed 7 -o suite"
    commands.unswayed(*command.split(), cwd=folder, check=True)
    return folder


ASKING = "run suite --system bad:{0} --format json --bootstrap 100 -o {0}"


def started(place: Path, name: str, *more: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [*COMMAND, *ASKING.format(name).split(), *more],
        cwd=place,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # a shell's background would ignore it
    )


def asked(place: Path, name: str, *more: str) -> tuple[int, str, str]:
    done = commands.unswayed(*ASKING.format(name).split(), *more, cwd=place)
    assert "Traceback" not in done.stderr
    return done.returncode, done.stdout, done.stderr


def clean(out: str) -> dict[str, Any]:
    return dict(json.loads(out)["clean"])


@pytest.mark.parametrize("name", WHOLE)
def test_results_are_whole_whatever_else_it_does(place: Path, name: str) -> None:
    code, out, told = asked(place, name)
    assert code == 0, told
    assert (clean(out)["value"], clean(out)["n"], clean(out)["missing"]) == (1.0, 20, 0)


@pytest.mark.parametrize("name", LOSES)
def test_an_item_without_an_answer_is_missing_and_no_other(place: Path, name: str) -> None:
    code, out, told = asked(place, name)
    assert code == 3, told
    assert (clean(out)["value"], clean(out)["n"], clean(out)["missing"]) == (1.0, 19, 1)
    assert "1 of 40 items failed" in told


@pytest.mark.parametrize(
    ("name", "says"), [("never_ends", "more than 1 output for 1 input"), ("returns_a_dict", "dict")]
)
def test_a_broken_contract_stops_the_run_with_the_reason(place: Path, name: str, says: str) -> None:
    code, out, told = asked(place, name)
    assert (code, out) == (3, "")
    assert f"bad:{name} returned {says}" in told


@pytest.mark.slow
def test_an_answer_of_100_megabytes(place: Path) -> None:
    code, out, told = asked(place, "returns_100_megabytes")
    assert code == 0, told
    assert (clean(out)["value"], clean(out)["n"], clean(out)["missing"]) == (0.95, 20, 0)
    assert len(told) < 10_000
    report = "report returns_100_megabytes -o report.html --bootstrap 100"
    commands.unswayed(*report.split(), cwd=place, check=True)
    assert (place / "report.html").stat().st_size < 1_000_000


@pytest.mark.slow
def test_a_system_that_ends_the_process_loses_no_stored_answer_and_is_no_result(place: Path) -> None:
    """Nobody can hold a process that ends itself; workers can be seen to be gone."""
    alone = ("--batch-size", "5", "--canary", "0", "--concurrency", "1")  # else all calls under way are lost
    for _ in range(2):
        code, out, _ = asked(place, "vanishes", *alone)
        assert (code, out) == (7, "")
    lines = (place / "asked.log").read_text().splitlines()
    twice = len(lines) - len(set(lines))  # 20 clean inputs are; and the last batch, which was not yet written
    assert twice <= 25
    code, out, told = asked(place, "vanishes", "--batch-size", "5", "--workers", "2")
    assert code == 3, told
    assert clean(out)["missing"] == 1


def test_a_system_that_hangs_is_left_by_control_c(place: Path) -> None:
    child = started(place, "hangs")
    while not (place / "asked").exists():
        assert child.poll() is None
        time.sleep(0.05)
    child.send_signal(signal.SIGINT)
    _, told = child.communicate(timeout=60)
    assert child.returncode == 2, told
    assert b"rerun to resume" in told


def test_a_program_that_hangs_is_left_by_its_timeout(place: Path) -> None:
    (place / "hang.py").write_text("import time\ntime.sleep(3600)\n")
    command = [
        "run",
        "suite",
        "--system",
        "cmd:hang",
        "-o",
        "cmd",
        "--option",
        "timeout=0.1",
        "--option",
        "start_timeout=0.1",
    ]
    command[3] = "cmd:python3 hang.py"
    done = commands.unswayed(*command, cwd=place)
    assert done.returncode == 3
    assert "before its first answer" in done.stderr


def test_an_interrupt_from_within_is_an_interrupt(place: Path) -> None:
    code, out, told = asked(place, "interrupts")
    assert (code, out) == (2, "")
    assert "Stopped" in told


def test_a_module_that_exits_when_it_is_imported(place: Path) -> None:
    (place / "leaves.py").write_text("import sys\nsys.exit(0)\n")
    command = ["run", "suite", "--system", "leaves:predict", "-o", "leaves"]
    done = commands.unswayed(*command, cwd=place)
    assert done.returncode == 4
    assert "leaves:predict can't be imported" in done.stderr
    assert "SystemExit: 0" in done.stderr


def test_nobody_is_left_behind(place: Path) -> None:
    """No process of these tests is still there: what forked, hung or left threads was ended with its command."""
    left = []
    for entry in Path("/proc").glob("[0-9]*/cwd"):
        try:
            if os.readlink(entry) == str(place):
                left.append((entry.parent / "cmdline").read_bytes())
        except OSError:
            continue
    assert left == []
