"""`collect serve` killed -9 at random moments while people answer: whatever was acknowledged is there afterwards."""

from __future__ import annotations

import asyncio
import json
import random
import signal
import socket
import subprocess
import time
from pathlib import Path

import httpx
import pytest

from unswayed.collect.database import open_database
from unswayed.collect.items import make_study
from unswayed.collect.people import consent, hashed, invite
from unswayed.collect.site import signed
from unswayed.collect.study import PeopleStudy, read_study

from .conftest import COMMAND, collecting

PEOPLE, ITEMS, KILLS = 16, 3_000, 4


def served(study: PeopleStudy) -> tuple[subprocess.Popen[bytes], int]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    process = subprocess.Popen(
        [*COMMAND, "collect", "serve", study.file, "--port", str(port)], stderr=subprocess.DEVNULL
    )
    for _ in range(1200):
        try:
            httpx.get(f"http://127.0.0.1:{port}/")
            return process, port
        except httpx.TransportError:
            assert process.poll() is None
            time.sleep(0.05)
    raise AssertionError("the server did not start")


async def answering(port: int, token: str, csrf: str, acknowledged: dict[str, str]) -> None:
    """One person who takes an item, answers it and sends that, over and over, until the server is gone."""
    async with httpx.AsyncClient(cookies={"token": token}, base_url=f"http://127.0.0.1:{port}", timeout=30) as http:
        try:
            while True:
                page = (await http.get("/task")).text
                item = page.partition('data-item="')[2].partition('"')[0]
                said = random.Random(item).choice(["keyboard", "speech", "none"])
                body = json.dumps({"item": item, "answer": {"choice": [said]}, "log": []})
                reply = await http.post("/answer", content=body, headers={"x-csrf": csrf})
                if reply.status_code == 200:
                    acknowledged[item] = said
                else:
                    assert reply.status_code == 429, reply.text
                    await asyncio.sleep(0.05)
        except httpx.TransportError:
            return


async def until_killed(
    process: subprocess.Popen[bytes], port: int, people: list[tuple[str, str]], after: int, jitter: float
) -> dict[str, str]:
    """What was acknowledged before the server was killed, a moment after so many answers."""
    acknowledged: dict[str, str] = {}
    tasks = [asyncio.create_task(answering(port, *person, acknowledged)) for person in people]
    while len(acknowledged) < after:
        assert not any(task.done() for task in tasks), "somebody could not answer"
        await asyncio.sleep(0.002)
    await asyncio.sleep(jitter)
    process.send_signal(signal.SIGKILL)
    await asyncio.gather(*tasks)
    process.wait()
    return acknowledged


@pytest.mark.slow
def test_what_was_acknowledged_is_there_after_kill_9(tmp_path: Path, database: str) -> None:
    items = [{"id": f"i{n}", "text": f"text {n}"} for n in range(ITEMS)]
    study = read_study(collecting.write_study(tmp_path, "choice", items, database=database))
    store, _, _ = make_study(study)
    with store:
        names = [f"p{n}" for n in range(PEOPLE)]
        tokens = store.write(lambda tx: [invite(tx, study, name) for name in names])
        store.write(lambda tx: [consent(tx, name, {}, 1.0) for name in names])
        ((secret,),) = store.read(lambda tx: tx.rows("SELECT value FROM facts WHERE name = 'secret'"))
    people = [(token, signed(secret, hashed(token))) for token in tokens]
    moments = random.Random(4)
    acknowledged: dict[str, str] = {}
    for _ in range(KILLS):
        process, port = served(study)
        said = asyncio.run(until_killed(process, port, people, moments.randint(5, 60), moments.uniform(0, 0.05)))
        assert not said.keys() & acknowledged.keys(), "an item was given out again after its answer was acknowledged"
        acknowledged |= said
        with open_database(study.place) as store:
            rows = store.read(lambda tx: tx.rows("SELECT item, content FROM work WHERE state = 'answered'"))
        kept = {item: json.loads(text)["choice"][0] for item, text in rows}
        assert acknowledged.items() <= kept.items()
    assert len(acknowledged) > 50
