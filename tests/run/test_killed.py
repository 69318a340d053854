"""kill -9 at random moments: the outputs in the end are those of a run that was left alone, and none is asked twice."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

SYSTEM = """
import os, time
def predict(batch):
    time.sleep(0.004)
    with open("asked.log", "a") as log:
        log.write("".join(item["text"] + "\\n" for item in batch))
    return [str(len(item["text"])) for item in batch]
"""
READ = """
import json, sys
from unfazed.run.record import Run
print(json.dumps([[e.id, c.value, [o.value for _, o in vs]] for e, c, vs in Run(sys.argv[1]).items()]))
"""
TIMES = 20


def unfazed(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "unfazed", *arguments]


@pytest.mark.slow
def test_twenty_kills_lose_nothing_and_ask_nothing_twice(tmp_path: Path) -> None:
    (tmp_path / "counting.py").write_text(SYSTEM)
    lines = [f'{{"text": "request number {i}", "label": "{len(str(i))}"}}\n' for i in range(3000)]
    (tmp_path / "mine.jsonl").write_text("".join(lines))
    vary = unfazed("vary", "mine.jsonl", "--with", "keyboard/adjacent", "-o", "suite")
    subprocess.run(vary, cwd=tmp_path, check=True, capture_output=True)
    run = unfazed("run", "suite", "--system", "counting:predict", "--bootstrap", "10", "--batch-size", "8", "-o")
    subprocess.run([*run, "whole"], cwd=tmp_path, check=True, capture_output=True)
    whole = Counter((tmp_path / "asked.log").read_text().splitlines())
    (tmp_path / "asked.log").unlink()

    moments = random.Random(20).sample(range(150), TIMES)  # in hundredths of a second after it began to ask
    stored_at_kill: list[set[str]] = []
    for moment in moments:
        before = (tmp_path / "asked.log").stat().st_size if (tmp_path / "asked.log").exists() else 0
        process = subprocess.Popen([*run, "killed"], cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while process.poll() is None:
            log = tmp_path / "asked.log"
            if log.exists() and log.stat().st_size > before:
                time.sleep(moment / 1000)
                break
            time.sleep(0.01)
        process.send_signal(signal.SIGKILL)
        process.wait()
        stored_at_kill.append(stored(tmp_path))
        asked_so_far = (tmp_path / "asked.log").read_text().splitlines()
        (tmp_path / f"asked-{len(stored_at_kill)}.log").write_text("\n".join(asked_so_far))
    subprocess.run([*run, "killed"], cwd=tmp_path, check=True, capture_output=True)

    asked = (tmp_path / "asked.log").read_text().splitlines()
    for number, kept in enumerate(stored_at_kill, 1):
        already = len((tmp_path / f"asked-{number}.log").read_text().splitlines())
        assert not kept & set(asked[already:]), "a stored item was asked again"
    assert set(asked) == set(whole)
    assert stored_at_kill[-1] > stored_at_kill[0], "the kills came while it was at work"
    shown = [
        subprocess.run([sys.executable, "-c", READ, name], cwd=tmp_path, check=True, capture_output=True).stdout
        for name in ("whole", "killed")
    ]
    assert shown[0] == shown[1]


def stored(folder: Path) -> set[str]:
    """The texts whose outputs are in the store."""
    script = (
        "import sys\nfrom unfazed.run.record import Run\n"
        "for e, c, vs in Run('killed').items():\n"
        "    for inputs, o in [(e.inputs, c), *((v.inputs, o) for v, o in vs)]:\n"
        "        if o.ok: print(inputs['text'])\n"
    )
    done = subprocess.run([sys.executable, "-c", script], cwd=folder, capture_output=True, text=True)
    return set(done.stdout.splitlines())
