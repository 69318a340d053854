"""The order of asking: decided by the seed, each example with all its variants; what a part of a run is worth."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import commands
import numpy as np
import pytest

import unswayed
from unswayed.base.errors import Interrupted, NothingEvaluated
from unswayed.base.values import Example, Inputs, Variant
from unswayed.run import order as order_module
from unswayed.run.engine import run_system
from unswayed.run.order import Order
from unswayed.run.plan import Engine
from unswayed.run.record import Run
from unswayed.storage import parquet
from unswayed.storage.suite import Manifest, Suite, write_suite
from unswayed.systems.asking import Asking
from unswayed.systems.system import System

pytestmark = pytest.mark.usefixtures("asked_once")


def suite_of(folder: Path, n: int, seed: int | None = 0, ids: Callable[[int], str] = str) -> Suite:
    """Examples whose texts grow longer, of which the longest tenth is hard: its variants are answered wrongly."""
    examples = [Example(i, ids(i), {"text": "x" * (i + 1)}, "a") for i in range(n)]
    variants = [
        Variant(e.row, e.id, d, "x/y", "x", "same", {"text": e.inputs["text"] + "!" * (d + 1)}, "a", "n")
        for e in examples
        for d in range(e.row % 3)
    ]
    manifest = Manifest(task="classify", language="en", seed=seed)
    return write_suite(folder, manifest, lambda: examples, lambda: variants)


class Grades(System):
    """Right about all but long texts with a mark; stops after some batches, if it is told to."""

    name, batch_size, identity = "grades", 4, "grades"  # type: ignore[assignment]

    def __init__(self, n: int, stop: int | None = None) -> None:
        self.n, self.stop = n, stop
        self.batches: list[list[str]] = []

    def predict(self, batch: Sequence[Inputs]) -> list[Any]:
        if self.stop is not None and len(self.batches) >= self.stop:
            raise KeyboardInterrupt
        self.batches.append([inputs["text"] for inputs in batch])
        return ["b" if "!" in text and len(text) > 0.9 * self.n else "a" for text in self.batches[-1]]


def test_the_seed_and_the_id_alone_decide_the_order(tmp_path: Path) -> None:
    order = Order(suite_of(tmp_path / "one", 200)).places
    assert sorted(order.tolist()) == list(range(200))
    assert abs(np.corrcoef(order, np.arange(200))[0, 1]) < 0.2
    fewer = Order(suite_of(tmp_path / "fewer", 100)).places
    assert [i for i in order.tolist() if i < 100] == fewer.tolist()
    assert Order(suite_of(tmp_path / "seed", 200, seed=1)).places.tolist() != order.tolist()
    none = suite_of(tmp_path / "none", 200, seed=None)
    assert Order(none).places.tolist() == order.tolist()


@pytest.mark.parametrize("limit", [20, None])
@pytest.mark.parametrize(("in_memory", "unwritten"), [(0, 0), (0, 500), (0, 10**6), (10**6, 0)])
def test_groups_come_in_that_order_with_all_their_variants(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, in_memory: int, unwritten: int, limit: int | None
) -> None:
    monkeypatch.setattr(order_module, "_IN_MEMORY", in_memory)
    monkeypatch.setattr(order_module, "_UNWRITTEN", unwritten)
    monkeypatch.setattr(parquet, "ROWS_AT_ONCE", 7)  # so that the file is written several times
    suite = suite_of(tmp_path / "suite", 50)
    order = Order(suite, limit)
    assert order.places.tolist() == Order(suite).places[:limit].tolist()
    known = {e.row: [e.inputs, *(v.inputs for v in variants)] for e, variants in suite.groups()}
    assert list(order.groups()) == [known[place] for place in order.places.tolist()]


def test_a_limit_is_a_random_sample_that_a_larger_one_continues(tmp_path: Path) -> None:
    suite = suite_of(tmp_path / "suite", 60)
    first, second = Grades(60), Grades(60)
    run = run_system(suite, first, tmp_path / "run", plan={"run": {"limit": 20}})
    assert run.sample is not None
    assert (run.sample.examples, run.sample.of, run.sample.why) == (20, 60, "limit")
    results = unswayed.measure_run(run)
    assert results.clean.n == 20
    assert results.validity["not_asked"] == 0
    assert results.validity["examples"] == 20
    assert "Measured on 20 of 60 examples, chosen at random." in repr(results)
    more = run_system(suite, second, tmp_path / "run", plan={"run": {"asking": Asking(canary=0), "limit": 40}})
    assert not {t for b in first.batches for t in b} & {t for b in second.batches for t in b}
    assert unswayed.measure_run(more).clean.n == 40
    assert (
        unswayed.measure_run(run_system(suite, Grades(60), tmp_path / "run", plan={"run": {"limit": 20}})).clean.n == 20
    )
    whole = run_system(suite, Grades(60), tmp_path / "run")
    assert whole.sample is None
    assert unswayed.measure_run(whole).clean.n == 60
    assert run_system(suite, Grades(60), tmp_path / "all", plan={"run": {"limit": 1000}}).sample is None


@pytest.mark.parametrize("stop", range(8, 60, 10))
def test_a_stopped_run_is_measured_on_complete_examples_the_first_in_the_order(tmp_path: Path, stop: int) -> None:
    suite = suite_of(tmp_path / "suite", 150)
    with pytest.raises(Interrupted):
        run_system(suite, Grades(150, stop), tmp_path / "run")
    run = Run(tmp_path / "run")
    assert run.sample is not None
    assert run.sample.why == "stopped"
    assert sorted(Order(suite).places[: run.sample.examples]) == np.flatnonzero(run.sample.chosen).tolist()
    assert run.sample.examples >= 0.7 * stop * 4 / 2 - 32  # two requests an example; a window is lost at most
    items = [item for item, due in zip(run.items(), run.sample.chosen, strict=True) if due]
    assert all(o.ok for _, clean, varied in items for o in (clean, *(o for _, o in varied)))
    if run.sample.examples:
        results = unswayed.measure_run(run)
        assert results.clean.n == run.sample.examples
        assert f"{run.sample.examples} of 150 examples, a random sample: the run was stopped" in repr(results)
    else:
        with pytest.raises(NothingEvaluated, match="stopped before its first examples"):
            unswayed.measure_run(run)


def test_a_stopped_run_is_not_of_the_shortest_texts(tmp_path: Path) -> None:
    """Over many orders, the drop of a run that is stopped half-way is that of the whole one on average."""
    drops = []
    for seed in range(12):
        suite = suite_of(tmp_path / f"suite{seed}", 150, seed)
        with pytest.raises(Interrupted):
            run_system(suite, Grades(150, 40), tmp_path / f"run{seed}")
        drops.append(unswayed.measure_run(tmp_path / f"run{seed}", {"measure": {"bootstrap": 10}}).drop.value)
    whole = unswayed.measure_run(run_system(suite, Grades(150), tmp_path / "whole")).drop.value
    assert np.mean([drop for drop in drops if drop is not None]) == pytest.approx(whole, abs=0.03)


def test_workers_ask_in_the_same_order(at_work: Path) -> None:
    suite = suite_of(at_work / "suite", 40)
    (at_work / "same.py").write_text("def predict(batch): return ['a' for _ in batch]\n")
    run = run_system(suite, "same:predict", at_work / "run", plan={"engine": Engine(workers=2), "run": {"limit": 10}})
    assert run.sample is not None
    assert np.flatnonzero(run.sample.chosen).tolist() == sorted(Order(suite).places[:10])
    assert unswayed.measure_run(run).clean.n == 10


def test_the_command_line(tmp_path: Path) -> None:
    rows = [
        {"text": f"number {i} is {'odd' if i % 2 else 'even'}", "label": "odd" if i % 2 else "even"} for i in range(50)
    ]
    (tmp_path / "mine.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (tmp_path / "clf.py").write_text(
        "def predict(batch): return ['odd' if 'odd' in i['text'] else 'even' for i in batch]\n"
    )
    commands.unswayed("vary", "mine.jsonl", "--with", "spoken/filler_end", "-o", "suite/", cwd=tmp_path, check=True)
    run = ("run", "suite/", "--system", "clf:predict", "-o", "run/", "--limit", "20")
    shown = commands.unswayed(*run, cwd=tmp_path, check=True)
    assert "Measured on 20 of 50 examples, chosen at random." in shown.stdout
    (tmp_path / "plan.toml").write_text('[run]\nsuite = "suite/"\nsystem = "clf:predict"\nlimit = 30\n')
    more = commands.unswayed("run", "--plan", "plan.toml", "-o", "run/", "--format", "json", cwd=tmp_path, check=True)
    figures = json.loads(more.stdout)
    assert (figures["asked"], figures["reused"], figures["clean"]["n"]) == (
        20,
        60,
        30,
    )  # of the first 20, clean inputs are asked twice
    assert figures["validity"]["sample"]["of"] == 50
    bad = commands.unswayed(*run[:-1], "0", cwd=tmp_path)
    assert bad.returncode == 4
