"""What all measures cost on 100,000 examples × 3 draws; scipy's bootstrap beside ours."""

from __future__ import annotations

import multiprocessing
import time
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np

from benchmarks._measure import Row, in_turns, peak_megabytes, show
from unswayed.base.task import Task, task_named
from unswayed.base.values import Example, Json, Output, Variant
from unswayed.measure.measuring import measure_run
from unswayed.score import MeanScorer
from unswayed.stats import Mean, bootstrap, sample_of
from unswayed.storage.suite import Manifest

EXAMPLES, DRAWS, SAMPLES = 100_000, 3, 10_000
PEER_EXAMPLES = 4_000
Times = tuple[float, float]
OPERATORS = ("keyboard/one", "keyboard/two", "spoken/three")


class Closeness(MeanScorer):
    """A continuous score, different for almost every output."""

    name = "closeness"

    def item(self, output: Json, gold: Json, task: Task) -> float:
        return 1 - abs(hash(output) % 1_000_003) / 1_000_003


class MadeUp:
    """A run of labels drawn at random. `reach` is the share of examples that each operator varies."""

    system = identity = "made up"

    def __init__(self, reach: tuple[float, ...] = (1.0, 1.0, 1.0), labels: int = 5, task: str = "classify") -> None:
        manifest = Manifest(task="classify", language="en")
        self.suite: Any = SimpleNamespace(id="made up", signed="made up", task=task_named(task), manifest=manifest)
        rng = np.random.default_rng(0)
        self.outputs = rng.integers(0, labels, (EXAMPLES, DRAWS + 1)).tolist()
        self.golds = rng.integers(0, labels, EXAMPLES).tolist()
        self.ends = [share * EXAMPLES for share in reach]

    def items(self) -> Iterator[tuple[Example, Output, list[tuple[Variant, Output]]]]:
        for i, (gold, outputs) in enumerate(zip(self.golds, self.outputs, strict=True)):
            text = {"text": f"text {i}"}
            varied = [
                (Variant(i, str(i), draw, op, op.split("/")[0], "same", {"text": f"{draw} {i}"}, gold, ""), Output(o))
                for draw, (op, o, end) in enumerate(zip(OPERATORS, outputs[1:], self.ends, strict=True))
                if i < end
            ]
            yield Example(i, str(i), text, gold), Output(outputs[0]), varied


def timed(run: MadeUp, score: str) -> Times:
    """CPU seconds with all measures, and of them those that go through the run alone."""
    began = time.process_time()
    for _ in run.items():
        pass
    between = time.process_time()
    measure_run(run, {"measure": {"scores": [score], "bootstrap": SAMPLES, "stored": False}})
    return time.process_time() - between, between - began


def right_or_wrong() -> Times:
    return timed(MadeUp(), "accuracy")


def macro_f1() -> Times:
    return timed(MadeUp(), "macro_f1")


def continuous() -> Times:
    return timed(MadeUp(labels=10**9, task="text"), "benchmarks.measures:Closeness")


def unequal_reach() -> Times:
    return timed(MadeUp((1.0, 0.9, 0.8), labels=10**9, task="text"), "benchmarks.measures:Closeness")


CASES: dict[str, Callable[[], Times]] = {
    "0/1 scores": right_or_wrong,
    "macro-F1, 5 classes": macro_f1,
    "continuous scores": continuous,
    "continuous, operators reach 100, 90, 80%": unequal_reach,
}


def _child(name: str, answers: Any) -> None:
    answers.put((*CASES[name](), peak_megabytes() / 1024))


def measured(name: str) -> tuple[float, ...]:
    """A case in a process of its own, so that its peak memory is its own."""
    context = multiprocessing.get_context("spawn")
    answers = context.SimpleQueue()
    child = context.Process(target=_child, args=(name, answers))
    child.start()
    child.join()
    if child.exitcode:
        raise RuntimeError(f"{name}: the benchmark failed")
    found: tuple[float, ...] = answers.get()
    return found


def beside_scipy() -> dict[str, float]:
    """CPU seconds for one percentile interval of a mean of continuous scores: scipy's and ours."""
    from scipy import stats

    values = np.random.default_rng(0).random(PEER_EXAMPLES)

    def scipy() -> object:
        return stats.bootstrap((values,), np.mean, n_resamples=SAMPLES, method="percentile", batch=500, vectorized=True)

    def ours() -> object:
        return np.quantile(bootstrap([sample_of(values[:, None], Mean())], SAMPLES, 0)[0], [0.025, 0.975])

    return in_turns({"scipy": scipy, "ours": ours})


def rows() -> Iterator[Row]:
    for name in CASES:
        seconds, reading, gigabytes = measured(name)
        yield Row(
            name=name,
            what=f"all measures of {EXAMPLES:,} examples × {DRAWS} draws: {name}",
            unit="CPU s",
            ours=seconds,
            more=False,
            asked=5 if name == "0/1 scores" else 10,
            note=f"{gigabytes:.2f} GiB at most; {reading:.1f} s of it read the run",
        )
    found = beside_scipy()
    yield Row(
        name="one interval",
        what=f"one interval of a continuous mean, {PEER_EXAMPLES:,} examples × {SAMPLES:,} samples",
        unit="CPU s",
        ours=found["ours"],
        peer="scipy.stats.bootstrap",
        theirs=found["scipy"],
        more=False,
    )


def main() -> None:
    show("measures", rows())


if __name__ == "__main__":
    main()
