"""kill -9 at random moments, again and again: is anything lost, and is anything that was stored asked again?"""

from __future__ import annotations

import json
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from benchmarks._measure import Row, show

SYSTEM = """
import time
def predict(batch):
    time.sleep(0.004)
    with open("asked.log", "a") as log:
        log.write("".join(item["text"] + "\\n" for item in batch))
    return [str(len(item["text"])) for item in batch]
"""
READ = """
import json, sys
from unswayed.run.record import Run
print(json.dumps([[e.inputs["text"], c.value, [[v.inputs["text"], o.value] for v, o in vs]]
                  for e, c, vs in Run(sys.argv[1]).items()]))
"""


class Facts(NamedTuple):
    """What the kills did."""

    kills: int
    at_work: int  # kills that came while the run was asking
    stored_and_asked_again: int
    asked: int
    equal: bool  # the outputs in the end are those of a run that was left alone


def killed_runs(folder: Path, kills: int = 20, requests: int = 3000, seed: int = 20) -> Facts:
    """Starts a run, kills it at a random moment, `kills` times; then lets it finish and compares."""
    (folder / "counting.py").write_text(SYSTEM)
    lines = [f'{{"text": "request number {i}", "label": "{len(str(i))}"}}\n' for i in range(requests)]
    (folder / "mine.jsonl").write_text("".join(lines))
    _unswayed(folder, "vary", "mine.jsonl", "--with", "keyboard/adjacent", "-o", "suite")
    run = ("run", "suite", "--system", "counting:predict", "--bootstrap", "10", "--batch-size", "8", "--no-sanity")
    run += ("--canary", "0", "-o")  # or else a few stored answers are asked again to check them
    _unswayed(folder, *run, "whole")
    log = folder / "asked.log"
    log.write_text("")
    at_work, again = 0, 0
    kept: list[tuple[int, set[str]]] = []  # (requests asked so far, texts stored) after each kill
    for moment in random.Random(seed).choices(range(150), k=kills):
        before = len(log.read_text().splitlines())
        _kill_after(folder, [*run, "killed"], log, moment / 1000)
        asked = len(log.read_text().splitlines())
        at_work += asked > before
        kept.append((asked, _stored(folder)))
    _unswayed(folder, *run, "killed")
    asked_texts = log.read_text().splitlines()
    for asked, stored in kept:
        again += len(stored & set(asked_texts[asked:]))
    return Facts(kills, at_work, again, len(asked_texts), _read(folder, "whole") == _read(folder, "killed"))


def _kill_after(folder: Path, run: list[str], log: Path, seconds: float) -> None:
    """Starts a run, and kills it so many seconds after it asked for the first time."""
    size = log.stat().st_size
    process = subprocess.Popen(_command(*run), cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while process.poll() is None and log.stat().st_size == size:
        time.sleep(0.01)
    time.sleep(seconds)
    process.send_signal(signal.SIGKILL)
    process.wait()


def _stored(folder: Path) -> set[str]:
    pairs = [pair for text, value, variants in _read(folder, "killed") for pair in ([text, value], *variants)]
    return {text for text, value in pairs if value is not None}


def _read(folder: Path, name: str) -> list[list[object]]:
    done = subprocess.run([sys.executable, "-c", READ, name], cwd=folder, capture_output=True, check=True)
    found: list[list[object]] = json.loads(done.stdout)
    return found


def _command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "unswayed", *arguments]


def _unswayed(folder: Path, *arguments: str) -> None:
    subprocess.run(_command(*arguments), cwd=folder, check=True, capture_output=True)


def rows() -> Iterator[Row]:
    with tempfile.TemporaryDirectory() as place:
        facts = killed_runs(Path(place))
    note = f"{facts.at_work} while at work; outputs {'equal' if facts.equal else 'NOT equal'} to a run left alone"
    what = f"kill -9 at {facts.kills} random moments: stored items asked again"
    yield Row("asked again", what, facts.stored_and_asked_again, "items", more=False, asked=0, note=note)


def main() -> None:
    show("resume", rows())


if __name__ == "__main__":
    main()
