"""What a second worker brings, in processes here and on Ray, and how fast a suite is made and run, by its size.

Two workers are held against one by the clock, once all of them have started, and can be twice as fast only where two
processors are free; all else is CPU time.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from hashlib import blake2b
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

from benchmarks._measure import (
    LeftOut,
    Row,
    cpu_of_children,
    cpu_seconds,
    folder_megabytes,
    say,
    script,
    show,
    wall_seconds,
)
from unswayed.base.options import OperatorSpec
from unswayed.base.values import Example, Output
from unswayed.run.answering import Answering
from unswayed.run.engine import run_system
from unswayed.run.making import make_suite
from unswayed.run.plan import Engine
from unswayed.run.process_pool import ProcessPool
from unswayed.run.varying import Varying
from unswayed.run.workers import Job, Map, mapped_on, open_pool, results_in_order
from unswayed.storage.answers import AnswerStore
from unswayed.storage.suite import Suite
from unswayed.systems.asking import Asking
from unswayed.systems.opening import open_system
from unswayed.vary.engine import BLOCK, Variation

OPERATOR = "keyboard/pinyin"  # one that keeps a processor busy; the quick ones are held up by the driver
SENTENCES = 16 * BLOCK
ROUNDS = 3
WARM = 5_000  # examples of a suite that goes before the one that is timed
SIZES = (1_000, 10_000, 100_000, 1_000_000, 10_000_000)
STORED = 200_000
DRIVEN = 100_000
WHOLE = 100_000  # sentences that whole commands vary, or ask about


def texts(count: int) -> Iterator[dict[str, str]]:
    places = ("kitchen", "hall", "garden", "bathroom on the first floor", "living room")
    return ({"text": f"turn on light number {i} in the {places[i % 5]}", "label": "a"} for i in range(count))


def sentence(number: int) -> str:
    return f"请把{number}号房间的灯打开，再放一首老歌给我听"


def file_of(count: int, place: Path) -> Path:
    """The texts in a file, so that no size of it is held in memory."""
    with (file := place / f"texts-{count}.jsonl").open("w") as lines:
        lines.writelines(f"{json.dumps(text)}\n" for text in texts(count))
    return file


def suite(given: object, place: Path, draws: int = 1) -> Suite:
    return make_suite(given, "keyboard/adjacent", draws=draws, task="text", language="en", to=place)


def jobs(place: Path) -> Iterator[tuple[str, Job, list[Any]]]:
    """Varying and asking as jobs, each with its blocks."""
    examples = [Example(i, str(i), {"text": sentence(i)}) for i in range(SENTENCES)]
    variation = Variation(operators=(OperatorSpec(OPERATOR),), task="text", language="zh")
    yield "vary", Varying(variation, encoded=True), [examples[at : at + BLOCK] for at in range(0, len(examples), BLOCK)]
    made = suite(list(texts(SENTENCES // 2)), place / "suite")
    name = "benchmarks._at_work:work_hard"
    inputs = [item.inputs for group in made.groups() for item in (group[0], *group[1])]
    job = Answering(
        system=name,
        options={},
        identity=open_system(name).identity,
        suite=str(made.path),
        manifest=made.manifest,
        asking=Asking(),
    )
    yield "run", job, [inputs[at : at + 64] for at in range(0, len(inputs), 64)]


@contextmanager
def doing(what: str, engine: Engine, job: Job) -> Iterator[Map]:
    """The job on an engine as a command does it: variants are mapped, a system is asked by workers that hold it."""
    if what == "vary":
        with mapped_on(engine, job, lambda _: what) as do:
            yield do
    else:
        with open_pool(engine, job) as pool:
            yield partial(results_in_order, pool)


class Timed(NamedTuple):
    """Of all blocks: seconds once all workers have begun, and CPU seconds of the process that hands them out."""

    seconds: float
    main: float


def timed(what: str, engine: Engine, job: Job, blocks: list[Any]) -> Timed:
    with doing(what, engine, job) as do:
        for _ in range(2):  # until all workers are ready and have loaded what they load with a first block
            list(do(blocks))
        began = time.process_time()
        seconds = wall_seconds(lambda: list(do(blocks)))
        return Timed(seconds, time.process_time() - began)


def pairs(name: str, place: Path) -> Iterator[Row]:
    """Of one engine: how much faster two workers are than one. Here one is this process, which waits for nobody."""
    for what, job, blocks in jobs(place):
        say(f"{what} on {name}")
        taken: dict[int, list[Timed]] = {1: [], 2: []}
        for workers in (1, 2) * ROUNDS:  # in turns, so that both see the same machine
            taken[workers].append(timed(what, Engine(name=name, workers=workers), job, blocks))
        one, two = min(taken[1]), min(taken[2])
        items = sum(map(len, blocks))
        yield Row(
            f"{what} {name} 1→2",
            f"`{what}` on the engine {name}: two workers against one",
            one.seconds / two.seconds,
            "times",
            asked=1.8,
            note=f"{items / one.seconds:,.0f} and {items / two.seconds:,.0f} items/s; the process that hands them out "
            f"takes {two.main / items * 1e6:.1f} CPU µs an item, doing it itself {one.main / items * 1e6:.0f}",
        )


def command_rows(place: Path, rounds: int = 2) -> Iterator[Row]:
    """The same of whole commands, from the start of Python to the files on disk."""
    data = place / "sentences.jsonl"
    data.write_text("".join(json.dumps({"text": sentence(i)}) + "\n" for i in range(WHOLE)), "utf-8")
    made = suite(list(texts(WHOLE // 2)), place / "asked", draws=2)
    commands = {
        "vary": ["vary", str(data), "--with", OPERATOR, "--draws", "2", "--overwrite", "-o", str(place / "varied")],
        "run": ["run", str(made.path), "--system", "benchmarks._at_work:work_hard", "--no-sanity"],
    }
    for what, words in commands.items():
        say(f"whole `{what}`")
        taken: dict[int, list[float]] = {1: [], 2: []}
        for n in range(rounds):
            for workers in taken:
                more = ["-o", str(place / f"run-{n}-{workers}")] if what == "run" else []
                command = [sys.executable, "-m", "unswayed", *words, *more, "--workers", str(workers)]
                taken[workers].append(wall_seconds(partial(subprocess.run, command, check=True, capture_output=True)))
        one, two = min(taken[1]), min(taken[2])
        yield Row(
            f"whole {what} 1→2",
            f"`unswayed {what}`, whole: two workers against one",
            one / two,
            "times",
            asked=1.8,
            note=f"{one:.1f} and {two:.1f} s",
        )


def start_rows(place: Path) -> Iterator[Row]:
    """What a worker process takes until it has done one item: Python, our modules, the operators or the system."""
    text = Variation(operators=(OperatorSpec("keyboard/adjacent"),), task="text", language="en")
    english = [Example(0, "0", {"text": "turn on the light in the kitchen"})]
    (_, chinese, sentences), (_, asking, inputs) = jobs(place)
    starts: dict[str, tuple[Job, Any]] = {
        "varies (`keyboard/adjacent`)": (Varying(text), english),
        f"varies (`{OPERATOR}`)": (chinese, sentences[0][:1]),
        "runs a function": (asking, inputs[0][:1]),
    }
    for what, (job, block) in starts.items():
        taken = median(cpu_of_children_in(partial(_once, job, block)) for _ in range(ROUNDS))
        yield Row(f"start {what}", f"a worker process that {what}: first item", taken, "CPU s", more=False, asked=0.3)


def _once(job: Job, block: Any) -> None:
    with ProcessPool(job, 1) as crew:
        crew.give(block)
        crew.take()


def cpu_of_children_in(work: Callable[[], object]) -> float:
    before = cpu_of_children()
    work()
    return cpu_of_children() - before


def by_size(sizes: Iterable[int], place: Path) -> Iterator[Row]:
    """Variants a second of `vary` and `run` in one process, beyond what either takes for two of them."""
    start = costs_of(2, place)
    rates: dict[str, list[float]] = {"vary": [], "run": []}
    for size in sizes:
        say(f"{size:,} variants")
        varied, asked = (max(cost - least, 1e-9) for cost, least in zip(costs_of(size, place), start, strict=True))
        folder, run = place / f"suite-{size}-0", place / f"run-{size}-0"
        on_disk = f"{folder_megabytes(folder) * 1e6 / size:.0f} bytes in the suite"
        stored = f"{folder_megabytes(run) * 1e6 / size:.0f} in the store"
        rates["vary"].append(size / varied)
        rates["run"].append(1.5 * size / asked)
        yield Row(f"vary {size}", f"`vary`, {size:,} variants", size / varied, "variants/CPU s", note=on_disk)
        what = f"`run`, {size:,} variants of {size // 2:,} examples"
        yield Row(f"run {size}", what, 1.5 * size / asked, "items/CPU s", note=stored)
    for (name, found), first in zip(rates.items(), start, strict=True):
        middle = median(found)
        most = max(abs(middle / rate - 1) for rate in found)
        yield Row(
            f"flat {name}",
            f"`{name}`: most that the cost of an item differs from the middle one, by the number of variants",
            100 * most,
            "%",
            more=False,
            asked=20,
            note=f"beside {1000 * first:.0f} CPU ms for any number",
        )


def costs_of(size: int, place: Path) -> tuple[float, float]:
    """CPU seconds of making a suite and of running it, the least of several where it is small.

    Of a few milliseconds, what the machine adds now and then is a large part.

    Each has a process of its own, as a command does: memory that others have used and left is slower to use.
    """
    varied, asked = [], []
    file_of(max(1, size // 2), place)
    for n in range(max(1, min(9, 900_000 // size))):
        varied.append(script(COST, "vary", size, n, place))
        asked.append(script(COST, "run", size, n, place))
    return min(varied), min(asked)


COST = """
import sys
from pathlib import Path
from benchmarks.scaling import cost
what, size, n, place = sys.argv[1:]
print(cost(what, int(size), int(n), Path(place)))
"""


def cost(what: str, size: int, n: int, place: Path) -> float:
    """CPU seconds of one step in this process, once a small suite has shown it all that there is to load."""
    with tempfile.TemporaryDirectory() as small:
        run_system(suite(list(texts(WARM)), Path(small) / "suite"), "benchmarks._at_work:quick", Path(small) / "run")
    folder = place / f"suite-{size}-{n}"
    if what == "vary":
        return cpu_seconds(partial(suite, place / f"texts-{max(1, size // 2)}.jsonl", folder, draws=2))
    return cpu_seconds(partial(run_system, folder, "benchmarks._at_work:quick", place / f"run-{size}-{n}"))


def store_row(place: Path) -> Row:
    """What the one store takes that one driver writes."""

    def write() -> None:
        with AnswerStore.writer(place / f"store-{time.monotonic_ns()}") as store:
            for at in range(0, STORED, 64):
                store.put((blake2b(b"%d" % i, digest_size=16).digest(), Output("label")) for i in range(at, at + 64))

    seconds = median(cpu_seconds(write) for _ in range(ROUNDS))
    return Row("store", f"outputs that one store takes, {STORED:,} of them", STORED / seconds, "outputs/CPU s")


def driver_rows(place: Path) -> Iterator[Row]:
    """What one driver gets through while others do the work: where more workers no longer help."""
    two = Engine(workers=2)
    examples = DRIVEN // 2
    began = time.process_time()
    made = make_suite(
        list(texts(examples)), ["keyboard/adjacent"], draws=2, task="text", to=place / "driven", plan={"engine": two}
    )
    varied = time.process_time() - began
    began = time.process_time()
    run_system(made, "benchmarks._at_work:quick", place / "driven-run", plan={"engine": two})
    asked = time.process_time() - began
    what = "that one driver {}, by its own time"
    yield Row("driver vary", f"variants {what.format('writes')}", 2 * examples / varied, "variants/CPU s")
    yield Row("driver run", f"items {what.format('hands out and stores')}", 3 * examples / asked, "items/CPU s")


def rows() -> Iterator[Row]:
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        yield from pairs("local", place)
        yield from command_rows(place)
        yield from start_rows(place)
        yield store_row(place)
        yield from driver_rows(place)
        yield from by_size(SIZES, place)


def long_rows() -> Iterator[Row]:
    try:
        import ray  # noqa: F401
    except ImportError as error:
        raise LeftOut("the extra `ray` is not installed") from error
    with tempfile.TemporaryDirectory() as folder:
        yield from pairs("ray", Path(folder))


def main() -> None:
    show("scaling", [*rows(), *(long_rows() if "--all" in sys.argv else ())])


if __name__ == "__main__":
    main()
