"""However a run is cut into parts, its numbers are the same to the last bit; and memory does not grow with it."""

from __future__ import annotations

import os
import subprocess
import sys
import tracemalloc

import msgspec
import numpy as np
import pytest
from hypothesis import given, strategies as st

from unswayed.base.task import task_named
from unswayed.base.values import Example, Output, Variant
from unswayed.measure import run_table, spill, table_reader
from unswayed.measure.comparison.runs import compare
from unswayed.measure.measuring import measure_run
from unswayed.measure.people import measure_people
from unswayed.measure.run_table import PairCodes
from unswayed.measure.spill import Spill
from unswayed.measure.table_reader import joined_outputs, read_table
from unswayed.run.block import in_blocks
from unswayed.score import scorers


@pytest.fixture
def in_parts(monkeypatch):
    """Parts, and everything that is put aside, so small that a small run has many."""

    def cut(size):
        monkeypatch.setattr(table_reader, "VARIANTS_A_PART", size)
        monkeypatch.setattr(run_table, "_PAIRS", size)
        monkeypatch.setattr(spill, "_IN_MEMORY", 1000)
        monkeypatch.setattr(spill, "_BLOCK", 80)
        monkeypatch.setattr(spill, "_AT_ONCE", 30)
        monkeypatch.setattr(spill, "_FIRST", 32)

    return cut


def runs(task, fake_run, n=90):
    """Two systems on one suite with slices, controls, holes, failures and outputs that can't be read."""

    def value(rng):
        if task == "slu":
            tags = [("O", "B-a", "I-a", "B-b")[i] for i in rng.integers(0, 4, 5)]
            return {"intent": f"i{rng.integers(3)}", "slots": tags}
        if task == "classify":
            return f"c{rng.integers(3)}"
        return " ".join(f"w{i}" for i in rng.integers(0, 12, 6))

    def said(gold, rng):
        chance = rng.random()
        if chance < 0.1:
            return fake_run.FAILED
        if chance < 0.15:
            return Output({"odd": 1})
        return Output(gold if gold is not None and chance < 0.6 else value(rng))

    made = []
    for system in (1, 2):
        suite, answers = np.random.default_rng(7), np.random.default_rng([7, system])
        rows = []
        for i in range(n):
            gold = value(suite) if suite.random() < 0.9 else None
            varied = [
                (operator, draw, meaning, said(gold, answers))
                for operator, meaning in (("k/a", "same"), ("s/b", "same"), ("s/c", "same"), ("m/not", "changed"))
                for draw in range(3)
                if suite.random() < 0.6
            ]
            groups = {"who": f"p{suite.integers(60)}"} | ({"late": "yes"} if i > n // 2 else {})
            rows.append((gold, said(gold, answers), varied, groups))
        made.append(fake_run(rows, task=task, identity=str(system)))
    return made


@pytest.mark.parametrize("task", ["classify", "slu", "translate", "text"])
def test_parts_change_no_bit(task, fake_run, in_parts):
    one, other = runs(task, fake_run)

    def found():
        return msgspec.json.encode(
            [measure_run(one, {"measure": {"bootstrap": 50}}), compare(one, other, plan={"measure": {"bootstrap": 50}})]
        )

    whole = found()
    for size in (40, 333):
        in_parts(size)
        assert found() == whole


def test_runs_whose_parts_end_elsewhere_are_compared_all_the_same(fake_run, in_parts, monkeypatch):
    """The outputs of a run decide how many of its examples fit in a part."""
    one, other = runs("classify", fake_run)
    rows = [(e.gold, "x", [(v.source, v.draw, v.meaning, "x") for v, _ in varied]) for e, _, varied in one.items()]
    both = (one, other, fake_run(rows))
    whole = compare(*both, plan={"measure": {"bootstrap": 50, "sanity": False, "groups": []}})
    in_parts(333)
    monkeypatch.setattr(run_table, "_BYTES", 3000)
    assert compare(*both, plan={"measure": {"bootstrap": 50, "sanity": False, "groups": []}}) == whole


def test_continuous_scores_in_parts(fake_run, in_parts, monkeypatch):
    monkeypatch.setattr(scorers.get("exact_match"), "item", lambda self, o, g, task: float(o) / 1000)
    rows = [("x", i, [("p", d, "same", (i * 7919 + d * 104729) % 1000) for d in range(3)]) for i in range(400)]
    whole = measure_run(fake_run(rows), {"measure": {"scores": ["exact_match"], "bootstrap": 200}})
    in_parts(100)
    assert measure_run(fake_run(rows), {"measure": {"scores": ["exact_match"], "bootstrap": 200}}) == whole


def test_texts_are_let_go(fake_run, in_parts):
    in_parts(50)
    rows = [(f"gold {i}", f"said {i}", [("p", 0, "same", f"varied {i}")]) for i in range(500)]
    kept = PairCodes([scorers.get("exact_match")()], task_named("qa"))
    table = read_table(in_blocks(fake_run(rows, task="text").items()), task_named("text"), kept, Spill())
    assert table.examples == 500
    assert sum(map(len, kept._pairs)) <= 200
    assert sum(part.size for part in table.parts()) == 500


def test_draws_are_summed_up_part_by_part(fake_run, in_parts):
    """Eight times the variants, and no more memory: their numbers alone would take 200 KB more."""
    in_parts(500)
    peaks = {}
    for n in (1_000, 8_000):
        rows = [("x", "x", [("p", d, "same", "xy"[(i + d) % 3 == 0]) for d in range(4)]) for i in range(n)]
        scorer = scorers.get("accuracy")()
        items = in_blocks(fake_run(rows, task="classify").items())
        table = read_table(items, task_named("classify"), PairCodes([scorer], task_named("classify")), Spill())
        tracemalloc.start()
        block = measure_people(table, scorer, None, 0.95, lambda *_: "")
        peaks[n] = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert block is not None
        assert block.measures["flips"].these.n == n
    assert peaks[8_000] - peaks[1_000] < 50_000, peaks


def test_items_that_are_far_from_their_place_are_refused(fake_run, in_parts):
    in_parts(20)
    run = fake_run([("a", "a", [("p", 0, "same", "a")]) for _ in range(100)])
    run._items.reverse()
    with pytest.raises(ValueError, match=r"row \d+ of the suite comes after row 99"):
        measure_run(run)


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "wait4"), reason="peak memory is not told here")
def test_memory_does_not_grow_with_the_suite(tmp_path):
    """Four times the variants: columns in memory would take 50 MB more."""
    (tmp_path / "quick.py").write_text(
        'def predict(batch):\n    return [("on", "off")[len(item["text"]) % 2] for item in batch]\n'
    )
    peaks = {}
    for examples in (8_000, 32_000):
        lines = (f'{{"text": "turn on light {i} in the hall", "label": "on"}}\n' for i in range(examples))
        (tmp_path / "data.jsonl").write_text("".join(lines))
        suite, run = f"suite-{examples}", f"run-{examples}"
        peak(tmp_path, "vary", "data.jsonl", "--with", "keyboard/adjacent", "--draws", "4", "-o", suite)
        peak(tmp_path, "run", suite, "--system", "quick:predict", "-o", run, "--bootstrap", "100")
        peaks[examples] = peak(tmp_path, "measure", "run", run, "--bootstrap", "100")
    assert peaks[32_000] - peaks[8_000] < 20, peaks


