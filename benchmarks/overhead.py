"""What the harness costs over a plain loop that calls the same batched function on the same 100,000 inputs."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import Any

from unfazed.core.suite import Manifest, Suite, write_suite
from unfazed.core.values import Example
from unfazed.data import read_examples, sample_path
from unfazed.run.engine import run_system
from unfazed.systems.baselines.intent import Intent
from unfazed.systems.system import System

INPUTS = 100_000
ROUNDS = 3


class Busy(System):
    """Works a given time on each input, as a small model would: hashes it so many times."""

    def __init__(self, microseconds: float) -> None:
        self.name = f"{microseconds:.0f} µs an input"
        self.rounds = 1000
        taken = min(seconds(lambda: self.predict([{"text": "calibrating"}])) for _ in range(20))
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


def suite_of(task: str, gold: Any, folder: Path) -> Suite:
    texts = [e.inputs["text"] for e in read_examples(sample_path("home_test"))]
    examples = [Example(i, str(i), {"text": f"{texts[i % len(texts)]} {i}"}, gold) for i in range(INPUTS)]
    return write_suite(folder, Manifest(task=task, language="en"), lambda: examples, list)


def seconds(work: Callable[[], object]) -> float:
    """CPU time, which other programs on the machine change least."""
    began = time.process_time()
    work()
    return time.process_time() - began


def loop(system: System, inputs: list[dict[str, str]]) -> list[Any]:
    outputs: list[Any] = []
    for at in range(0, len(inputs), system.batch_size):
        outputs += system.predict(inputs[at : at + system.batch_size])
    return outputs


def main() -> None:
    intent = Intent.train(read_examples(sample_path("home_train")), "slu")
    print("| system | plain loop, CPU s | unfazed, CPU s | overhead |\n|---|---|---|---|")
    with tempfile.TemporaryDirectory() as place:
        suite = suite_of("text", None, Path(place) / "suite")
        inputs = [e.inputs for e in suite.examples()]
        for system in (intent, Busy(100), Busy(50)):
            plain = whole = float("inf")
            for n in range(ROUNDS):  # in turns, so that both see the same machine
                plain = min(plain, seconds(lambda s=system: loop(s, inputs)))  # type: ignore[misc]
                folder = Path(place) / f"run-{n}-{id(system)}"
                whole = min(whole, seconds(lambda s=system, f=folder: run_system(suite, s, f)))  # type: ignore[misc]
            print(f"| {system.name} | {plain:.2f} | {whole:.2f} | {whole / plain - 1:+.1%} |", flush=True)


if __name__ == "__main__":
    main()
