"""What all measures cost on 100,000 examples × 3 draws with 10,000 bootstrap samples; scipy's bootstrap beside ours."""

from __future__ import annotations

import multiprocessing
import resource
import time
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np

from unfazed.core.task import Task, task_named
from unfazed.core.values import Example, Json, Output, Variant
from unfazed.measure.measuring import measure_run
from unfazed.measure.resample import bootstrap, sample_of
from unfazed.measure.statistics import Mean
from unfazed.score._mean import MeanScorer

EXAMPLES, DRAWS, SAMPLES = 100_000, 3, 10_000
PEER_EXAMPLES = 4_000
Times = tuple[float, float, float]
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
        manifest = SimpleNamespace(labels=None, unchanged={})
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
    """Seconds to go through the run alone; with all measures; and of processor time for the latter."""
    began = time.perf_counter()
    for _ in run.items():
        pass
    between = time.perf_counter()
    processor = time.process_time()
    measure_run(run, [score], bootstrap=SAMPLES)
    return between - began, time.perf_counter() - between, time.process_time() - processor


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
    "continuous, operators reach 100, 90, 80 %": unequal_reach,
}


def _child(name: str, answers: Any) -> None:
    answers.put((*CASES[name](), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20))


def measured(name: str) -> tuple[float, ...]:
    """A case in a process of its own, so that its peak memory is its own."""
    context = multiprocessing.get_context("spawn")
    answers = context.SimpleQueue()
    child = context.Process(target=_child, args=(name, answers))
    child.start()
    child.join()
    if child.exitcode:
        raise SystemExit(f"{name}: the benchmark failed")
    found: tuple[float, ...] = answers.get()
    return found


def beside_scipy() -> tuple[float, float]:
    """Seconds for one percentile interval of a mean of continuous scores: scipy's and ours."""
    from scipy import stats

    values = np.random.default_rng(0).random(PEER_EXAMPLES)
    began = time.perf_counter()
    stats.bootstrap((values,), np.mean, n_resamples=SAMPLES, method="percentile", batch=500, vectorized=True)
    between = time.perf_counter()
    drawn = bootstrap([sample_of(values[:, None], Mean())], SAMPLES, 0)[0]
    np.quantile(drawn, [0.025, 0.975])
    return between - began, time.perf_counter() - between


def main() -> None:
    print(f"{EXAMPLES:,} examples × {DRAWS} draws, {SAMPLES:,} samples; all measures, overall, by operator and family.")
    print("Wanted for 0/1 scores: under 5 s and 2 GiB.\n")
    print(f"| {'scores':<42} | making the items | items and measures | processor | peak memory |")
    print(f"|{'-' * 44}|{'-' * 18}|{'-' * 20}|{'-' * 11}|{'-' * 13}|")
    for name in CASES:
        reading, seconds, processor, memory = measured(name)
        times = f"{reading:>14.1f} s | {seconds:>16.1f} s | {processor:>7.1f} s"
        print(f"| {name:<42} | {times} | {memory:>7.2f} GiB |", flush=True)
    theirs, ours = beside_scipy()
    print(f"\nOne interval of a continuous mean, {PEER_EXAMPLES:,} examples × {SAMPLES:,} samples:")
    print(f"scipy.stats.bootstrap {theirs:.2f} s, ours {ours:.2f} s: {theirs / ours:.1f} times as fast.")


if __name__ == "__main__":
    main()
