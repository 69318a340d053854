"""Harm done on purpose: kill -9, full disks, damaged files, clocks that jump, two at once."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import time
from pathlib import Path

import commands
import pytest

from unswayed.storage.suite import Suite

from .conftest import COMMAND, Unswayed, make_place

VARY = ["vary", "mine.jsonl", "--lang", "en", "--with", "keyboard/adjacent", "--draws", "3", "--seed", "7"]
RUN = ["--system", "my_module:predict", "--format", "json"]


def content(folder: Path) -> dict[str, bytes]:
    return {str(file.relative_to(folder)): file.read_bytes() for file in sorted(folder.rglob("*")) if file.is_file()}


def made(unswayed: Unswayed, to: str = "suite") -> None:
    done = unswayed(*VARY, "-o", to)
    assert done.returncode == 0, done.stderr


@pytest.mark.slow
def test_kill_9_while_varying_leaves_a_whole_suite_or_none(place: Path, unswayed: Unswayed) -> None:
    made(unswayed, "whole")
    began = time.monotonic()
    made(unswayed, "timed")
    usual = time.monotonic() - began
    moments = random.Random(0)
    for attempt in range(4):
        to = place / f"killed{attempt}"
        child = subprocess.Popen([*COMMAND, *VARY, "-o", str(to)], cwd=place, stderr=subprocess.DEVNULL)
        time.sleep(moments.uniform(0.5, 1.0) * usual)
        child.send_signal(signal.SIGKILL)
        child.wait()
        if (to / "manifest.json").exists():
            assert content(to) == content(place / "whole")
        done = unswayed(*VARY, "-o", to, "--overwrite")
        assert done.returncode == 0, done.stderr
        assert content(to) == content(place / "whole")


def test_a_full_disk_while_varying(place: Path, unswayed: Unswayed, small_disk) -> None:
    disk = small_disk("16k")
    done = unswayed(*VARY, "-o", disk / "suite")
    assert done.returncode not in (0, 1)
    assert "disk" in done.stderr
    assert "Traceback" not in done.stderr
    assert not (disk / "suite" / "manifest.json").exists()


def test_a_disk_that_fills_during_a_run_loses_no_answer(place: Path, unswayed: Unswayed, small_disk) -> None:
    made(unswayed)
    disk = small_disk("100k")
    done = unswayed("run", "suite", *RUN, "-o", disk / "run")
    assert done.returncode not in (0, 1)
    assert "Traceback" not in done.stderr
    small_disk("20m")
    again = unswayed("run", "suite", *RUN, "-o", disk / "run")
    assert again.returncode == 0, again.stderr
    expected = unswayed("run", "suite", *RUN, "-o", "elsewhere")
    assert numbers(again.stdout) == numbers(expected.stdout)


def numbers(text: str) -> object:
    results = json.loads(text)
    return {name: results[name]["value"] for name in ("clean", "average", "worst", "drop", "flips")}


def test_a_full_disk_while_reporting(place: Path, unswayed: Unswayed, small_disk) -> None:
    made(unswayed)
    assert unswayed("run", "suite", *RUN, "-o", "run").returncode == 0
    disk = small_disk("16k")
    done = unswayed("report", "run", "-o", disk / "report.html")
    assert done.returncode != 0
    assert "disk" in done.stderr or "space" in done.stderr
    assert not (disk / "report.html").exists()


def damage(file: Path, how: str) -> None:
    data = bytearray(file.read_bytes())
    if how == "cut":
        data = data[: len(data) // 2]
    elif how == "empty":
        data = bytearray()
    elif how == "flipped":
        for at in range(len(data) // 3, min(len(data), len(data) // 3 + 64)):
            data[at] ^= 0xFF
    else:
        data = bytearray(b"<html>502 Bad Gateway</html>")
    file.write_bytes(data)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A suite and a run on it, to be copied and damaged."""
    folder = tmp_path_factory.mktemp("whole")
    make_place(folder)
    for command in ([*VARY, "-o", "suite"], ["run", "suite", *RUN, "-o", "run"]):
        done = commands.unswayed(*command, cwd=folder, check=True)
    (folder / "results.json").write_text(done.stdout)
    return folder


