"""Runs on a server, in a process of its own, that fails in ten ways: nothing is lost, nothing asked again."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from benchmarks._http_server import KINDS, Server, says, trouble_of
from unswayed.base.values import Example
from unswayed.run.engine import run_system
from unswayed.run.order import ASKED_TWICE, Order
from unswayed.run.record import Run
from unswayed.storage.suite import Manifest, Suite, write_suite
from unswayed.systems.asking import Asking
from unswayed.systems.opening import open_system
from unswayed.systems.template import PROMPTS, Template

LABELS = {"yes": "entailed", "no": "not_entailed"}
SECRET = "sk-open-sesame-1001"


def pairs(folder: Path, n: int) -> Suite:
    examples = [
        Example(i, f"e{i}", {"premise": f"text {i}", "hypothesis": "it is so"}, list(LABELS.values())[i % 2])
        for i in range(n)
    ]
    return write_suite(folder, Manifest(task="classify", language="en"), lambda: examples, list)


def prompts(suite: Suite) -> Iterator[str]:
    template = Template.read("nli.txt", PROMPTS)
    return (template.fill(example.inputs) for example in suite.examples())


def due(suite: Suite) -> dict[str, int]:
    """How often each prompt is to be answered: once, but the first in the order twice."""
    twice = set(Order(suite, ASKED_TWICE).places.tolist())
    return {prompt: 1 + (place in twice) for place, prompt in enumerate(prompts(suite))}


def right(run: Run) -> bool:
    """Does every request have the answer that the server gives to it?"""
    asked = prompts(run.suite)
    return all(output.value == LABELS[says(prompt)] for prompt, (_, output, _) in zip(asked, run.items(), strict=True))


# The server can't tell a text's second asking, which may be on its way by then, from one that is too early.
@pytest.mark.slow
@pytest.mark.usefixtures("asked_once")
def test_ten_thousand_requests(tmp_path: Path) -> None:
    suite = pairs(tmp_path / "suite", 10_000)
    troubled = [kind for prompt in prompts(suite) if (kind := trouble_of(prompt, 10))]
    assert set(troubled) == set(KINDS)
    assert len(troubled) > 800
    with Server(trouble=10) as server:
        system = open_system(f"{server.url}/v1", model="m", prompt="nli.txt", read_timeout=6, backoff=0.02)
        try:
            run = run_system(suite, system, tmp_path / "run", plan={"run": {"asking": Asking(concurrency=32)}})
        finally:
            system.close()
        counts = server.counts()
    assert right(run)
    assert set(counts["answered"].values()) == {1}, "asked twice after success"
    assert len(counts["answered"]) == 10_000
    assert counts["too_early"] == 0, "asked again before the time that Retry-After gave"
    used = run.used()
    assert used["requests"] == sum(counts["asked"].values()) == 10_000 + used["retries"]
    assert used["tokens out"] == 10_000


def start(folder: Path, url: str) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "unswayed", "run", "suite/", "--system", f"{url}/v1", "--model", "m"]
    command += ["--prompt", "nli.txt", "-o", "run/", "--concurrency", "32", "--format", "json", "--canary", "0"]
    command += ["--no-sanity"]  # the server says yes to all
    environment = {**os.environ, "OPENAI_API_KEY": SECRET}
    return subprocess.Popen(
        command, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, preexec_fn=_hear_control_c
    )


def _hear_control_c() -> None:
    """What a shell starts in the background ignores the signal, and its children would too."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def settled(server: Server) -> dict[str, int]:
    """What was answered, once that is all that was heard: what was under way at the kill is answered to nobody."""
    while True:
        time.sleep(0.2)
        counts = server.counts()
        if counts["heard"] == sum(counts["answered"].values()):
            return dict(counts["answered"])


def kept_in(run: Path, suite: Suite) -> set[str]:
    """The prompts whose answers are stored; none before the run has begun."""
    if not (run / "run.json").exists():
        return set()
    stored = [output.ok for _, output, _ in Run(run).items()]
    return {prompt for prompt, ok in zip(prompts(suite), stored, strict=True) if ok}


@pytest.mark.slow
def test_the_command_as_written_killed_and_given_again(tmp_path: Path) -> None:
    suite = pairs(tmp_path / "suite", 3000)
    (tmp_path / "nli.txt").write_text((PROMPTS / "nli.txt").read_text())
    with Server(delay=0.02) as server:
        process = start(tmp_path, server.url)
        while len(kept_in(tmp_path / "run", suite)) < 500:  # not what was answered: a second of that may be lost
            assert process.poll() is None
            time.sleep(0.2)
        process.kill()
        _, told = process.communicate()
        assert process.returncode == -signal.SIGKILL
        before = settled(server)
        kept = kept_in(tmp_path / "run", suite)
        assert 500 <= len(kept) < 3000
        process = start(tmp_path, server.url)
        printed, more = process.communicate(timeout=120)
        assert process.returncode == 0, more.decode()
        counts = server.counts()["answered"]
    assert right(Run(tmp_path / "run"))
    assert len(counts) == 3000
    wanted = due(suite)
    assert all(counts[prompt] == wanted[prompt] for prompt in kept), "asked again what was stored"
    assert all(counts[prompt] == wanted[prompt] for prompt in counts if prompt not in before)
    files = [file for file in tmp_path.rglob("*") if file.is_file()]
    assert any(file.name == "outputs.sqlite" for file in files)
    assert not [file for file in files if SECRET.encode() in file.read_bytes()]
    assert SECRET.encode() not in told + more + printed


@pytest.mark.slow
def test_control_c_ends_a_run_on_a_server_that_hangs(tmp_path: Path) -> None:
    pairs(tmp_path / "suite", 100)
    with Server(delay=60) as server:
        process = start(tmp_path, server.url)
        while server.counts()["heard"] < 32:
            assert process.poll() is None
            time.sleep(0.05)
        began = time.monotonic()
        process.send_signal(signal.SIGINT)
        _, told = process.communicate(timeout=30)
    assert process.returncode == 2, told.decode()
    assert b"rerun to resume" in told
    assert time.monotonic() - began < 25, "it did not wait for the server"
    assert json.loads((tmp_path / "run/run.json").read_text())["system"] == f"{server.url}/v1#m"
