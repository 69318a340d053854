"""What a second worker brings, in processes here and on Ray, and how fast a suite is made and run, by its size.

Two workers are held against one by the clock, once all of them have started, and can be twice as fast only where two
processors are free; all else is CPU time.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from hashlib import blake2b
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks._measure import LeftOut, Row, cpu_seconds, folder_megabytes, say, show, wall_seconds
from unfazed.core.asking import Asking
from unfazed.core.store import AnswerStore
from unfazed.core.suite import Suite
from unfazed.core.values import Example, Output
from unfazed.run.answering import Answering
from unfazed.run.engine import run_system
from unfazed.run.making import make_suite
from unfazed.run.varying import Varying
from unfazed.run.workers import Engine, Job, Map, in_order
from unfazed.systems.opening import open_system
from unfazed.vary.engine import BLOCK, OperatorSpec, Variation

OPERATOR = "keyboard/pinyin"  # one that keeps a processor busy; the quick ones are held up by the driver
SENTENCES = 16 * BLOCK
ROUNDS = 3
SIZES = (1_000, 10_000, 100_000, 1_000_000)
HASHES = 400  # of an input: about as long as a small model takes
STORED = 200_000
DRIVEN = 100_000


def work_hard(batch: list[dict[str, str]]) -> list[str]:
    """A system that keeps one processor busy."""
    out = []
    for item in batch:
        digest = item["text"].encode()
        for _ in range(HASHES):
            digest = blake2b(digest, digest_size=16).digest()
        out.append(digest.hex()[:1])
    return out


def texts(count: int) -> list[dict[str, str]]:
    places = ("kitchen", "hall", "garden", "bathroom on the first floor", "living room")
    return [{"text": f"turn on light number {i} in the {places[i % 5]}", "label": "a"} for i in range(count)]


def suite(count: int, place: Path, operators: Iterable[str] = ("keyboard/adjacent",), draws: int = 1) -> Suite:
    return make_suite(texts(count), list(operators), draws=draws, task="text", language="en", to=place)


def jobs(place: Path) -> Iterator[tuple[str, Job, list[Any]]]:
    """Varying and asking as jobs, each with its blocks."""
    examples = [Example(i, str(i), {"text": f"请把{i}号房间的灯打开，再放一首老歌给我听"}) for i in range(SENTENCES)]
    variation = Variation(operators=(OperatorSpec(OPERATOR),), task="text", language="zh")
    yield "vary", Varying(variation), [examples[at : at + BLOCK] for at in range(0, len(examples), BLOCK)]
    made = suite(SENTENCES // 2, place / "suite")
    name = "benchmarks.scaling:work_hard"
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
        with engine.map(job, lambda _: what) as do:
            yield do
    else:
        with engine.pool(job) as pool:
            yield partial(in_order, pool)


def timed(what: str, engine: Engine, job: Job, blocks: list[Any]) -> tuple[float, float]:
    """Seconds for all blocks once all workers have begun, and until the first of them had."""
    began = time.perf_counter()
    with doing(what, engine, job) as do:
        list(do(blocks[:1]))
        start = time.perf_counter() - began
        for _ in range(2):  # until all workers have begun and loaded what they load with a first block
            list(do(blocks))
        return wall_seconds(lambda: list(do(blocks))), start


def pairs(name: str, place: Path) -> Iterator[Row]:
    """Of one engine: how much faster two workers are than one, and how long they take to start."""
    for what, job, blocks in jobs(place):
        say(f"{what} on {name}")
        taken: dict[int, list[tuple[float, float]]] = {1: [], 2: []}
        for workers in (1, 2) * ROUNDS:  # in turns, so that both see the same machine
            taken[workers].append(timed(what, Engine(name=name, workers=workers), job, blocks))
        (one, _), (two, start) = min(taken[1]), min(taken[2])
        items = sum(map(len, blocks))
        yield Row(
            f"{what} {name} 1→2",
            f"`{what}` on the engine {name}: two workers against one",
            one / two,
            "times",
            note=f"{items / one:,.0f} and {items / two:,.0f} items/s; started in {start:.1f} s",
        )


def by_size(sizes: Iterable[int], place: Path) -> Iterator[Row]:
    """Variants a second of `vary` and `run` in one process, and what one takes on disk."""
    for size in sizes:
        say(f"{size:,} variants")
        folder = place / f"suite-{size}"
        varied = cpu_seconds(lambda f=folder, n=size: suite(n // 2, f, draws=2))  # type: ignore[misc]
        run = place / f"run-{size}"
        asked = cpu_seconds(lambda s=folder, r=run: run_system(s, "benchmarks.scaling:quick", r))  # type: ignore[misc]
        on_disk = f"{folder_megabytes(folder) * 1e6 / size:.0f} bytes in the suite"
        stored = f"{folder_megabytes(run) * 1e6 / size:.0f} in the store"
        yield Row(f"vary {size}", f"`vary`, {size:,} variants", size / varied, "variants/CPU s", note=on_disk)
        what = f"`run`, {size:,} variants of {size // 2:,} examples"
        yield Row(f"run {size}", what, 1.5 * size / asked, "items/CPU s", note=stored)


def quick(batch: list[dict[str, str]]) -> list[str]:
    """A system that costs nothing."""
    return ["a"] * len(batch)


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
    made = make_suite(texts(examples), ["keyboard/adjacent"], draws=2, task="text", to=place / "driven", engine=two)
    varied = time.process_time() - began
    began = time.process_time()
    run_system(made, "benchmarks.scaling:quick", place / "driven-run", engine=two)
    asked = time.process_time() - began
    what = "that one driver {}, by its own time"
    yield Row("driver vary", f"variants {what.format('writes')}", 2 * examples / varied, "variants/CPU s")
    yield Row("driver run", f"items {what.format('hands out and stores')}", 3 * examples / asked, "items/CPU s")


def rows() -> Iterator[Row]:
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        yield from pairs("local", place)
        yield store_row(place)
        yield from driver_rows(place)
        yield from by_size(SIZES, place)


def long_rows() -> Iterator[Row]:
    try:
        import ray  # noqa: F401
    except ImportError as error:
        raise LeftOut("the extra `ray` is not installed") from error
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        yield from pairs("ray", place)


def main() -> None:
    show("scaling", [*rows(), *(long_rows() if "--all" in sys.argv else ())])


if __name__ == "__main__":
    main()
