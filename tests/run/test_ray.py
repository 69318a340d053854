"""On a Ray cluster of several nodes: the same bytes as in one process, whichever node or driver is killed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tests.run.every_step import every_step
from unswayed.base.errors import MissingExtra
from unswayed.base.options import OperatorSpec
from unswayed.measure.measuring import measure_run
from unswayed.run.engine import run_system
from unswayed.run.making import make_suite
from unswayed.run.order import ASKED_TWICE, Order
from unswayed.run.plan import Engine
from unswayed.run.record import Run
from unswayed.storage.suite import Suite

pytest.importorskip("ray", reason="the extra `ray` is not installed")

HERE = Path(__file__).parent
Make = Callable[..., Suite]
pytestmark = pytest.mark.slow


class Nodes:
    """A head without CPUs, and nodes of one CPU each that can be killed."""

    def __init__(self, folder: Path) -> None:
        self.env = {
            **os.environ,
            "RAY_AUTH_MODE": "token",
            "RAY_AUTH_TOKEN_PATH": str(folder / "token"),
            "RAY_USAGE_STATS_ENABLED": "0",
        }
        with (folder / "said.txt").open("w") as said:
            pipe = subprocess.PIPE
            self._process = subprocess.Popen(
                [sys.executable, HERE / "ray_cluster.py"], env=self.env, stdin=pipe, stdout=pipe, stderr=said, text=True
            )
        if not (line := self._line()):
            self.close()
            raise RuntimeError((folder / "said.txt").read_text())
        place = json.loads(line)
        self.address, self.client = f"ray:{place['address']}", place["client"]
        self.raylets: list[int] = []

    def _line(self) -> str:
        assert self._process.stdout is not None
        return self._process.stdout.readline()

    def want(self, count: int) -> None:
        assert self._process.stdin is not None
        while len(self.raylets) < count:
            print("add", file=self._process.stdin, flush=True)
            self.raylets.append(int(self._line()))

    def kill_node_of(self, pid: int) -> set[int]:
        """kill -9 of the raylet that has this worker, and of all that it started; returns their ids."""
        raylet = next(r for r in self.raylets if pid in children(r))
        killed = {raylet, *children(raylet)}
        for one in killed:
            os.kill(one, signal.SIGKILL)
        self.raylets.remove(raylet)
        return killed

    def close(self) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.wait(60)
        self._process.stdout.close()


def is_alive(pid: int) -> bool:
    """Does a process run? One that has ended may stay in the list until somebody asks for its code."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return False


def children(pid: int) -> set[int]:
    return {int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()}


@pytest.fixture(scope="module")
def nodes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Nodes]:
    cluster = Nodes(tmp_path_factory.mktemp("cluster"))
    yield cluster
    cluster.close()


def start(nodes: Nodes, *words: str) -> subprocess.Popen[bytes]:
    words = ("-c", "from unswayed.cli import main; main()", *words, "--workers", "2")
    return subprocess.Popen([sys.executable, *words], env=nodes.env, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)


def ended(driver: subprocess.Popen[bytes]) -> None:
    _, told = driver.communicate(timeout=200)
    assert driver.returncode == 0, told.decode()


def asked() -> list[tuple[int, str]]:
    file = Path("asked.log")
    lines = file.read_text().splitlines() if file.exists() else []
    return [(int(pid), text) for pid, _, text in (line.partition("\t") for line in lines)]


def two_at_work(driver: subprocess.Popen[bytes], count: int) -> list[int]:
    """Waits until so many texts were worked on, and by more than one process; returns the processes."""
    until = time.monotonic() + 120
    while driver.poll() is None and time.monotonic() < until:
        pids = list(dict.fromkeys(pid for pid, _ in asked()))
        if len(pids) > 1 and len(asked()) >= count:
            return pids
        time.sleep(0.02)
    raise AssertionError(f"the driver ended first: {driver.communicate()}")


def outputs(run: Run) -> list[Any]:
    return [
        o.value if o.ok else o.error for _, clean, varied in run.items() for o in (clean, *(out for _, out in varied))
    ]


def test_a_driver_that_is_stopped_or_killed_leaves_no_worker_and_the_run_goes_on_from_outside_the_cluster(
    nodes: Nodes, make: Make, at_work: Path
) -> None:
    suite = make(240, task="text")
    plain = outputs(run_system(suite, "at_work:shout", "plain"))
    nodes.want(2)
    words = ("run", "suite", "--system", "at_work:slow", "-o", "run", "--batch-size", "4", "--canary", "0", "--engine")
    for number, code in ((signal.SIGTERM, 2), (signal.SIGKILL, -9)):
        Path("asked.log").unlink()
        driver = start(nodes, *words, nodes.address)
        pids = two_at_work(driver, 40)
        driver.send_signal(number)
        driver.communicate(timeout=60)
        assert driver.returncode == code
        until = time.monotonic() + 60
        while any(Path(f"/proc/{pid}").exists() for pid in pids) and time.monotonic() < until:
            time.sleep(0.05)
        assert not any(Path(f"/proc/{pid}").exists() for pid in pids)
    stored = {o for o in outputs(Run("run")) if o.isupper()}
    assert stored
    # Clean inputs that are asked twice may have been asked once by now.
    once = {e.inputs["text"].upper() for e, _, twice in Run("run").repeated() for _, o in twice if not o.ok}
    Path("asked.log").unlink()
    ended(start(nodes, *words, nodes.client))
    assert outputs(Run("run")) == plain
    assert not (stored - once) & {text.upper() for _, text in asked()}


