"""SIGTERM ends every command within seconds: what there is stays, whatever the system or a client does meanwhile."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from unswayed.storage.answers import AnswerStore

from .conftest import COMMAND, collecting

SLEEPS = """
import pathlib, time
def predict(batch):
    asked = pathlib.Path({flag!r})
    if asked.exists():
        asked.with_name("asked twice").touch()
        time.sleep(600)
    asked.touch()
    return ["a"] * len(batch)
"""
SWALLOWS = """
import pathlib, time
def predict(batch):
    pathlib.Path({flag!r}).with_name("asked twice").touch()
    while True:
        try:
            time.sleep(600)
        except BaseException:
            pass
"""


def stopped(command: list[str], place: Path, flag: Path, grace: float = 10.0) -> tuple[int, str]:
    """Ends a command once it has made a file; its exit code and what it said."""
    start = [sys.executable, "-c", f"import unswayed.cli as c; c._GRACE = {grace}; c.main()", *command]
    with subprocess.Popen(start, cwd=place, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as child:
        until = time.monotonic() + 100
        while not flag.exists() and child.poll() is None:
            assert time.monotonic() < until, "the command did not begin"
            time.sleep(0.02)
        child.send_signal(signal.SIGTERM)
        _, said = child.communicate(timeout=60)
    return child.returncode, said


def make_place(folder: Path, system: str) -> None:
    rows = "".join(json.dumps({"text": f"turn off the lights number {i}", "label": "a"}) + "\n" for i in range(40))
    (folder / "mine.jsonl").write_text(rows)
    (folder / "my_module.py").write_text(system.format(flag=str(folder / "asked")))
    vary = "vary mine.jsonl --with keyboard/adjacent --seed 7 -o suite"
    subprocess.run([*COMMAND, *vary.split()], cwd=folder, check=True, capture_output=True)


@pytest.mark.parametrize("workers", ["1", "2"])
def test_a_run_keeps_its_outputs(tmp_path: Path, workers: str) -> None:
    make_place(tmp_path, SLEEPS)
    run = f"run suite --system my_module:predict -o run --batch-size 4 --workers {workers}"
    code, said = stopped(run.split(), tmp_path, tmp_path / "asked twice")
    assert code == 2, said
    assert "Traceback" not in said
    assert "kept in run" in said
    with AnswerStore.reader(tmp_path / "run") as store:
        assert store.size >= 4 or workers == "2"  # of two, one may still be at its first batch


def test_a_system_that_swallows_it_is_left(tmp_path: Path) -> None:
    make_place(tmp_path, SWALLOWS)
    run = "run suite --system my_module:predict -o run"
    code, said = stopped(run.split(), tmp_path, tmp_path / "asked twice", grace=0.5)
    assert code == 2, said


def test_making_a_suite_from_parquet_leaves_nothing(tmp_path: Path) -> None:
    texts = [f"turn off the lights number {i}" for i in range(100_000)]
    pq.write_table(pa.table({"text": texts, "label": ["a"] * len(texts)}), tmp_path / "mine.parquet")
    out = tmp_path / "out"
    vary = f"vary mine.parquet --with keyboard/adjacent --draws 20 -o {out}/suite"
    code, said = stopped(vary.split(), tmp_path, out)
    assert code == 2, said
    assert "Traceback" not in said
    assert not list(out.rglob("*.parquet"))


def test_a_served_study_ends_under_a_slow_client(tmp_path: Path) -> None:
    study = collecting.write_study(tmp_path, "retype", [{"id": "1", "text": "hello"}])
    subprocess.run([*COMMAND, "collect", "new", study], capture_output=True, cwd=tmp_path)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    serve = [*COMMAND, "collect", "serve", str(study), "--port", str(port)]
    with subprocess.Popen(serve, cwd=tmp_path, stderr=subprocess.PIPE, text=True) as child:
        until = time.monotonic() + 60
        while True:
            try:
                client = socket.create_connection(("127.0.0.1", port))
                break
            except OSError:
                assert time.monotonic() < until
                assert child.poll() is None
                time.sleep(0.05)
        with client:
            client.sendall(b"POST /answer HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n{")
            time.sleep(0.2)
            child.send_signal(signal.SIGTERM)
            _, said = child.communicate(timeout=60)
    assert child.returncode in (0, 2), said
    assert "Traceback" not in said
