"""kill -9 at every file operation, and at random moments: what was there stays whole, or what is new is whole."""

from __future__ import annotations

import json
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import commands
import pytest

from .conftest import COMMAND, Unswayed
from .test_faults import RUN, VARY, content, made
from .valid import SQUAD

MENDER = """
def mend(batch):
    return [inputs["text"].upper() for inputs in batch]
"""
STUDY = """title = "t"
kind = "retype"
contact = "me@example.org"
consent = "yes"
[items]
path = "items.jsonl"
"""
SLU = "".join(
    f'{{"text": "to oslo at {i} please", "intent": "go", "slots": ["O", "B-city", "O", "B-time", "O"]}}\n'
    for i in range(60)
)

# Name → the commands that come before, the one that is killed, and the files or folders that it makes.
Case = tuple[list[str], str, list[str]]
CASES: dict[str, Case] = {
    "vary": (
        ["vary mine.jsonl --with keyboard/adjacent --seed 1 -o made"],
        "vary mine.jsonl --with keyboard/adjacent --seed 2 -o made --overwrite",
        ["made"],
    ),
    "suite export": (["suite export suite -o made.jsonl"], "suite export other -o made.jsonl", ["made.jsonl"]),
    "suite import": (
        ["suite export suite -o s.jsonl", "suite import s.jsonl -o made", "suite export other -o s.jsonl"],
        "suite import s.jsonl -o made --overwrite",
        ["made"],
    ),
    "report": (
        ["report run -o made.html --no-sanity --level 0.8"],
        "report run -o made.html --no-sanity --level 0.9",
        ["made.html", "made.flips.jsonl"],
    ),
    "augment": (
        ["augment mine.jsonl --with keyboard/adjacent --seed 1 -o made.jsonl"],
        "augment mine.jsonl --with keyboard/adjacent --seed 2 -o made.jsonl",
        ["made.jsonl"],
    ),
    "correct": (
        ["correct noisy.txt --with mender:mend -o made.txt", "suite show suite"],
        "correct other.txt --with mender:mend -o made.txt",
        ["made.txt"],
    ),
    "survey": (
        ["survey export slu -o made.jsonl --per-operator 2 --controls 2 --seed 1"],
        "survey export slu -o made.jsonl --per-operator 2 --controls 2 --seed 2",
        ["made.jsonl", "made.key.jsonl"],
    ),
    "train": (
        ["train reader squad.json -o made --seed 1"],
        "train reader squad.json -o made --seed 2 --overwrite",
        ["made"],
    ),
    "collect export": (
        ["collect new study.toml", "collect export study.toml -o made.jsonl"],
        "collect export study.toml -o made.jsonl",
        ["made.jsonl"],
    ),
    "collect export, Parquet": (
        ["collect new study.toml"],
        "collect export study.toml -o made.parquet",
        ["made.parquet"],
    ),
    "collect backup": (["collect new study.toml"], "collect backup study.toml -o made.sqlite", ["made.sqlite"]),
}


@pytest.fixture(scope="module")
def start(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two suites, a run, a study and texts."""
    folder = tmp_path_factory.mktemp("start")
    rows = "".join(f'{{"text": "number {i} {"and more " * (i % 7)}", "label": "{"ab"[i % 2]}"}}\n' for i in range(40))
    files = {"mine.jsonl": rows, "slu.jsonl": SLU, "noisy.txt": "a\nb\n", "other.txt": "c\n", "study.toml": STUDY}
    files |= {"mender.py": MENDER, "items.jsonl": '{"id": "1", "text": "one"}\n{"id": "2", "text": "two"}\n'}
    files["my_module.py"] = 'def predict(batch):\n    return ["ab"[len(i["text"]) % 2] for i in batch]\n'
    for name, text in files.items():
        (folder / name).write_text(text)
    (folder / "squad.json").write_bytes(SQUAD)
    for command in (
        "vary mine.jsonl --with keyboard/adjacent -o suite",
        "vary mine.jsonl --with keyboard/adjacent --seed 9 -o other",
        "vary slu.jsonl --lang en --with spoken/filler_end -o slu",
        "run suite --system my_module:predict --no-sanity -o run",
    ):
        commands.unswayed(*command.split(), cwd=folder, check=True)
    return folder


def steps(folder: Path, command: str) -> dict[str, Any]:
    script = Path(__file__).with_name("kill_steps.py")
    done = subprocess.run(
        [sys.executable, "-B", script, folder, *command.split()], capture_output=True, text=True, timeout=280
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return dict(json.loads(done.stdout))


def of(held: dict[str, str], name: str) -> dict[str, str]:
    """The files of what is at that path: itself, or what is in it."""
    return {path: content for path, content in held.items() if path == name or path.startswith(f"{name}/")}


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_killed_at_every_file_operation(start: Path, tmp_path: Path, name: str) -> None:
    before, command, makes = CASES[name]
    folder = tmp_path / "work"
    shutil.copytree(start, folder)
    for earlier in before:
        commands.unswayed(*earlier.split(), cwd=folder, check=True)
    found = steps(folder, command)
    assert found["code"] == 0
    assert len(found["kills"]) >= 2
    for kill in found["kills"]:
        for made_ in makes:
            whole = of(found["start"], made_), of(found["end"], made_)
            assert of(kill["then"], made_) in whole, "half of it was there"
        assert kill["again"] == 0 or "backup" in name, "the same command did not work after the kill"
        left = [path for path in kill["after"] if ".partial-" in path]
        assert not left, "what was killed was not cleared away"
        if "collect" not in name and kill["again"] == 0:
            assert kill["after"] == found["end"]


@pytest.mark.slow
def test_killed_at_random_moments_of_a_report(place: Path, unswayed: Unswayed) -> None:
    """The old report is there or the new one, and never half of one."""
    made(unswayed)
    assert unswayed("run", "suite", *RUN, "-o", "run").returncode == 0
    report = [*COMMAND, "report", "run", "-o", "report.html", "--level"]
    versions = set()
    for level in ("0.8", "0.9"):
        began = time.monotonic()
        subprocess.run([*report, level], cwd=place, check=True, capture_output=True)
        usual = time.monotonic() - began
        versions.add((place / "report.html").read_bytes())
    flips = (place / "report.flips.jsonl").read_bytes()
    assert len(versions) == 2
    moments = random.Random(2)
    for attempt in range(6):
        child = subprocess.Popen([*report, ("0.8", "0.9")[attempt % 2]], cwd=place, stderr=subprocess.DEVNULL)
        time.sleep(moments.uniform(0.3, 1.0) * usual)
        child.send_signal(signal.SIGKILL)
        child.wait()
        assert (place / "report.html").read_bytes() in versions
        assert (place / "report.flips.jsonl").read_bytes() == flips


@pytest.mark.slow
def test_kill_9_at_random_moments_of_varying_over_another_suite(place: Path, unswayed: Unswayed) -> None:
    versions = []
    for seed in ("7", "8"):
        began = time.monotonic()
        assert unswayed(*VARY[:-1], seed, "-o", "suite", "--overwrite").returncode == 0
        usual = time.monotonic() - began
        versions.append(content(place / "suite"))
    moments = random.Random(3)
    for attempt in range(4):
        command = [*COMMAND, *VARY[:-1], "78"[attempt % 2], "-o", "suite", "--overwrite"]
        child = subprocess.Popen(command, cwd=place, stderr=subprocess.DEVNULL)
        time.sleep(moments.uniform(0.4, 1.0) * usual)
        child.send_signal(signal.SIGKILL)
        child.wait()
        assert content(place / "suite") in versions
