"""What a large suite takes: seconds and the peak resident set of `vary`, `run`, `measure` and `report`, by its size.

Every command is a process of its own, and the system under test costs next to nothing. Ten million variants take about
3 GB of disk and ten minutes of CPU time: `python -m benchmarks.memory 1000000 10000000`. With `--made`, only the
measures are taken, of items that are made as they are asked for, which takes a twentieth of the time and no disk.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import median
from typing import NamedTuple

from benchmarks._measure import ONE_THREAD, Row, folder_megabytes, say

OPERATORS, DRAWS = ("spoken/filler_begin", "spoken/filler_end"), 2
QUICK, LONG = (100_000, 1_000_000), (10_000_000,)
ASKED = 100_000  # variants a CPU second of a whole command, where a million are made, measured or reported
VARIED = {"typos": "keyboard/adjacent", "fillers": "spoken/filler_end"}
PLACES = ("kitchen", "hall", "garden", "bathroom on the first floor", "living room")
SYSTEM = """
def predict(batch):
    texts = [item["text"] for item in batch]
    return [text.partition("turn ")[2][:3].strip() if len(text) % 5 else "dim" for text in texts]
"""
CHANGING = """
from zlib import crc32
def predict(batch):
    return [("on", "off", "dim", "up", "down")[crc32(item["text"].encode()) % 5] for item in batch]