def test_a_worker_has_a_gpu_for_itself(nodes: Nodes, make: Make, at_work: Path) -> None:
    make(task="text")
    nodes.want(1)
    Path("plan.toml").write_text(f'[engine]\nname = "{nodes.address}"\ngpus = 1\n')
    ended(start(nodes, "run", "suite", "--system", "at_work:on_gpu", "-o", "run", "--plan", "plan.toml"))
    assert set(outputs(Run("run"))) == {"0"}


def test_a_node_killed_while_it_varies_changes_no_byte(nodes: Nodes, at_work: Path) -> None:
    rows = [{"text": f"number {i}"} for i in range(6000)]
    Path("data.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    here = make_suite("data.jsonl", [OperatorSpec("at_work:Marked")], draws=2, to="here")
    Path("asked.log").unlink()
    nodes.want(2)
    words = ("vary", "data.jsonl", "--with", "at_work:Marked", "--draws", "2", "-o", "there")
    driver = start(nodes, *words, "--engine", nodes.address)
    killed = nodes.kill_node_of(two_at_work(driver, 2000)[0])
    ended(driver)
    for name in ("examples.parquet", "variants.parquet", "manifest.json"):
        assert (here.path / name).read_bytes() == Path("there", name).read_bytes()
    done = Counter(asked())
    assert killed & {pid for pid, _ in done}, "the node was at work"
    assert len({text for _, text in done}) == 6000


def test_a_node_killed_in_mid_run_loses_nothing_and_only_what_it_was_at_is_asked_again(
    nodes: Nodes, make: Make, at_work: Path
) -> None:
    suite = make(120, task="text")
    plain = outputs(run_system(suite, "at_work:shout", "plain"))
    Path("asked.log").unlink()
    nodes.want(2)
    words = ("run", "suite", "--system", "at_work:slow", "-o", "run", "--batch-size", "4", "--engine", nodes.address)
    driver = start(nodes, *words)
    killed = nodes.kill_node_of(two_at_work(driver, 60)[0])
    ended(driver)
    assert outputs(Run("run")) == plain
    asking: dict[str, list[int]] = {}
    for pid, text in asked():
        asking.setdefault(text, []).append(pid)
    # Each text is due once, and those of the first examples in the order once more.
    due = dict.fromkeys(asking, 1) | {group[0]["text"]: 2 for group in Order(suite, ASKED_TWICE).groups()}
    again = {text: len(pids) - due[text] for text, pids in asking.items()}
    assert min(again.values()) >= 0
    assert sum(again.values()) <= 3 * 4, "no more than the batches that the node had"
    for text, lost in again.items():
        assert lost <= due[text]
        assert sum(pid in killed for pid in asking[text][:-1]) >= lost
    before = asked()
    ended(start(nodes, *words, "--canary", "0"))
    assert asked() == before


def test_ray_is_started_on_this_machine_and_ended_with_the_command(nodes: Nodes, make: Make, at_work: Path) -> None:
    suite = make(task="text")
    plain = outputs(run_system(suite, "at_work:shout", "plain"))
    Path("asked.log").unlink()
    ended(start(nodes, "run", "suite", "--system", "at_work:shout", "-o", "run", "--engine", "ray"))
    assert outputs(Run("run")) == plain
    started = {pid for pid, _ in asked()}
    assert started
    until = time.monotonic() + 60
    while any(map(is_alive, started)) and time.monotonic() < until:  # Ray does not wait for the end of what it stops
        time.sleep(0.1)
    assert not any(map(is_alive, started))


def test_every_step_gives_the_same_bytes_on_the_cluster(nodes: Nodes, tmp_path: Path) -> None:
    def command(folder: Path, words: list[str]) -> str:
        words = ["-c", "from unswayed.cli import main; main()", *words]
        done = subprocess.run([sys.executable, *words], env=nodes.env, cwd=folder, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout

    nodes.want(2)
    here = every_step(tmp_path / "here", command, [])
    there = every_step(tmp_path / "there", command, ["--engine", nodes.address, "--workers", "2"])
    assert {name for name in here if here[name] != there[name]} == set()


def test_scores_are_the_same_from_the_cluster_and_the_cluster_is_left_as_it_was(
    nodes: Nodes, tmp_path: Path, at_work: Path
) -> None:
    rows: list[Any] = [
        {"id": str(i), "inputs": {"source": f"Satz Nummer {i}"}, "gold": f"sentence number {i}"} for i in range(1500)
    ]
    suite = make_suite(rows, ["keyboard/adjacent"], task="translate", language="en", to=tmp_path / "suite")
    run_system(suite, lambda batch: [item["source"] + " ." for item in batch], tmp_path / "run")
    nodes.want(2)
    words = ("-c", MEASURE, str(tmp_path / "run"), nodes.address)
    found = subprocess.run([sys.executable, *words], env=nodes.env, capture_output=True, text=True, timeout=120)
    assert found.returncode == 0, found.stderr
    here = measure_run(
        Run(tmp_path / "run"), {"measure": {"scores": ["bleu", "chrf"], "bootstrap": 100, "stored": False}}
    )
    assert found.stdout == msgspec.json.encode(here).decode()
    assert not found.stderr, "nothing of Ray's own talk"


MEASURE = """
import sys, msgspec, unswayed
engine = unswayed.Engine(name=sys.argv[2], workers=2)
plan = {"measure": {"scores": ["bleu", "chrf"], "bootstrap": 100}, "engine": engine}
results = unswayed.measure_run(unswayed.Run(sys.argv[1]), plan)
sys.stdout.write(msgspec.json.encode(results).decode())
"""


def test_without_the_extra_the_line_that_installs_it_is_shown(
    make: Make, at_work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(MissingExtra, match=r"pip install 'ray\[client\]"):
        run_system(make(), "at_work:shout", "run", plan={"engine": Engine(name="ray")})