PEAK = """
from unswayed.cli import main
try:
    main()
finally:  # of this program alone; getrusage knows what the process was before, too
    with open("/proc/self/status") as status, open("peak.txt", "w") as told:
        told.write(next(line.split()[1] for line in status if line.startswith("VmHWM")))
"""


def peak(folder, *arguments):
    """The largest resident set of a command, in MB."""
    command = [sys.executable, "-c", PEAK, *arguments]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return int((folder / "peak.txt").read_text()) / 1024


values = st.sampled_from(["a", "b", "", 1, True, 0, False, None, 1.0, -0.0, 0.0])
failures = st.sampled_from(["no", "late"]).map(lambda error: Output(None, error))
outputs = st.one_of(values.map(Output), st.lists(values, max_size=2).map(Output), failures)


def spelled(output: Output) -> str:
    """Tells 1 from True and from 1.0, and 0.0 from -0.0."""
    return repr((output.value, output.error))


@given(st.lists(st.tuples(outputs, st.lists(outputs, max_size=3)), min_size=1, max_size=12))
def test_every_item_keeps_its_output(answered):
    items = [
        (
            Example(i, str(i), {"text": f"{i}"}, "a"),
            clean,
            [
                (Variant(i, str(i), d, "x/y", "x", "same", {"text": f"{i} {d}"}, "a", ""), o)
                for d, o in enumerate(varied)
            ],
        )
        for i, (clean, varied) in enumerate(answered)
    ]
    (plain,), (joined,) = list(in_blocks(items)), list(joined_outputs(in_blocks(items)))
    for column in ("clean_out", "out"):
        found, expected = (
            [spelled(block.outputs[number]) for number in getattr(block, column)] for block in (joined, plain)
        )
        assert found == expected
    simple = [spelled(o) for o in joined.outputs if type(o.value) in (str, int, bool, type(None))]
    assert len(simple) == len(set(simple))
    assert set(joined.clean_out.tolist()) | set(joined.out.tolist()) == set(range(len(joined.outputs)))