@pytest.mark.parametrize("how", ["cut", "empty", "flipped", "replaced"])
@pytest.mark.parametrize("name", ["manifest.json", "examples.parquet", "variants.parquet"])
def test_a_damaged_suite_is_refused_by_name(place: Path, unswayed: Unswayed, whole: Path, name: str, how: str) -> None:
    shutil.copytree(whole / "suite", place / "suite")
    damage(place / "suite" / name, how)
    done = unswayed("run", "suite", *RUN, "-o", "run")
    assert done.returncode not in (0, 1)
    assert name in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("how", ["cut", "flipped", "replaced"])
@pytest.mark.parametrize("name", ["outputs.sqlite", "run.json"])
def test_a_damaged_run_is_refused_by_name_or_gives_the_same(
    place: Path, unswayed: Unswayed, whole: Path, name: str, how: str
) -> None:
    shutil.copytree(whole, place, dirs_exist_ok=True)
    damage(place / "run" / name, how)
    done = unswayed("measure", "run", "run", "--format", "json")
    assert "Traceback" not in done.stderr
    if done.returncode == 0:
        assert numbers(done.stdout) == numbers((place / "results.json").read_text())
    else:
        assert name in done.stderr


_JUMPS = """
import random, time
_real, _rng = time.time, random.Random(1)
time.time = lambda: _real() + _rng.choice([-1e6, -3600, 0, 3600, 1e6])
"""


def test_a_clock_that_jumps(place: Path, unswayed: Unswayed) -> None:
    (place / "jumps").mkdir()
    (place / "jumps" / "sitecustomize.py").write_text(_JUMPS)
    jumping = {"PYTHONPATH": str(place / "jumps")}
    made(unswayed)
    done = unswayed(*VARY, "-o", "jumped", env=jumping)
    assert done.returncode == 0, done.stderr
    assert content(place / "jumped") == content(place / "suite")
    run = unswayed("run", "suite", *RUN, "-o", "run", env=jumping)
    assert run.returncode == 0, run.stderr
    assert numbers(run.stdout) == numbers(unswayed("run", "suite", *RUN, "-o", "other").stdout)


def test_two_at_once_on_one_run(place: Path, unswayed: Unswayed) -> None:
    """One of them works, the other is told; together they ask nothing twice."""
    made(unswayed)
    command = [*COMMAND, "run", "suite", *RUN, "--canary", "0", "-o", "run"]
    both = [
        subprocess.Popen(command, cwd=place, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for _ in "ab"
    ]
    ended = [(child.communicate(timeout=120), child.returncode) for child in both]
    assert any(code == 0 for _, code in ended)
    for (_, error), code in ended:
        assert code == 0 or "another" in error.lower() or "at work" in error.lower(), error
        assert "Traceback" not in error
    asked = (place / "asked.log").read_text().splitlines()
    assert len(asked) == len(set(asked)) + 20, "the clean inputs that are asked twice"


def test_nothing_is_written_outside_the_output(place: Path, unswayed: Unswayed) -> None:
    """Ids and labels that look like paths stay what they are."""
    hostile = [
        {"id": "../../escape", "text": "one two three", "label": "../../etc/passwd"},
        {"id": "/tmp/unswayed-escape", "text": "=HYPERLINK(1) four five", "label": "<script>alert(1)</script>"},
    ]
    (place / "mine.jsonl").write_text("".join(json.dumps(row) + "\n" for row in hostile))
    before = set(os.listdir(place.parent))
    made(unswayed)
    assert unswayed("run", "suite", *RUN, "-o", "run").returncode == 0
    assert unswayed("report", "run", "-o", "report.html").returncode == 0
    assert set(os.listdir(place.parent)) == before
    assert not Path("/tmp/unswayed-escape").exists()
    assert "<script>alert" not in (place / "report.html").read_text()
    there = {file.name for file in place.iterdir()} - {"__pycache__"}
    assert there == {"asked.log", "mine.jsonl", "my_module.py", "report.flips.jsonl", "report.html", "report.view.html",
                     "run", "suite"}  # fmt: skip


def test_a_suite_that_vanishes_under_a_run(place: Path, unswayed: Unswayed) -> None:
    made(unswayed)
    assert unswayed("run", "suite", *RUN, "-o", "run").returncode == 0
    shutil.rmtree(place / "suite")
    done = unswayed("measure", "run", "run")
    assert done.returncode == 3
    assert "suite is not a suite" in done.stderr
    made(unswayed)
    assert Suite(place / "suite").id
    assert unswayed("measure", "run", "run").returncode == 0
