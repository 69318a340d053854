"""Durable answers a second over HTTP, what kill -9 loses, and how fast the owner's view of 100,000 answers opens."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from benchmarks._crowd import run
from benchmarks._measure import Row, cpu_of_children, show
from benchmarks._soak import soak
from benchmarks._traffic import (
    PROXIES,
    behind,
    flood_headers,
    large_uploads,
    program,
    restart_under_load,
    slow_loris,
    watched,
)

PEOPLE = 50  # who answer at once
SECONDS = 5.0
KILLS = 20
CROWD = 200  # people on PostgreSQL
CROWD_SECONDS = 300.0
CROWD_KILLS = 5
FLOOD = 100  # megabytes of headers
SLOW, SLOW_SECONDS = 300, 20.0  # connections that send a header a second
RESTARTS = 3
UPLOADS = 8  # at once
SESSIONS = 10_000

STUDY = """title = "Load"
kind = "choice"
contact = "x@example.org"
consent = "x"
[items]
path = "items.jsonl"
[assign]
k = 1
shuffle = false
[options]
question = "Which?"
answers = ["keyboard", "speech"]
"""


def make(folder: Path, items: int) -> tuple[Path, list[str]]:
    """A study and its people, who have consented; returns their tokens."""
    from unswayed.collect.items import make_study
    from unswayed.collect.people import consent, invite
    from unswayed.collect.study import read_study

    file = folder / "study.toml"
    file.write_text(STUDY)
    (folder / "items.jsonl").write_text("".join(f'{{"id": "i{n}", "text": "text {n}"}}\n' for n in range(items)))
    study = read_study(file)
    store, _, _ = make_study(study)
    with store:
        names = [f"p{n}" for n in range(PEOPLE)]
        tokens = store.write(lambda tx: [invite(tx, study, name) for name in names])
        store.write(lambda tx: [consent(tx, name, {}, 1.0) for name in names])
    return file, tokens


def give_out(database: Path, people: int, items: int) -> None:
    """Leases all items beforehand, so that answering alone is measured."""
    with sqlite3.connect(database) as db:
        db.executemany(
            "INSERT INTO work (item, person, stratum, state, live, shown, shows, taken, expires) "
            "VALUES (?, ?, '', 'leased', 1, '{}', 1, ?, ?)",
            [(f"i{n}", f"p{n % people}", time.time(), time.time() + 1e6) for n in range(items)],
        )
        db.execute("UPDATE items SET free = 0")
        db.execute("UPDATE strata SET live = ?", (items,))
    db.close()


SERVER = """
import sys
from unswayed.collect import server, site
from unswayed.collect.study import read_study
site.Limit.allows = lambda self, caller, now=None: True  # fifty people here answer as fast as thousands would
server.serve({"": read_study(sys.argv[1])}, "127.0.0.1", int(sys.argv[2]))
"""


def start(file: Path) -> tuple[subprocess.Popen[bytes], int]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    process = subprocess.Popen([sys.executable, "-c", SERVER, str(file), str(port)])
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return process, port
        except OSError:
            time.sleep(0.05)


class Load:
    """People who each send one answer after another, and note which were acknowledged and how long that took."""

    def __init__(self, port: int, tokens: list[str], secret: str) -> None:
        from unswayed.collect.people import hashed
        from unswayed.collect.site import signed

        self.port = port
        self.people = [(token, signed(secret, hashed(token))) for token in tokens]
        self.said: list[str] = []
        self.times: list[float] = []

    async def person(self, n: int, items: range, end: float) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        token, csrf = self.people[n]
        padding = [{"t": t, "e": "down", "k": "Process", "c": "KeyL", "p": 1} for t in range(18)]
        for item in items:
            if time.monotonic() > end:
                break
            body = json.dumps({"item": f"i{item}", "answer": {"choice": ["speech"]}, "log": padding}).encode()
            head = f"POST /answer HTTP/1.1\r\nhost: x\r\ncookie: token={token}\r\nx-csrf: {csrf}\r\n"
            began = time.perf_counter()
            writer.write(f"{head}content-length: {len(body)}\r\n\r\n".encode() + body)
            try:
                reply = await reader.readuntil(b"\r\n\r\n")
                size = int(reply.lower().partition(b"content-length: ")[2].split(b"\r\n")[0])
                await reader.readexactly(size)
            except (asyncio.IncompleteReadError, ConnectionError):
                return  # the server was killed
            assert b" 200 " in reply[:20], reply
            self.times.append(time.perf_counter() - began)
            self.said.append(f"i{item}")
        writer.close()

    async def all(self, items: int, seconds: float) -> float:
        end = time.monotonic() + seconds
        began = time.perf_counter()
        await asyncio.gather(*(self.person(n, range(n, items, PEOPLE), end) for n in range(PEOPLE)))
        return time.perf_counter() - began

    async def until_killed(self, process: subprocess.Popen[bytes], items: range, seconds: float) -> None:
        people = (self.person(n, items[n::PEOPLE], float("inf")) for n in range(PEOPLE))
        running = asyncio.gather(*people)
        await asyncio.sleep(seconds)
        os.kill(process.pid, signal.SIGKILL)
        await running


def secret_of(database: Path) -> str:
    with sqlite3.connect(database) as db:
        ((secret,),) = db.execute("SELECT value FROM facts WHERE name = 'secret'")
    db.close()
    return str(secret)


def throughput() -> tuple[float, float, float, float]:
    """Answers a second; median and 99th percentile of an answer's milliseconds; the server's CPU time for one."""
    with tempfile.TemporaryDirectory() as name:
        folder, items = Path(name), 40_000
        file, tokens = make(folder, items)
        give_out(folder / "study.sqlite", PEOPLE, items)
        process, _ = start(file)
        process.terminate()
        process.wait()
        starting = cpu_of_children()
        process, port = start(file)
        try:
            load = Load(port, tokens, secret_of(folder / "study.sqlite"))
            seconds = asyncio.run(load.all(items, SECONDS))
        finally:
            process.terminate()
            process.wait()
        times, n = sorted(load.times), len(load.times)
        cpu = (cpu_of_children() - 2 * starting) / n
        return n / seconds, times[n // 2] * 1e3, times[n * 99 // 100] * 1e3, cpu * 1e3


def kills() -> tuple[int, int]:
    """Answers acknowledged before kill -9, and how many of them were not there afterwards."""
    acknowledged = lost = 0
    with tempfile.TemporaryDirectory() as name:
        folder, items = Path(name), 20_000
        file, tokens = make(folder, items)
        give_out(folder / "study.sqlite", PEOPLE, items)
        secret, done = secret_of(folder / "study.sqlite"), 0
        for n in range(KILLS):
            process, port = start(file)
            load = Load(port, tokens, secret)

            asyncio.run(load.until_killed(process, range(done, items), 0.3 + 0.03 * n))
            process.wait()
            with sqlite3.connect(folder / "study.sqlite") as db:
                kept = {item for (item,) in db.execute("SELECT item FROM work WHERE state = 'answered'")}
            db.close()
            acknowledged += len(load.said)
            lost += len(set(load.said) - kept)
            done = (max((int(item[1:]) for item in kept), default=0) // PEOPLE + 2) * PEOPLE
    return acknowledged, lost


def owners_view() -> float:
    """Seconds until /admin of a study with 100,000 answers has come."""
    import urllib.request

    from unswayed.collect.database import open_database
    from unswayed.collect.owner import open_session

    with tempfile.TemporaryDirectory() as name:
        folder, items = Path(name), 100_000
        file, _ = make(folder, items)
        give_out(folder / "study.sqlite", PEOPLE, items)
        with sqlite3.connect(folder / "study.sqlite") as db:
            db.execute(
                "UPDATE work SET state = 'answered', received = taken + rowid % 9, content = '{}', "
                "flags = CASE WHEN rowid % 20 THEN '' ELSE 'slow' END"
            )
        db.close()
        process, port = start(file)
        try:
            with open_database(str(folder / "study.sqlite")) as database:
                session = database.write(open_session)
            request = urllib.request.Request(f"http://127.0.0.1:{port}/admin", headers={"cookie": f"owner={session}"})
            times = []
            for _ in range(3):
                began = time.perf_counter()
                with urllib.request.urlopen(request) as reply:
                    assert b"100,000" in reply.read()
                times.append(time.perf_counter() - began)
        finally:
            process.terminate()
            process.wait()
    return times[0]


def rows() -> Iterator[Row]:
    rate, median, late, cpu = throughput()
    yield Row(
        name="answers",
        what=f"answers that are on disk when acknowledged, {PEOPLE} people at once, over HTTP, SQLite",
        ours=rate,
        unit="answers/s",
        asked=1_000,
        note=f"{median:.0f} ms an answer, {late:.0f} the slowest hundredth; {cpu:.2f} CPU ms of the server's",
    )
    yield Row("view", "the owner's view of 100,000 answers has come after", owners_view(), "s", more=False, asked=1)


def long_rows() -> Iterator[Row]:
    with tempfile.TemporaryDirectory() as name:
        outcome = run(Path(name), CROWD, CROWD_SECONDS, CROWD_KILLS)
    more = f"{outcome.kills} kill -9, {outcome.crashes} crashes of PostgreSQL, {CROWD_SECONDS:.0f} s"
    note = f"of {len(outcome.acknowledged):,} acknowledged to {outcome.served} people; {more}"
    yield Row(
        "crowd lost", f"{CROWD} people at once: answers lost", outcome.lost, "answers", more=False, asked=0, note=note
    )
    what = f"{CROWD} people at once: items with more answers than k"
    yield Row("crowd over", what, outcome.over, "items", more=False, asked=0)
    acknowledged, lost = kills()
    note = f"of {acknowledged:,} acknowledged"
    yield Row(
        "lost", f"kill -9 under load, {KILLS} times: answers lost", lost, "answers", more=False, asked=0, note=note
    )
    with tempfile.TemporaryDirectory() as name:
        early, late = asyncio.run(soak(Path(name), SESSIONS, [SESSIONS // 10, SESSIONS]))
    what = f"memory after {SESSIONS:,} sessions beside that after {SESSIONS // 10:,}"
    yield Row("soak", what, late / early, "times", more=False, asked=1.2, note=f"{early:.0f} and {late:.0f} MB")
    yield from traffic_rows()


def traffic_rows() -> Iterator[Row]:
    """What strangers and large uploads cost the server, and what a restart loses: by itself and behind each proxy."""
    for proxy in ("", *PROXIES):
        if proxy and program(proxy) is None:
            continue
        where, key = f"behind {proxy}" if proxy else "by itself", proxy or "alone"
        with tempfile.TemporaryDirectory() as name, behind(proxy, Path(name), items=20_000) as place:
            with watched(place) as grown:
                flood_headers(place.port, FLOOD << 20, place.context)
            what = f"{where}: {FLOOD} MB of short headers need more memory"
            yield Row(f"{key} headers", what, grown[0], "MB", more=False, asked=10)
            slow = slow_loris(place, SLOW, SLOW_SECONDS)
            note = f"{slow.left} connections left after {SLOW_SECONDS:.0f} s; {slow.megabytes:.1f} MB"
            what = f"{where}: {SLOW} slow connections, and a page has come after"
            yield Row(f"{key} slow", what, slow.waits, "s", more=False, asked=1, note=note)
            found = restart_under_load(place, PEOPLE, RESTARTS)
            note = f"of {found.acknowledged:,}; {found.errors} errors; nobody was answered for {found.away:.1f} s"
            what = f"{where}: {RESTARTS} restarts while {PEOPLE} people answer: answers lost"
            yield Row(f"{key} restarts", what, found.lost, "answers", more=False, asked=0, note=note)
        with tempfile.TemporaryDirectory() as name, behind(proxy, Path(name), "read_aloud") as place:
            uploads = large_uploads(place, UPLOADS, 38)
            note = f"{uploads.kept} kept, {uploads.refused} too large, in {uploads.seconds:.0f} s"
            what = f"{where}: {UPLOADS} uploads of 38 MB at once need more memory"
            yield Row(f"{key} uploads", what, uploads.megabytes, "MB", more=False, asked=200, note=note)


def main() -> None:
    show("collect", (*rows(), *long_rows()))


if __name__ == "__main__":
    main()
