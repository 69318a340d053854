"""Worker processes: the same suite and run as in one process, whoever dies meanwhile."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections import Counter, deque
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings, strategies as st

from unswayed.base.errors import SystemBroken, UnswayedError, UsageError
from unswayed.base.options import OperatorSpec
from unswayed.base.values import Example
from unswayed.measure.measuring import measure_run
from unswayed.run import workers
from unswayed.run.engine import run_system
from unswayed.run.making import make_suite
from unswayed.run.plan import Engine, Plan, read_plan
from unswayed.run.record import Run
from unswayed.run.varying import Varying
from unswayed.run.workers import InProcessPool, OrderedResults, open_pool, results_in_order
from unswayed.storage.suite import Suite
from unswayed.systems.asking import Asking
from unswayed.vary.engine import Variation
from unswayed.vary.operator import Change, Operator, Text

pytestmark = pytest.mark.usefixtures("asked_once")

Make = Callable[..., Suite]
TWO = Engine(workers=2)
QUICK = Asking(backoff=0.0, batch_size=4)
ROWS: list[Any] = [{"text": f"please turn on the lights number {i}", "label": "a"} for i in range(1200)]


def outputs(run: Run) -> list[Any]:
    return [
        o.value if o.ok else o.error for _, clean, varied in run.items() for o in (clean, *(out for _, out in varied))
    ]


def asked() -> list[list[str]]:
    return [line.split("\t") for line in Path("asked.log").read_text().splitlines()]


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"


def gone(pids: set[int], seconds: float = 20) -> bool:
    until = time.monotonic() + seconds
    while any(map(alive, pids)) and time.monotonic() < until:
        time.sleep(0.05)
    return not any(map(alive, pids))


@pytest.mark.parametrize("chosen", ["each", "random"])
def test_a_suite_has_the_same_bytes_from_one_process_and_from_two(tmp_path: Path, chosen: Any) -> None:
    made = [
        make_suite(
            ROWS,
            ["keyboard/adjacent", "spoken/filler_end"],
            to=tmp_path / f"{n}",
            plan={"vary": {"set": chosen}, "engine": Engine(workers=n)},
        )
        for n in (1, 2)
    ]
    for name in ("examples.parquet", "variants.parquet", "manifest.json"):
        assert (made[0].path / name).read_bytes() == (made[1].path / name).read_bytes()


def test_a_run_has_the_same_outputs_and_measures_and_asks_nothing_twice(make: Make, at_work: Path) -> None:
    suite = make(30)
    runs = [
        run_system(suite, "at_work:shout", f"run{n}", plan={"run": {"asking": QUICK}, "engine": Engine(workers=n)})
        for n in (1, 2)
    ]
    assert outputs(runs[0]) == outputs(runs[1])
    assert msgspec.json.encode(measure_run(runs[0])) == msgspec.json.encode(measure_run(runs[1]))
    pids = Counter(pid for pid, _ in asked())
    assert len(pids) > 1, "this process, and as many others as were needed"
    assert max(Counter(text for pid, text in asked() if pid != str(os.getpid())).values()) == 1
    assert gone({int(pid) for pid in pids} - {os.getpid()})


def test_a_modules_function_can_be_opened_again_and_what_was_made_here_cannot(make: Make, at_work: Path) -> None:
    import at_work as module  # type: ignore[import-not-found]

    suite = make()
    assert "TEXT 1" in outputs(run_system(suite, module.shout, "run", plan={"run": {"asking": QUICK}, "engine": TWO}))
    for system in (lambda batch: ["a"] * len(batch), module.Counting()):
        with pytest.raises(UsageError, match=r"can't be opened in worker processes.*module:function"):
            run_system(suite, system, "other-run", plan={"run": {"asking": QUICK}, "engine": TWO})


def test_what_is_used_is_counted_and_retries_and_threads_hold_in_workers(make: Make, at_work: Path) -> None:
    run = run_system(make(12), "at_work:Counting", "run", plan={"run": {"asking": Asking(backoff=0.0)}, "engine": TWO})
    texts = [text for _, text in asked()]
    assert all(value.endswith("!") for value in outputs(run))
    assert texts.count("text 4") == 2
    assert run.used() == {"texts": len(texts)}
    closed = {file.name for file in Path().glob("closed-*")}
    assert closed >= {f"closed-{pid}" for pid in {pid for pid, _ in asked()} | {os.getpid()}}


def test_a_worker_that_is_killed_is_replaced_and_its_batch_asked_again(make: Make, at_work: Path) -> None:
    run = run_system(make(20), "at_work:dies_once", "run", plan={"run": {"asking": QUICK}, "engine": TWO})
    assert Path("died-once").exists()
    assert outputs(run) == outputs(
        run_system(make(20, name="again"), "at_work:shout", "plain", plan={"run": {"asking": QUICK}})
    )


def test_an_item_that_workers_die_of_is_a_failure_and_its_neighbours_are_answered(make: Make, at_work: Path) -> None:
    run = run_system(make(20), "at_work:dies_always", "run", plan={"run": {"asking": QUICK}, "engine": TWO})
    found = Counter(map(str, outputs(run)))
    assert found["the worker that was asked this died: it was ended by SIGKILL"] == 1
    assert sum(found.values()) == 60
    assert [text for _, text in asked()].count("text 5") <= 5


def test_a_system_that_is_another_in_each_process_is_refused(make: Make, at_work: Path) -> None:
    with pytest.raises(SystemBroken, match="is another system in a worker"):
        run_system(make(), "at_work:changes", "run", plan={"run": {"asking": QUICK}, "engine": TWO})


@pytest.mark.parametrize(
    ("system", "message"),
    [
        ("fails", "same error for the first 3 inputs(.|\\n)*at_work.py(.|\\n)*ValueError: no"),
        ("too_few", "returned 3 outputs for 4 inputs"),
    ],
)
def test_a_broken_system_stops_the_run(make: Make, at_work: Path, system: str, message: str) -> None:
    with pytest.raises(SystemBroken, match=message):
        run_system(make(60), f"at_work:{system}", "run", plan={"run": {"asking": QUICK}, "engine": TWO})


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("raise RuntimeError('not here')", "not here"),
        ("os.kill(os.getpid(), 9)", "Workers die before they have begun.*SIGKILL"),
    ],
)
def test_workers_that_cannot_begin_are_told_of(make: Make, at_work: Path, line: str, message: str) -> None:
    Path("at_work.py").write_text(
        f"import os\nif os.getpid() != {os.getpid()}:\n    {line}\n"
        "def answer(batch):\n    return ['a' for _ in batch]\nanswer.unswayed_identity = 'one'\n"
    )
    with pytest.raises(UnswayedError, match=message):
        run_system(make(), "at_work:answer", "run", plan={"run": {"asking": QUICK}, "engine": TWO})


START = """
import signal, sys
from unswayed.cli import main
signal.signal(signal.SIGINT, signal.default_int_handler)  # also where the tests run in the background
sys.argv = ["unswayed", "run", "suite", "--system", "at_work:slow", "-o", "run", "--workers", "2", "--batch-size", "4"]
sys.argv += ["--canary", "0"]
main()
"""  # no guard: a script is not run again in each worker


@pytest.mark.slow
def test_after_ctrl_c_and_after_kill_9_no_worker_is_left_and_nothing_stored_is_asked_again(
    make: Make, at_work: Path
) -> None:
    make(60, task="text")
    for number, code in ((signal.SIGINT, 2), (signal.SIGKILL, -9)):
        Path("asked.log").unlink(missing_ok=True)
        driver = subprocess.Popen([sys.executable, "-c", START], stderr=subprocess.PIPE)
        until = time.monotonic() + 60
        while (not Path("asked.log").exists() or len(asked()) < 24) and time.monotonic() < until:
            time.sleep(0.02)
        driver.send_signal(number)
        _, told = driver.communicate(timeout=60)
        assert driver.returncode == code
        assert code < 0 or b"rerun to resume" in told
        assert gone({int(pid) for pid, _ in asked()})
    stored = {o.value for _, clean, varied in Run("run").items() for o in (clean, *(x for _, x in varied)) if o.ok}
    assert stored
    # Clean inputs that are asked twice may have been asked once by now.
    once = {e.inputs["text"].upper() for e, _, twice in Run("run").repeated() for _, o in twice if not o.ok}
    Path("asked.log").unlink()
    subprocess.run([sys.executable, "-c", START], check=True, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    again = {text.upper() for _, text in asked()}
    assert not again & (stored - once)
    assert once <= again
    assert again | stored == set(outputs(Run("run")))


class Fatal(Operator):
    """Kills its process on one text, or fails."""

    name = "fatal"

    def __init__(self, how: str = "die") -> None:
        self.how = how

    def change(self, text: Text, rng: Any) -> Change | None:
        if "number 700" in text.text:
            if self.how == "die":
                os.kill(os.getpid(), 9)
            raise KeyError("how")
        return None


@pytest.mark.parametrize(
    ("how", "message"),
    [("die", "Workers die while they vary rows 512 to 1023 of the data: .*SIGKILL"), ("fail", "KeyError: 'how'")],
)
def test_an_operator_that_breaks_a_worker_is_an_error(at_work: Path, how: str, message: str) -> None:
    Path("fatal_here.py").write_text(Path(__file__).read_text())
    from unswayed.base.options import OperatorSpec

    spec = OperatorSpec("fatal_here:Fatal", {"how": how})
    with pytest.raises(UnswayedError, match=message):
        make_suite(ROWS, [spec, "keyboard/adjacent"], to="suite", plan={"engine": TWO})
    assert not Path("suite").exists()


@settings(max_examples=30, deadline=None)
@given(st.lists(st.integers(0, 3), max_size=30), st.integers(1, 5))
def test_results_come_in_the_order_of_blocks_and_few_are_taken_ahead(pauses: list[int], threads: int) -> None:
    taken = 0

    class Pausing:
        def do(self, block: tuple[int, int]) -> int:
            time.sleep(block[1] / 1000)
            return block[0]

        def close(self) -> None: ...

    def blocks() -> Any:
        nonlocal taken
        for block in enumerate(pauses):
            taken += 1
            yield block

    with InProcessPool(Pausing(), threads) as pool:
        for n, (block, result) in enumerate(results_in_order(pool, blocks())):
            assert block == (n, pauses[n])
            assert result == n
            assert taken <= n + 2 * pool.ahead


@pytest.mark.parametrize("most", [0, 40_000, 1 << 24])
def test_workers_go_on_while_blocks_still_come_and_results_are_held_up_to_a_limit(most: int) -> None:
    job = Varying(Variation(operators=(OperatorSpec("keyboard/adjacent"),), task="text", language="en"), packed=True)
    given = [[Example(i, str(i), {"text": f"please turn on the lights number {i}"})] for i in range(400)]
    blocks: deque[Any] = deque()
    with open_pool(TWO, job) as pool:
        work = OrderedResults(pool, lambda: blocks.popleft() if blocks else None, most)
        for block in given:
            blocks.append(block)
            work.go_on()
        until = time.monotonic() + 60
        while most > 1 << 20 and (blocks or not pool.idle) and time.monotonic() < until:
            work.go_on()
            time.sleep(0.01)
        assert bool(blocks) == (most < 1 << 20), "all is done before it is wanted where there is room for it"
        alone = job.start()
        assert list(work) == [(block, alone.do(block)) for block in given]


def test_the_engine_is_a_section_of_the_plan(tmp_path: Path) -> None:
    file = tmp_path / "plan.toml"
    file.write_text('[engine]\nname = "ray://head:10001"\nworkers = 8\n')
    assert read_plan(file).engine == Engine(name="ray://head:10001", workers=8)
    assert Plan().engine.here
    assert not Engine(workers=2).here
    assert not Engine(name="ray").here
    for wrong in ('name = "spark"', "workers = 0", 'name = "local://x"', "gpus = 1"):
        file.write_text(f"[engine]\n{wrong}\n")
        with pytest.raises(UsageError, match="engine|workers|gpus"):
            read_plan(file)


def test_scores_are_the_same_from_workers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows: list[Any] = [
        {"id": str(i), "inputs": {"source": f"Satz Nummer {i}"}, "gold": f"sentence number {i}"} for i in range(1500)
    ]
    suite = make_suite(rows, ["keyboard/adjacent"], task="translate", language="en", to=tmp_path / "suite")
    run = run_system(suite, lambda batch: [item["source"] + " ." for item in batch], tmp_path / "run")
    started = []
    pool = workers.open_pool
    monkeypatch.setattr(workers, "open_pool", lambda *given: started.append(given) or pool(*given))
    here, there = (
        measure_run(
            run,
            {"measure": {"scores": ["bleu", "chrf"], "bootstrap": 100, "stored": False}, "engine": Engine(workers=n)},
        )
        for n in (1, 2)
    )
    assert msgspec.json.encode(here) == msgspec.json.encode(there)
    assert here.clean.value
    assert len(started) == 1, "one pool for both scorers, and none for one worker"