"""


MEASURE = """
import sys
from types import SimpleNamespace
from unswayed.storage.suite import Manifest
from unswayed.base.task import task_named
from unswayed.base.values import Example, Output, Variant
from unswayed.measure.measuring import measure_run
LABELS = [Output(label) for label in ("on", "off", "dim")]
class Made:
    system = identity = "made up"
    manifest = Manifest(task="classify", language="en")
    suite = SimpleNamespace(id="made up", signed="made up", task=task_named("classify"), manifest=manifest)
    def items(self):
        for i in range(int(sys.argv[1]) // 4):
            gold, chance = LABELS[i % 3], hash((i, 7)) >> 8
            varied = []
            for at in range(4):
                operator, draw, chance = ("made/one", "made/two")[at // 2], at % 2, chance // 5
                said = LABELS[(i if chance % 5 > 2 else chance) % 3]
                text = {"text": f"light {i}, said for the {at + 2}. time"}
                varied.append((Variant(i, str(i), draw, operator, "made", "same", text, gold.value, ""), said))
            yield Example(i, str(i), {"text": f"light {i}"}, gold.value), LABELS[chance % 3], varied
measure_run(Made())
"""


class Cost(NamedTuple):
    """Of one command: seconds on the clock and of the processors, and the most memory that it held, in MB."""

    seconds: float
    cpu: float
    peak: float


def costs(variants: int, folder: Path, system: str = SYSTEM) -> Iterator[tuple[str, Cost]]:
    """Each command and what it took; `folder` holds all it makes."""
    folder.mkdir()
    (folder / "quick.py").write_text(system)
    write_data(folder, variants // (len(OPERATORS) * DRAWS))
    chosen = [word for operator in OPERATORS for word in ("--with", operator)]
    yield (
        "`unswayed vary`",
        cost(folder, "vary", "data.jsonl", *chosen, "--draws", str(DRAWS), "--seed", "7", "-o", "suite"),
    )
    yield "`unswayed run`", cost(folder, "run", "suite", "--system", "quick:predict", "-o", "run", "--no-sanity")
    for stored in ("results.json", "scores.sqlite"):  # `run` measures too: without them, `measure` does so anew
        (folder / "run" / stored).unlink(missing_ok=True)
    yield "`unswayed measure`", cost(folder, "measure", "run", "run", "--no-sanity")
    yield "`unswayed measure`, measured before", cost(folder, "measure", "run", "run", "--no-sanity")
    yield "`unswayed report`", cost(folder, "report", "run", "-o", "report.html", "--no-sanity")


def write_data(folder: Path, examples: int) -> None:
    with (folder / "data.jsonl").open("w") as file:
        for i in range(examples):
            place, label = PLACES[i % len(PLACES)], ("on", "off", "dim")[i % 3]
            file.write(f'{{"text": "turn {label} light number {i} in the {place}", "label": "{label}"}}\n')


def cost(folder: Path, *arguments: str) -> Cost:
    return cost_of(folder, [sys.executable, "-m", "unswayed", *arguments])


def cost_of(folder: Path, command: Sequence[str]) -> Cost:
    began = time.perf_counter()
    with (folder / "said.txt").open("w") as out:
        process = subprocess.Popen(command, cwd=folder, stdout=out, stderr=out, env={**os.environ, **ONE_THREAD})
        _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        said = (folder / "said.txt").read_text()[-300:]
        raise RuntimeError(f"{command[2]} {command[3]} exits {process.returncode}: {said}")
    return Cost(time.perf_counter() - began, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024)


def _all(sizes: Sequence[int], made: bool = False) -> Iterator[tuple[int, str, Cost]]:
    with tempfile.TemporaryDirectory() as place:
        for size in sizes:
            yield size, "measures of made items", cost_of(Path(place), [sys.executable, "-c", MEASURE, str(size)])
            if made:
                continue
            for command, taken in costs(size, Path(place, str(size))):
                say(f"{size:,} {command}: {taken.seconds:.0f} s, {taken.peak:.0f} MB")
                yield size, command, taken
            say(f"{size:,}: {folder_megabytes(Path(place, str(size))):,.0f} MB of disk")


def size_rows(sizes: Sequence[int]) -> Iterator[Row]:
    for size, command, taken in _all(sizes):
        rate = size / taken.cpu
        what, note = f"{command} on {size:,} variants", f"{taken.cpu:,.1f} CPU s"
        asked = ASKED if size == 1_000_000 and command != "`unswayed run`" else None
        yield Row(f"speed: {command} {size}", f"{what}, whole", rate, "variants/CPU s", asked=asked, note=note)
        yield Row(f"{command} {size}", f"{what}, peak memory", taken.peak, "MB", more=False, asked=400)


def varied_rows(examples: int = 100_000, rounds: int = 3) -> Iterator[Row]:
    """Of the whole command with one operator, from starting Python to the suite on disk, in turns."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        write_data(folder, examples)
        taken: dict[str, list[float]] = {name: [] for name in VARIED}
        for _ in range(rounds):
            for name, operator in VARIED.items():
                made = cost(folder, "vary", "data.jsonl", "--with", operator, "--draws", "2", "-o", name, "--overwrite")
                taken[name].append(made.cpu)
    for name, operator in VARIED.items():
        rate = 2 * examples / median(taken[name])
        what = f"`unswayed vary`, {name} (`{operator}`), {examples:,} rows × 2 draws, whole"
        yield Row(f"vary {name}", what, rate, "variants/CPU s", asked=ASKED)


def changed_rows(size: int = 1_000_000) -> Iterator[Row]:
    """Of a system that says something else to four of five variants."""
    with tempfile.TemporaryDirectory() as place:
        for command, taken in costs(size, Path(place, "changed"), CHANGING):
            if command in ("`unswayed measure`", "`unswayed report`"):
                what, note = f"{command} on {size:,} variants, 80% of the answers changed", f"{taken.cpu:,.1f} CPU s"
                rate = size / taken.cpu
                yield Row(f"changed: {command}", f"{what}, whole", rate, "variants/CPU s", asked=ASKED, note=note)
                yield Row(
                    f"changed, memory: {command}", f"{what}, peak memory", taken.peak, "MB", more=False, asked=400
                )


def rows() -> Iterator[Row]:
    yield from varied_rows()
    yield from size_rows(QUICK)
    yield from changed_rows()


def long_rows() -> Iterator[Row]:
    yield from size_rows(LONG)


def main() -> None:
    print("| variants | command | seconds | CPU seconds | variants a CPU second | peak resident set |")
    print("|---:|---|---:|---:|---:|---:|")
    sizes = [int(size) for size in sys.argv[1:] if size.isdecimal()]
    for size, command, (seconds, cpu, peak) in _all(sizes or QUICK, "--made" in sys.argv):
        print(f"| {size:,} | {command} | {seconds:,.0f} | {cpu:,.0f} | {size / cpu:,.0f} | {peak:.0f} MB |", flush=True)


if __name__ == "__main__":
    main()
