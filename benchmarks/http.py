"""A run on a chat server beside a bare loop of httpx with the same concurrency, on the same prompts and server."""

from __future__ import annotations

import asyncio
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import cycle, islice
from pathlib import Path
from typing import Any

import httpx

from benchmarks._http_server import Server
from benchmarks._measure import Row, show
from unswayed.base.values import Example
from unswayed.data import read_examples, sample_path
from unswayed.run.engine import run_system
from unswayed.storage.suite import Manifest, Suite, write_suite
from unswayed.systems.asking import Asking
from unswayed.systems.opening import open_system
from unswayed.systems.template import PROMPTS, Template

REQUESTS = 2000
CONCURRENCY = 32
ROUNDS = 2
DELAYS = (0.0, 0.05)  # seconds that the server takes for an answer

Spent = tuple[float, float]  # seconds, CPU seconds


def examples() -> Iterator[Example]:
    texts = cycle(e.inputs["text"] for e in read_examples(sample_path("home_test")))
    for i, text in enumerate(islice(texts, REQUESTS)):
        inputs = {"premise": f"{text} {i}", "hypothesis": text}
        yield Example(i, str(i), inputs, "entailed" if i % 2 else "not_entailed")


def bodies(suite: Suite) -> list[dict[str, Any]]:
    template = Template.read("nli.txt", PROMPTS)
    messages = [[{"role": "user", "content": template.fill(e.inputs)}] for e in suite.examples()]
    return [{"model": "m", "messages": m, "stream": False, "temperature": 0.0, "max_tokens": 1} for m in messages]


def spent(work: Callable[[], object]) -> Spent:
    wall, cpu = time.perf_counter(), time.process_time()
    work()
    return time.perf_counter() - wall, time.process_time() - cpu


def said(response: httpx.Response) -> str:
    response.raise_for_status()
    text: str = response.json()["choices"][0]["message"]["content"]
    return text


async def asynchronous(url: str, asked: list[dict[str, Any]]) -> list[str]:
    waiting = iter(asked)
    limits = httpx.Limits(max_connections=CONCURRENCY, max_keepalive_connections=CONCURRENCY)
    async with httpx.AsyncClient(limits=limits, timeout=60) as client:

        async def worker() -> list[str]:
            return [said(await client.post(url, json=body)) for body in waiting]

        return [text for part in await asyncio.gather(*(worker() for _ in range(CONCURRENCY))) for text in part]


def threaded(url: str, asked: list[dict[str, Any]]) -> list[str]:
    limits = httpx.Limits(max_connections=CONCURRENCY, max_keepalive_connections=CONCURRENCY)
    with httpx.Client(limits=limits, timeout=60) as client, ThreadPoolExecutor(CONCURRENCY) as pool:
        return list(pool.map(lambda body: said(client.post(url, json=body)), asked))


def unswayed(url: str, suite: Suite, folder: Path) -> None:
    system = open_system(url, model="m", prompt="nli.txt")
    run = run_system(suite, system, folder, plan={"run": {"asking": Asking(concurrency=CONCURRENCY)}})
    system.close()
    assert sum(output.ok for _, output, _ in run.items()) == REQUESTS


def measured(suite: Suite, place: Path, delay: float) -> dict[str, Spent]:
    """The best of some rounds, taken in turns, so that all see the same machine."""
    best: dict[str, Spent] = {}
    asked = bodies(suite)
    with Server(delay=delay) as server:
        chat = f"{server.url}/v1/chat/completions"
        for n in range(ROUNDS):
            ways: dict[str, Callable[[], object]] = {
                "httpx, asyncio": lambda: asyncio.run(asynchronous(chat, asked)),
                "httpx, threads": lambda: threaded(chat, asked),
                "unswayed": lambda n=n: unswayed(f"{server.url}/v1", suite, place / f"{delay}-{n}"),  # type: ignore[misc]
            }
            for name, work in ways.items():
                now = spent(work)
                wall, cpu = best.get(name, now)
                best[name] = min(wall, now[0]), min(cpu, now[1])
    return best


def rows() -> Iterator[Row]:
    with tempfile.TemporaryDirectory() as place:
        found = list(examples())
        suite = write_suite(Path(place) / "suite", Manifest(task="classify", language="en"), lambda: found, list)
        for delay in DELAYS:
            best = measured(suite, Path(place), delay)
            peer = min((name for name in best if name != "unswayed"), key=lambda name: best[name][0])
            answering = f"that takes {delay * 1000:.0f} ms" if delay else "that answers at once"
            what = f"a chat server {answering}, {REQUESTS:,} requests, {CONCURRENCY} at a time"
            yield Row(
                name=f"requests, server of {delay * 1000:.0f} ms",
                what=what,
                unit="requests/s",
                ours=REQUESTS / best["unswayed"][0],
                peer=f"a bare loop of {peer}",
                theirs=REQUESTS / best[peer][0],
                asked=round(0.9 * REQUESTS / best[peer][0]),
            )
            cheapest = min((name for name in best if name != "unswayed"), key=lambda name: best[name][1])
            yield Row(
                name=f"CPU, server of {delay * 1000:.0f} ms",
                what=what,
                unit="CPU ms a request",
                ours=best["unswayed"][1] / REQUESTS * 1000,
                peer=f"a bare loop of {cheapest}",
                theirs=best[cheapest][1] / REQUESTS * 1000,
                more=False,
            )


def main() -> None:
    show("http", rows())


if __name__ == "__main__":
    main()
