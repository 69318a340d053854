"""A server that allows 20 requests a second, used without being told so: how much of it, and how many retries."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from benchmarks._http_server import Server
from benchmarks._measure import Row, show
from unswayed.base.values import Example
from unswayed.run.engine import run_system
from unswayed.storage.suite import Manifest, write_suite
from unswayed.systems.opening import open_system

LIMIT, BURST = 20, 20  # of the server's token bucket, a second
REQUESTS = 1408
DELAYS = (0.02, 0.3)  # seconds that the server takes for an answer


def used(place: Path, delay: float) -> tuple[float, float]:
    """The share of what the bucket gave out in that time, and the share of requests that were retries."""
    texts = [f"is it late, number {i}?" for i in range(REQUESTS)]
    examples = [Example(i, str(i), {"text": text}, "yes" if i % 2 else "no") for i, text in enumerate(texts)]
    suite = write_suite(place / "suite", Manifest(task="classify", language="en"), lambda: examples, list)
    with Server(delay=delay, rate=LIMIT, burst=BURST) as server:
        system = open_system(f"{server.url}/v1", model="m")
        began = time.monotonic()
        run = run_system(suite, system, place / "run")
        seconds = time.monotonic() - began
        system.close()
        heard = server.counts()["heard"]
    assert sum(output.ok for _, output, _ in run.items()) == REQUESTS
    return REQUESTS / (BURST + LIMIT * seconds), (heard - REQUESTS) / heard


def rows() -> Iterator[Row]:
    with tempfile.TemporaryDirectory() as place, ThreadPoolExecutor() as pool:  # at once: they wait most of the time
        found = list(pool.map(lambda delay: used(Path(place, str(delay)), delay), DELAYS))
    for delay, (share, retries) in zip(DELAYS, found, strict=True):
        what = f"{REQUESTS:,} requests to a server that allows {LIMIT} a second and takes {delay * 1000:.0f} ms"
        name = f"rate limit, server of {delay * 1000:.0f} ms"
        yield Row(name=f"{name}: used", what=what, unit="% of the limit", ours=100 * share, asked=90)
        yield Row(name=f"{name}: retries", what=what, unit="% of requests", ours=100 * retries, asked=10, more=False)


def main() -> None:
    show("rate", rows())


if __name__ == "__main__":
    main()
