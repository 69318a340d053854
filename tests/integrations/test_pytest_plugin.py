"""The plug-in inside a real pytest run: a sturdy system passes, a fazed one fails with the reason."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

TESTS = """
from unswayed import Example
DATA = [{"text": f"turn {way} the lights in room {i}", "label": way} for i in range(10) for way in ("on", "off")]
def sturdy(batch): return ["off" if "off" in item["text"] or "o" not in item["text"] else "on" for item in batch]
def fragile(batch): return ["off" if item["text"].startswith("turn off") else "on" for item in batch]
def test_holds(unswayed):
    results = unswayed.check(fragile, DATA, ["spoken/filler_end"], draws=2, max_drop=0.1, max_flips=0.05)
    assert results.clean.value == 1.0
def test_is_fazed(unswayed):
    unswayed.check(fragile, DATA, ["spoken/filler_begin"], max_drop=0.1, fail_under={"worst": 0.9})
def test_examples_and_files_work_too(unswayed, tmp_path):
    (tmp_path / "d.jsonl").write_text('{"text": "turn off it", "label": "off"}\\n')
    unswayed.check(fragile, tmp_path / "d.jsonl", ["spoken/filler_end"])
    unswayed.check(fragile, [Example(0, "a", {"text": "turn off it"}, "off")], ["spoken/filler_end"])
"""


def test_the_fixture(tmp_path: Path) -> None:
    (tmp_path / "test_mine.py").write_text(TESTS)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert "2 passed" in done.stdout, done.stdout + done.stderr
    assert "1 failed" in done.stdout
    assert "test_is_fazed" in done.stdout
    assert "drop" in done.stdout
