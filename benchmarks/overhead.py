"""What the harness costs over a plain loop that calls the same batched function on the same 100,000 inputs."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Sequence
from hashlib import blake2b
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks._measure import Row, cpu_seconds, in_turns, show
from unswayed.base.values import Example
from unswayed.data import read_examples, sample_path
from unswayed.run.engine import run_system
from unswayed.storage.suite import Manifest, Suite, write_suite
from unswayed.systems.baselines.intent import Intent
from unswayed.systems.system import System

INPUTS = 100_000
FEWER = 20_000  # for functions that only keep the processor busy
ROUNDS = 3


class Busy(System):
    """Works a given time on each input, as a small model would: hashes it so many times."""

    def __init__(self, microseconds: float) -> None:
        self.name = f"{microseconds:.0f} µs an input"
        self.rounds = 1000
        taken = min(cpu_seconds(lambda: self.predict([{"text": "calibrating"}])) for _ in range(20))
        self.rounds = max(1, round(self.rounds * microseconds / 1e6 / taken))

    @property
    def identity(self) -> str:
        return self.name

    def predict(self, batch: Sequence[dict[str, str]]) -> list[Any]:
        return [self._work(item["text"]) for item in batch]

    def _work(self, text: str) -> str:
        digest = text.encode()
        for _ in range(self.rounds):
            digest = blake2b(digest, digest_size=16).digest()
        return digest.hex()


def suite_of(inputs: int, folder: Path) -> Suite:
    texts = [e.inputs["text"] for e in read_examples(sample_path("home_test"))]
    examples = [Example(i, str(i), {"text": f"{texts[i % len(texts)]} {i}"}, None) for i in range(inputs)]
    return write_suite(folder, Manifest(task="text", language="en"), lambda: examples, list)


def loop(system: System, inputs: list[dict[str, str]]) -> list[Any]:
    outputs: list[Any] = []
    for at in range(0, len(inputs), system.batch_size):
        outputs += system.predict(inputs[at : at + system.batch_size])
    return outputs


class Quick(System):
    """Answers at once, so that next to all that a run takes is the run's own."""

    name = "a function that answers at once"

    @property
    def identity(self) -> str:
        return self.name

    def predict(self, batch: Sequence[dict[str, str]]) -> list[Any]:
        return [("on", "off", "dim")[len(item["text"]) % 3] for item in batch]


class Compared(NamedTuple):
    """CPU seconds of a loop and of a run over the same inputs."""

    loop: float
    run: float
    inputs: int

    @property
    def more(self) -> float:
        """Microseconds an input that the run takes more."""
        return (self.run - self.loop) / self.inputs * 1e6

    @property
    def note(self) -> str:
        return f"{self.more:.1f} µs an input more than {self.loop / self.inputs * 1e6:.1f}"


def compared(system: System, inputs: int, place: Path) -> Compared:
    """The median of some rounds; in each, a run is compared with the loop beside it."""
    suite = suite_of(inputs, place / f"suite-{inputs}-{system.name}")
    texts, runs = [e.inputs for e in suite.examples()], count()
    ways: dict[str, Callable[[], object]] = {
        "loop": lambda: loop(system, texts),
        "run": lambda: run_system(suite, system, place / f"run-{next(runs)}-{inputs}-{system.name}"),
    }
    rounds = [Compared(**in_turns(ways, 1), inputs=inputs) for _ in range(ROUNDS)]
    return sorted(rounds, key=lambda one: one.more)[ROUNDS // 2]


def rows() -> Iterator[Row]:
    intent = Intent.train(read_examples(sample_path("home_train")), "slu")
    intent.name = "embedded model"
    over = "a run over a plain loop that calls the same function on"
    with tempfile.TemporaryDirectory() as place:
        found = compared(Quick(), INPUTS, Path(place))
        what = f"{over} {INPUTS:,} inputs: {Quick.name}"
        yield Row("of its own", what, found.more, "µs an input", more=False, asked=5)
        for system, inputs, asked in ((Busy(100), FEWER, 5.0), (Busy(50), FEWER, 10.0), (intent, INPUTS, 5.0)):
            found = compared(system, inputs, Path(place))
            share = 100 * (found.run / found.loop - 1)
            what = f"{over} {inputs:,} inputs: {system.name}"
            yield Row(system.name, what, share, "% more CPU", more=False, asked=asked, note=found.note)


def main() -> None:
    show("overhead", rows())


if __name__ == "__main__":
    main()
